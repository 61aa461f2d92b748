/** Reads an uploaded CSV file: encoding, delimiter and header first, then its rows in batches. */

import { isUtf8 } from 'node:buffer';
import { type PlainCode, sentence } from '../../errors/sentences.ts';
import { stored } from '../../errors/stored.ts';
import { reservedField } from '../contacts/contact-fields.ts';
import { type CsvBatch, CsvError, CsvParser } from './csv-parse.ts';

/** Opens the file from its beginning, for example `() => createReadStream(path)`. */
export type OpenCsv = () => AsyncIterable<Buffer>;

interface Csv {
  header: string[];
  encoding: Encoding;
  /** One character. */
  delimiter: string;
  /** Notes for the user about how the file was read, in their stored form. */
  notes: string[];
  /** Returns the rows after the header, about a chunk of the file at a time. Throws a `CsvError` if the file exceeds a limit. */
  batches(): AsyncGenerator<CsvBatch>;
}

const DELIMITERS = [',', ';', '\t'];
/** The header row, with any blank lines before it, must end within this number of characters. */
const HEAD_CHARACTERS = 65_536;

/**
 * Opens the file three times: all of it to detect the encoding, its beginning for the delimiter and header, and all of it again
 * for the rows when `batches` is called. The first pass is cheap, because it only checks for valid UTF-8. Throws a `CsvError`
 * for an archive, NUL characters, or a missing or malformed header row.
 */
export async function readCsv(open: OpenCsv): Promise<Csv> {
  const detected = await detectEncoding(open());
  const head = await readHead(decode(open(), detected));
  const named = namedDelimiter(head.text);
  const delimiter = named ?? findDelimiter(head);
  const { header, headerRow, titles } = readHeader(head, { delimiter, headerRow: named === null ? 0 : 1 });
  const dialect = { delimiter, headerRow };
  return {
    header,
    encoding: detected.encoding,
    delimiter,
    notes: [
      ...(detected.encoding === 'windows-1252' ? [stored(sentence('file_windows'))] : []),
      ...(titles > 0 ? [stored(sentence('file_titles', { count: titles }))] : []),
    ],
    batches: () => readBatches(open, detected, dialect),
  };
}

interface Head {
  text: string;
  /** True if `text` is the whole file. */
  isWhole: boolean;
}

async function readHead(pieces: AsyncIterable<string>): Promise<Head> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length > HEAD_CHARACTERS) return { text: text.slice(0, HEAD_CHARACTERS), isWhole: false };
  }
  return { text, isWhole: true };
}

/** How to read the rows of a file. */
interface Dialect {
  delimiter: string;
  /** The index of the header row: the number of rows before it, such as the line `sep=` and titles. */
  headerRow: number;
}

