/** The search of the list of contacts answers as comparing every contact would, by the index where that can, and in short steps. */
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { listSearch } from '../../../src/audience/search/list-search.ts';
import { continueIndexing } from '../../../src/audience/search/search-index.ts';
import { fold } from '../../../src/database/functions/fold.ts';
import { startApp, type TestApp } from '../../support/app.ts';

const NAMES = [
  ['Zoë', 'Müller'],
  ['ANNA', 'van  der\u00a0Berg'],
  ['Иван', 'Петров'],
  ['李', '雷雨 山田'],
  ['Jo', ''],
  ['', 'O’Brien-Smith'],
  ['ΟΔΥΣΣΕΥΣ', 'ΑΣ'],
  ['I\u0307nan', 'e\u0301clair'],
  ['"quoted" OR', 'NEAR(a b)'],
  ['%_\\', "Robert'); DROP TABLE"],
  ['💌💌', '👩‍👩‍👧'],
  ['\ufb01ne', 'STRAẞE ß'],
  ['\u{100000}\u{100000}\u{100001}', '\u0301x'],
  [' spaced ', ' out '],
] as const;
const HOSTILE = [
  '',
  'a',
  '@',
  '.',
  '%',
  '"',
  '*',
  '李',
  '雷雨',
  '山',
  'σ',
  'ς',
  'i̇',
  '\u0301',
  ' der ',
  'r d',
  'ı',
  'xyz',
  '💌',
  '\ufffd',
];

/** Adds contacts of these types in turn; every address has its number. */
async function addPeople(app: TestApp, count: number, types: readonly number[]): Promise<void> {
  const now = '2026-01-01T00:00:00.000000Z';
  const from = Number(app.db.prepare('SELECT count(*) FROM addresses').pluck().get());
  const address = app.db.prepare(
    'INSERT INTO addresses (user_id, normalized_email) VALUES ((SELECT user_id FROM contact_types WHERE id = ?), ?)',
  );
  const contact = app.db.prepare(`
    INSERT INTO contacts (user_id, contact_type_id, address_id, email, first_name, last_name, created_at, updated_at)
    SELECT user_id, id, @address, @email, @first, @last, '${now}', '${now}' FROM contact_types WHERE id = @type`);
  app.db.transaction(() => {
    for (let at = from; at < from + count; at++) {
      const type = types[at % types.length] ?? 1;
      const email = `Person${at}@${at % 3 === 0 ? 'Example.com' : 'a.io'}`;
      const [first, last] = NAMES[(at * 5) % NAMES.length] ?? ['', ''];
      const { lastInsertRowid } = address.run(type, email.toLowerCase());
      contact.run({ address: lastInsertRowid, email, first, last, type });
    }
  })();
}

/** Two types of account one, a deleted one, and one of account two; some contacts are in the index, some changed since, some are newer. */
async function halfIndexed(t: Test): Promise<TestApp> {
  const app = await startApp(t);
  for (const name of ['Customers', 'Readers', 'Gone'])
    await app.one.call('POST', '/contacts-type/add', { form: { name } });
  await app.two.call('POST', '/contacts-type/add', { form: { name: 'Others' } });
  await addPeople(app, 700, [1, 2, 3, 4]);
  while (await continueIndexing(app.db));
  app.db.exec(`UPDATE contacts SET first_name = 'Renamed 雷' WHERE id % 50 < 2; DELETE FROM contacts WHERE id % 91 = 0;
    UPDATE contacts SET deleted_at = created_at WHERE id % 40 = 3; UPDATE contacts SET last_name = 'Zoë' WHERE id = 699`);
  await app.one.call('DELETE', '/contacts-type/delete', { query: { contact_type_id: 3 } });
  await addPeople(app, 203, [1, 2, 4]);
  return app;
}

/** What comparing every contact finds. */
function scanned({ db }: TestApp, text: string, typeId: number | null, after: number, limit: number): number[] {
  return db
    .prepare<unknown[], number>(`
      SELECT c.id FROM contacts c JOIN contact_types t ON t.id = c.contact_type_id
      WHERE c.user_id = (SELECT user_id FROM contact_types WHERE id = 1) AND c.deleted_at IS NULL AND t.deleted_at IS NULL
        AND (@type IS NULL OR t.id = @type) AND c.id > @after
        AND instr(fold(c.email || ' ' || trim(c.first_name || ' ' || c.last_name)), fold(@text)) > 0
      ORDER BY c.id LIMIT @limit`)
    .pluck()
    .all({ text, type: typeId, after, limit });
}

