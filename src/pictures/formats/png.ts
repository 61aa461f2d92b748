/** PNG: a signature, then chunks of length, name, data and checksum (PNG specification, third edition, 5). */
import { crc32 } from 'node:zlib';
import { type Dimensions, damaged, requireBytes, requireEnd, requireFew } from './parts.ts';

const SIGNATURE_BYTES = 8;
const HEADER_BYTES = 13;
/** Length and name before the data, the checksum after it. */
const CHUNK_BYTES = 12;

/** Reads the chunks up to IEND; gives the dimensions in IHDR. Throws a BrokenPicture. */
export function readPng(bytes: Buffer): Dimensions {
  let dimensions: Dimensions | undefined;
  let hasPixels = false;
  for (let at = SIGNATURE_BYTES, parts = 0; ; parts++) {
    requireFew(parts);
    requireBytes(bytes, at, CHUNK_BYTES);
    const length = bytes.readUInt32BE(at);
    const name = bytes.toString('latin1', at + 4, at + 8);
    requireBytes(bytes, at, CHUNK_BYTES + length);
    const data = at + 8;
    if (crc32(bytes.subarray(at + 4, data + length)) !== bytes.readUInt32BE(data + length)) throw damaged();
    if ((name === 'IHDR') !== (dimensions === undefined)) throw damaged();
    if (name === 'IHDR') {
      if (length !== HEADER_BYTES) throw damaged();
      dimensions = { width: bytes.readUInt32BE(data), height: bytes.readUInt32BE(data + 4) };
    }
    if (name === 'IDAT') hasPixels = true;
    at = data + length + 4;
    if (name !== 'IEND') continue;
    requireEnd(bytes, at);
    if (dimensions === undefined || !hasPixels) throw damaged();
    return dimensions;
  }
}
