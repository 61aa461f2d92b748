/** Reads the format and the dimensions of a picture from its bytes (PNG, JPEG, GIF or WebP), and checks that the picture is complete. */
import { crc32 } from 'node:zlib';
import type { PICTURE_KINDS } from '../../database/schema/index.ts';
import { type Sentence, sentence } from '../../errors/sentences.ts';

type PictureKind = (typeof PICTURE_KINDS)[number];

interface PictureFacts extends Dimensions {
  kind: PictureKind;
}

/** The maximum width and height in pixels. */
const MAX_SIDE = 10_000;
/** The maximum number of pixels. A decoded picture takes four bytes for each pixel in every recipient's mail program. */
const MAX_PIXELS = 40_000_000;

interface Reader {
  kind: PictureKind;
  /** Returns true if a file with these first bytes, read as Latin-1, is of this format. */
  isKind(start: string): boolean;
  /** Returns the dimensions of a file. Throws a BrokenPicture if the file is not a complete picture. */
  read(bytes: Buffer): Dimensions;
}

const READERS: readonly Reader[] = [
  { kind: 'png', isKind: (start) => start.startsWith('\x89PNG\r\n\x1a\n'), read: readPng },
  { kind: 'jpeg', isKind: (start) => start.startsWith('\xff\xd8\xff'), read: readJpeg },
  { kind: 'gif', isKind: (start) => /^GIF8[79]a/.test(start), read: readGif },
  { kind: 'webp', isKind: (start) => start.startsWith('RIFF') && start.endsWith('WEBP'), read: readWebp },
];
/** The number of bytes from which the format is recognized. */
const START_BYTES = 12;
/** The first bytes of a HEIC or AVIF: the size of the first box, its name and the brand of the file (ISO 14496-12). */
const HEIC = /^.{4}ftyp(?:hei[cxms]|hev[cxms]|mif1|msf1|avi[fs])/s;
/** The number of bytes at the start of a file in which an SVG is recognized. */
const SVG_BYTES = 4096;

/**
 * Reads a whole file as a PNG, JPEG, GIF or WebP. Returns the format and the dimensions of the picture; or in `problem`, why the file is
 * refused: it has another format, is cut off or damaged, has too many pixels, or goes on after the end of the picture.
 */
export function readPicture(bytes: Buffer): PictureFacts | { problem: Sentence } {
  const start = bytes.toString('latin1', 0, START_BYTES);
  const reader = READERS.find(({ isKind }) => isKind(start));
  if (reader === undefined) return { problem: formatProblem(bytes) };
  const { kind, read } = reader;
  try {
    const { width, height } = read(bytes);
    if (width < 1 || height < 1) throw damaged();
    if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS)
      return { problem: sentence('picture_pixels', { width, height }) };
    return { kind, width, height };
  } catch (error) {
    if (!(error instanceof BrokenPicture)) throw error;
    return { problem: error.problem };
  }
}

/** Returns why a file of another format is refused. */
function formatProblem(bytes: Buffer): Sentence {
  const isSvg = /<svg[\s/>]/i.test(bytes.toString('latin1', 0, SVG_BYTES).replaceAll('\0', ''));
  if (isSvg) return sentence('picture_svg');
  return HEIC.test(bytes.toString('latin1', 0, START_BYTES)) ? sentence('picture_heic') : sentence('picture_kind');
}

/** Width and height in pixels. */
interface Dimensions {
  width: number;
  height: number;
}

/** Thrown for a file that is not the complete, well-formed picture that its first bytes announce. */
class BrokenPicture extends Error {
  readonly problem: Sentence;

  constructor(problem: Sentence) {
    super(String(problem));
    this.problem = problem;
  }
}

/** The maximum number of parts of a file, because reading more would take too long. The longest animations have some thousand parts. */
const MAX_PARTS = 10_000;

/** Throws a BrokenPicture if a file has more than `MAX_PARTS` parts. */
function requireFewParts(parts: number): void {
  if (parts > MAX_PARTS) throw damaged();
}

/** Returns the error for a file that ends too early. */
function cutOff(): BrokenPicture {
  return new BrokenPicture(sentence('picture_cut_off'));
}

/** Returns the error for a file whose parts contradict each other, or that has no pixels. */
function damaged(): BrokenPicture {
  return new BrokenPicture(sentence('picture_damaged'));
}

/** Throws a BrokenPicture unless the file has `length` bytes from `at` on. */
function requireBytes(bytes: Buffer, at: number, length: number): void {
  if (at + length > bytes.length) throw cutOff();
}

/** Throws a BrokenPicture unless the file ends at `end`. Data behind the picture could be a hidden file of another kind. */
function requireEnd(bytes: Buffer, end: number): void {
  if (end !== bytes.length) throw new BrokenPicture(sentence('picture_more'));
}

const PNG_SIGNATURE_BYTES = 8;
const IHDR_BYTES = 13;
/** The bytes of a chunk besides its data: the length and the name before the data, and the checksum after the data. */
const PNG_CHUNK_BYTES = 12;

