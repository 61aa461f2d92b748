/**
 * The warm-up of sender domains over the interface and in the dashboard: who may set it, what is refused, what the
 * report of a mailing says.
 */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { addPerson, callerOf, cookieOf, FROM_PAGE } from '../support/people.ts';

const DAY = 24 * 3_600_000;

async function started(t: Parameters<typeof startApp>[0]) {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const { domains } = (await app.one.call('GET', '/senders/checks')).body.message;
  const domain: string = domains[0].domain;
  const save = (form: Record<string, unknown>, caller = app.one) =>
    caller.call('POST', '/senders/warm-ups/save', { form });
  const list = async (caller = app.one) => (await caller.call('GET', '/senders/warm-ups')).body.message.warm_ups;
  return { app, utr, domain, save, list };
}

t.test('a warm-up begins today with the usual numbers, is changed, and stopped', async (t) => {
  const { app, domain, save, list } = await started(t);
  t.strictSame(await list(), []);
  t.equal((await save({ domain: domain.toUpperCase(), until_volume: 5000 })).status, 200);
  const today = app.clock.now().toISOString().slice(0, 10);
  const begun = {
    domain,
    starts_on: today,
    volume: 50,
    growth: 50,
    until_volume: 5000,
    state: 'on',
    today: 50,
    sent_today: 0,
  };
  t.strictSame(await list(), [{ ...begun, ends_on: '2026-01-27' }]);
  await save({ domain, until_volume: 100, volume: 20, growth: 100, starts_on: '2026-01-16' });
  t.match(await list(), [{ volume: 20, state: 'waiting', today: 0, ends_on: '2026-01-19' }]);
  const stop = () => app.one.call('POST', '/senders/warm-ups/stop', { form: { domain } });
  t.equal((await stop()).status, 200);
  t.strictSame(await list(), []);
  t.equal((await stop()).status, 404);
});

t.test(
  'only for the domain of a sender of the account, with days and numbers that make sense, by owners',
  async (t) => {
    const { app, domain, save, list } = await started(t);
    for (const form of [
      { domain: 'other.example' },
      { domain: '' },
      { domain: '<script>' },
      { domain, starts_on: '2026-02-30' },
      { domain, starts_on: '9999-12-31' },
      { domain, starts_on: '0001-01-01' },
      { domain, volume: 9 },
      { domain, growth: 9 },
      { domain, growth: 101 },
      { domain, until_volume: 50 },
      { domain, until_volume: 1e9 },
    ])
      t.equal((await save({ until_volume: 100, ...form })).status, 422, JSON.stringify(form));
    t.equal((await save({ domain, until_volume: 100 }, app.two)).status, 422, 'it is no sender of theirs');
    for (const role of ['editor', 'viewer'] as const) {
      const caller = callerOf(app, addPerson(app, role));
      t.equal((await save({ domain, until_volume: 100 }, caller)).status, 403);
      t.equal((await caller.call('GET', '/senders/warm-ups')).status, 403);
    }
    await save({ domain, until_volume: 100 });
    t.strictSame(await list(app.two), []);
    t.equal((await app.two.call('POST', '/senders/warm-ups/stop', { form: { domain } })).status, 404);
    t.equal((await list()).length, 1);
  },
);

t.test('transactional mail leaves and counts', async (t) => {
  const { app, domain, save, list } = await started(t);
  await save({ domain, until_volume: 100, volume: 10, growth: 10 });
  for (let nth = 0; nth < 11; nth++) {
    const form = { sender_id: 1, email: `zoe${nth}@example.org`, subject: 'Receipt', template_html: '<p>Paid</p>' };
    const sent = await app.one.call('POST', '/transactional/send', { form });
    t.equal(sent.status, 200, sent.text);
    await app.background();
  }
  t.match(await list(), [{ sent_today: 11, today: 10 }]);
  app.clock.advance(DAY);
  t.match(await list(), [{ sent_today: 0, today: 11 }]);
});

t.test('an owner sets and stops a warm-up on the page of the senders', async (t) => {
  const { app, utr, domain, list } = await started(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'owner', { accountId: 1, name: 'owner' })) };
  const page = async (path = '/settings/senders') => (await app.page('GET', path, { headers })).text;
  t.match(await page(), 'action="/settings/senders/warm-up"');
  const form = { domain, starts_on: '', volume: '50', growth: '50', until_volume: '50' };
  const post = (path: string, form: Record<string, string>) => app.page('POST', path, { headers, form });
  const refused = await post('/settings/senders/warm-up', form);
  t.equal(refused.status, 422);
  t.match(refused.text, 'Enter a number above that of the first day');
  t.equal((await post('/settings/senders/warm-up', { ...form, until_volume: '5000' })).status, 303);
  t.match(await page(), '0 / 50');
  app.db.exec(
    "UPDATE single_sends SET status = 2; UPDATE mailings SET recipients = 400, delivered = 1, finished_at = NULL, state = 'sending' WHERE owner_kind = 'single'",
  );
  const { report } = (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message;
  t.strictSame(report.warm_up, { domain, today: 50, sent_today: 0, waiting: 399, expected_on: '2026-01-18' });
  t.match(
    await page(`/campaigns/${utr}`),
    `${domain} is warming up: at most 50 e-mails today, 0 sent so far. 399 contacts are waiting for campaigns from this domain`,
  );
  t.equal((await post('/settings/senders/warm-up/stop', { domain })).status, 303);
  t.strictSame(await list(), []);
  t.equal((await post('/settings/senders/warm-up/stop', { domain })).status, 404);
});
