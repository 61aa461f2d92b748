/** Rows and cells of a CSV file, whichever delimiter it has and in whatever pieces it comes. */
import fc from 'fast-check';
import iconv from 'iconv-lite';
import t from 'tap';
import { readCsv } from '../../../src/audience/import/csv.ts';
import { type CsvBatch, CsvError } from '../../../src/audience/import/csv-parse.ts';
import { anySizes, chunked, file, joined, parse, readAll, telling } from './csv-files.ts';

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

t.test('titles above a header row with an e-mail address are no rows, and are noted', async (t) => {
  const titled = 'Customers of the shop;;\nAs of 30.11.2026;;\n;;\nE-Mail;Name;City\nada@example.org;Ada;Kiel\n';
  const csv = await readAll(file(titled));
  t.strictSame(csv.header, ['E-Mail', 'Name', 'City']);
  t.match(csv.notes, [/file_titles.*3/]);
  t.strictSame([csv.rows, csv.lines], [[['ada@example.org', 'Ada', 'Kiel']], [5]]);
  for (const title of ['Customers', 'Customers, as of November, all', 'Customers, all;;'])
    t.equal((await readCsv(file(`${title}\nName;E-Mail\nAda;ada@example.org\n`))).delimiter, ';', title);
  for (const first of ['email;;', 'Mail;;', 'List;of;people'])
    t.strictSame((await readCsv(file(`${first}\nemail;b;c\n`))).header, first.split(';'), first);
});

t.test('the file is read as often as asked, without its header', async (t) => {
  const csv = await readCsv(file('email,na', 'me\na@x.com,A\n'));
  for (let time = 0; time < 2; time++) {
    const batches: CsvBatch[] = [];
    for await (const batch of csv.batches()) batches.push(batch);
    t.same(joined(batches), { rows: [['a@x.com', 'A']], lines: [2], malformed: [] });
  }
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
