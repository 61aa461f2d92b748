/** Writes to many single sends with large contents: in turns, and finished after a kill. */
import { eq } from 'drizzle-orm';
import t from 'tap';
import { finishLargeWrites, recordHold } from '../../src/campaigns/large-writes.ts';
import { singleSends } from '../../src/database/schema/index.ts';
import { inTransaction } from '../../src/database/transaction.ts';
import { holdFor } from '../../src/delivery/queue/holds.ts';
import { countsDuring } from '../support/counts-during.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import { createSend, RECALL, readyToSend, sendDetails } from '../support/single-sends.ts';

const LATER = { schedule_type: 1, schedule_date: '2026-03-01', schedule_time: '10:00' };
const SENDS = 12;

t.test('single sends with large contents are held, hidden and deleted in turns, not in one', async (t) => {
  const { app, body } = await readyToSend(t);
  const template_html = `<p>${'lorem ipsum '.repeat(150_000)}</p>`;
  const strIds: string[] = [];
  for (let at = 0; at < SENDS; at++) strIds.push(await createSend(app, { ...body, ...LATER, template_html }));
  for (const [what, statement, request] of [
    [
      'held',
      'SELECT count(*) FROM single_sends WHERE status = 0',
      () => app.one.call('DELETE', '/contacts-type/delete', { query: { contact_type_id: 1 } }),
    ],
    [
      'hidden',
      'SELECT count(*) FROM single_sends WHERE hidden_at IS NOT NULL',
      () => app.one.call('POST', '/single/send/hide', { json: { strIds, is_hidden: 1 } }),
    ],
    [
      'deleted',
      `SELECT ${SENDS} - count(*) FROM single_sends`,
      () => app.one.call('POST', '/single/send/bulk-delete', { json: { strIds } }),
    ],
  ] as const) {
    const { status, counts } = await countsDuring(app, statement, request());
    t.equal(status, 200);
    t.equal(app.db.prepare(statement).pluck().get(), SENDS, `all are ${what} once it is answered`);
    t.ok(counts.size > 2, `${what}: ${[...counts]} between its turns`);
  }
  t.equal(app.db.prepare('SELECT count(*) FROM unfinished_writes').pluck().get(), 0);
});

t.test('drafts with large contents are deleted in turns, except one that is scheduled meanwhile', async (t) => {
  const { app, body } = await readyToSend(t);
  const template_html = `<p>${'lorem ipsum '.repeat(150_000)}</p>`;
  const strIds: string[] = [];
  for (let at = 0; at < SENDS; at++) strIds.push(await createSend(app, { ...body, ...LATER, template_html }));
  app.db.exec('UPDATE single_sends SET status = 0');
  // The first deletion schedules the last draft, as a request between two turns does.
  app.db.exec(
    `CREATE TEMP TRIGGER scheduled AFTER DELETE ON main.single_sends WHEN old.id = 1 BEGIN UPDATE single_sends SET status = 1 WHERE id = ${SENDS}; END`,
  );
  const request = app.page('POST', '/campaigns/actions', {
    headers: { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) },
    form: [['action', 'delete'], ['sure', '1'], ...strIds.map((utr): [string, string] => ['ids', utr])],
  });
  const { status, counts } = await countsDuring(app, 'SELECT count(*) FROM single_sends', request);
  t.equal(status, 303);
  t.strictSame(app.db.prepare('SELECT id FROM single_sends').pluck().all(), [SENDS]);
  t.ok(counts.size > 2, `${[...counts]} between its turns`);
});

t.test('a send that is to be held does not start before it is held', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, body);
  inTransaction(app.drizzle, () =>
    recordHold(app.drizzle, eq(singleSends.sender_id, 1), holdFor('sender_deleted'), '2026-01-15T09:00:01.000000Z'),
  );
  app.clock.advance(RECALL);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 1 });
  await finishLargeWrites(app.drizzle);
  t.match(await sendDetails(app, utr), { status: 0 });
});

t.test('the next start finishes what a kill interrupted, and leaves what was changed since', async (t) => {
  const { app, body } = await readyToSend(t);
  const [one, two, three] = [
    await createSend(app, { ...body, ...LATER }),
    await createSend(app, { ...body, ...LATER }),
    await createSend(app, { ...body, ...LATER }),
  ] as const;
  inTransaction(app.drizzle, () =>
    recordHold(app.drizzle, eq(singleSends.sender_id, 1), holdFor('sender_deleted'), '2026-01-15T09:00:01.000000Z'),
  );
  app.clock.advance(1000);
  await app.one.call('POST', '/single/send/update', { form: { ...body, ...LATER, utr: two } });
  await finishLargeWrites(app.drizzle);
  t.match(await sendDetails(app, one), { status: 0 });
  t.match(await sendDetails(app, two), { status: 1 });
  const report = await app.one.call('GET', '/single-send/report', { query: { utr: one } });
  t.match(report.body.message.report, { held_code: 'sender_deleted', held_reason: 'The sender was deleted' });

  app.db.exec(`INSERT INTO unfinished_writes (kind, given)
    SELECT 'delete-sends', json_group_array(json_object('id', id, 'updated_at', updated_at)) FROM single_sends`);
  app.clock.advance(1000);
  await app.one.call('POST', '/single/send/update', { form: { ...body, ...LATER, utr: two } });
  await finishLargeWrites(app.drizzle);
  t.strictSame(app.db.prepare('SELECT utr FROM single_sends').pluck().all(), [two], `not ${one} and ${three}`);
  t.equal(app.db.prepare('SELECT count(*) FROM unfinished_writes').pluck().get(), 0);
});
