/** No cell of an export runs as a formula in a spreadsheet. */
import fc from 'fast-check';
import { writeToString } from 'fast-csv';
import t from 'tap';
import { escapeFormula, unescapeFormula } from '../../src/audience/csv-write.ts';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { anyTable, anyText, write } from './import/csv-files.ts';

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

t.test('a formula behind a NUL character, which is left out, is escaped', async (t) => {
  t.equal(await write(['\0=a'], [['\0=1+1', 'a;\0-1', '\0\0@x']]), `"'=a"\r\n'=1+1,a;'-1,'@x\r\n`);
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Readers' });
  await must('/custom-fields/save', { field_name: 'company', field_type: 'text' });
  const contact = { contact_type_id: 1, email: 'a@example.org', country: 1, 'custom_field[company]': '\0=1+1' };
  await must('/contacts/add', contact);
  const { text } = await app.one.call('GET', '/contacts/export', { query: { contact_type_id: 1 } });
  t.match(text, /,'=1\+1/);
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

t.test('a file is the same, byte for byte, as those of earlier releases, which fast-csv wrote', async (t) => {
  const nul = fc.constantFrom('\0', '|', 'a|b');
  const table = fc
    .tuple(anyTable, nul, fc.nat(5))
    .map(([rows, text, at]) => rows.map((row, nth) => (nth === at ? [...row.slice(1), text] : row)));
  await fc.assert(
    fc.asyncProperty(table, async ([header = [], ...rows]) => {
      const written = await writeToString(
        rows.map((row) => row.map(escapeFormula)),
        {
          headers: header.map(escapeFormula),
          alwaysWriteHeaders: true,
          quoteHeaders: true,
          rowDelimiter: '\r\n',
          includeEndRowDelimiter: true,
        },
      );
      t.equal(await write(header, rows), written);
    }),
  );
});
