/**
 * Encodes quoted-printable (RFC 2045 §6.7) in pieces that can be joined, because each piece ends with a line break. No line contains two
 * spaces in a row or ends with a space, so a body is already in DKIM's relaxed canonical form (RFC 6376 §3.4.4). No line starts with a dot,
 * so SMTP needs no dot-stuffing (RFC 5321 §4.5.2). Libraries guarantee none of these; nodemailer's encoder takes about the same CPU time
 * (`scripts/bench/message.ts`).
 */

/** The 76 characters of a line (RFC 2045 §6.7) less the `=` of a soft line break. */
const LINE_ROOM = 75;
const CR = 13;
const LF = 10;
const SPACE = 32;
const DOT = 46;
const EQUALS = 61;

/** Matches texts whose characters need no encoding: printable ASCII except the equals sign. */
const PLAIN = /^[ -<>-~]*$/;
/** The room for characters that need no encoding, less the two columns that `=2E` takes in place of a dot at the start of a line. */
const PLAIN_ROOM = LINE_ROOM - 2;

/** The encoded form of each byte. */
const ENCODED = Array.from({ length: 256 }, (_, byte) =>
  byte >= 33 && byte <= 126 && byte !== EQUALS
    ? String.fromCharCode(byte)
    : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`,
);

/**
 * Encodes text as UTF-8 in lines of at most 76 characters. Every kind of line break becomes CRLF. The result ends at the start of a line:
 * after a soft line break, unless the text ends with a line break.
 */
export function quotedPrintable(text: string): string {
  if (!PLAIN.test(text) || text.includes('  ')) return encodeBytes(Buffer.from(text));
  let lines = '';
  for (let at = 0; at < text.length; at += PLAIN_ROOM) {
    const line = text.slice(at, at + PLAIN_ROOM);
    lines += `${line.startsWith('.') ? `=2E${line.slice(1)}` : line}=\r\n`;
  }
  return lines;
}

function encodeBytes(bytes: Buffer): string {
  let lines = '';
  let column = 0;
  let isAfterSpace = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes.readUInt8(at);
    const next = bytes[at + 1];
    if (byte === CR || byte === LF) {
      lines += '\r\n';
      column = 0;
      isAfterSpace = false;
      if (byte === CR && next === LF) at++;
      continue;
    }
    const isPlainSpace: boolean = byte === SPACE && !isAfterSpace && next !== CR && next !== LF;
    const encoded = isPlainSpace ? ' ' : (ENCODED[byte] ?? '');
    if (column + characterRoom(byte, encoded) > LINE_ROOM) {
      lines += '=\r\n';
      column = 0;
    }
    const written = byte === DOT && column === 0 ? '=2E' : encoded;
    lines += written;
    column += written.length;
    isAfterSpace = isPlainSpace;
  }
  return column === 0 ? lines : `${lines}=\r\n`;
}

/** Returns the columns of the character that begins with this byte: three for each of its bytes in UTF-8, all of which stay on one line. */
function characterRoom(byte: number, encoded: string): number {
  if (byte >= 0xf0) return 12;
  if (byte >= 0xe0) return 9;
  return byte >= 0xc0 ? 6 : encoded.length;
}
