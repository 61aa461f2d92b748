/** When the index of the search is written. */
import t from 'tap';
import { countImport } from '../../../src/audience/import/running-imports.ts';
import { continueIndexing, indexedUntil } from '../../../src/audience/search/search-index.ts';
import { startApp, type TestApp } from '../../support/app.ts';

t.test('the index is written in pauses only while an import runs, and at once after it', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const { body } = await app.one.call('GET', '/contacts-type');
  const type = String(body.message.contactTypes[0].id);
  const add = async (email: string) => {
    const form = { contact_type_id: type, email, country: '1' };
    t.equal((await app.one.call('POST', '/contacts/add', { form })).status, 200);
  };
  const { now } = performance;
  t.teardown(() => {
    performance.now = now;
  });
  let time = performance.now();
  performance.now = () => time;
  await add('first@example.org');
  while (await continueIndexing(app.db));
  const worked = indexedUntil(app.db);
  await add('second@example.org');
  await countImport(async () => {
    time += 199;
    t.equal(await continueIndexing(app.db), false);
    t.equal(indexedUntil(app.db), worked);
    time += 1;
    t.equal(await continueIndexing(app.db), false);
    t.ok(indexedUntil(app.db) > worked);
    await add('third@example.org');
    t.equal(await continueIndexing(app.db), false);
    t.equal(indexedUntil(app.db), worked + 1);
  });
  while (await continueIndexing(app.db));
  t.equal(indexedUntil(app.db), worked + 2);
});

t.test('after an erasure the index has no trigram of the person, and keeps those of everybody else', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const own = ['qxj', 'xjv', 'jvw', 'vwz'];
  const has = () => {
    const found = termsOf(app.db);
    return [own.filter((term) => found.has(term)), found.has('per')];
  };
  // Among so many, nothing else has FTS5 merge what one deletion marks.
  const people = Array.from({ length: 800 }, (_, at) => `person${at}@example.org`);
  const multipart: [string, string | { filename: string; content: string }][] = [
    ['contact_type_id', '1'],
    ['file', { filename: 'people.csv', content: ['email', ...people, 'qxjvwz@example.org'].join('\n') }],
  ];
  t.equal((await app.one.call('POST', '/contacts/upload-csv', { multipart })).status, 200);
  while (await continueIndexing(app.db));
  t.strictSame(has(), [own, true]);
  const { status } = await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: 801 } });
  t.equal(status, 200);
  await app.background();
  t.strictSame(has(), [[], true]);
  const found = async (search: string) =>
    (await app.one.call('GET', '/contacts/list', { query: { search } })).body.message.contacts.length;
  t.strictSame([await found('person1'), await found('qxj')], [111, 0]);
});

/**
 * Every term in the pages of the index, of what is deleted, too (SQLite, ext/fts5/fts5_index.c, "segment leaf"). The
 * first byte of a term is the number of its index.
 */
function termsOf(client: TestApp['db']): ReadonlySet<string> {
  const found = new Set<string>();
  const leaves = client
    .prepare<[], Buffer>(
      // The segment is in the bits from 37 on, the level in those from 31 on. Segments from 65536 on say what is deleted.
      'SELECT block FROM contact_search_data WHERE id >= 1 << 37 AND id < 1 << 53 AND (id >> 31) & 63 = 0 ORDER BY id',
    )
    .pluck()
    .all();
  for (const page of leaves) {
    const varint = (from: number): [value: number, next: number] => {
      let value = 0;
      for (let at = from; ; at++) {
        const byte = page.readUInt8(at);
        value = value * 128 + (byte & 127);
        if (byte < 128) return [value, at + 1];
      }
    };
    let term = Buffer.alloc(0);
    let start = 0;
    for (let at = page.readUInt16BE(2); at < page.length; ) {
      const [distance, next] = varint(at);
      at = next;
      const isFirst = start === 0;
      start += distance;
      const [shared, afterShared] = isFirst ? [0, start] : varint(start);
      const [length, text] = varint(afterShared);
      term = Buffer.concat([term.subarray(0, shared), page.subarray(text, text + length)]);
      found.add(term.subarray(1).toString());
    }
  }
  return found;
}