/** Reads the chunks up to IEND, and returns the dimensions in IHDR. */
function readPng(bytes: Buffer): Dimensions {
  let dimensions: Dimensions | undefined;
  let hasPixels = false;
  for (let at = PNG_SIGNATURE_BYTES, parts = 0; ; parts++) {
    requireFewParts(parts);
    requireBytes(bytes, at, PNG_CHUNK_BYTES);
    const length = bytes.readUInt32BE(at);
    const name = bytes.toString('latin1', at + 4, at + 8);
    requireBytes(bytes, at, PNG_CHUNK_BYTES + length);
    const data = at + 8;
    if (crc32(bytes.subarray(at + 4, data + length)) !== bytes.readUInt32BE(data + length)) throw damaged();
    if ((name === 'IHDR') !== (dimensions === undefined)) throw damaged();
    if (name === 'IHDR') {
      if (length !== IHDR_BYTES) throw damaged();
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

const MARKER = 0xff;
const END_OF_IMAGE = 0xd9;
const START_OF_IMAGE = 0xd8;
const START_OF_SCAN = 0xda;
/** Markers from C0 to CF start a frame, except these three. */
const NO_FRAMES = [0xc4, 0xc8, 0xcc];
/** The bytes of a frame header: length, precision, height, width and the number of components. */
const FRAME_BYTES = 8;

/** Reads the segments and scans up to the end of the image, and returns the dimensions in the frame header. */
function readJpeg(bytes: Buffer): Dimensions {
  let dimensions: Dimensions | undefined;
  let hasPixels = false;
  for (let at = 2, parts = 0; ; parts++) {
    requireFewParts(parts);
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

/**
 * Returns where the scan that begins at `at` ends: at the next marker that is neither an FF among the pixels (followed by 00) nor a restart
 * (D0 to D7).
 */
function endOfScan(bytes: Buffer, at: number): number {
  const last = bytes.length - 1;
  for (let next = at; next < last; next++) {
    if (bytes[next] !== MARKER) continue;
    const marker = bytes[next + 1] ?? 0;
    if (marker !== 0 && (marker < 0xd0 || marker > 0xd7)) return next;
  }
  throw cutOff();
}

const SCREEN_BYTES = 13;
const DESCRIPTOR_BYTES = 10;
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;

/** Reads the blocks up to the trailer, and returns the dimensions of the screen. */
function readGif(bytes: Buffer): Dimensions {
  requireBytes(bytes, 0, SCREEN_BYTES);
  const dimensions = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  let hasPixels = false;
  for (let at = SCREEN_BYTES + tableBytes(bytes[10]), parts = 0; ; parts++) {
    requireFewParts(parts);
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
      // Before the blocks there is one byte with the size of the first codes.
      at = endOfBlocks(bytes, at + DESCRIPTOR_BYTES + tableBytes(bytes[at + 9]) + 1);
      hasPixels = true;
    } else throw damaged();
  }
}

/** Returns the size of the colour table that the flags announce: three bytes for each colour, or 0 if the highest bit is not set. */
function tableBytes(flags = 0): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

/** Returns where the blocks that begin at `at` end. The last block is an empty one. */
function endOfBlocks(bytes: Buffer, at: number): number {
  for (let next = at; ; ) {
    requireBytes(bytes, next, 1);
    const length = bytes[next] ?? 0;
    next += 1 + length;
    if (length === 0) return next;
  }
}

const RIFF_HEADER_BYTES = 12;
const RIFF_CHUNK_BYTES = 8;
const LOSSLESS_SIGNATURE = 0x2f;
/** The start code of a key frame in hexadecimal. It stands after the three bytes of the frame's tag. */
const START_CODE = '9d012a';

/** Reads the chunks, and returns the dimensions of the canvas, or of the image if there is no canvas. */
function readWebp(bytes: Buffer): Dimensions {
  requireBytes(bytes, 0, RIFF_HEADER_BYTES);
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) throw cutOff();
  requireEnd(bytes, end);
  let dimensions: Dimensions | undefined;
  let hasPixels = false;
  for (let at = RIFF_HEADER_BYTES, parts = 0; at < end; parts++) {
    requireFewParts(parts);
    requireBytes(bytes, at, RIFF_CHUNK_BYTES);
    const name = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const data = at + RIFF_CHUNK_BYTES;
    requireBytes(bytes, data, length + (length % 2));
    const chunk = bytes.subarray(data, data + length);
    if (name === 'VP8X') dimensions ??= canvasDimensions(chunk);
    else if (name === 'VP8 ') dimensions ??= lossyDimensions(chunk);
    else if (name === 'VP8L') dimensions ??= losslessDimensions(chunk);
    else if (dimensions === undefined) throw damaged();
    hasPixels ||= name === 'VP8 ' || name === 'VP8L' || name === 'ANMF';
    at = data + length + (length % 2);
  }
  if (dimensions === undefined || !hasPixels) throw damaged();
  return dimensions;
}

function canvasDimensions(chunk: Buffer): Dimensions {
  requireBytes(chunk, 0, 10);
  return { width: chunk.readUIntLE(4, 3) + 1, height: chunk.readUIntLE(7, 3) + 1 };
}

function lossyDimensions(chunk: Buffer): Dimensions {
  requireBytes(chunk, 0, 10);
  if (chunk.toString('hex', 3, 6) !== START_CODE) throw damaged();
  return { width: chunk.readUInt16LE(6) & 0x3fff, height: chunk.readUInt16LE(8) & 0x3fff };
}

function losslessDimensions(chunk: Buffer): Dimensions {
  requireBytes(chunk, 0, 5);
  if (chunk[0] !== LOSSLESS_SIGNATURE) throw damaged();
  const sizes = chunk.readUInt32LE(1);
  return { width: (sizes & 0x3fff) + 1, height: ((sizes >>> 14) & 0x3fff) + 1 };
}
