/** Turns at the write lock: announced requests go first, and nothing a request does keeps a bulk writer off for good. */
import { getEnvironmentData } from 'node:worker_threads';
import t from 'tap';
import { inChunks } from '../../src/database/bulk.ts';
import {
  endedWrites,
  isOtherThreadWaiting,
  letOthersWrite,
  withAnnouncedWrite,
} from '../../src/database/write-turns.ts';
import { startApp } from '../support/app.ts';

/** What another thread sees and writes: the memory as `setEnvironmentData` hands it on. */
const shared = new Int32Array(getEnvironmentData('sendlark turns') as SharedArrayBuffer);
const otherAnnounces = () => Atomics.add(shared, 0, 1);
const otherIsOver = () => {
  Atomics.add(shared, 1, 1);
  Atomics.sub(shared, 0, 1);
};
const open = () => Atomics.load(shared, 0);

t.test('a write of another thread is waited for, one of this thread is not', async (t) => {
  t.notOk(isOtherThreadWaiting());
  withAnnouncedWrite(() => t.notOk(isOtherThreadWaiting()));
  t.equal(open(), 0);
  otherAnnounces();
  t.ok(isOtherThreadWaiting());
  let goesOn = false;
  const waiting = letOthersWrite(0).then(() => {
    goesOn = true;
  });
  t.notOk(goesOn);
  otherIsOver();
  await waiting;
  t.notOk(isOtherThreadWaiting());
});

t.test('a write that fails counts as ended', async (t) => {
  const before = endedWrites();
  t.throws(() =>
    withAnnouncedWrite(() => {
      throw new Error('disk full');
    }),
  );
  t.equal(open(), 0);
  t.equal(endedWrites(), before + 1);
});

t.test('an announced write that never comes does not keep a bulk writer off for good', async (t) => {
  otherAnnounces();
  const { db } = await startApp(t);
  db.exec('CREATE TABLE numbers (n INTEGER PRIMARY KEY)');
  const insert = db.prepare('INSERT INTO numbers DEFAULT VALUES');
  let written = 0;
  await inChunks(db, (rows) => {
    for (let row = 0; row < rows; row++) insert.run();
    written += rows;
    return written < 5000;
  });
  otherIsOver();
  t.equal(db.prepare('SELECT count(*) FROM numbers').pluck().get(), written);
});

t.test('a request that may write is announced until it is answered, whatever the answer; reading is not', async (t) => {
  const { one, anonymous, page } = await startApp(t);
  const cost = async (call: () => Promise<{ status: number }>) => {
    const before = endedWrites();
    const { status } = await call();
    t.equal(open(), 0);
    return [status, endedWrites() - before];
  };
  const add = (name: string) => one.call('POST', '/contacts-type/add', { form: { name } });
  t.strictSame(await cost(() => add('Readers')), [200, 1]);
  t.strictSame(await cost(() => add('')), [422, 0]);
  t.strictSame(await cost(() => anonymous.call('POST', '/contacts-type/add')), [401, 0]);
  t.strictSame(await cost(() => one.call('GET', '/contacts-type')), [200, 0]);
  t.strictSame(await cost(() => one.call('POST', '/no-such-thing')), [404, 0]);
  t.equal((await cost(() => page('POST', '/u/no-token')))[1], 1);
  const file = { filename: 'a.csv', content: 'email\na@example.com\n' };
  const multipart: [string, string | typeof file][] = [
    ['contact_type_id', '1'],
    ['file', file],
  ];
  t.strictSame(await cost(() => one.call('POST', '/contacts/upload-csv', { multipart })), [200, 0]);
});
