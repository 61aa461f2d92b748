/**
 * Quoted-printable (RFC 2045 §6.7), so made that encoded pieces may be put one after the other: each begins and ends at
 * the start of a line. No line holds two blanks in a row or ends with one, which makes a body its own relaxed
 * canonical form for DKIM (RFC 6376 §3.4.4). No line begins with a dot, so that SMTP need not double any (RFC 5321 §4.5.2).
 */

const lineRoom = 75;
const CR = 13;
const LF = 10;
const SPACE = 32;
const DOT = 46;

// The bytes that stand for themselves: printable ASCII but the equals sign.
const plain = /^[ -<>-~]*$/;
// Leaves room for a first character in three.
const plainRoom = lineRoom - 2;

const encodedBytes = Array.from({ length: 256 }, (_, byte) =>
  byte >= 33 && byte <= 126 && byte !== 61
    ? String.fromCharCode(byte)
    : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`,
);

/**
 * Encodes text as UTF-8 in lines of at most 76 characters. Its line breaks, of whatever kind, become CRLF. The result
 * ends at the start of a line, behind a soft line break unless the text ended with a line break.
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
    const standing = byte === DOT && column === 0 ? '=2E' : encoded;
    lines += standing;
    column += standing.length;
    afterBlank = blank;
  }
  return column === 0 ? lines : `${lines}=\r\n`;
}

// A character of several bytes stays on one line.
function characterRoom(byte: number, encoded: string): number {
  if (byte >= 0xf0) return 12;
  if (byte >= 0xe0) return 9;
  return byte >= 0xc0 ? 6 : encoded.length;
}
