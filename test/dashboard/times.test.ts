/** How often and when mail leaves, in the dashboard: the settings, composing, a mailing and an automation. */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

t.test('an owner sets frequency caps and the hours in which mail leaves, and composing tells of both', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const cookie = cookieOf(app, addPerson(app, 'owner', { accountId: 1, name: 'owner' }));
  const headers = { ...FROM_PAGE, cookie };
  const read = async (path: string) => (await app.page('GET', path, { headers })).text;
  const post = async (path: string, form: Record<string, unknown> | [string, string][]) =>
    app.page('POST', path, { headers, form });
  const copy = await app.one.call('POST', '/single/send/duplicate', { query: { utr } });
  const draft = new URLSearchParams(String(copy.headers.location).split('?')[1]).get('utr') ?? '';
  const schedule = `/campaigns/${draft}/edit/schedule`;
  t.notMatch(await read(schedule), 'caps_now', 'without limits nothing is asked');

  t.equal((await post('/settings/times/caps', { mails_1: '1', days_1: '1', mails_3: '3', days_3: '7' })).status, 303);
  t.match(await read('/settings/times'), /value="3"[^>]*name="mails_2"/);
  const refused = await post('/settings/times/caps', { mails_1: '<b>', days_1: '' });
  t.equal(refused.status, 422);
  t.match(refused.text, '&lt;b>/', 'what was typed is named, and stays');
  const limited = await read(schedule);
  t.match(limited, 'frequency cap reached: at most 1 on one day');

  t.equal(
    (
      await post('/settings/times/window', [
        ['days', '6'],
        ['days', '7'],
        ['opens', '10:00'],
        ['closes', '12:00'],
      ])
    ).status,
    303,
  );
  t.equal((await post('/settings/times/window', { days: '6', opens: '12', closes: '10:00' })).status, 422);
  t.match(await read(schedule), 'This is outside the sending hours. Sending continues Saturday');
  app.db.exec(
    "UPDATE single_sends SET status = 2; UPDATE mailings SET delivered = 0, finished_at = NULL, state = 'sending' WHERE owner_kind = 'single'",
  );
  t.match(await read(`/campaigns/${utr}`), 'Waiting for the sending hours');
  app.db.exec("UPDATE users SET language = 'de'");
  t.match(await read(`/campaigns/${utr}`), 'Wartet auf die Sendezeiten');
  t.match(await read('/settings/times'), 'Samstag');
});

t.test('only owners change limits and hours', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app);
  const cookie = cookieOf(app, addPerson(app, 'editor', { accountId: 1, name: 'editor' }));
  const headers = { ...FROM_PAGE, cookie };
  t.equal((await app.page('GET', '/settings/times', { headers })).status, 403);
  for (const part of ['caps', 'window'])
    t.equal((await app.page('POST', `/settings/times/${part}`, { headers, form: {} })).status, 403);
});
