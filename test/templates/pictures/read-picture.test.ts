/** What a picture is decided by: its bytes, all of them. */
import t from 'tap';
import { readPicture } from '../../../src/templates/pictures/read-picture.ts';
import { MEBIBYTE } from '../../../src/units.ts';
import { GIF, jpeg, LOSSLESS_WEBP, largePng, png, pngOf, WEBP } from '../../support/pictures.ts';

const KINDS = { png: png(), jpeg: jpeg(), gif: GIF, webp: WEBP, 'lossless webp': LOSSLESS_WEBP };

t.test('the kind, the width and the height are read from the bytes', async (t) => {
  t.strictSame(readPicture(png(31, 7)), { kind: 'png', width: 31, height: 7 });
  t.strictSame(readPicture(jpeg(640, 480)), { kind: 'jpeg', width: 640, height: 480 });
  t.strictSame(readPicture(GIF), { kind: 'gif', width: 7, height: 5 });
  t.strictSame(readPicture(WEBP), { kind: 'webp', width: 1, height: 1 });
  t.strictSame(readPicture(LOSSLESS_WEBP), { kind: 'webp', width: 1, height: 1 });
});

t.test('a picture that is cut off anywhere is refused', async (t) => {
  for (const [kind, whole] of Object.entries(KINDS)) {
    for (let length = 0; length < whole.length; length++)
      if (!('problem' in readPicture(whole.subarray(0, length)))) t.fail(`${kind} cut after ${length} bytes`);
    t.match(readPicture(whole.subarray(0, -1)), { problem: /cut off/ }, kind);
  }
});

t.test('a file that is something else behind the end of the picture is refused', async (t) => {
  for (const [kind, whole] of Object.entries(KINDS)) {
    const polyglot = Buffer.concat([whole, Buffer.from('<script>alert(1)</script>')]);
    t.match(readPicture(polyglot), { problem: /other data after the end/ }, kind);
  }
});

t.test('an SVG is refused with the reason, and so is everything that is no picture', async (t) => {
  for (const svg of ['<svg xmlns="http://www.w3.org/2000/svg"/>', '<?xml version="1.0"?>\n<!-- x -->\n<SVG>'])
    for (const encoding of ['utf8', 'utf16le'] as const)
      t.match(readPicture(Buffer.from(svg, encoding)), { problem: /is an SVG.*PNG/ }, `${svg} ${encoding}`);
  for (const brand of ['heic', 'mif1', 'avif'])
    t.match(readPicture(Buffer.from(`\0\0\0\x18ftyp${brand}\0\0`, 'latin1')), { problem: /HEIC or AVIF.*JPEG/ }, brand);
  for (const other of ['', 'GIF', 'GIF89', '%PDF-1.7', '<html><img>', 'BM6\0\0\0', 'RIFF\x04\0\0\0WAVE'])
    t.match(readPicture(Buffer.from(other, 'latin1')), { problem: /must be an image: PNG/ }, other);
});

t.test('a header that lies is refused', async (t) => {
  const damaged = png();
  damaged.writeUInt32BE(9999, 16);
  t.match(readPicture(damaged), { problem: /damaged/ });
  for (const [width, height] of [
    [0, 4],
    [4, 0],
  ] as const)
    t.match(readPicture(jpeg(width, height)), { problem: /damaged/ }, `${width} × ${height}`);
  t.match(readPicture(jpeg(10_001, 1)), { problem: /10001 × 1 pixels/ }, 'too wide');
  t.match(readPicture(jpeg(9000, 9000)), { problem: /too large/ }, 'too many pixels');
  const header = png().subarray(16, 29);
  const end = ['IEND', Buffer.alloc(0)] as const;
  t.match(readPicture(pngOf([['IHDR', header], end])), { problem: /damaged/ });
  t.match(readPicture(pngOf([['tEXt', header], ['IHDR', header], end])), { problem: /damaged/ });
  t.match(readPicture(pngOf([['IHDR', header], ['IHDR', header], end])), { problem: /damaged/ });
  const webp = Buffer.from(WEBP);
  webp.writeUInt32LE(webp.length + 100, 4);
  t.match(readPicture(webp), { problem: /cut off/ });
});

t.test('no file of the largest size is read in more than ten thousand parts', async (t) => {
  const bytes = 5 * MEBIBYTE;
  const part = ['teSt', Buffer.alloc(0)] as const;
  t.match(readPicture(pngOf([['IHDR', png().subarray(16, 29)], ...Array(10_001).fill(part)])), { problem: /damaged/ });
  const extensions = Buffer.alloc(bytes);
  GIF.copy(extensions);
  for (let at = 13; at + 3 <= bytes; at += 3) extensions.set([0x21, 0xf9, 0], at);
  t.match(readPicture(extensions), { problem: /damaged/ });
  const segments = Buffer.alloc(bytes, Buffer.from('ffe00002', 'hex'));
  segments.set([0xff, 0xd8], 0);
  t.match(readPicture(Buffer.concat([segments.subarray(0, 2), segments.subarray(4)])), { problem: /damaged/ });
  t.strictSame(readPicture(largePng(bytes - 1000)), { kind: 'png', width: 4, height: 3 });
});
