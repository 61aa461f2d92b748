/** Small pictures of each kind, made by hand so that their sizes and parts can be chosen. */
import { crc32, deflateSync } from 'node:zlib';
import type { Caller } from './app.ts';

/** A PNG of one colour: red, green and blue, 0 to 255 each. */
export function png(width = 4, height = 3, colour: readonly [number, number, number] = [20, 120, 90]): Buffer {
  const row = Buffer.from([0, ...Array.from({ length: width }, () => colour).flat()]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return pngOf([
    ['IHDR', header],
    ['IDAT', deflateSync(Buffer.concat(Array.from({ length: height }, () => row)))],
    ['IEND', Buffer.alloc(0)],
  ]);
}

/** A PNG of these chunks, with their checksums. */
export function pngOf(chunks: readonly (readonly [name: string, data: Buffer])[]): Buffer {
  const written = chunks.map(([name, data]) => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  });
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...written]);
}

/** The smallest GIF, in ASCII, so that it can be part of any text. */
export const GIF = Buffer.from('GIF89a\x07\0\x05\0\0\0\0,\0\0\0\0\x07\0\x05\0\0\x02\x02D\x01\0;', 'latin1');

/** WebP with one lossy image of 1 by 1 pixel, and with a lossless one. */
export const WEBP = Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64');
export const LOSSLESS_WEBP = Buffer.from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'base64');

/** A JPEG's parts with a scan that contains a coded FF and a restart; no program could draw it. */
export function jpeg(width = 640, height = 480): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16BE(height, 0);
  size.writeUInt16BE(width, 2);
  return Buffer.concat([
    Buffer.from('ffd8' + 'ffe00010' + '4a46494600010100000100010000' + 'ffc0000b08', 'hex'),
    size,
    Buffer.from('01011100' + 'ffda0008' + '0101' + '00003f00' + '12ff0034ffd056' + 'ffd9', 'hex'),
  ]);
}

/** A PNG of at least this many bytes, most of them in a part that no program shows. */
export function largePng(bytes: number): Buffer {
  const small = png();
  const header = small.subarray(16, 29);
  const filling = Buffer.alloc(bytes, 'sendlark');
  return pngOf([
    ['IHDR', header],
    ['teSt', filling],
    ['IDAT', deflateSync(Buffer.alloc(13 * 3))],
    ['IEND', Buffer.alloc(0)],
  ]);
}

/** A picture as the API gives it. */
export interface Picture {
  id: number;
  name: string;
  alt: string;
  url: string;
  kind: string;
  size: number;
  single_sends: number;
  automation_mails: number;
  sent_mails: number;
}

/** Uploads a picture that must be accepted; gives it. */
export async function uploadPicture(caller: Caller, content = png(), filename = 'Summer sale.png'): Promise<Picture> {
  const { status, text, body } = await caller.call('POST', '/pictures/upload', {
    multipart: [['file', { filename, content }]],
  });
  if (status !== 200) throw new Error(text);
  return body.message.picture;
}