/** Returns the delimiter that a first line such as `sep=;` names, which spreadsheets write and read; null if there is no such line. */
function namedDelimiter(head: string): string | null {
  const delimiter = /^sep=([^\r\n]*)(?=[\r\n]|$)/i.exec(head)?.[1];
  if (delimiter === undefined) return null;
  if (/^[^"\w]$/.test(delimiter)) return delimiter;
  throw new CsvError(1, sentence('file_separator'));
}

/**
 * Returns the delimiter with which the header row names a column with e-mail addresses. If none does, returns the one that the first line
 * suggests, which a title above the header row may lack.
 */
function findDelimiter(head: Head): string {
  const detected = detectDelimiter(head.text);
  const namesEmail = (delimiter: string) => {
    const { rows } = parseHead(head, delimiter);
    return rows[countTitles(rows)]?.some(isEmailHeading) ?? false;
  };
  try {
    return [detected, ...DELIMITERS].find(namesEmail) ?? detected;
  } catch (error) {
    // Reading the header row says what is wrong with the file, if it is no CSV with the detected delimiter either.
    if (error instanceof CsvError) return detected;
    throw error;
  }
}

/**
 * Returns the delimiter that occurs most often outside quotes in the first line that is not blank. If two occur equally often, the comma
 * comes before the semicolon, and the semicolon before the tab.
 */
function detectDelimiter(head: string): string {
  const counts = DELIMITERS.map((delimiter) => ({ delimiter, count: 0 }));
  let isInQuotes = false;
  let isInUnquotedCell = false;
  for (const character of head.replace(/^[\r\n]+/, '')) {
    if (character === '"' && !isInUnquotedCell) isInQuotes = !isInQuotes;
    if (isInQuotes || character === '"') continue;
    if (character === '\n' || character === '\r') break;
    const candidate = counts.find(({ delimiter }) => delimiter === character);
    if (candidate !== undefined) candidate.count++;
    isInUnquotedCell = candidate === undefined;
  }
  return counts.reduce((most, next) => (next.count > most.count ? next : most)).delimiter;
}

/** Returns the header row, its index and how many titles are above it. `headerRow` is the index of the first row that may be the header. */
function readHeader(
  head: Head,
  { delimiter, headerRow: first }: Dialect,
): Pick<Dialect, 'headerRow'> & { header: string[]; titles: number } {
  const { rows, lines, malformed: faults } = parseHead(head, delimiter);
  const titles = countTitles(rows.slice(first));
  const headerRow = first + titles;
  const header = rows[headerRow];
  const line = lines[headerRow] ?? Number.POSITIVE_INFINITY;
  const [malformed] = faults;
  if (malformed !== undefined && malformed < line) {
    throw new CsvError(malformed, sentence('file_header_text'));
  }
  if (header !== undefined) return { header, headerRow, titles };
  throw new CsvError(
    null,
    head.isWhole ? sentence('file_empty') : sentence('file_header_long', { count: HEAD_CHARACTERS }),
  );
}

/** Returns the rows at the beginning of a file, the line of each, and the lines that are malformed. */
function parseHead(head: Head, delimiter: string): Pick<CsvBatch, 'rows' | 'lines' | 'malformed'> {
  const parser = new CsvParser(delimiter);
  const batches = [parser.push(head.text)];
  if (head.isWhole) batches.push(parser.end());
  return {
    rows: batches.flatMap(({ rows }) => rows),
    lines: batches.flatMap(({ lines }) => lines),
    malformed: batches.flatMap(({ malformed }) => malformed),
  };
}

/** The maximum number of titles above a header row. */
const MAX_TITLES = 10;
/** The usual headings of a column with e-mail addresses. */
const EMAIL_HEADINGS = new Set(['email', ...(reservedField('email')?.headings ?? [])].map(comparableHeading));

/**
 * Returns the number of titles above the header row, such as the name of the list and its date in merged cells of a spreadsheet. A title
 * fills one cell at most, and the header names a column with e-mail addresses. If no row does, the first row is the header.
 */
function countTitles(rows: readonly string[][]): number {
  const at = rows.slice(0, MAX_TITLES + 1).findIndex((cells) => cells.some(isEmailHeading));
  const isTitle = (cells: readonly string[]) => cells.filter((cell) => cell.trim() !== '').length <= 1;
  return at > 0 && rows.slice(0, at).every(isTitle) ? at : 0;
}

function isEmailHeading(cell: string): boolean {
  return EMAIL_HEADINGS.has(comparableHeading(cell));
}

/** Returns a heading without case, spaces, hyphens and other signs. */
export function comparableHeading(heading: string): string {
  return heading
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\d]/gu, '');
}

async function* readBatches(open: OpenCsv, detected: DetectedEncoding, dialect: Dialect): AsyncGenerator<CsvBatch> {
  const parser = new CsvParser(dialect.delimiter);
  let rowsToDrop = dialect.headerRow + 1;
  const withoutHeader = (batch: CsvBatch): CsvBatch => {
    const dropped = Math.min(rowsToDrop, batch.rows.length);
    rowsToDrop -= dropped;
    batch.rows.splice(0, dropped);
    batch.lines.splice(0, dropped);
    return batch;
  };
  for await (const text of decode(open(), detected)) yield withoutHeader(parser.push(text));
  yield withoutHeader(parser.end());
}

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

interface DetectedEncoding {
  encoding: Encoding;
  /** The length of the byte order mark in bytes; 0 if there is none. */
  markLength: number;
}