t.test('a search of the list finds the contacts that comparing every one finds, by ascending id', async (t) => {
  const app = await halfIndexed(t);
  const texts = app.db
    .prepare<[], string>("SELECT email || ' ' || trim(first_name || ' ' || last_name) FROM contacts LIMIT 200")
    .pluck()
    .all();
  const piece = fc
    .tuple(fc.constantFrom(...texts), fc.nat(60), fc.integer({ min: 1, max: 12 }), fc.boolean())
    .map(([text, from, length, isUpper]) => {
      const cut = [...text]
        .slice(from % [...text].length)
        .slice(0, length)
        .join('');
      return isUpper ? cut.toUpperCase() : cut;
    });
  const search = fc.oneof(piece, piece, fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 4 }));
  const limits = fc.record({
    type: fc.constantFrom(null, 1, 2, 3, 4),
    after: fc.constantFrom(0, 0, 7, 8, 350, 699, 700, 850),
    limit: fc.constantFrom(1, 7, 10_000),
  });
  let compared = 0;
  const compare = async (
    given: string,
    { type, after, limit }: { type: number | null; after: number; limit: number },
  ) => {
    const query = { search: given, after_id: after, limit, ...(type !== null && { contact_type_id: type }) };
    const { status, body } = await app.one.call('GET', '/contacts/list', { query });
    if (status === 422) return;
    const ids = body.message.contacts.map(({ id }: { id: number }) => id);
    t.strictSame(ids, scanned(app, given.trim(), type, after, limit), JSON.stringify(query));
    compared += ids.length;
  };
  for (const text of HOSTILE) await compare(text, { type: null, after: 0, limit: 10_000 });
  await fc.assert(fc.asyncProperty(search, limits, compare), { numRuns: 400 });
  t.ok(compared > 1000);
});

t.test('every step of a search of the list is short, and the index makes them few', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  await addPeople(app, 9000, [1]);
  const accountId = Number(app.db.prepare('SELECT user_id FROM contact_types').pluck().get());
  /** How many steps it takes until the end, and how many are found. */
  const steps = (text: string) => {
    const find = listSearch(app.db, { accountId, typeId: undefined, text });
    let [taken, found] = [0, 0];
    for (let next: number | null = 0; next !== null; taken++) {
      const step = find(next, 1000);
      found += step.ids.length;
      next = step.next;
    }
    return { taken, found };
  };
  t.ok(steps('person8765').taken >= 5, 'without the index every contact is compared, at most 2000 at once');
  while (await continueIndexing(app.db));
  t.strictSame(steps('person8765@'), { taken: 2, found: 1 });
  t.strictSame(steps('nobody'), { taken: 2, found: 0 });
  for (const text of ['zq', 'w', '9z']) t.strictSame(steps(text), { taken: 2, found: 0 }, `nobody has ${text}`);
  for (const text of ['💌', '1', 'e', 'io'])
    t.equal(steps(text).found, scanned(app, text, null, 0, 10_000).length, text);
  app.db.exec("UPDATE contacts SET email = 'z@example.xw' WHERE id = 8 * 500 + 7");
  while (await continueIndexing(app.db));
  for (const text of ['xw', 'w']) t.strictSame(steps(text), { taken: 2, found: 1 }, `${text} at the end of a block`);
});

t.test('a request that searches the list lets others take their turn after each step', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  await addPeople(app, 9000, [1]);
  let [compared, inTurn, most] = [0, 0, 0];
  app.db.function('fold', { deterministic: true }, (text) => {
    compared++;
    most = Math.max(most, ++inTurn);
    return fold(String(text));
  });
  let turn = setImmediate(function next() {
    inTurn = 0;
    turn = setImmediate(next);
  });
  const { body } = await app.one.call('GET', '/contacts/list', { query: { search: 'zq' } });
  clearImmediate(turn);
  t.strictSame(body.message.contacts, []);
  t.ok(compared >= 9000, 'every contact is compared');
  t.ok(most <= 4000, `${most} at a stretch`);
});
