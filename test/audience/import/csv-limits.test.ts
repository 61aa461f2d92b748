/** What is no CSV file or too large is refused, early and with a message. */
import t from 'tap';
import { type OpenCsv, readCsv } from '../../../src/audience/import/csv.ts';
import { CsvError, MAX_CELL, MAX_COLUMNS, MAX_ROW } from '../../../src/audience/import/csv-parse.ts';
import { Sentence } from '../../../src/errors/sentences.ts';
import { file, parse, readAll } from './csv-files.ts';

const MEBIBYTE = Buffer.alloc(1024 * 1024, 'a');

/** A file that counts how many of its chunks have been read each time it was opened. */
function counted(chunks: () => Iterable<Buffer>) {
  const given: number[] = [];
  async function* open() {
    const opening = given.push(0) - 1;
    for (const chunk of chunks()) {
      given[opening] = (given[opening] ?? 0) + 1;
      yield chunk;
    }
  }
  return { open, given };
}

function* gigabyte(beginning: string): Generator<Buffer> {
  yield Buffer.from(beginning);
  for (let chunk = 0; chunk < 1024; chunk++) yield MEBIBYTE;
}

t.test('a file that is not CSV is refused with a message', async (t) => {
  const cases: [name: string, open: OpenCsv, message: RegExp][] = [
    ['a ZIP archive or workbook', file('PK\x03\x04\x14\x00\x06'), /Excel workbook \(\.xlsx\), not a CSV/],
    ['an archive in single bytes', file('P', 'K', '\x03', '\x04', 'x'), /ZIP archive/],
    ['an empty ZIP archive', file('PK\x05\x06\x00\x00'), /empty ZIP archive/],
    ['a gzip archive', file(Buffer.of(0x1f, 0x8b, 8, 0)), /gzip/],
    ['an old workbook', file(Buffer.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1)), /\(\.xls\)/],
    ['NUL in the header', file('em\0ail\na'), /NUL/],
    ['NUL in a row', file('email\n', 'a@x.com\n\0'), /NUL/],
    ['UTF-16 without a mark', file(Buffer.from('email\na@x.com\n', 'utf16le')), /UTF-16 without a byte order mark/],
    ['UTF-32', file(Buffer.of(0xff, 0xfe, 0, 0, 0x61, 0, 0, 0)), /NUL/],
    ['an empty file', file(), /The file is empty/],
    ['a file of blank lines', file('\r\n\r\n'), /The file is empty/],
    ['a file of a mark alone', file(Buffer.of(0xef, 0xbb, 0xbf)), /The file is empty/],
    ['a malformed header', file('\n"email"x,name\na,b\n'), /^Line 2: Text follows a closing quote in the header/],
    ['a malformed header alone', file('"email"x'), /^Line 1: Text follows/],
    ['an unclosed quote', file('email\na@x.com\n"b@x.com\nc@x.com\n'), /^Line 3: A quote is opened but never closed/],
  ];
  for (const [name, open, message] of cases) {
    // With a code, so that pages show it in their language.
    const said = { values: message.source.startsWith('^Line') ? { text: Sentence } : {}, code: String };
    await t.rejects(readAll(open), { constructor: CsvError, message, said }, name);
  }
});

t.test('cells, rows and columns may be exactly as long as the limits', async (t) => {
  t.equal(parse(Array(MAX_COLUMNS).fill('a').join(',')).rows[0]?.length, MAX_COLUMNS);
  t.throws(
    () =>
      parse(
        `a\n${Array(MAX_COLUMNS + 1)
          .fill('a')
          .join(',')}`,
      ),
    /^Line 2: The row has more than 1000 columns/,
  );
  t.equal(parse('a'.repeat(MAX_CELL)).rows[0]?.[0]?.length, MAX_CELL);
  t.equal(parse(`"${'""'.repeat(MAX_CELL)}"`).rows[0]?.[0]?.length, MAX_CELL);
  t.throws(() => parse('a'.repeat(MAX_CELL + 1)), /Line 1: A cell is longer than 65535 characters\./);
  t.throws(() => parse(`"${'a'.repeat(MAX_CELL)}`, 'a'), /or a closing quote is missing/);
  const cells = Array(20).fill('a'.repeat(MAX_ROW / 20));
  t.equal(parse(cells.join(',')).rows.length, 1);
  t.throws(() => parse(`${cells.join(',')},a`), /The row is longer than 1000000 characters/);
});

t.test('a gigabyte is refused after a few chunks of it have been parsed', async (t) => {
  const bare = counted(() => gigabyte(''));
  await t.rejects(readAll(bare.open), /The header row does not end within 65536 characters|A cell is longer/);
  t.equal(bare.given[1], 2, 'one endless line');

  const quoted = counted(() => gigabyte('email\n"'));
  await t.rejects(readAll(quoted.open), /a closing quote is missing/);
  t.same(quoted.given.slice(1), [2, 2], 'an unclosed quote');
});

t.test('ten million columns are refused', async (t) => {
  const commas = Buffer.alloc(10_000_000, ',');
  await t.rejects(readAll(file(commas)), /Line 1: The row has more than 1000 columns/);
  await t.rejects(readAll(file('email\n', commas)), /Line 2: The row has more than 1000 columns/);
});

t.test('the file is read no faster than its rows are consumed', async (t) => {
  const rows = Buffer.from('a@x.com,A\n'.repeat(1000));
  const source = counted(function* () {
    yield Buffer.from('email,name\n');
    for (let chunk = 0; chunk < 50; chunk++) yield rows;
  });
  const batches = (await readCsv(source.open)).batches();
  await batches.next();
  await batches.next();
  t.equal(source.given.at(-1), 2);
  await batches.return(undefined);
});
