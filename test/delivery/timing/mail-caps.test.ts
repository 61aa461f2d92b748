/** Frequency caps, from the API to what leaves. */
import t, { type Test } from 'tap';
import { recordBounce } from '../../../src/delivery/feedback/bounces/record.ts';
import { Ledger } from '../../../src/delivery/queue/ledger/ledger.ts';
import type { TestApp } from '../../support/app.ts';
import { DAY, HOUR, mailsInBrief, withWelcomeSeries } from '../../support/automations.ts';
import { createSend, outboxOf, RECALL, readyToSend, sendReport } from '../../support/single-sends.ts';

/** An account of three people with these limits, and single sends to all of them. */
async function limited(t: Test, caps: string[], settings: Record<string, string> = {}) {
  const { app, body } = await readyToSend(t, settings);
  t.equal((await app.one.call('POST', '/sending/caps/save', { form: { caps } })).status, 200);
  const send = async (more: Record<string, unknown> = {}) => {
    const utr = await createSend(app, { ...body, ...more });
    app.clock.advance(RECALL);
    await app.background();
    return utr;
  };
  return { app, body, send };
}

const mailsFor = (app: TestApp, name: string) =>
  outboxOf(app).filter(({ envelope_to: to }) => to.toLowerCase().startsWith(name)).length;

const leftOut = async (app: TestApp, utr: string) =>
  (await app.one.call('GET', '/single-send/audience', { query: { utr } })).body.message.audience.left_out;

t.test('a single send leaves out whoever has had as many mails as are allowed, and says why', async (t) => {
  const { app, send } = await limited(t, ['1/1', '3/7']);
  t.strictSame((await app.one.call('GET', '/sending/caps')).body.message.caps, [
    { mails: 1, days: 1 },
    { mails: 3, days: 7 },
  ]);
  await send();
  t.equal(outboxOf(app).length, 3);
  const second = await send();
  t.equal(outboxOf(app).length, 3, 'no second one on that day');
  const reason = 'frequency cap reached: 1 e-mails on one day';
  t.match(await sendReport(app, second), { status: 3, states: { suppressed: 3 }, reasons: [{ reason, count: 3 }] });
  t.strictSame(await leftOut(app, second), [{ reason, count: 3 }], 'and that is said before');
  const { recipients } = (await app.one.call('GET', '/single-send/recipients', { query: { utr: second } })).body
    .message;
  t.match(recipients[0], { state: 'suppressed', reply: reason });
  for (const day of [2, 3]) {
    app.clock.advance(DAY);
    await send();
    t.equal(outboxOf(app).length, 3 * day, 'another on the next day');
  }
  app.clock.advance(DAY);
  const fourth = await send();
  t.equal(outboxOf(app).length, 9, 'no fourth one within 7 days');
  t.strictSame(await leftOut(app, fourth), [{ reason: 'frequency cap reached: 3 e-mails in 7 days', count: 3 }]);
  app.clock.advance(4 * DAY);
  await send();
  t.equal(outboxOf(app).length, 12);
});

t.test(
  'a day is one of the zone of schedules, so a daily mail may leave a little earlier than the day before',
  async (t) => {
    const { app, send } = await limited(t, ['1/1'], { TIME_ZONE: 'America/New_York' });
    // 9:00 UTC is 4:00 there.
    await send();
    app.clock.advance(19 * HOUR);
    await send();
    t.equal(outboxOf(app).length, 3, '23:00 of the same day');
    app.clock.advance(2 * HOUR);
    await send();
    t.equal(outboxOf(app).length, 6, '1:00 of the next');
  },
);

t.test('a mail that ignores the limits leaves, and counts for the others', async (t) => {
  const { app, send } = await limited(t, ['1/7']);
  const first = await send({ ignores_caps: 1 });
  t.strictSame(await leftOut(app, first), [], 'nobody is left out of it');
  await send({ ignores_caps: 1 });
  t.equal(outboxOf(app).length, 6);
  await send();
  t.equal(outboxOf(app).length, 6);
});

t.test('what was refused, left out or has come back does not count', async (t) => {
  const { app, send } = await limited(t, ['1/7']);
  const first = await send();
  const deliveryId = Number(app.db.prepare('SELECT max(id) FROM deliveries').pluck().get());
  recordBounce(app.db, { deliveryId, kind: 'bounce', suppress: false, diagnostic: '' }, app.clock.now(), '');
  const second = await send();
  t.equal(outboxOf(app).length, 4);
  t.match(await sendReport(app, second), { states: { kept: 1, suppressed: 2 } });
  t.not(first, second);
});

