import { text as textOf } from 'node:stream/consumers';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import t from 'tap';
import { type OpenCsv, readCsv } from '../../../src/audience/import/csv.ts';
import { escapeFormula, unescapeFormula } from '../../../src/audience/import/csv-cell.ts';
import {
  type CsvBatch,
  CsvError,
  CsvParser,
  MAX_CELL,
  MAX_COLUMNS,
  MAX_ROW,
} from '../../../src/audience/import/csv-parse.ts';
import { type CsvValue, csvWriter } from '../../../src/audience/import/csv-write.ts';

const MEBIBYTE = Buffer.alloc(1024 * 1024, 'a');

function file(...chunks: (string | Buffer)[]): OpenCsv {
  return async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  };
}

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

function joined(batches: CsvBatch[]): CsvBatch {
  return {
    rows: batches.flatMap((batch) => batch.rows),
    lines: batches.flatMap((batch) => batch.lines),
    malformed: batches.flatMap((batch) => batch.malformed),
  };
}

async function readAll(open: OpenCsv) {
  const csv = await readCsv(open);
  const batches: CsvBatch[] = [];
  for await (const batch of csv.batches()) batches.push(batch);
  return { ...csv, ...joined(batches) };
}

/** All rows of the text, including the header. */
function parse(...pieces: string[]): CsvBatch {
  const parser = new CsvParser(',');
  return joined([...pieces.map((piece) => parser.push(piece)), parser.end()]);
}

async function write(header: string[], rows: CsvValue[][]): Promise<string> {
  const writer = csvWriter(header);
  for (const row of rows) writer.write(row);
  writer.end();
  return textOf(writer);
}

function chunked(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...chunks, bytes.subarray(at)];
}

const TELLING = ['"', ',', ';', '\t', '\n', '\r', "'", '=', '+', '-', '@', ' ', 'a', 'é'];
const telling = fc.constantFrom(...TELLING);
const anyCharacter = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 1 })
  .filter((character) => character !== '\0');
const anyText = fc.string({ unit: fc.oneof({ weight: 3, arbitrary: telling }, anyCharacter), maxLength: 12 });
const anySizes = fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 60 });
/** A header and rows of the same width. At least two columns, since a row of one empty cell is a blank line. */
const anyTable = fc
  .integer({ min: 2, max: 5 })
  .chain((width) =>
    fc.array(fc.array(anyText, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 6 }),
  );

