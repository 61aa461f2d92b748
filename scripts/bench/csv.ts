/**
 * Measures how many rows a second our CSV reader parses, beside fast-csv, Papa Parse and uDSV on the same file.
 *
 *   npm run bench:csv -- [rows]
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { parseStream } from 'fast-csv';
import Papa from 'papaparse';
import { inferSchema, initParser, type Parser } from 'udsv';
import { readCsv } from '../../src/audience/import/csv.ts';
import { CsvParser } from '../../src/audience/import/csv-parse.ts';
import { report, type Table } from './report.ts';

const ROUNDS = 3;

async function main(): Promise<void> {
  const rows = Number(process.argv[2] ?? 1_000_000);
  const folder = await mkdtemp(join(tmpdir(), 'sendlark-bench-'));
  try {
    const path = join(folder, 'contacts.csv');
    await pipeline(Readable.from(contacts(rows)), createWriteStream(path));
    const bytes = (await stat(path)).size;
    const readers = {
      'fast-csv': readWithFastCsv,
      'Papa Parse': readWithPapaParse,
      uDSV: readWithUdsv,
      'ours, parser alone': readWithOurParser,
      'ours, with encoding and delimiter found out': readWithOurs,
    };
    const table: Table = {};
    let slowest = 0;
    for (const [name, read] of Object.entries(readers)) {
      const figures = await best(rows, () => read(path));
      slowest ||= figures['CPU µs/row'];
      table[name] = { ...figures, 'CPU ratio': Number((slowest / figures['CPU µs/row']).toFixed(1)) };
    }
    report(table, [`${rows} rows of 8 columns, ${(bytes / 1e6).toFixed(0)} MB; best of ${ROUNDS} rounds each`]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Yields the lines of a CSV file. One cell in eight is quoted and one row in ten has a letter outside ASCII, as in a real list. */
function* contacts(rows: number): Generator<string> {
  yield 'email,first_name,last_name,country,city,address_line1,postal_code,company_name\n';
  for (let row = 0; row < rows; row++) {
    const city = row % 10 === 0 ? 'Köln' : 'Berlin';
    yield `person${row}@example${row % 997}.com,John${row % 89},Smith${row % 9973},Germany,${city},"Main Street ${row % 499}, 2",${10000 + (row % 90000)},Company ${row % 5003}\n`;
  }
}

async function readWithFastCsv(path: string): Promise<number> {
  let rows = 0;
  const stream = parseStream(createReadStream(path), { headers: false }).on('data', () => rows++);
  await finished(stream);
  return rows - 1;
}

function readWithPapaParse(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let rows = 0;
    Papa.parse<string[]>(createReadStream(path, 'utf8'), {
      delimiter: ',',
      skipEmptyLines: true,
      chunk: ({ data }) => {
        rows += data.length;
      },
      complete: () => resolve(rows - 1),
      error: reject,
    });
  });
}

async function readWithUdsv(path: string): Promise<number> {
  let rows = 0;
  let parser: Parser | null = null;
  for await (const text of createReadStream(path, 'utf8')) {
    parser ??= initParser(inferSchema(text));
    parser.chunk<string[]>(text, parser.stringArrs, () => {
      rows++;
    });
  }
  parser?.end();
  return rows;
}

async function readWithOurParser(path: string): Promise<number> {
  let rows = 0;
  const parser = new CsvParser(',');
  for await (const text of createReadStream(path, 'utf8')) rows += parser.push(text).rows.length;
  return rows + parser.end().rows.length - 1;
}

async function readWithOurs(path: string): Promise<number> {
  let rows = 0;
  const csv = await readCsv(() => createReadStream(path));
  for await (const batch of csv.batches()) rows += batch.rows.length;
  return rows;
}

/** Returns the best figures of some rounds. Throws if a round has not read all rows. */
async function best(rows: number, read: () => Promise<number>) {
  let seconds = Number.POSITIVE_INFINITY;
  let cpuMicros = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    const cpu = process.cpuUsage();
    const readRows = await read();
    const { user, system } = process.cpuUsage(cpu);
    if (readRows !== rows) throw new Error(`${readRows} rows read, ${rows} written`);
    seconds = Math.min(seconds, (performance.now() - started) / 1000);
    cpuMicros = Math.min(cpuMicros, user + system);
  }
  return { 'rows/s': Math.round(rows / seconds), 'CPU µs/row': Number((cpuMicros / rows).toFixed(2)) };
}

await main();
