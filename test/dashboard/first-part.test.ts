/** The first batch of a campaign in the dashboard: its choice, its progress, and the table of a mailing that is held. */
import t from 'tap';
import { sentence } from '../../src/errors/sentences.ts';
import { stored } from '../../src/errors/stored.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

t.test(
  'a mailing shows its first part, and when it is held what came of it by domain, with both buttons',
  async (t) => {
    const app = await startApp(t);
    const { utr } = await sendCampaign(t, app);
    const id = app.db.prepare("SELECT id FROM mailings WHERE owner_kind = 'single'").pluck().get();
    app.db.exec(
      "UPDATE single_sends SET status = 2; UPDATE mailings SET delivered = 0, finished_at = NULL WHERE owner_kind = 'single'",
    );
    const count = { mails: 50, delivered: 10, bounces: 40, failed: 0, complaints: 0, waiting: 0 };
    const seen = JSON.stringify({
      counted_at: '2026-01-15T09:00:00.000000Z',
      domains: [
        { domain: '<b>.example', ...count, kept: 7 },
        { domain: '', ...count },
      ],
    });
    app.db
      .prepare(
        "INSERT INTO watched_mailings (mailing_id, percent, minutes, stage, size, tried_at, seen) VALUES (?, 1, 30, 'waiting', 300, ?, ?)",
      )
      .run(id, app.clock.now().getTime(), seen);
    const cookie = cookieOf(app, addPerson(app, 'owner', { accountId: 1, name: 'owner' }));
    const page = async () => (await app.page('GET', `/campaigns/${utr}`, { headers: { ...FROM_PAGE, cookie } })).text;
    app.db.exec("UPDATE mailings SET state = 'sending' WHERE owner_kind = 'single'");
    const waiting = await page();
    t.match(waiting, '300 contacts got the campaign in the first batch.');
    t.match(waiting, 'Send to the rest now');
    t.match(waiting, '&lt;b>.example');
    t.match(waiting, 'Other domains');
    t.match(waiting, /In test outbox<\/th>.*&lt;b>\.example.*?<span>3<\/span>.*?<span>7<\/span>/s);
    app.db.exec("UPDATE mailings SET delivered = 1 WHERE owner_kind = 'single'");
    t.match(await page(), '300 e-mails of the first batch were kept in the test outbox.');
    app.db.exec("UPDATE mailings SET delivered = 0 WHERE owner_kind = 'single'");
    app.db
      .prepare(
        "UPDATE mailings SET state = 'held', held_code = 'too_many_bounces', held_reason = ? WHERE owner_kind = 'single'",
      )
      .run(stored(sentence('held_too_many_bounces', { results: 300, bounces: 240 })));
    const held = await page();
    t.match(held, 'Of the first 300 e-mails, 240 bounced.');
    t.match(held, 'Nobody else gets the campaign while it is paused.');
    t.match(held, /40<span[^>]*> \(80%\)/, 'with their share of the mails');
    t.match(held, new RegExp(`action="/campaigns/${utr}/resume"><button[^>]*>.*Resume for`));
    t.match(held, `action="/campaigns/${utr}/resume"`);
    t.match(held, `action="/campaigns/${utr}/cancel"`);
    app.db.exec("UPDATE users SET language = 'de'");
    t.match(await page(), 'Von den ersten 300 Mails waren 240 Bounces.');
  },
);

t.test('the schedule of a mailing to many offers the first part, and that to few does not', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const cookie = cookieOf(app, addPerson(app, 'owner', { accountId: 1, name: 'owner' }));
  const headers = { ...FROM_PAGE, cookie };
  const copy = await app.one.call('POST', '/single/send/duplicate', { query: { utr } });
  const draft = new URLSearchParams(String(copy.headers.location).split('?')[1]).get('utr') ?? '';
  const path = `/campaigns/${draft}/edit/schedule`;
  t.notMatch((await app.page('GET', path, { headers })).text, 'first_now');
  addReaders(app);
  const { text } = await app.page('GET', path, { headers });
  t.match(text, /name="first_now"/);
  t.match(text, '1% first: 300 contacts');
  const unchanged = /name="unchanged_since" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const form = { when: 'now', first_now: '3', unchanged_since: unchanged };
  t.equal((await app.page('POST', path, { headers, form })).status, 303);
  t.match((await app.one.call('GET', '/single-send/draft', { query: { utr: draft } })).body.message.draft, {
    status: 1,
    canary_percent: 3,
  });
});

t.test('an owner has every mailing held when its results are bad, in the settings and while composing', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const copy = await app.one.call('POST', '/single/send/duplicate', { query: { utr } });
  const draft = new URLSearchParams(String(copy.headers.location).split('?')[1]).get('utr') ?? '';
  const [settings, schedule] = ['/settings/returns', `/campaigns/${draft}/edit/schedule`];
  const as = (role: 'owner' | 'editor') => {
    const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, role, { name: role })) };
    return {
      read: async (path: string) => (await app.page('GET', path, { headers })).text,
      choose: (form: Record<string, string>) => app.page('POST', '/settings/returns/hold', { headers, form }),
    };
  };
  const [owner, editor] = [as('owner'), as('editor')];
  const isOn = async () => (await app.one.call('GET', '/sending/limits')).body.message.limits.auto_hold;
  t.notMatch(await owner.read(schedule), 'Auto-pause', 'too few people to be held');
  addReaders(app);
  t.match(await editor.read(schedule), /Only campaigns with a first batch.*complaints: more than 0.1%, at least 5/s);
  t.notMatch(await editor.read(schedule), '/settings/returns/hold');
  t.equal((await editor.choose({ auto_hold: '1' })).status, 403);
  t.equal(await isOn(), 0, 'an editor changes nothing');

  t.match(await owner.read(schedule), /name="utr" value="[^"]+".*Turn on for every campaign/s);
  const back = await owner.choose({ auto_hold: '1', utr: draft });
  t.strictSame([back.status, back.headers.location, await isOn()], [303, schedule, 1]);
  t.match(await owner.read(schedule), 'Every campaign pauses automatically');
  const off = await owner.choose({ auto_hold: '0' });
  t.strictSame([off.headers.location, await isOn()], [settings, 0]);
  t.match(await owner.read(settings), 'Turn on for every campaign');
  const elsewhere = await owner.choose({ auto_hold: '1', utr: '/evil.example/' });
  t.equal(elsewhere.headers.location, '/campaigns/%2Fevil.example%2F/edit/schedule', 'it leads to no other site');
});

/** Adds as many people as a first part needs. */
function addReaders(app: TestApp): void {
  app.db.exec(`
    WITH RECURSIVE n(at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM n WHERE at + 1 < 2000)
      INSERT INTO addresses (user_id, normalized_email) SELECT 1, 'p' || at || '@many.example' FROM n;
    INSERT INTO contacts (user_id, contact_type_id, address_id, first_name, email, country_id, created_at, updated_at)
      SELECT 1, 1, id, 'P', normalized_email, 1, '', '' FROM addresses WHERE normalized_email GLOB 'p*@many.example'`);
}
