/** Requests that name as many people as one may: others are answered meanwhile, and a kill leaves none of them half done. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { finishInterruptedWrites } from '../../src/audience/unfinished-writes.ts';
import { connect, type Db } from '../../src/database/open.ts';
import { type Answer, startApp, type TestApp } from '../support/app.ts';

const PEOPLE = 10_000;
const addresses = Array.from({ length: PEOPLE }, (_, at) => `person${at}@example.com`);

/** The database as a kill would leave it at this moment, opened as the next start opens it. */
function killed(t: Test, { db }: TestApp): Db {
  const path = join(t.testdir(), 'killed.db');
  writeFileSync(path, db.serialize());
  const copy = connect(path);
  t.teardown(() => copy.$client.close());
  return copy;
}

interface Seen {
  answer: Answer;
  /** The file at the first moment at which some of the work was done. */
  copy: Db | undefined;
  /** True if another request was answered while some of the work was done. */
  wasAnswered: boolean;
}

/** Watches a request that changes what `count` gives from one number to another. */
async function watched(t: Test, app: TestApp, request: Promise<Answer>, count: string): Promise<Seen> {
  const counted = app.db.prepare<[], number>(count).pluck();
  const before = counted.get();
  let copy: Db | undefined;
  let wasAnswered = false;
  let answer: Answer | undefined;
  void request.then((given) => {
    answer = given;
  });
  while (answer === undefined) {
    await setImmediate();
    if (copy === undefined && answer === undefined && counted.get() !== before) {
      copy = killed(t, app);
      const { status } = await app.one.call('GET', '/contacts-type');
      wasAnswered = status === 200 && answer === undefined;
    }
  }
  return { answer, copy, wasAnswered };
}

const ON_LIST = 'SELECT count(*) FROM unsubscribers';
const LOGGED = 'SELECT action, count(*) AS people FROM consent_log GROUP BY action ORDER BY action';
const NOTED = 'SELECT count(*) FROM unfinished_writes';
const countIn = ({ $client }: Db, text: string) => $client.prepare(text).pluck().get();

t.test(
  'ten thousand addresses leave a list or join it while others are answered, and a kill leaves none out',
  async (t) => {
    const app = await startApp(t);
    const form = { email_address: addresses.join(',') };
    const save = await watched(t, app, app.one.call('POST', '/global-unsubscribes/save', { form }), ON_LIST);
    t.equal(save.answer.text, '{"status":"success","message":"Added Successfully"}\n');
    t.ok(save.wasAnswered, 'another request was answered in between');
    t.equal(countIn(app.drizzle, ON_LIST), PEOPLE);
    if (save.copy === undefined) throw new Error('all was written at once');
    t.ok(Number(countIn(save.copy, ON_LIST)) < PEOPLE);
    await finishInterruptedWrites(save.copy);
    t.equal(countIn(save.copy, ON_LIST), PEOPLE, 'the next start adds the rest');
    t.strictSame(save.copy.$client.prepare(LOGGED).all(), [{ action: 'unsubscribed', people: PEOPLE }], 'each once');
    t.equal(countIn(save.copy, NOTED), 0);

    const strIds = app.db.prepare<[], number>('SELECT id FROM unsubscribers').pluck().all();
    const remove = app.one.call('POST', '/global-unsubscribes/bulk-delete', { json: { strIds } });
    const removed = await watched(t, app, remove, ON_LIST);
    t.equal(removed.answer.status, 200);
    t.ok(removed.wasAnswered, 'another request was answered in between');
    t.equal(countIn(app.drizzle, ON_LIST), 0);
    if (removed.copy === undefined) throw new Error('all was removed at once');
    t.ok(Number(countIn(removed.copy, ON_LIST)) > 0);
    await finishInterruptedWrites(removed.copy);
    t.equal(countIn(removed.copy, ON_LIST), 0, 'the next start removes the rest');
    const logged = [
      { action: 'resubscribed', people: PEOPLE },
      { action: 'unsubscribed', people: PEOPLE },
    ];
    t.strictSame(removed.copy.$client.prepare(LOGGED).all(), logged, 'each once');
    t.equal(countIn(app.drizzle, NOTED), 0);
  },
);

t.test('one invalid address among ten thousand: none is added', async (t) => {
  const app = await startApp(t);
  const form = { email_address: [...addresses.slice(1), 'nobody@'].join(',') };
  const { status, body } = await app.one.call('POST', '/global-unsubscribes/save', { form });
  t.equal(status, 422);
  t.match(body.errors, { email_address: [/nobody@/] });
  t.equal(countIn(app.drizzle, ON_LIST), 0);
  t.equal(countIn(app.drizzle, NOTED), 0);
});

t.test(
  'ten thousand contacts are deleted while others are answered, all or none, and a kill leaves none',
  async (t) => {
    const app = await startApp(t);
    await app.one.call('POST', '/contacts-type/add', { form: { name: 'Customers' } });
    const file = { filename: 'people.csv', content: `email\n${addresses.join('\n')}\n` };
    await app.one.call('POST', '/contacts/upload-csv', {
      multipart: [
        ['contact_type_id', '1'],
        ['file', file],
      ],
    });
    const live = 'SELECT count(*) FROM contacts WHERE deleted_at IS NULL';
    t.equal(countIn(app.drizzle, live), PEOPLE);
    const strIds = app.db.prepare<[], number>('SELECT id FROM contacts').pluck().all();
    const wrong = await app.one.call('POST', '/contacts/bulk-delete', {
      json: { strIds: [...strIds.slice(1), 999_999] },
    });
    t.strictSame([wrong.status, wrong.body.errors], [404, 'Record Not Found']);
    t.equal(countIn(app.drizzle, live), PEOPLE);

    const request = app.one.call('POST', '/contacts/bulk-delete', { json: { strIds } });
    const { answer, copy, wasAnswered } = await watched(t, app, request, live);
    t.equal(answer.text, '{"status":"success","message":"Deleted Successfully"}\n');
    t.ok(wasAnswered, 'another request was answered in between');
    t.equal(countIn(app.drizzle, live), 0);
    if (copy === undefined) throw new Error('all were deleted at once');
    t.ok(Number(countIn(copy, live)) > 0);
    await finishInterruptedWrites(copy);
    t.equal(countIn(copy, live), 0, 'the next start deletes the rest');
    t.equal(countIn(copy, 'SELECT contacts_count FROM contact_types'), 0);
    t.equal(countIn(copy, NOTED), 0);
  },
);
