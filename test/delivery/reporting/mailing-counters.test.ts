/** The counters of reasons, hours and links, beside a count of the ledger and the events. */
import t, { type Test } from 'tap';
import { mailingCounters } from '../../../fixtures/mailing-counters.ts';
import { recordBounce } from '../../../src/delivery/feedback/bounces/record.ts';
import { countUnsubscribe, HitBuffer } from '../../../src/delivery/feedback/opens-and-clicks.ts';
import type { RecipientIds } from '../../../src/delivery/links/tokens.ts';
import { Ledger } from '../../../src/delivery/queue/ledger/ledger.ts';
import { reasonCounter } from '../../../src/delivery/queue/ledger/reason-counts.ts';
import { startApp } from '../../support/app.ts';
import {
  ACCEPTED,
  DAY,
  HOUR,
  LATER,
  REFUSED,
  type Shop,
  startSend,
  startSeries,
  startShop,
  UNKNOWN,
} from '../../support/shop.ts';

const HTML =
  '<p>Hello ((first_name)) <a href="https://shop.example/a">a</a> <a href="https://shop.example/b">b</a></p>';

/** Compares every counter with the rows that it counts. */
function compare(t: Test, { app }: Shop, when: string): void {
  for (const { name, kept, right } of mailingCounters(app.db)) t.strictSame(kept, right, `${name}, ${when}`);
}

function recipients({ app }: Shop): (RecipientIds & { state: number })[] {
  return app.db
    .prepare<[], RecipientIds & { state: number }>(`
      SELECT d.id AS delivery, mailing_id AS mailing, address_id AS address, 1 AS "group", m.user_id AS user, normalized_email AS email, d.state
      FROM deliveries d JOIN mailings m ON m.id = mailing_id JOIN addresses a ON a.id = address_id
      WHERE owner_kind = 'single' ORDER BY d.id`)
    .all();
}

t.test('counters stay what a count of the ledger and the events gives, whatever happens to a mailing', async (t) => {
  const shop = await startShop(t);
  const { app, relay, act, post } = shop;
  const names = Array.from({ length: 40 }, (_, at) => `r${at}`);
  await shop.import(names);
  await post('/global-unsubscribes/save', { email_address: 'r0@example.org' });
  const answers = [ACCEPTED, LATER, UNKNOWN, ACCEPTED, REFUSED];
  let tries = 0;
  relay.answer = (to) => {
    const outcome = answers[Number(/\d+/.exec(to)) % answers.length] ?? ACCEPTED;
    return { ...outcome, reply: `${outcome.reply} (id ${1_000_000 + tries++}, see <${to}>)` };
  };
  const utr = await startSend(shop, { template_html: HTML });
  compare(t, shop, 'after the first try');
  const { report } = await shop.get('/single-send/report', { utr });
  t.match(report.reasons, [
    { state: 'queued', count: 8, reason: '451 4.3.0 not now (id …, see <address>)' },
    { state: 'bounced', count: 8 },
    { state: 'failed', count: 8 },
    { state: 'suppressed', count: 1 },
  ]);
  await shop.pass(HOUR);
  compare(t, shop, 'after further tries');

  const hits = new HitBuffer(app.db);
  const accepted = recipients(shop).filter(({ state }) => state === 2);
  const now = app.clock.now().getTime();
  for (const [at, ids] of accepted.entries()) {
    hits.add({ ids, link: null, at: now + at * 600_000, reader: at % 3 === 0 ? 'machine' : 'person' });
    if (at % 2 === 0)
      hits.add({ ids, link: (at / 2) % 2, at: now + at * 600_000, reader: at % 4 === 0 ? 'machine' : 'person' });
  }
  while (hits.flush(now));
  compare(t, shop, 'after opens and clicks');
  for (const ids of accepted.slice(0, 2)) countUnsubscribe(app.db, ids, now);
  const putOff = recipients(shop).find(({ state }) => state === 0);
  for (const ids of [accepted[3], accepted[4], putOff])
    for (const _twice of [1, 2])
      recordBounce(
        app.db,
        { deliveryId: ids?.delivery ?? 0, kind: 'bounce', suppress: false, diagnostic: 'returned: mailbox full' },
        app.clock.now(),
        '',
      );
  compare(t, shop, 'after bounces and unsubscribes');

  const claimed = new Ledger(app.db, 'UTC');
  const steady = Number.MAX_SAFE_INTEGER;
  const { claims } = claimed.claim(
    { id: accepted[0]?.mailing ?? 0, is_canary: 0 },
    { fields: ['email'], tracking: 'person' },
    4,
    steady,
    now,
  );
  t.equal(claims.length, 4);
  compare(t, shop, 'while mails are handed over');
  claimed.requeue(claims.slice(0, 2).map((claim) => ({ claim, due_at: now })));
  compare(t, shop, 'after a hand-off that did not begin');
  claimed.recover(now, false);
  compare(t, shop, 'after a restart');

  const contact = app.db.prepare("SELECT id FROM contacts WHERE email = 'r4@example.org'").pluck().get();
  await post('/contacts/person/erase', { contact_id: contact });
  compare(t, shop, 'after somebody with a reason was erased');
  t.notOk(
    app.db.prepare('SELECT 1 FROM delivery_reasons WHERE count <= 0').get(),
    'nothing is left of a reason that nobody has',
  );
  relay.answer = () => ACCEPTED;
  await shop.pass(DAY);
  compare(t, shop, 'at the end of the mailing');
  await act('/single/send/retry-failed', { utr });
  compare(t, shop, 'after those who failed were queued again');
  await app.background();
  compare(t, shop, 'after they got it');

  relay.answer = () => LATER;
  const cancelled = await startSend(shop);
  await act('/single/send/cancel', { utr: cancelled });
  await shop.pass(HOUR);
  compare(t, shop, 'after a mailing was cancelled');
  const series = await startSeries(shop, { one: 0 });
  await shop.add('late');
  await app.background();
  compare(t, shop, 'while a mail of an automation is put off');
  const { automation_schedules: mails } = await shop.get('/automations/schedule', { utr: series.utr });
  await post('/automations/schedule/design/update', { utr: mails[0].utr, template_html: HTML }).catch(() => undefined);
  await shop.pass(HOUR);
  compare(t, shop, 'after the mail was redesigned');
});

t.test('a mailing has so many reasons; later ones count as others, and each leaves where it was counted', async (t) => {
  const { db } = await startApp(t);
  const count = reasonCounter(db);
  const reply = (at: number) =>
    `550 ${String.fromCharCode(97 + (at % 26), 97 + (Math.floor(at / 26) % 26), 97 + Math.floor(at / 676))}`;
  const change = (at: number, by: number) => ({ mailing_id: 1, state: 3, reply: reply(at), by });
  const everybody = Array.from({ length: 1200 }, (_, at) => at);
  count(everybody.map((at) => change(at, 2)));
  const other = db.prepare<[], number>("SELECT count FROM delivery_reasons WHERE reason = ':other_replies'").pluck();
  t.equal(db.prepare('SELECT count(*) FROM delivery_reasons').pluck().get(), 1001);
  t.equal(other.get(), 400);
  count(everybody.map((at) => change(at, -1)));
  t.equal(db.prepare('SELECT sum(count) FROM delivery_reasons').pluck().get(), 1200);
  t.equal(other.get(), 200);
  count(everybody.map((at) => change(at, -1)));
  t.equal(db.prepare('SELECT count(*) FROM delivery_reasons').pluck().get(), 0);
});
