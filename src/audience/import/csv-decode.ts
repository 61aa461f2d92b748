/** Decodes an uploaded CSV file: detects its encoding and gives its text without the byte order mark. */
import { isUtf8 } from 'node:buffer';
import { CsvError } from './csv-parse.ts';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

export interface Detected {
  encoding: Encoding;
  /** The length of the byte order mark in bytes. */
  mark: number;
}

const MARKS: readonly { encoding: Encoding; mark: Buffer }[] = [
  { encoding: 'utf-8', mark: Buffer.of(0xef, 0xbb, 0xbf) },
  { encoding: 'utf-16le', mark: Buffer.of(0xff, 0xfe) },
  { encoding: 'utf-16be', mark: Buffer.of(0xfe, 0xff) },
];

const NOT_CSV: readonly { magic: Buffer; name: string }[] = [
  { magic: Buffer.from('PK\x03\x04'), name: 'a ZIP archive or an Excel workbook (.xlsx)' },
  { magic: Buffer.from('PK\x05\x06'), name: 'an empty ZIP archive' },
  { magic: Buffer.of(0x1f, 0x8b), name: 'a gzip archive' },
  { magic: Buffer.of(0xd0, 0xcf, 0x11, 0xe0), name: 'an Excel workbook (.xls)' },
];

const HEAD_BYTES = 4;

/**
 * Detects the encoding of a file: UTF-16 by its byte order mark, UTF-8 (with or without a mark) when every byte is valid UTF-8, else
 * Windows-1252. Reads the file to its end, since a single late byte can rule UTF-8 out, and holds one chunk of it at a time.
 * Throws a `CsvError` for an archive or a workbook.
 */
export async function detectEncoding(bytes: AsyncIterable<Buffer>): Promise<Detected> {
  let head = Buffer.alloc(0);
  let unfinished = Buffer.alloc(0);
  let valid = true;
  for await (const chunk of bytes) {
    if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)]);
    if (valid) {
      const piece = unfinished.length > 0 ? Buffer.concat([unfinished, chunk]) : chunk;
      const end = endOfWholeCharacters(piece);
      valid = isUtf8(piece.subarray(0, end));
      unfinished = Buffer.from(piece.subarray(end));
    }
    if (!valid && head.length === HEAD_BYTES) break;
  }
  for (const { magic, name } of NOT_CSV) {
    if (startsWith(head, magic)) throw new CsvError(null, `The file is ${name}, not a CSV file.`);
  }
  const marked = MARKS.find(({ mark }) => startsWith(head, mark));
  const mark = marked?.mark.length ?? 0;
  if (marked !== undefined && marked.encoding !== 'utf-8') return { encoding: marked.encoding, mark };
  return { encoding: valid && unfinished.length === 0 ? 'utf-8' : 'windows-1252', mark };
}

/** The text of a file, a piece for each of its chunks. Throws a `CsvError` at a NUL character, which no CSV file contains. */
export async function* decode(bytes: AsyncIterable<Buffer>, { encoding, mark }: Detected): AsyncGenerator<string> {
  const decoder = await createDecoder(encoding);
  let skip = mark;
  for await (const chunk of bytes) {
    const skipped = Math.min(skip, chunk.length);
    skip -= skipped;
    yield withoutNul(decoder.write(chunk.subarray(skipped)));
  }
  yield withoutNul(decoder.end());
}

interface Decoder {
  write(bytes: Buffer): string;
  end(): string;
}

/**
 * Uses TextDecoder for UTF-16, because it replaces lone surrogates, and iconv-lite for the rest, because its strings take one byte
 * per character where they can and it decodes 0x80 in Windows-1252 as €.
 */
async function createDecoder(encoding: Encoding): Promise<Decoder> {
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    const decoder = new TextDecoder(encoding, { ignoreBOM: true });
    return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
  }
  // Imported only here, because its tables of other encodings take 1 MB.
  const { default: iconv } = await import('iconv-lite');
  const decoder = iconv.getDecoder(encoding, { stripBOM: false });
  return { write: (bytes) => decoder.write(bytes), end: () => decoder.end() ?? '' };
}

function withoutNul(text: string): string {
  if (text.includes('\0'))
    throw new CsvError(
      null,
      'The file contains NUL characters: it is not a CSV file, or UTF-16 without a byte order mark.',
    );
  return text;
}

function startsWith(bytes: Buffer, beginning: Buffer): boolean {
  return bytes.subarray(0, beginning.length).equals(beginning);
}

/** The index of the UTF-8 sequence that the end of the piece cuts off; the length of the piece if it cuts none. */
function endOfWholeCharacters(piece: Buffer): number {
  for (let back = 1; back <= Math.min(3, piece.length); back++) {
    const byte = piece[piece.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? piece.length - back : piece.length;
  }
  return piece.length;
}
