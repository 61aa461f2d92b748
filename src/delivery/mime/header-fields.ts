/** Writes header fields: folding, addresses (RFC 5322) and encoded words (RFC 2047). Every function returns a field with its CRLF. */
import { asciiAddress } from '../../audience/contacts/addresses.ts';

/** The maximum length of a line (RFC 5322 §2.1.1). */
const LINE_LENGTH = 78;
/** The maximum length of a line with encoded words (RFC 2047 §2). */
const ENCODED_LINE_LENGTH = 76;
/** The length of `=?UTF-8?B?` and `?=`, which surround the base64 of an encoded word. */
const WORD_FRAME = 12;
/** The maximum number of bytes in an encoded word. Their base64 takes 60 of its 75 characters. */
const WORD_BYTES = 45;

const PRINTABLE = /^[ -~]*$/;
const ATOMS = /^[\w !#$%&'*+/=?^`{|}~-]*$/;
const PLAIN_ADDRESS = /^[\w.!#$%&'*+/=?^`{|}~-]+@[\w.-]+$/;

/** Returns a field of plain text such as Subject. The text must be one line without control characters (`foldToOneLine`). */
export function unstructuredField(name: string, text: string): string {
  if (PRINTABLE.test(text) && !text.includes('=?')) {
    const folded = fold(`${name}: ${text}`, name.length + 2);
    if (folded) return folded;
  }
  return `${name}: ${encodedWords(text, name.length + 2)}\r\n`;
}

/**
 * Returns a field whose value is written unchanged, such as Message-ID.
 * @throws TypeError for a value with characters other than printable ASCII, because a line break would start another field.
 */
export function plainField(name: string, value: string): string {
  if (!PRINTABLE.test(value)) throw new TypeError(`not a value for the field ${name}`);
  return `${name}: ${value}\r\n`;
}

/**
 * Returns a field with one mailbox, such as From. The display name must be one line without control characters, or empty. An international
 * domain is written in ASCII form.
 * @throws TypeError for anything but a single plain address.
 */
export function mailboxField(name: string, displayName: string, address: string): string {
  const ascii = requireAscii(address);
  if (displayName === '') return `${name}: ${ascii}\r\n`;
  const words = phrase(displayName, name.length + 2);
  const lastLine = words.length - (words.lastIndexOf('\n') + 1);
  const before = words.includes('\n') ? lastLine : name.length + 2 + lastLine;
  return `${name}: ${words}${before + ascii.length + 3 > LINE_LENGTH ? '\r\n' : ''} <${ascii}>\r\n`;
}

/** Returns the Date field, in UTC. */
export function dateField(date: Date): string {
  return `Date: ${date.toUTCString().replace('GMT', '+0000')}\r\n`;
}

function requireAscii(address: string): string {
  const ascii = PLAIN_ADDRESS.test(address) ? address : asciiAddress(address);
  if (ascii === null) throw new TypeError('not a plain e-mail address');
  return ascii;
}

function phrase(text: string, indent: number): string {
  // 10 characters are left for the quotation marks and for backslashes.
  const isShort = indent + text.length < LINE_LENGTH - 10 && !text.includes('=?');
  if (isShort && ATOMS.test(text)) return text;
  if (isShort && PRINTABLE.test(text)) return `"${text.replace(/["\\]/g, '\\$&')}"`;
  return encodedWords(text, indent);
}

/** Folds a line at its spaces after `indent`; null if a word is longer than a line. */
function fold(line: string, indent: number): string | null {
  let remainder = line;
  let lines = '';
  for (let least = indent; remainder.length > LINE_LENGTH; least = 1) {
    const at = remainder.lastIndexOf(' ', LINE_LENGTH);
    if (at < least || remainder.slice(0, at).trim() === '') return null;
    lines += `${remainder.slice(0, at)}\r\n`;
    remainder = remainder.slice(at);
  }
  return `${lines}${remainder}\r\n`;
}

function encodedWords(text: string, indent: number): string {
  const bytes = Buffer.from(text);
  const words: string[] = [];
  let room = Math.floor((ENCODED_LINE_LENGTH - indent - WORD_FRAME) / 4) * 3;
  for (let from = 0; from < bytes.length; ) {
    let to = Math.min(from + room, bytes.length);
    // An encoded word must not split a character.
    while (to < bytes.length && (bytes.readUInt8(to) & 0xc0) === 0x80) to--;
    words.push(`=?UTF-8?B?${bytes.toString('base64', from, to)}?=`);
    from = to;
    room = WORD_BYTES;
  }
  return words.join('\r\n ');
}
