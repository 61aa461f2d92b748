/** Scheduling a mailing by the time zones of its recipients in the dashboard. */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { HOUR } from '../support/automations.ts';
import { sendCampaign } from '../support/campaign.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

/** What the next page is to say, by its key. */
function flashOf({ headers }: { headers: Record<string, unknown> }): unknown {
  const value = /sendlark_flash=([^;]+)/.exec(String(headers['set-cookie']))?.[1] ?? '';
  return JSON.parse(Buffer.from(value, 'base64url').toString());
}

t.test(
  'a mailing is scheduled by the zones of its recipients, and says who they are and whom it waits for',
  async (t) => {
    const app = await startApp(t);
    const { utr } = await sendCampaign(t, app);
    app.db.exec('UPDATE contacts SET country_id = NULL WHERE id = (SELECT min(id) FROM contacts)');
    const owner = addPerson(app, 'owner', { accountId: 1, name: 'owner' });
    const headers = { ...FROM_PAGE, cookie: cookieOf(app, owner) };
    const read = async (path: string) => (await app.page('GET', path, { headers })).text;
    const copy = await app.one.call('POST', '/single/send/duplicate', { query: { utr } });
    const draft = new URLSearchParams(String(copy.headers.location).split('?')[1]).get('utr') ?? '';
    const path = `/campaigns/${draft}/edit/schedule`;
    const send = async (more: Record<string, string>) => {
      const unchanged_since = /name="unchanged_since" value="([^"]+)"/.exec(await read(path))?.[1] ?? '';
      const form = { when: 'later', zone: 'own', unchanged_since, date: '2026-01-20', time: '09:00', ...more };
      return app.page('POST', path, { headers, form });
    };
    t.match(await read(path), /Time zone known: \d+\. Unknown or ambiguous: 1;/);
    t.match((await send({ first_later: '2' })).text, 'cannot start with a first batch');
    t.equal((await send({ date: '2026-01-10' })).status, 422, 'in the past');
    const booked = await send({});
    t.equal(booked.status, 303);
    t.match(flashOf(booked), { key: 'local.done', values: { first: 'Monday, 19 January 2026 at 19:00', zone: 'UTC' } });
    t.match((await app.one.call('GET', '/single-send/draft', { query: { utr: draft } })).body.message.draft, {
      local_time: 1,
      schedule_date: '2026-01-20',
      schedule_time: '09:00:00',
    });
    const again = await read(path);
    t.match(again, 'Scheduled for Tuesday, 20 January');
    t.match(again, /<option selected value="own"|<option value="own" selected/);
    app.clock.advance(4 * 24 * HOUR + 11 * HOUR);
    await app.background();
    headers.cookie = cookieOf(app, owner);
    t.match(
      await read(`/campaigns/${draft}`),
      '1 contact gets the campaign at their own time: Tuesday, 20 January 2026 at 09:00 (UTC).',
    );
    app.db.exec("UPDATE users SET language = 'de'");
    t.match(
      await read(`/campaigns/${draft}`),
      '1 Kontakt bekommt die Kampagne zu seiner eigenen Zeit: Dienstag, 20. Januar',
    );
  },
);

t.test('where the time is over for some, composing says that they get it now', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const cookie = cookieOf(app, addPerson(app, 'editor', { accountId: 1, name: 'editor' }));
  const headers = { ...FROM_PAGE, cookie };
  const copy = await app.one.call('POST', '/single/send/duplicate', { query: { utr } });
  const path = String(copy.headers.location).replace(/.*utr=(.*)/, '/campaigns/$1/edit/schedule');
  const { text } = await app.page('GET', path, { headers });
  const unchanged_since = /name="unchanged_since" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const form = { when: 'later', zone: 'own', unchanged_since, date: '2026-01-15', time: '12:00' };
  const answer = await app.page('POST', path, { headers, form });
  t.match(flashOf(answer), { tone: 'warn', key: 'local.doneNow' });
});

t.test(
  'a campaign is scheduled at the best hour of each contact, and its report says when the groups are compared',
  async (t) => {
    const app = await startApp(t);
    const { utr } = await sendCampaign(t, app);
    const owner = addPerson(app, 'owner', { accountId: 1, name: 'owner' });
    const headers = { ...FROM_PAGE, cookie: cookieOf(app, owner) };
    const read = async (path: string) => (await app.page('GET', path, { headers })).text;
    const copy = await app.one.call('POST', '/single/send/duplicate', { query: { utr } });
    const draft = new URLSearchParams(String(copy.headers.location).split('?')[1]).get('utr') ?? '';
    const path = `/campaigns/${draft}/edit/schedule`;
    const page = await read(path);
    t.match(page, 'No opens or clicks are known yet, so everybody gets the campaign at the time above.');
    const unchanged_since = /name="unchanged_since" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const form = { when: 'later', zone: 'best', unchanged_since, date: '2026-01-15', time: '12:00' };
    const refused = await app.page('POST', path, { headers, form: { ...form, first_later: '2' } });
    t.match(refused.text, 'at each contact’s best hour cannot start with a first batch');
    const booked = await app.page('POST', path, { headers, form });
    t.match(flashOf(booked), { tone: 'good', key: 'best.done' });
    const again = await read(path);
    t.match(again, 'each contact gets the campaign at their best hour within 24 hours');
    t.match(again, /<option selected value="best"|<option value="best" selected/);
    app.clock.advance(3 * HOUR);
    await app.background();
    headers.cookie = cookieOf(app, owner);
    t.match(
      await read(`/campaigns/${draft}`),
      /Best hour compared with the scheduled time.*Too early: the comparison starts on 19 Jan 2026/s,
    );
  },
);
