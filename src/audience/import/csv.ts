/** Reads an uploaded CSV file: encoding, delimiter and header first, then its rows in batches. */

import { SENTENCES } from '../../errors/sentences.ts';
import { type Detected, decode, detectEncoding, type Encoding } from './csv-decode.ts';
import { type CsvBatch, CsvError, CsvParser } from './csv-parse.ts';

/** Opens the file from its beginning, for example `() => createReadStream(path)`. */
export type OpenCsv = () => AsyncIterable<Buffer>;

export interface Csv {
  header: string[];
  encoding: Encoding;
  /** One character. */
  delimiter: string;
  /** Notes for the owner about how the file was read. */
  notes: string[];
  /** The rows after the header, about a chunk of the file at a time. Throws a `CsvError` when the file exceeds a limit. */
  batches(): AsyncGenerator<CsvBatch>;
}

const DELIMITERS = [',', ';', '\t'];
/** The header row, with any blank lines before it, ends within this many characters. */
const HEAD_CHARACTERS = 65_536;

/**
 * Opens the file three times: all of it to detect the encoding, its beginning for the delimiter and header, and all of it again for
 * the rows when `batches` is called. The first pass is cheap, since it only checks for valid UTF-8, and nothing is kept in between.
 * Throws a `CsvError` for an archive, NUL characters, or a missing or malformed header row.
 */
export async function readCsv(open: OpenCsv): Promise<Csv> {
  const detected = await detectEncoding(open());
  const head = await readHead(decode(open(), detected));
  const named = namedDelimiter(head.text);
  const shape = { delimiter: named ?? detectDelimiter(head.text), headerRow: named === null ? 0 : 1 };
  return {
    header: readHeader(head, shape),
    encoding: detected.encoding,
    delimiter: shape.delimiter,
    notes: detected.encoding === 'windows-1252' ? [SENTENCES.file_windows] : [],
    batches: () => readBatches(open, detected, shape),
  };
}

interface Head {
  text: string;
  /** Whether `text` is the whole file. */
  whole: boolean;
}

async function readHead(pieces: AsyncIterable<string>): Promise<Head> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length > HEAD_CHARACTERS) return { text: text.slice(0, HEAD_CHARACTERS), whole: false };
  }
  return { text, whole: true };
}

/** The delimiter, and the index of the header row: 0, or 1 when the first line is `sep=`. */
interface Shape {
  delimiter: string;
  headerRow: number;
}

/** The delimiter named by a first line such as `sep=;`, which spreadsheets write and read; null when there is no such line. */
function namedDelimiter(head: string): string | null {
  const line = /^sep=([^\r\n]*)(?=[\r\n]|$)/i.exec(head)?.[1];
  if (line === undefined) return null;
  if (/^[^"\w]$/.test(line)) return line;
  throw new CsvError(1, 'The line sep= names no delimiter: one character that is no letter, digit or quote.');
}

/** The candidate that is most frequent outside quotes in the first line that is not blank. Ties go to the comma, then the semicolon. */
function detectDelimiter(head: string): string {
  const counts = DELIMITERS.map((delimiter) => ({ delimiter, count: 0 }));
  let quoted = false;
  let bare = false;
  for (const character of head.replace(/^[\r\n]+/, '')) {
    if (character === '"' && !bare) quoted = !quoted;
    if (quoted || character === '"') continue;
    if (character === '\n' || character === '\r') break;
    const candidate = counts.find(({ delimiter }) => delimiter === character);
    if (candidate !== undefined) candidate.count++;
    bare = candidate === undefined;
  }
  return counts.reduce((most, next) => (next.count > most.count ? next : most)).delimiter;
}

function readHeader(head: Head, { delimiter, headerRow }: Shape): string[] {
  const parser = new CsvParser(delimiter);
  const batches = [parser.push(head.text)];
  if (head.whole) batches.push(parser.end());
  const header = batches.flatMap((batch) => batch.rows)[headerRow];
  const line = batches.flatMap((batch) => batch.lines)[headerRow] ?? Number.POSITIVE_INFINITY;
  const [malformed] = batches.flatMap((batch) => batch.malformed);
  if (malformed !== undefined && malformed < line) {
    throw new CsvError(malformed, 'Text follows a closing quote in the header row.');
  }
  if (header !== undefined) return header;
  throw new CsvError(
    null,
    head.whole ? SENTENCES.file_empty : `The header row does not end within ${HEAD_CHARACTERS} characters.`,
  );
}

async function* readBatches(open: OpenCsv, detected: Detected, shape: Shape): AsyncGenerator<CsvBatch> {
  const parser = new CsvParser(shape.delimiter);
  let toDrop = shape.headerRow + 1;
  const withoutHeader = (batch: CsvBatch): CsvBatch => {
    const dropped = Math.min(toDrop, batch.rows.length);
    toDrop -= dropped;
    batch.rows.splice(0, dropped);
    batch.lines.splice(0, dropped);
    return batch;
  };
  for await (const text of decode(open(), detected)) yield withoutHeader(parser.push(text));
  yield withoutHeader(parser.end());
}