t.test('rows and cells (RFC 4180)', async (t) => {
  const cases: [rule: string, text: string, rows: string[][]][] = [
    [
      'a line is a row',
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'the last line needs no end',
      'a,b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['lines end with CRLF', 'a\r\n1\r\n2\r\n', [['a'], ['1'], ['2']]],
    ['lines end with CR', 'a\r1\r2\r', [['a'], ['1'], ['2']]],
    ['line ends may differ within a file', 'a\r1\n2\r\n3', [['a'], ['1'], ['2'], ['3']]],
    ['blank lines are skipped', '\n\r\n\ra\n\n\n1\r\n\r\n', [['a'], ['1']]],
    [
      'empty cells are cells',
      'a,b,c\n,,\n',
      [
        ['a', 'b', 'c'],
        ['', '', ''],
      ],
    ],
    [
      'a delimiter at the end opens a last cell',
      'a,\n1,',
      [
        ['a', ''],
        ['1', ''],
      ],
    ],
    ['rows are as long as they are', 'a,b\n1\n1,2,3', [['a', 'b'], ['1'], ['1', '2', '3']]],
    ['white space is part of a cell', ' a , b\n', [[' a ', ' b']]],
    [
      'quotes are taken off',
      '"a","b"\n"1",2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['doubled quotes are one', '"a ""b"" c",""""\n', [['a "b" c', '"']]],
    ['a quoted empty cell makes a row', 'a\n""\n', [['a'], ['']]],
    ['a quoted cell holds delimiters', '"a,b",c', [['a,b', 'c']]],
    ['a quoted cell keeps line breaks as they are', '"a\r\nb\nc\rd",e', [['a\r\nb\nc\rd', 'e']]],
    ['a quote inside a bare cell is text', '5" pipe,a"b"\n', [['5" pipe', 'a"b"']]],
    ['a quote after a space is text', 'a, "b"\n', [['a', ' "b"']]],
  ];
  for (const [rule, text, rows] of cases) t.same(parse(text).rows, rows, rule);
});

t.test('only the row with text after a closing quote is skipped', async (t) => {
  const { rows, lines, malformed } = parse('a,b\n"1"x,"2\n"3" ,4\n5,6\n7,"8"9');
  t.same(rows, [
    ['a', 'b'],
    ['5', '6'],
  ]);
  t.same(lines, [1, 4]);
  t.same(malformed, [2, 3, 5]);
});

t.test('each row has the number of the line on which it begins', async (t) => {
  const { rows, lines } = parse('a\n\n"b\r\nc\rd\n"\re\r\n\r\n"f', '\r', '\n"\ng');
  t.same(rows, [['a'], ['b\r\nc\rd\n'], ['e'], ['f\r\n'], ['g']]);
  t.same(lines, [1, 3, 7, 9, 11]);
});

t.test('the delimiter is the one the header row uses most outside quotes', async (t) => {
  const cases: [header: string, delimiter: string, cells: string[]][] = [
    ['email,name', ',', ['email', 'name']],
    ['email;name', ';', ['email', 'name']],
    ['email\tname', '\t', ['email', 'name']],
    ['email', ',', ['email']],
    ['\r\n\nemail;name', ';', ['email', 'name']],
    ['"a,b,c";name', ';', ['a,b,c', 'name']],
    ['"a ""quoted"", one, two";name', ';', ['a "quoted", one, two', 'name']],
    ['"a,\n,b";name', ';', ['a,\n,b', 'name']],
    ['5";6";a', ';', ['5"', '6"', 'a']],
    ['a,b;c', ',', ['a', 'b;c']],
  ];
  for (const [header, delimiter, cells] of cases) {
    const csv = await readAll(file(`${header}\n1,2,3,4\n`));
    t.equal(csv.delimiter, delimiter, header);
    t.same(csv.header, cells, header);
    t.equal(csv.rows.length, 1);
  }
});

t.test('the file is read as often as asked, without its header', async (t) => {
  const csv = await readCsv(file('email,na', 'me\na@x.com,A\n'));
  for (let time = 0; time < 2; time++) {
    const batches: CsvBatch[] = [];
    for await (const batch of csv.batches()) batches.push(batch);
    t.same(joined(batches), { rows: [['a@x.com', 'A']], lines: [2], malformed: [] });
  }
});

t.test('encodings', async (t) => {
  const text = 'email,name\r\na@x.com,Zoë € 😀\r\n';
  const rows = [['a@x.com', 'Zoë € 😀']];

  await t.test('UTF-8 and UTF-16 are known by their marks, UTF-8 without one too', async (t) => {
    for (const [encoding, addBOM] of [
      ['utf-8', false],
      ['utf-8', true],
      ['utf-16le', true],
      ['utf-16be', true],
    ] as const) {
      const bytes = iconv.encode(text, encoding, { addBOM });
      for (const chunks of [[bytes], [...bytes].map((byte) => Buffer.of(byte))]) {
        const csv = await readAll(file(...chunks));
        t.equal(csv.encoding, encoding);
        t.same(csv.header, ['email', 'name']);
        t.same(csv.rows, rows);
        t.same(csv.notes, []);
      }
    }
  });

  await t.test('anything else is Windows-1252, and that is noted', async (t) => {
    const bytes = iconv.encode('email,näme\na@x.com,“Zoë” €\n', 'windows-1252');
    const csv = await readAll(file(bytes));
    t.equal(csv.encoding, 'windows-1252');
    t.same(csv.header, ['email', 'näme']);
    t.same(csv.rows, [['a@x.com', '“Zoë” €']]);
    t.same(csv.notes, ['The file is not valid UTF-8, so it was read as Windows-1252.']);
  });

  await t.test('one late byte decides for the whole file', async (t) => {
    const many = 'a@x.com,Zo\u00eb\n'.repeat(20_000);
    const csv = await readAll(file(Buffer.from(`email,name\n${many}`), Buffer.of(0x61, 0xe4, 0x0a)));
    t.equal(csv.encoding, 'windows-1252');
    t.same(csv.rows[0], ['a@x.com', 'ZoÃ«']);
    t.same(csv.rows.at(-1), ['aä']);
  });

  await t.test('a character cut off by the end of the file is not UTF-8', async (t) => {
    t.equal((await readAll(file('email\na', Buffer.of(0xc3)))).encoding, 'windows-1252');
    t.equal((await readAll(file('email\na', Buffer.of(0xf0, 0x9f), Buffer.of(0x98)))).encoding, 'windows-1252');
  });

  await t.test('a UTF-8 mark before other bytes does not become part of the header', async (t) => {
    const csv = await readAll(file(Buffer.of(0xef, 0xbb), Buffer.of(0xbf), 'email\n', Buffer.of(0xe4)));
    t.equal(csv.encoding, 'windows-1252');
    t.same(csv.header, ['email']);
  });

  await t.test('half a surrogate pair becomes a replacement character', async (t) => {
    const csv = await readAll(file(Buffer.from('\ufeffemail\na\ud800b\n', 'utf16le')));
    t.same(csv.rows, [['a\ufffdb']]);
  });
});

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
  for (const [name, open, message] of cases) await t.rejects(readAll(open), { constructor: CsvError, message }, name);
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

t.test('cells that a spreadsheet would run as formulas are escaped', async (t) => {
  for (const first of ['=', '+', '-', '@', '\t', '\r']) {
    t.equal(escapeFormula(`${first}1`), `'${first}1`);
    t.equal(unescapeFormula(`'${first}1`), `${first}1`);
  }
  t.equal(escapeFormula("'=1"), "''=1", 'what looks neutralised gets one more');
  t.equal(unescapeFormula("''=1"), "'=1");
  for (const plain of ['', 'a=1', ' =1', "'tis", "'", "''", '1-2', 'a; b', 'a\r\nb', 'one\n\ntwo']) {
    t.equal(escapeFormula(plain), plain);
    t.equal(unescapeFormula(plain), plain);
  }
  t.equal(unescapeFormula('+49 30'), '+49 30', "a cell of somebody else's file stays");
  t.equal(
    await write(
      ['=a', 'b'],
      [
        ['=1+1', -5],
        ['x', null],
      ],
    ),
    `"'=a","b"\r\n'=1+1,'-5\r\nx,\r\n`,
  );
  t.equal(await write(['a', 'b'], []), '"a","b"\r\n', 'the header is there without rows');
});

t.test('property: what is written is read again, in any encoding and any chunks', async () => {
  const encodings = fc.constantFrom('utf-8' as const, 'utf-16le' as const, 'utf-16be' as const);
  await fc.assert(
    fc.asyncProperty(
      anyTable,
      encodings,
      fc.boolean(),
      anySizes,
      async ([header = [], ...rows], encoding, mark, sizes) => {
        const bytes = iconv.encode(await write(header, rows), encoding, { addBOM: mark || encoding !== 'utf-8' });
        const csv = await readAll(file(...chunked(bytes, sizes)));
        return JSON.stringify([csv.header, csv.rows, csv.malformed]) === JSON.stringify([header, rows, []]);
      },
    ),
    { numRuns: 300 },
  );
});

t.test('property: what is written in Windows-1252 is read again', async () => {
  const letters = fc.string({ unit: fc.constantFrom(...TELLING, 'ß', '€', '“', 'Ž', 'ÿ'), maxLength: 8 });
  const rows = fc.array(fc.tuple(letters, letters), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(rows, anySizes, async (rows, sizes) => {
      const bytes = iconv.encode(await write(['prénom', 'b'], rows), 'windows-1252');
      const csv = await readAll(file(...chunked(bytes, sizes)));
      return csv.encoding === 'windows-1252' && JSON.stringify(csv.rows) === JSON.stringify(rows);
    }),
  );
});

t.test('property: any text, in whatever pieces, gives the same rows or the same refusal', async () => {
  const text = fc.string({ unit: telling, maxLength: 60 });
  const outcome = (...pieces: string[]) => {
    try {
      return JSON.stringify(parse(...pieces));
    } catch (error) {
      if (error instanceof CsvError) return error.message;
      throw error;
    }
  };
  fc.assert(
    fc.property(text, anySizes, (text, sizes) => {
      const pieces: string[] = [];
      let at = 0;
      for (const size of sizes) {
        pieces.push(text.slice(at, at + size));
        at += size;
      }
      return outcome(text) === outcome(...pieces, text.slice(at));
    }),
    { numRuns: 2000 },
  );
});

t.test('property: any bytes give rows or a CsvError', async () => {
  const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(...Buffer.from('",;\t\r\n=a')));
  await fc.assert(
    fc.asyncProperty(fc.array(byte, { maxLength: 40 }), anySizes, async (bytes, sizes) => {
      await readAll(file(...chunked(Buffer.from(bytes), sizes))).catch((error) => {
        if (!(error instanceof CsvError)) throw error;
      });
    }),
    { numRuns: 1000 },
  );
});

t.test('property: unescaping gives back every escaped cell', async () => {
  fc.assert(
    fc.property(anyText, (cell) => {
      const safe = escapeFormula(cell);
      return unescapeFormula(safe) === cell && !/^[=+\-@\t\r]/.test(safe);
    }),
    { numRuns: 1000 },
  );
});

t.test('property: no cell begins a formula, also where a spreadsheet separates by semicolon or tab', async () => {
  await fc.assert(
    fc.asyncProperty(anyTable, async ([header = [], ...rows]) => {
      const text = await write(header, rows);
      // However such a spreadsheet reads quotes, a field can only begin after a separator or a line break.
      return text
        .split(/[;\t\r\n]/)
        .every((field) => !/^["']*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(field.replace(/^"?'/, 'x')));
    }),
    { numRuns: 500 },
  );
});

t.test('a formula after a semicolon, tab or line break within a cell is escaped too', async (t) => {
  for (const [cell, safe] of [
    ['a;=1+2', "a;'=1+2"],
    [';=1', ";'=1"],
    ['a;"=1"', `a;'"=1"`],
    ["a;'=1", "a;''=1"],
    ['a\t@x', "a\t'@x"],
    ['a\r\n-1', "a\r\n'-1"],
    ['\t=1', "'\t'=1"],
    ['\uff1d1+2', "'\uff1d1+2"],
    ['"=1"', `'"=1"`],
  ] as const) {
    t.equal(escapeFormula(cell), safe);
    t.equal(unescapeFormula(safe), cell);
  }
});

t.test('sep= in the first line sets the delimiter and is not a row', async (t) => {
  for (const delimiter of [',', ';', '\t', '|', ':']) {
    const other = delimiter === ';' ? ',' : ';';
    const rows = [`email${delimiter}a${other}b${other}c`, '', `x@example.org${delimiter}1`];
    for (const line of ['sep=', 'SEP=']) {
      const csv = await readAll(file(`${line}${delimiter}\r\n${rows.join('\r\n')}`));
      t.same(csv.header, ['email', `a${other}b${other}c`], JSON.stringify(delimiter));
      t.same(csv.rows, [['x@example.org', '1']]);
      t.same(csv.lines, [4], 'lines are those of the file');
    }
  }
  const marked = Buffer.concat([Buffer.of(0xff, 0xfe), iconv.encode('sep=;\nemail;b\n1;2', 'utf-16le')]);
  t.same((await readAll(file(marked))).rows, [['1', '2']]);
  t.same((await readAll(file('sep=;\nemail;"a\nb"\n1;2'))).header, ['email', 'a\nb']);
  t.same((await readAll(file('sep,email\n1,2'))).header, ['sep', 'email'], 'a column of that name is a column');
  for (const line of ['sep=', 'sep=""', 'sep=ab', 'sep="'])
    await t.rejects(readCsv(file(`${line}\na,b\n`)), { message: /^Line 1: .*sep=/ });
  await t.rejects(readCsv(file('sep=;\n')), { message: 'The file is empty.' });
});
