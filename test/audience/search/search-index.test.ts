/** When the index of the search is written. */
import t from 'tap';
import { countImport } from '../../../src/audience/import/imports-under-way.ts';
import { continueIndexing, indexedUntil } from '../../../src/audience/search/search-index.ts';
import { startApp } from '../../support/app.ts';

t.test('the index is written in pauses only while an import runs, and at once after it', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const { body } = await app.one.call('GET', '/contacts-type');
  const type = String(body.message.contactTypes[0].id);
  const add = async (email: string) => {
    const form = { contact_type_id: type, email, country: '1' };
    t.equal((await app.one.call('POST', '/contacts/add', { form })).status, 200);
  };
  await add('first@example.org');
  while (await continueIndexing(app.db));
  const before = indexedUntil(app.db);
  await add('second@example.org');
  await countImport(async () => {
    t.equal(await continueIndexing(app.db), false);
    t.equal(indexedUntil(app.db), before);
  });
  while (await continueIndexing(app.db));
  t.ok(indexedUntil(app.db) > before);
});
