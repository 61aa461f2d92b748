/**
 * Quoted-printable (RFC 2045 §6.7) whose pieces can be joined, because each starts and ends at the start of a line. No line contains two
 * blanks in a row or ends with a blank, so a body is already in DKIM's relaxed canonical form (RFC 6376 §3.4.4). No line starts with a dot,
 * so SMTP needs no dot-stuffing (RFC 5321 §4.5.2). Libraries guarantee neither; nodemailer's encoder takes about the same CPU time
 * (`scripts/bench/message.ts`).
 */

const lineRoom = 75;
const CR = 13;
const LF = 10;
const SPACE = 32;
const DOT = 46;

// Characters that need no encoding: printable ASCII except the equals sign.
const plain = /^[ -<>-~]*$/;
// Leaves room for `=2E`, the encoding of a dot at the start of a line.
const plainRoom = lineRoom - 2;

const encodedBytes = Array.from({ length: 256 }, (_, byte) =>
  byte >= 33 && byte <= 126 && byte !== 61
    ? String.fromCharCode(byte)
    : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`,
);

/**
 * Encodes text as UTF-8 in lines of at most 76 characters. Every kind of line break becomes CRLF. The result ends at the start of a line:
 * after a soft line break, unless the text ends with a line break.
 */
export function quotedPrintable(text: string): string {
  if (!plain.test(text) || text.includes('  ')) return encodeBytes(Buffer.from(text));
  let lines = '';
  for (let at = 0; at < text.length; at += plainRoom) {
    const line = text.slice(at, at + plainRoom);
    lines += `${line.startsWith('.') ? `=2E${line.slice(1)}` : line}=\r\n`;
  }
  return lines;
}

function encodeBytes(bytes: Buffer): string {
  let lines = '';
  let column = 0;
  let afterBlank = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes.readUInt8(at);
    const next = bytes[at + 1];
    if (byte === CR || byte === LF) {
      lines += '\r\n';
      column = 0;
      afterBlank = false;
      if (byte === CR && next === LF) at++;
      continue;
    }
    const blank: boolean = byte === SPACE && !afterBlank && next !== CR && next !== LF;
    const encoded = blank ? ' ' : (encodedBytes[byte] ?? '');
    if (column + characterRoom(byte, encoded) > lineRoom) {
      lines += '=\r\n';
      column = 0;
    }
    const written = byte === DOT && column === 0 ? '=2E' : encoded;
    lines += written;
    column += written.length;
    afterBlank = blank;
  }
  return column === 0 ? lines : `${lines}=\r\n`;
}

// The columns that a character needs, because all its bytes stay on one line.
function characterRoom(byte: number, encoded: string): number {
  if (byte >= 0xf0) return 12;
  if (byte >= 0xe0) return 9;
  return byte >= 0xc0 ? 6 : encoded.length;
}
