/** Large writes in slices, by the time that a slice takes. */
import t, { type Test } from 'tap';
import { upsertAll } from '../../src/audience/contacts/upsert.ts';
import { inSlices } from '../../src/database/bulk.ts';
import { startApp } from '../support/app.ts';

/** Returns the sizes of the slices of each transaction, if a slice takes `ms` for each item. */
function turnsOf(t: Test, items: number, ms: number): number[][] {
  let now = 0;
  t.intercept(performance, 'now', { value: () => now });
  const turns: number[][] = [];
  const step = inSlices(Array(items).fill(0), 100, (some) => {
    turns.at(-1)?.push(some.length);
    now += some.length * ms;
  });
  do turns.push([]);
  while (step());
  return turns;
}

t.test('slices grow while they take little time', async (t) => {
  t.strictSame(turnsOf(t, 400, 0.001), [[1, 2, 4, 8, 16, 32, 64, 100, 100, 73]]);
});

t.test('a slice has one item where an item takes long, and other requests have a turn after each', async (t) => {
  t.strictSame(turnsOf(t, 4, 75), [[1], [1], [1], [1]]);
});

t.test('no items are one empty slice', async (t) => {
  t.strictSame(turnsOf(t, 0, 1), [[0]]);
});

t.test('contacts that take long to write are written in a transaction each', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const client = app.drizzle.$client;
  const contacts = ['ann', 'bo', 'cy'].map((name) => ({ email: `${name}@example.org` }));
  let now = 0;
  let turns = 0;
  t.intercept(performance, 'now', { value: () => (now += 10) });
  t.intercept(client, 'transaction', {
    value: (write: () => boolean) =>
      Object.getPrototypeOf(client).transaction.call(client, () => {
        turns++;
        return write();
      }),
  });
  const outcomes = await upsertAll(app.drizzle, 1, 1, contacts, '2026-01-15T09:00:00.000000Z');
  t.strictSame([turns, outcomes.length], [3, 3]);
});
