/** Why some people of a mailing have no mail yet: in its report, on its page and in the metrics. */
import t from 'tap';
import { writePacedGroups } from '../../src/delivery/pacing/paced-groups.ts';
import { isoTimestamp } from '../../src/time/clock.ts';
import { startApp } from '../support/app.ts';
import { withWelcomeSeries } from '../support/automations.ts';
import { sendCampaign } from '../support/campaign.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

t.test('a mailing says which providers ask for fewer mails while its people wait for them', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const id = Number(app.db.prepare("SELECT id FROM mailings WHERE owner_kind = 'single'").pluck().get());
  const now = app.clock.now().getTime();
  const limited = { relay_id: null, refused: 6, over_at: now + 600_000, forgotten_at: now + 3_600_000 };
  writePacedGroups(app.db, [
    { ...limited, group: 'Google', rate: 3, mailings: [id] },
    { ...limited, group: 'xn--caf-dma.example', rate: 0.1, mailings: [id] },
    { ...limited, group: 'of-others.example', rate: 3, mailings: [id + 1] },
    { ...limited, group: 'Yahoo', rate: 3, mailings: [id], forgotten_at: now - 1 },
  ]);
  const report = async () => (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message.report;
  t.strictSame((await report()).paced, [], 'not once it is sent');
  app.db.exec(
    "UPDATE single_sends SET status = 2; UPDATE mailings SET delivered = 0, finished_at = NULL, state = 'sending' WHERE owner_kind = 'single'",
  );
  const until = isoTimestamp(new Date(limited.over_at));
  t.strictSame((await report()).paced, [
    { group: 'Google', per_minute: 180, until },
    { group: 'xn--caf-dma.example', per_minute: 6, until },
  ]);
  const cookie = cookieOf(app, addPerson(app, 'owner', { accountId: 1, name: 'owner' }));
  const page = async () => (await app.page('GET', `/campaigns/${utr}`, { headers: { ...FROM_PAGE, cookie } })).text;
  t.match(await page(), 'Google asks for fewer e-mails: 3 a second for now');
  t.match(await page(), 'xn--caf-dma.example asks for fewer e-mails: 6 a minute for now');
  t.notMatch(await page(), 'of-others');
  app.db.exec("UPDATE users SET language = 'de'");
  t.match(await page(), 'Google bittet um weniger Mails: zurzeit 3 pro Sekunde');
  const metrics = (await app.page('GET', '/metrics')).text;
  t.match(metrics, /^sendlark_paced_groups 3$/m);
  t.match(metrics, /^sendlark_paced_rate\{provider="Google"\} 3$/m);
  t.notMatch(metrics, 'example', 'a domain may be the name of a person');
});

t.test('a live automation says until when its mails wait for the hours in which mail leaves', async (t) => {
  const { app, utr, post, live } = await withWelcomeSeries(t);
  const cookie = cookieOf(app, addPerson(app, 'owner', { accountId: 1, name: 'owner' }));
  const page = async () => (await app.page('GET', `/automations/${utr}`, { headers: { ...FROM_PAGE, cookie } })).text;
  await post('/sending/window/save', { days: ['6'], opens: '10:00', closes: '12:00' });
  t.notMatch(await page(), 'Mail leaves only at', 'of one that is not live nothing leaves at all');
  await live();
  t.match(await page(), /Waiting for the sending hours: sending continues Saturday[^<]+ at 10:00/);
  await post('/sending/window/save', { days: [] });
  t.notMatch(await page(), 'Mail leaves only at', 'nor where mail leaves at any time');
});
