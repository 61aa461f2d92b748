/** CSV files in memory, read and written as the import and the export do, and arbitrary ones. */
import { text as textOf } from 'node:stream/consumers';
import fc from 'fast-check';
import { type CsvValue, csvStream } from '../../../src/audience/csv-write.ts';
import { type OpenCsv, readCsv } from '../../../src/audience/import/csv.ts';
import { type CsvBatch, CsvParser } from '../../../src/audience/import/csv-parse.ts';

/** A file of these chunks. */
export function file(...chunks: (string | Buffer)[]): OpenCsv {
  return async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  };
}

/** Joins batches into one. */
export function joined(batches: CsvBatch[]): CsvBatch {
  return {
    rows: batches.flatMap((batch) => batch.rows),
    lines: batches.flatMap((batch) => batch.lines),
    malformed: batches.flatMap((batch) => batch.malformed),
  };
}

/** Reads a whole file. */
export async function readAll(open: OpenCsv) {
  const csv = await readCsv(open);
  const batches: CsvBatch[] = [];
  for await (const batch of csv.batches()) batches.push(batch);
  return { ...csv, ...joined(batches) };
}

/** All rows of the text, including the header. */
export function parse(...pieces: string[]): CsvBatch {
  const parser = new CsvParser(',');
  return joined([...pieces.map((piece) => parser.push(piece)), parser.end()]);
}

/** The text of a written file. */
export async function write(header: string[], rows: CsvValue[][]): Promise<string> {
  return textOf(csvStream(header, [rows]));
}

/** Bytes in chunks of these sizes, and what is left as the last one. */
export function chunked(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...chunks, bytes.subarray(at)];
}

/** Characters that mean something in a CSV file or a spreadsheet. */
export const TELLING = ['"', ',', ';', '\t', '\n', '\r', "'", '=', '+', '-', '@', ' ', 'a', 'é'];
export const telling = fc.constantFrom(...TELLING);

const anyCharacter = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 1 })
  .filter((character) => character !== '\0');

/** Text with many of the characters of `TELLING`. */
export const anyText = fc.string({ unit: fc.oneof({ weight: 3, arbitrary: telling }, anyCharacter), maxLength: 12 });

/** Sizes of chunks. */
export const anySizes = fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 60 });

/** A header and rows of the same width. At least two columns, since a row of one empty cell is a blank line. */
export const anyTable = fc
  .integer({ min: 2, max: 5 })
  .chain((width) =>
    fc.array(fc.array(anyText, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 6 }),
  );
