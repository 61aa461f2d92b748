/** Reading a file from its start to its end, part by part, without trusting any length in it. */

import { SENTENCES } from '../../sentences.ts';

/** Width and height in pixels. */
export interface Dimensions {
  width: number;
  height: number;
}

/** A file that is not the whole, well-formed picture its first bytes promise. The message says so to its owner. */
export class BrokenPicture extends Error {}

/** Reading more takes too long; the longest animations have some thousand. */
const MAX_PARTS = 10_000;

/** Throws a BrokenPicture for a file of more parts than are read. */
export function requireFew(parts: number): void {
  if (parts > MAX_PARTS) throw damaged();
}

/** The failure of a file that ends too early. */
export function cutOff(): BrokenPicture {
  return new BrokenPicture(SENTENCES.picture_cut_off);
}

/** The failure of a file whose parts contradict each other, or that has no pixels. */
export function damaged(): BrokenPicture {
  return new BrokenPicture(SENTENCES.picture_damaged);
}

/** Throws a BrokenPicture unless `length` bytes follow `at` in the file. */
export function requireBytes(bytes: Buffer, at: number, length: number): void {
  if (at + length > bytes.length) throw cutOff();
}

/** Throws a BrokenPicture unless the file ends at `end`: what follows could be a file of another kind, hidden behind the picture. */
export function requireEnd(bytes: Buffer, end: number): void {
  if (end !== bytes.length) throw new BrokenPicture(SENTENCES.picture_more);
}
