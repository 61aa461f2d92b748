/** Why the mail of a campaign waits: each rule with its value, and what would change it. */
import t from 'tap';
import { writePacedGroups } from '../../../src/delivery/pacing/paced-groups.ts';
import { saveWarmUp } from '../../../src/delivery/warm-up/plans.ts';
import { prepareAbTest } from '../../support/ab-tests.ts';
import type { TestApp } from '../../support/app.ts';
import { startSend, startSeries, startShop } from '../../support/shop.ts';
import { RECALL } from '../../support/single-sends.ts';

const MINUTE = 60_000;

/** Returns the rule with this name for a contact, of a campaign or an automation. */
async function ruleOf(app: TestApp, utr: string, email: string, name: string, of = '/single-send/why') {
  const { why } = (await app.one.call('GET', of, { query: { utr, email } })).body.message;
  return why.rules.find(({ rule }: { rule: string }) => rule === name);
}

t.test('a warm-up stops mail when the mails of the day are used up', async (t) => {
  const shop = await startShop(t);
  const { app, add } = shop;
  await add('ann');
  const { utr: series } = await startSeries(shop, { hello: 0 });
  const rule = (utr: string, of?: string) => ruleOf(app, utr, 'ann@example.org', 'warm_up', of);
  t.match(await rule(series, '/automations/why'), { is_met: 1, value: /not being warmed up/, change: null });
  saveWarmUp(app.db, 1, 'example.com', { starts_on: '2026-01-15', volume: 1, growth: 100, until_volume: 100 });
  const utr = await startSend(shop);
  t.match(await rule(utr), {
    is_met: 0,
    value: 'Warm-up of example.com: 1 of at most 1 e-mails today (UTC). The e-mails are spread over the day.',
    change: 'Wait until tomorrow, or change the warm-up.',
  });
  t.match(await rule(series, '/automations/why'), { is_met: 0 });
});

t.test('a limit of the mail provider applies to its own domains, and to the relay it was set for', async (t) => {
  const shop = await startShop(t);
  const { app, add } = shop;
  await add('ann');
  const { utr } = await startSeries(shop, { hello: 0 });
  const now = app.clock.now().getTime();
  const limit = { rate: 0.5, refused: 1, mailings: [], over_at: now + 5 * MINUTE, forgotten_at: now + 60 * MINUTE };
  writePacedGroups(app.db, [
    { relay_id: null, group: 'Google', ...limit },
    { relay_id: 7, group: 'example.org', ...limit },
  ]);
  const rule = (email: string) => ruleOf(app, utr, email, 'pace', '/automations/why');
  t.match(await rule('bo@gmail.com'), {
    is_met: 0,
    value: 'Google asks for fewer e-mails: 30 a minute for now, faster from 2026-01-15 09:05 UTC if it accepts them.',
  });
  t.match(await rule('ann@example.org'), { is_met: 1, value: 'No limit of example.org is known.' });
});

t.test("the recipient's time is given in the recipient's zone, before and after the start", async (t) => {
  const shop = await startShop(t);
  const { app, post } = shop;
  await post('/custom-fields/save', { field_name: 'Time_Zone', field_type: 'text' });
  for (const [name, zone] of [
    ['ny', 'America/New_York'],
    ['none', ''],
  ])
    await post('/contacts/add', {
      ...{ contact_type_id: 1, first_name: name, email: `${name}@example.org`, country: 1 },
      'custom_field[Time_Zone]': zone,
    });
  const when = { schedule_type: 1, schedule_date: '2026-01-15', schedule_time: '11:00' };
  const utr = await startSend(shop, { ...when, local_time: 1 });
  const rule = () => ruleOf(app, utr, 'ny@example.org', 'local_time');
  const expected = {
    is_met: 0,
    value: 'The time of the contact: 2026-01-15 16:00 UTC, which is 11:00 in America/New_York.',
    change: 'Wait for the time of the contact.',
  };
  t.match(await rule(), expected);
  await shop.pass(3 * 60 * MINUTE);
  t.match(await rule(), expected, 'the mail waits in the queue');
  await shop.pass(5 * 60 * MINUTE);
  t.match(await rule(), { is_met: 1, value: 'The scheduled time of the contact has passed.' });
});

t.test('who awaits the winner of an A/B test has no time, and is told so', async (t) => {
  const { app, utr, start } = await prepareAbTest(t);
  await start();
  const emails = Array.from({ length: 200 }, (_, at) => `r${at}@example.org`);
  const waiting = [];
  for (const email of emails.slice(0, 20)) {
    const { why } = (await app.one.call('GET', '/single-send/why', { query: { utr, email } })).body.message;
    if (why.delivery.state === 'queued') waiting.push(why);
  }
  t.ok(waiting.length > 0);
  for (const { delivery, rules } of waiting) {
    t.equal(delivery.due_at, null);
    t.match(
      rules.find(({ rule }: { rule: string }) => rule === 'ab_test'),
      { is_met: 0, value: 'Waits for the winner of the A/B test.' },
    );
  }
});

t.test('the mails that count towards a cap are named, latest first', async (t) => {
  const shop = await startShop(t);
  const { app, post, add } = shop;
  await post('/sending/caps/save', { caps: ['5/7'] });
  await startSeries(shop, { hello: 0 });
  await add('ann');
  await shop.pass(60 * MINUTE);
  const utr = await startSend(shop, { single_send_name: 'Winter' });
  app.clock.advance(RECALL);
  t.match(await ruleOf(app, utr, 'ann@example.org', 'cap'), {
    value: 'E-mails in 7 days: 2 of at most 5.',
    counted_mails: [
      { name: 'Winter', sent_at: /^2026-01-15T10:/ },
      { name: 'Welcome: hello', sent_at: /^2026-01-15T/ },
    ],
  });
});
