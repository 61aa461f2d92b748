/** JPEG: segments that begin with a marker, and scans of coded pixels between them (ITU-T T.81, annex B). */
import { cutOff, type Dimensions, damaged, requireBytes, requireEnd, requireFew } from './parts.ts';

const MARKER = 0xff;
const END_OF_IMAGE = 0xd9;
const START_OF_IMAGE = 0xd8;
const START_OF_SCAN = 0xda;
/** C0 to CF start a frame, except the three between them that define tables. */
const NO_FRAMES = [0xc4, 0xc8, 0xcc];
/** Length, precision, height, width and the number of components. */
const FRAME_BYTES = 8;

/** Reads the segments and scans up to the end of the image; gives the dimensions in the frame header. Throws a BrokenPicture. */
export function readJpeg(bytes: Buffer): Dimensions {
  let dimensions: Dimensions | undefined;
  let hasPixels = false;
  for (let at = 2, parts = 0; ; parts++) {
    requireFew(parts);
    requireBytes(bytes, at, 2);
    if (bytes[at] !== MARKER) throw damaged();
    const marker = bytes[at + 1] ?? 0;
    // Any number of fill bytes may stand before a marker.
    if (marker === MARKER) {
      at++;
      continue;
    }
    if (marker === END_OF_IMAGE) {
      requireEnd(bytes, at + 2);
      if (dimensions === undefined || !hasPixels) throw damaged();
      return dimensions;
    }
    if (marker === START_OF_IMAGE || marker < 0xc0) throw damaged();
    requireBytes(bytes, at + 2, 2);
    const length = bytes.readUInt16BE(at + 2);
    if (length < 2) throw damaged();
    requireBytes(bytes, at + 2, length);
    if (marker <= 0xcf && !NO_FRAMES.includes(marker)) {
      if (length < FRAME_BYTES || dimensions !== undefined) throw damaged();
      dimensions = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    }
    at += 2 + length;
    if (marker !== START_OF_SCAN) continue;
    if (dimensions === undefined) throw damaged();
    hasPixels = true;
    at = endOfScan(bytes, at);
  }
}

/** Where the coded pixels from `at` on end: at the next marker that is neither a coded FF (followed by 00) nor a restart (D0 to D7). */
function endOfScan(bytes: Buffer, at: number): number {
  const last = bytes.length - 1;
  for (let next = at; next < last; next++) {
    if (bytes[next] !== MARKER) continue;
    const marker = bytes[next + 1] ?? 0;
    if (marker !== 0 && (marker < 0xd0 || marker > 0xd7)) return next;
  }
  throw cutOff();
}
