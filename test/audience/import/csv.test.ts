/** The encodings of a CSV file. */
import fc from 'fast-check';
import iconv from 'iconv-lite';
import t from 'tap';
import { anySizes, anyTable, chunked, file, readAll, TELLING, write } from './csv-files.ts';

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
    t.same(csv.notes, [':file_windows']);
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
