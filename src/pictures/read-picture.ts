/** What a picture is, read from its bytes. The name of a file and what a client says about it decide nothing. */
import type { PICTURE_KINDS } from '../database/schema/index.ts';
import { SENTENCES, sentence } from '../sentences.ts';
import { readGif } from './formats/gif.ts';
import { readJpeg } from './formats/jpeg.ts';
import { BrokenPicture, type Dimensions, damaged } from './formats/parts.ts';
import { readPng } from './formats/png.ts';
import { readWebp } from './formats/webp.ts';

type PictureKind = (typeof PICTURE_KINDS)[number];

/** What the bytes of a picture say about it; the width and height are in pixels. */
export interface PictureFacts extends Dimensions {
  kind: PictureKind;
}

/** Decoded, a picture takes four bytes for each of its pixels in the mail program of everybody who opens the mail. */
const MAX_SIDE = 10_000;
const MAX_PIXELS = 40_000_000;

interface Reader {
  kind: PictureKind;
  /** Whether a file begins as one of this kind, by its first bytes as Latin-1. */
  isKind(start: string): boolean;
  /** The dimensions in a whole file; throws a BrokenPicture. */
  read(bytes: Buffer): Dimensions;
}

const READERS: readonly Reader[] = [
  { kind: 'png', isKind: (start) => start.startsWith('\x89PNG\r\n\x1a\n'), read: readPng },
  { kind: 'jpeg', isKind: (start) => start.startsWith('\xff\xd8\xff'), read: readJpeg },
  { kind: 'gif', isKind: (start) => /^GIF8[79]a/.test(start), read: readGif },
  { kind: 'webp', isKind: (start) => start.startsWith('RIFF') && start.endsWith('WEBP'), read: readWebp },
];
const SIGNATURE_BYTES = 12;
/** How much of a file is looked at to tell an SVG from other files. */
const SVG_BYTES = 4096;

/**
 * Reads a whole file as a PNG, JPEG, GIF or WebP. Gives its facts, or in `problem` why it is refused: another kind of file, cut off,
 * impossible sizes, or something else behind the end of the picture.
 */
export function readPicture(bytes: Buffer): PictureFacts | { problem: string } {
  const start = bytes.toString('latin1', 0, SIGNATURE_BYTES);
  const reader = READERS.find(({ isKind }) => isKind(start));
  if (reader === undefined) return { problem: otherFile(bytes) };
  const { kind, read } = reader;
  try {
    const { width, height } = read(bytes);
    if (width < 1 || height < 1) throw damaged();
    if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS)
      return { problem: String(sentence('picture_pixels', { width, height })) };
    return { kind, width, height };
  } catch (error) {
    if (!(error instanceof BrokenPicture)) throw error;
    return { problem: error.message };
  }
}

function otherFile(bytes: Buffer): string {
  const isSvg = /<svg[\s/>]/i.test(bytes.toString('latin1', 0, SVG_BYTES).replaceAll('\0', ''));
  return isSvg ? SENTENCES.picture_svg : SENTENCES.picture_kind;
}
