/** Reads an uploaded CSV file: encoding, delimiter and header first, then its rows in batches. */
import { type Detected, decode, detectEncoding, type Encoding } from './csv-decode.ts';
import { type CsvBatch, CsvError, CsvParser, type Delimiter } from './csv-parse.ts';

/** Opens the file from its beginning, as `() => createReadStream(path)`. */
export type OpenCsv = () => AsyncIterable<Buffer>;

export interface Csv {
  header: string[];
  encoding: Encoding;
  delimiter: Delimiter;
  /** What the owner should be told about how the file was read. */
  notes: string[];
  /** The rows after the header, about a chunk of the file at a time. Throws a `CsvError` where the file breaks a bound. */
  batches(): AsyncGenerator<CsvBatch>;
}

const DELIMITERS: readonly Delimiter[] = [',', ';', '\t'];
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
  const delimiter = detectDelimiter(head.text);
  return {
    header: readHeader(head, delimiter),
    encoding: detected.encoding,
    delimiter,
    notes: detected.encoding === 'windows-1252' ? ['The file is not valid UTF-8, so it was read as Windows-1252.'] : [],
    batches: () => readBatches(open, detected, delimiter),
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

/** The candidate most frequent outside quotes in the first line that is not blank; a comma before a semicolon before a tab. */
function detectDelimiter(head: string): Delimiter {
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

function readHeader(head: Head, delimiter: Delimiter): string[] {
  const parser = new CsvParser(delimiter);
  const batches = [parser.push(head.text)];
  if (head.whole) batches.push(parser.end());
  const [header] = batches.flatMap((batch) => batch.rows);
  const [line = Number.POSITIVE_INFINITY] = batches.flatMap((batch) => batch.lines);
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

async function* readBatches(open: OpenCsv, detected: Detected, delimiter: Delimiter): AsyncGenerator<CsvBatch> {
  const parser = new CsvParser(delimiter);
  let headerRead = false;
  const withoutHeader = (batch: CsvBatch): CsvBatch => {
    if (!headerRead && batch.rows.length > 0) {
      headerRead = true;
      batch.rows.shift();
      batch.lines.shift();
    }
    return batch;
  };
  for await (const text of decode(open(), detected)) yield withoutHeader(parser.push(text));
  yield withoutHeader(parser.end());
}
