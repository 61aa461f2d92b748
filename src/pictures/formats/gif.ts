/** GIF: a screen descriptor, then images and extensions whose data comes in blocks of up to 255 bytes (GIF89a, 15 to 27). */
import { type Dimensions, damaged, requireBytes, requireEnd, requireFew } from './parts.ts';

const SCREEN_BYTES = 13;
const DESCRIPTOR_BYTES = 10;
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;

/** Reads the blocks up to the trailer; gives the dimensions of the screen. Throws a BrokenPicture. */
export function readGif(bytes: Buffer): Dimensions {
  requireBytes(bytes, 0, SCREEN_BYTES);
  const dimensions = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  let hasPixels = false;
  for (let at = SCREEN_BYTES + tableBytes(bytes[10]), parts = 0; ; parts++) {
    requireFew(parts);
    requireBytes(bytes, at, 1);
    const kind = bytes[at];
    if (kind === TRAILER) {
      requireEnd(bytes, at + 1);
      if (!hasPixels) throw damaged();
      return dimensions;
    }
    if (kind === EXTENSION) at = endOfBlocks(bytes, at + 2);
    else if (kind === IMAGE) {
      requireBytes(bytes, at, DESCRIPTOR_BYTES);
      // One byte with the size of the first codes stands before the blocks.
      at = endOfBlocks(bytes, at + DESCRIPTOR_BYTES + tableBytes(bytes[at + 9]) + 1);
      hasPixels = true;
    } else throw damaged();
  }
}

/** The size of the table of colours that flags announce: three bytes each, and none without the highest bit. */
function tableBytes(flags = 0): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

/** Where the blocks that begin at `at` end: after an empty one. */
function endOfBlocks(bytes: Buffer, at: number): number {
  for (let next = at; ; ) {
    requireBytes(bytes, next, 1);
    const length = bytes[next] ?? 0;
    next += 1 + length;
    if (length === 0) return next;
  }
}
