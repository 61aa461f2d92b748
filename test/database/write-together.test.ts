/** Small writes of several requests in one transaction: each is answered once it is on the disk, and none changes what another does. */
import Database from 'better-sqlite3';
import t from 'tap';
import { WriteLock } from '../../src/database/write-lock.ts';
import { startApp } from '../support/app.ts';

t.test('a write is answered with its result once another connection sees it', async (t) => {
  const { db, path } = await startApp(t);
  db.exec('CREATE TABLE numbers (n INTEGER)');
  const lock = new WriteLock(db);
  const other = new Database(path);
  t.teardown(() => other.close());
  const seen = other.prepare('SELECT n * 10 FROM numbers WHERE n = ?').pluck();
  const insert = db.prepare('INSERT INTO numbers VALUES (?)');
  await Promise.all(
    [1, 2, 3].map(async (n) => {
      const result = await lock.writeTogether(() => {
        insert.run(n);
        return n * 10;
      }, 1000);
      t.equal(result, n * 10);
      t.equal(seen.get(n), result);
    }),
  );
});

t.test('a write that fails is taken back alone', async (t) => {
  const { db } = await startApp(t);
  db.exec('CREATE TABLE numbers (n INTEGER UNIQUE)');
  const lock = new WriteLock(db);
  const insert = db.prepare('INSERT INTO numbers VALUES (?)');
  const outcomes = await Promise.allSettled([
    lock.writeTogether(() => insert.run(1).changes, 1000),
    lock.writeTogether(() => {
      insert.run(2);
      insert.run(1);
    }, 1000),
    lock.writeTogether(() => insert.run(3).changes, 1000),
  ]);
  t.same(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  t.same(db.prepare('SELECT n FROM numbers ORDER BY n').pluck().all(), [1, 3]);
});

t.test('if the common transaction fails, every write of it fails, and the next one works', async (t) => {
  const { db } = await startApp(t);
  db.exec(`
    CREATE TABLE one (id INTEGER PRIMARY KEY);
    CREATE TABLE numbers (one INTEGER REFERENCES one (id) DEFERRABLE INITIALLY DEFERRED)`);
  const lock = new WriteLock(db);
  const insert = db.prepare('INSERT INTO numbers VALUES (?)');
  // Otherwise a busy machine could let the time for more writes pass after the first one, which would then be committed alone.
  const resume = t.intercept(performance, 'now', { value: () => 0 });
  // The reference is checked at the commit only.
  const outcomes = await Promise.allSettled([null, 7].map((n) => lock.writeTogether(() => insert.run(n), 1000)));
  resume.restore();
  t.same(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  t.equal(db.prepare('SELECT count(*) FROM numbers').pluck().get(), 0);
  t.equal((await lock.writeTogether(() => insert.run(null), 1000)).changes, 1);
});

t.test('writes wait for the lock, each for its own time, and run once it is free', async (t) => {
  const { db, path } = await startApp(t);
  db.exec('CREATE TABLE numbers (n INTEGER)');
  const lock = new WriteLock(db);
  const other = new Database(path);
  t.teardown(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const insert = db.prepare('INSERT INTO numbers VALUES (?)');
  const impatient = lock.writeTogether(() => insert.run(1), 0);
  const patient = lock.writeTogether(() => insert.run(2), 60_000);
  await t.rejects(impatient, { code: 'SQLITE_BUSY' });
  other.exec('COMMIT');
  await patient;
  t.same(db.prepare('SELECT n FROM numbers').pluck().all(), [2]);
});

t.test(
  'of requests that add the same contact at the same time, one adds it and the others are told which it is',
  async (t) => {
    const { one, db } = await startApp(t);
    await one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
    const form = { contact_type_id: 1, email: 'zoe@example.com', country: 1 };
    const answers = await Promise.all(Array.from({ length: 5 }, () => one.call('POST', '/contacts/add', { form })));
    t.same(answers.map(({ status }) => status).sort(), [200, 422, 422, 422, 422]);
    for (const { status, headers, body } of answers) {
      t.equal(headers.location, '/api/contacts/details?contact_id=1');
      if (status === 422) t.same(body.errors, { email: ['The email has already been taken.'] });
    }
    t.equal(db.prepare('SELECT count(*) FROM contacts').pluck().get(), 1);
  },
);
