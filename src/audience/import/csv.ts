/** Reads an uploaded CSV file: encoding, delimiter and header first, then its rows in batches. */
import { type Detected, decode, detectEncoding, type Encoding } from './csv-decode.ts';
import { type CsvBatch, CsvError, CsvParser } from './csv-parse.ts';

/** Opens the file from its beginning, as `() => createReadStream(path)`. */
export type OpenCsv = () => AsyncIterable<Buffer>;

export interface Csv {
  header: string[];
  encoding: Encoding;
  /** One character. */
  delimiter: string;
  /** What the owner should be told about how the file was read. */
  notes: string[];
  /** The rows after the header, about a chunk of the file at a time. Throws a `CsvError` where the file breaks a bound. */
  batches(): AsyncGenerator<CsvBatch>;
}

const DELIMITERS = [',', ';', '\t'];
/** The header row, with any blank lines before it, ends within this many characters. */
const HEAD_CHARACTERS = 65_536;

/**
 * Opens the file three times: whole for its encoding, its beginning for delimiter and header, whole for the rows when `batches` is
 * called. The first pass costs little (it only validates) and nothing is held between them.
 * Throws a `CsvError` for what is no CSV: an archive, NUL characters, no or a malformed header row (decisions §2 "CSV import").
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
    notes: detected.encoding === 'windows-1252' ? ['The file is not valid UTF-8, so it was read as Windows-1252.'] : [],
    batches: () => readBatches(open, detected, shape),
  };
}

interface Head {
  text: string;
  /** Whether this is the whole file. */
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

/** How the rows of a file are read; the header row is the first, or the second after a line `sep=`. */
interface Shape {
  delimiter: string;
  headerRow: number;
}

/** The delimiter that a first line such as `sep=;` names, which spreadsheets write and read; null when there is none. */
function namedDelimiter(head: string): string | null {
  const line = /^sep=([^\r\n]*)(?=[\r\n]|$)/i.exec(head)?.[1];
  if (line === undefined) return null;
  if (/^[^"\w]$/.test(line)) return line;
  throw new CsvError(1, 'The line sep= names no delimiter: one character that is no letter, digit or quote.');
}

/** The candidate most frequent outside quotes in the first line that is not blank; a comma before a semicolon before a tab. */
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
    head.whole ? 'The file is empty.' : `The header row does not end within ${HEAD_CHARACTERS} characters.`,
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
