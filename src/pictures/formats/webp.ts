/** WebP: a RIFF file of chunks, each with a name, a length and data of even length (RFC 9649, 2). */
import { cutOff, type Dimensions, damaged, requireBytes, requireEnd, requireFew } from './parts.ts';

const HEADER_BYTES = 12;
const CHUNK_BYTES = 8;
const LOSSLESS_SIGNATURE = 0x2f;
/** The start code of a key frame, after three bytes of its tag. */
const START_CODE = '9d012a';

/** Reads the chunks; gives the dimensions of the canvas, or those of the only image. Throws a BrokenPicture. */
export function readWebp(bytes: Buffer): Dimensions {
  requireBytes(bytes, 0, HEADER_BYTES);
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) throw cutOff();
  requireEnd(bytes, end);
  let dimensions: Dimensions | undefined;
  let hasPixels = false;
  for (let at = HEADER_BYTES, parts = 0; at < end; parts++) {
    requireFew(parts);
    requireBytes(bytes, at, CHUNK_BYTES);
    const name = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const data = at + CHUNK_BYTES;
    requireBytes(bytes, data, length + (length % 2));
    const chunk = bytes.subarray(data, data + length);
    if (name === 'VP8X') dimensions ??= canvas(chunk);
    else if (name === 'VP8 ') dimensions ??= lossy(chunk);
    else if (name === 'VP8L') dimensions ??= lossless(chunk);
    else if (dimensions === undefined) throw damaged();
    hasPixels ||= name === 'VP8 ' || name === 'VP8L' || name === 'ANMF';
    at = data + length + (length % 2);
  }
  if (dimensions === undefined || !hasPixels) throw damaged();
  return dimensions;
}

function canvas(chunk: Buffer): Dimensions {
  requireBytes(chunk, 0, 10);
  return { width: chunk.readUIntLE(4, 3) + 1, height: chunk.readUIntLE(7, 3) + 1 };
}

function lossy(chunk: Buffer): Dimensions {
  requireBytes(chunk, 0, 10);
  if (chunk.toString('hex', 3, 6) !== START_CODE) throw damaged();
  return { width: chunk.readUInt16LE(6) & 0x3fff, height: chunk.readUInt16LE(8) & 0x3fff };
}

function lossless(chunk: Buffer): Dimensions {
  requireBytes(chunk, 0, 5);
  if (chunk[0] !== LOSSLESS_SIGNATURE) throw damaged();
  const sizes = chunk.readUInt32LE(1);
  return { width: (sizes & 0x3fff) + 1, height: ((sizes >>> 14) & 0x3fff) + 1 };
}
