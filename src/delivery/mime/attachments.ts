/**
 * Attachments: makes their names and types safe, tells which kinds Gmail refuses, checks and decodes their bytes in pieces, and encodes them
 * as parts of a mail (RFC 2045, 2046, 2183, 2231).
 */
import type { Attachment } from '../../database/schema/index.ts';
import { invalid } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';

export const MAX_ATTACHMENTS = 20;
/** The maximum length of a file name in characters. Checking a longer name would take long. */
export const MAX_NAME = 255;
/**
 * The maximum length of an encoded name in characters. It leaves room for `filename*=UTF-8''` in a line of 998 characters (RFC 5322 2.1.1).
 */
const MAX_ENCODED_NAME = 900;
/** The number of bytes in a line of base64, whose 76 characters are the most that a line may have (RFC 2045 6.8). */
const BYTES_PER_LINE = 57;
/** The length of a line of base64 with its CRLF. */
const LINE_LENGTH = 78;
/** The size of a piece of an attachment in bytes: a whole number of base64 lines. */
export const PIECE_BYTES = BYTES_PER_LINE * 8192;
const PIECE_CHARACTERS = (PIECE_BYTES / 3) * 4;
const TYPE = /^(?!(?:multipart|message)\/)[a-z\d][a-z\d.+-]{0,63}\/[a-z\d][a-z\d.+-]{0,126}$/;

/** A file in a request. */
export interface GivenFile {
  name: string;
  type: string;
  /** The bytes of the file in base64 (RFC 4648 4 or 5). */
  base64: Buffer;
}

/**
 * Returns the record of a file. Throws 422 if the bytes cannot be base64, or if the name is too long. `number` counts the files of the
 * request from 0.
 */
export function attachmentOf({ name, type, base64 }: GivenFile, number: number): Attachment {
  if (name.length > MAX_NAME)
    throw invalid('attachments', sentence('attachment_name_long', { number: number + 1, most: MAX_NAME }));
  const padding = paddingOf(base64);
  const characters = base64.length - padding;
  // One character in excess of whole groups encodes no byte.
  if (characters % 4 === 1 || (padding > 0 && base64.length % 4 !== 0)) throw notBase64(number);
  const lower = type.trim().toLowerCase();
  return {
    file_name: safeName(name, number),
    // RFC 2046 5.1 and 5.2.1: composite types such as message/rfc822 cannot be encoded in base64.
    type: TYPE.test(lower) ? lower : 'application/octet-stream',
    size: Math.floor((characters * 3) / 4),
  };
}

/** Returns the number of equals signs at the end of base64: 0 to 2. */
function paddingOf(base64: Buffer): number {
  if (base64.at(-1) !== 0x3d) return 0;
  return base64.at(-2) === 0x3d ? 2 : 1;
}

/** Yields the bytes of a file in pieces. Throws 422 for text that is not base64. */
export function* decodePieces({ base64 }: GivenFile, { size }: Attachment, number: number): Generator<Buffer> {
  for (let piece = 0; piece * PIECE_BYTES < size; piece++) {
    const text = base64.toString('latin1', piece * PIECE_CHARACTERS, (piece + 1) * PIECE_CHARACTERS);
    const bytes = Buffer.from(text, 'base64');
    // Node skips characters that are not base64, so the result is too short if there are any.
    if (bytes.length !== Math.min(PIECE_BYTES, size - piece * PIECE_BYTES)) throw notBase64(number);
    yield bytes;
  }
}

/**
 * Returns the last part of a path without characters that could harm a program: control characters, invisible characters, and those that
 * Windows forbids.
 */
function safeName(name: string, number: number): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const clean = last
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/^[.\s]+|[.\s]+$/g, '');
  const at = clean.lastIndexOf('.');
  const [stem, ending] = at > 0 && clean.length - at <= 12 ? [clean.slice(0, at), clean.slice(at)] : [clean, ''];
  let letters = [...stem].slice(0, 100);
  while (encodeURIComponent(letters.join('') + ending).length > MAX_ENCODED_NAME) letters = letters.slice(0, -1);
  return letters.length === 0 ? `attachment-${number + 1}` : letters.join('') + ending;
}

// Quoted-printable and base64 do not contain the boundary, and no other boundary of the mail is a prefix of it, because parsers compare only
// prefixes (RFC 2046 5.1.1).
const MIXED = '=_mixed-sendlark';
/** The header field of a mail with attachments, and the delimiter before its first part, which holds the texts. */
export const MIXED_START = `Content-Type: multipart/mixed; boundary="${MIXED}"\r\n\r\n--${MIXED}\r\n`;
/** The text after the last attachment. */
export const MIXED_END = `--${MIXED}--\r\n`;

/** A file with its bytes. */
export interface AttachedFile extends Attachment {
  bytes: Uint8Array;
}

/** Returns the end of a mail with these attachments, which follows its texts; empty if there are none. */
export function attachedParts(files: readonly AttachedFile[]): string {
  if (files.length === 0) return '';
  return files.map((file) => attachmentStart(file) + base64Lines(file.bytes)).join('') + MIXED_END;
}

/** Returns the size that attachments with these sizes have in a mail, in bytes. Their header fields are not counted. */
export function encodedSize(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + Math.ceil(size / BYTES_PER_LINE) * LINE_LENGTH, 0);
}

/** Returns the text before the base64 of an attachment. */
export function attachmentStart(attachment: Attachment): string {
  return `--${MIXED}\r\n${attachmentFields(attachment)}\r\n`;
}

/** Returns the base64 of a file, or of a piece of a file, in lines. Every piece but the last must have `PIECE_BYTES` bytes. */
export function base64Lines(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('base64')
    .replace(/.{1,76}/g, '$&\r\n');
}

/**
 * Returns the header fields of an attachment. A file name that is not plain ASCII is encoded (RFC 2231), with a plain name next to it for
 * clients that cannot decode it.
 */
function attachmentFields({ file_name, type }: Attachment): string {
  const plain = file_name.replace(/[^ !#-[\]-~]/g, '_');
  const encoded = encodeURIComponent(file_name).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  const extended = plain === file_name ? '' : `;\r\n filename*=UTF-8''${encoded}`;
  return `Content-Type: ${type}\r\nContent-Disposition: attachment;\r\n filename="${plain}"${extended}\r\nContent-Transfer-Encoding: base64\r\n`;
}

/** The kinds of files that Gmail refuses (https://support.google.com/mail/answer/6590). */
const REFUSED_KINDS: ReadonlySet<string> = new Set(
  (
    'ade adp apk appx appxbundle bat cab chm cmd com cpl diagcab diagcfg diagpkg dll dmg ex ex_ exe hta img ins iso isp jar jnlp js jse lib ' +
    'lnk mde mjs msc msi msix msixbundle msp mst nsh pif ps1 scr sct shb sys vb vbe vbs vhd vxd wsc wsf wsh xll'
  ).split(' '),
);

/** Returns the kind of a file, such as exe, if Gmail refuses mail with such files; otherwise null. */
export function refusedKind({ file_name }: Attachment): string | null {
  const ending = file_name.slice(file_name.lastIndexOf('.') + 1).toLowerCase();
  return file_name.includes('.') && REFUSED_KINDS.has(ending) ? ending : null;
}

function notBase64(number: number) {
  return invalid('attachments', sentence('attachment_not_base64', { number: number + 1 }));
}
