/** The ids by which mails name pictures of the library, and finding them in a mail, whatever is around them and however it is escaped. */
import { randomBytes } from 'node:crypto';

/** The most ids that are looked up in one mail: as many as an account can have pictures. */
const MAX_FOUND = 10_000;

const ID_DIGITS = 32;

/** A new public id of a picture, which nobody can guess. */
export function newPictureId(): string {
  return randomBytes(ID_DIGITS / 2).toString('hex');
}

/**
 * Everything in a text that has the form of a picture's public id, as a JSON array without repeats. Every connection has it as the
 * SQL function `picture_ids`, which the triggers on stored content use.
 */
export function findPictureIds(text: string): string {
  const found = new Set<string>();
  for (const [digits] of text.matchAll(/[0-9a-f]{32,}/g)) {
    if (found.size === MAX_FOUND) break;
    if (digits.length === ID_DIGITS) found.add(digits);
  }
  return JSON.stringify([...found]);
}
