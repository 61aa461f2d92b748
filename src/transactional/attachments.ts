/** Attachments of transactional mail: makes their names and types safe, checks their bytes and decodes them in pieces. */

import type { Attachment } from '../database/schema/index.ts';
import { PIECE_BYTES } from '../delivery/transactional/mail.ts';
import { invalid } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';

export const MAX_ATTACHMENTS = 20;
export const MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024;
/** The maximum length of a name, as of every line, because checking a longer one would take long. */
export const MAX_NAME = 255;
/** The maximum length of an encoded name. It leaves room for `filename*=UTF-8''` in a line of 998 characters (RFC 5322 2.1.1). */
const MAX_ENCODED_NAME = 900;
const PIECE_CHARACTERS = (PIECE_BYTES / 3) * 4;
const TYPE = /^(?!(?:multipart|message)\/)[a-z\d][a-z\d.+-]{0,63}\/[a-z\d][a-z\d.+-]{0,126}$/;

/** A file in a request. */
export interface GivenFile {
  name: string;
  type: string;
  /** In base64 (RFC 4648 4 or 5). */
  base64: Buffer;
}

/** Returns the record of a file. Throws 422 if it cannot be base64, or if its name is too long. */
export function attachmentOf({ name, type, base64 }: GivenFile, number: number): Attachment {
  if (name.length > MAX_NAME)
    throw invalid('attachments', sentence('attachment_name_long', { number: number + 1, most: MAX_NAME }));
  const padding = base64.at(-1) !== 0x3d ? 0 : base64.at(-2) !== 0x3d ? 1 : 2;
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
 * Returns the last part of a path without characters that could harm a program: control and invisible characters, and those
 * that Windows forbids.
 */
function safeName(given: string, number: number): string {
  const last = given.split(/[/\\]/).at(-1) ?? '';
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

function notBase64(number: number) {
  return invalid('attachments', sentence('attachment_not_base64', { number: number + 1 }));
}