t.test('what people had before there were limits counts, and also while it is still being looked for', async (t) => {
  const { app, body, send } = await limited(t, []);
  const utrs = [await send(), await send()];
  t.equal(outboxOf(app).length, 6);
  await app.one.call('POST', '/sending/caps/save', { form: { caps: ['2/7'] } });
  const reason = 'frequency cap reached: 2 e-mails in 7 days';
  const draft = await createSend(app, body);
  t.strictSame(await leftOut(app, draft), [{ reason, count: 3 }], 'when the request is answered');

  const unmark = (ended: string) =>
    app.db.exec(`UPDATE deliveries SET counts_to_caps = 0;
      UPDATE accounts SET mail_caps_progress = '{"ended":"${ended}","mailing":1000000,"delivery":0}' WHERE id = 1`);
  unmark('9');
  await app.background();
  t.equal(outboxOf(app).length, 6, 'found by the background');
  t.strictSame(app.db.prepare('SELECT mail_caps_progress FROM accounts WHERE id = 1').pluck().get(), null);
  t.strictSame(await leftOut(app, draft), [{ reason, count: 3 }]);

  // One of the mailings once more, with one mail of each person on the other one.
  await app.one.call('POST', '/sending/caps/save', { form: { caps: ['1/7'] } });
  const [mailing] = app.db
    .prepare<[string | undefined], number>(
      "SELECT id FROM mailings WHERE owner_kind = 'single' AND owner_id = (SELECT id FROM single_sends WHERE utr = ?)",
    )
    .pluck()
    .all(utrs[0]);
  app.db.exec(`UPDATE deliveries SET state = 0, attempt = 0, due_at = 0, first_tried_at = NULL WHERE mailing_id = ${mailing};
    UPDATE mailings SET state = 'sending', finished_at = NULL WHERE id = ${mailing}`);
  unmark('');
  const now = app.clock.now().getTime();
  const wanted = { fields: ['first_name'], tracking: 'person' } as const;
  const { claims, examined } = new Ledger(app.db, 'UTC').claim(
    { id: mailing ?? 0, is_canary: 0 },
    wanted,
    10,
    now,
    now,
  );
  t.strictSame({ claims: claims.length, examined }, { claims: 0, examined: 3 }, 'found by the claim');
});

t.test('limits that are taken away and come back count what people had meanwhile', async (t) => {
  const { app, send } = await limited(t, ['1/7']);
  const change = (caps: string | string[]) => app.one.call('POST', '/sending/caps/save', { form: { caps } });
  await change('');
  await send();
  t.equal(outboxOf(app).length, 3);
  await change(['1/7']);
  await send();
  t.equal(outboxOf(app).length, 3);
});

t.test('an account without limits, and another account, are not limited', async (t) => {
  const { app, body } = await readyToSend(t);
  t.strictSame((await app.one.call('GET', '/sending/caps')).body.message.caps, []);
  await app.two.call('POST', '/sending/caps/save', { form: { caps: ['1/31'] } });
  for (const _ of [1, 2]) await createSend(app, body);
  app.clock.advance(RECALL);
  await app.background();
  t.equal(outboxOf(app).length, 6);
});

t.test('two mailings at once: one of them reaches each person', async (t) => {
  const { app, body } = await limited(t, ['1/1']);
  const utrs = [];
  for (const _ of [1, 2, 3]) utrs.push(await createSend(app, body));
  app.clock.advance(RECALL);
  await app.background();
  for (const name of ['ann', 'bob', 'zoe']) t.equal(mailsFor(app, name), 1, name);
  let suppressed = 0;
  for (const utr of utrs) suppressed += (await sendReport(app, utr)).states.suppressed ?? 0;
  t.equal(suppressed, 6);
});

t.test('a mail of an automation waits until the limits allow it, and the next one follows in its order', async (t) => {
  const { app, post, join, pass, live } = await withWelcomeSeries(t);
  await post('/sending/caps/save', { caps: ['1/3'] });
  await live();
  await join('ann');
  await app.background();
  // The second mail is due after 2 days, a day before the limit allows it; the third 12 hours later, three days before.
  await pass(9 * DAY);
  t.strictSame(mailsInBrief(app), ['01-15T09:00 ann one', '01-18T09:00 ann two', '01-21T21:00 ann three']);
});

t.test(
  'a mail of an automation that would wait for more than a week is skipped with the reason, and the series goes on',
  async (t) => {
    const { app, utr, post, get, join, pass, live } = await withWelcomeSeries(t);
    await post('/sending/caps/save', { caps: ['1/20'] });
    await live();
    await join('ann');
    await app.background();
    await pass(3 * DAY);
    t.strictSame(mailsInBrief(app), ['01-15T09:00 ann one']);
    const { report } = (await get('/automations/report', { utr })).body.message;
    t.match(report.people, [{ state: 'finished', count: 1 }], 'who is not sent a mail does not leave');
    const reasons = app.db.prepare('SELECT english(reply) FROM deliveries WHERE state = 5').pluck().all();
    const reason = 'frequency cap reached: 1 e-mails in 20 days';
    t.strictSame(reasons, [reason, reason]);
  },
);

t.test('an automation that ignores the limits goes on', async (t) => {
  const { app, utr, post, join, pass, live } = await withWelcomeSeries(t);
  await post('/sending/caps/save', { caps: ['1/31'] });
  await post('/automations/update', { utr, ignores_caps: 1 });
  await live();
  await join('ann');
  await app.background();
  await pass(3 * DAY);
  t.equal(mailsInBrief(app).length, 3);
});

t.test('what is no limit is refused', async (t) => {
  const { app } = await readyToSend(t);
  for (const caps of [
    ['3'],
    ['0/7'],
    ['3/0'],
    ['51/7'],
    ['3/32'],
    ['-1/7'],
    ['3/7/1'],
    ['1/1', '2/2', '3/3', '4/4'],
    ['٣/٧'],
  ])
    t.equal((await app.one.call('POST', '/sending/caps/save', { form: { caps } })).status, 422, caps.join());
  t.equal((await app.one.call('POST', '/sending/caps/save', { form: { caps: '' } })).status, 200, 'none');
});