const MARKS: readonly { encoding: Encoding; mark: Buffer }[] = [
  { encoding: 'utf-8', mark: Buffer.of(0xef, 0xbb, 0xbf) },
  { encoding: 'utf-16le', mark: Buffer.of(0xff, 0xfe) },
  { encoding: 'utf-16be', mark: Buffer.of(0xfe, 0xff) },
];

const NOT_CSV: readonly { magic: Buffer; problem: PlainCode }[] = [
  { magic: Buffer.from('PK\x03\x04'), problem: 'file_zip' },
  { magic: Buffer.from('PK\x05\x06'), problem: 'file_zip_empty' },
  { magic: Buffer.of(0x1f, 0x8b), problem: 'file_gzip' },
  { magic: Buffer.of(0xd0, 0xcf, 0x11, 0xe0), problem: 'file_xls' },
];

/** The number of bytes at the beginning of a file that tell a byte order mark or an archive. */
const HEAD_BYTES = 4;

/**
 * Detects the encoding of a file: UTF-16 by its byte order mark, UTF-8 (with or without a mark) if every byte is valid UTF-8,
 * otherwise Windows-1252. Reads the file to its end, because a single late byte can rule UTF-8 out, and holds one chunk of it
 * at a time. Throws a `CsvError` for an archive or a workbook.
 */
async function detectEncoding(bytes: AsyncIterable<Buffer>): Promise<DetectedEncoding> {
  let head = Buffer.alloc(0);
  let unfinished = Buffer.alloc(0);
  let isValid = true;
  for await (const chunk of bytes) {
    if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)]);
    if (isValid) {
      const piece = unfinished.length > 0 ? Buffer.concat([unfinished, chunk]) : chunk;
      const end = endOfWholeCharacters(piece);
      isValid = isUtf8(piece.subarray(0, end));
      unfinished = Buffer.from(piece.subarray(end));
    }
    if (!isValid && head.length === HEAD_BYTES) break;
  }
  for (const { magic, problem } of NOT_CSV) {
    if (startsWith(head, magic)) throw new CsvError(null, sentence(problem));
  }
  const marked = MARKS.find(({ mark }) => startsWith(head, mark));
  const markLength = marked?.mark.length ?? 0;
  if (marked !== undefined && marked.encoding !== 'utf-8') return { encoding: marked.encoding, markLength };
  return { encoding: isValid && unfinished.length === 0 ? 'utf-8' : 'windows-1252', markLength };
}

/** Decodes a file chunk by chunk. Throws a `CsvError` at a NUL character, which no CSV file contains. */
async function* decode(
  bytes: AsyncIterable<Buffer>,
  { encoding, markLength }: DetectedEncoding,
): AsyncGenerator<string> {
  const decoder = await createDecoder(encoding);
  let skip = markLength;
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
 * Returns the decoder of an encoding: TextDecoder for UTF-16, because it replaces lone surrogates; iconv-lite for the rest,
 * because its strings take one byte per character if possible, and because it decodes 0x80 in Windows-1252 as €.
 */
async function createDecoder(encoding: Encoding): Promise<Decoder> {
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    const decoder = new TextDecoder(encoding, { ignoreBOM: true });
    return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
  }
  // The library is imported only here, because its tables of other encodings take 1 MB.
  const { default: iconv } = await import('iconv-lite');
  const decoder = iconv.getDecoder(encoding, { stripBOM: false });
  return { write: (bytes) => decoder.write(bytes), end: () => decoder.end() ?? '' };
}

function withoutNul(text: string): string {
  if (text.includes('\0')) throw new CsvError(null, sentence('file_nul'));
  return text;
}

function startsWith(bytes: Buffer, beginning: Buffer): boolean {
  return bytes.subarray(0, beginning.length).equals(beginning);
}

/** Returns the index of the UTF-8 sequence that the end of the piece cuts off; the length of the piece if it cuts none. */
function endOfWholeCharacters(piece: Buffer): number {
  for (let back = 1; back <= Math.min(3, piece.length); back++) {
    const byte = piece[piece.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    // The first byte of a sequence tells its length.
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? piece.length - back : piece.length;
  }
  return piece.length;
}
