/**
 * The public ids by which mails refer to pictures of the image library, and a function that finds them in any text, whatever
 * surrounds or escapes them.
 */
import { randomBytes } from 'node:crypto';

/** The maximum number of ids that are looked up in one mail: the maximum number of pictures of an account. */
const MAX_FOUND = 10_000;

const ID_DIGITS = 32;

/** Returns a new public id of a picture. It is random, so that it cannot be guessed. */
export function newPictureId(): string {
  return randomBytes(ID_DIGITS / 2).toString('hex');
}

/**
 * Returns everything in a text that looks like a picture's public id, as a JSON array without repeats. Every connection has it
 * as the SQL function `picture_ids`, which the triggers on stored content use.
 */
export function findPictureIds(text: string): string {
  const ids = new Set<string>();
  for (const [digits] of text.matchAll(/[0-9a-f]{32,}/g)) {
    if (ids.size === MAX_FOUND) break;
    if (digits.length === ID_DIGITS) ids.add(digits);
  }
  return JSON.stringify([...ids]);
}
