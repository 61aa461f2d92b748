/** The check of a campaign when it starts: recorded in its report, and, where the account says so, stopping what the API sends. */
import t from 'tap';
import { checkFailure } from '../../src/campaigns/shown-mail.ts';
import type { RecordedFinding } from '../../src/database/schema/index.ts';
import { stored } from '../../src/errors/stored.ts';
import { withWelcomeSeries } from '../support/automations.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import { createSend, RECALL, readyToSend, sendDetails, sendReport } from '../support/single-sends.ts';

const WITH_ERROR = '<p>Hello *|FNAME|*</p>';

t.test('what the check finds when a campaign starts is in its report, and nothing is stopped at first', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, { ...body, template_html: WITH_ERROR });
  t.equal((await sendReport(app, utr)).findings, null, 'before it starts');
  app.clock.advance(RECALL);
  await app.background();
  const { status, findings } = await sendReport(app, utr);
  t.equal(status, 3);
  t.match(
    findings.find(({ code }: { code: string }) => code === 'foreign'),
    { severity: 'error', count: 1, names: ['*|FNAME|*'] },
  );
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  const page = (await app.page('GET', `/campaigns/${utr}`, { headers })).text;
  t.match(page, 'Results of the check before sending');
  t.match(page, 'belongs to another service');
});

t.test('where the account says so, an error stops a campaign of the API and none of the dashboard', async (t) => {
  const { app, body } = await readyToSend(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  const saved = await app.page('POST', '/settings/mails/check', { headers, form: { stops_errors: '1' } });
  t.equal(saved.status, 303);
  t.match((await app.page('GET', '/settings/mails', { headers })).text, /name="stops_errors"[^>]*checked/);
  const bad = await createSend(app, { ...body, template_html: WITH_ERROR });
  const good = await createSend(app, body);
  const ofDashboard = await createSend(app, { ...body, template_html: WITH_ERROR });
  app.db.prepare('UPDATE single_sends SET changed_by = 1 WHERE utr = ?').run(ofDashboard);
  app.clock.advance(RECALL);
  await app.background();
  t.match(await sendReport(app, bad), {
    status: 0,
    held_code: 'check_failed',
    held_reason: 'The check found errors in the e-mail: placeholders of other services are sent as they are: *|FNAME|*',
  });
  const inGerman = { headers: { ...headers, 'accept-language': 'de' } };
  t.match(
    (await app.page('GET', `/campaigns/${bad}`, inGerman)).text,
    'Die Prüfung fand Fehler in der Mail: Platzhalter anderer Dienste werden so gesendet, wie sie sind: *|FNAME|*',
  );
  t.match(await sendDetails(app, good), { status: 3, delivered: 3 });
  t.match(await sendDetails(app, ofDashboard), { status: 3, delivered: 3 });
});

t.test('without a public URL the unsubscribe link of a started mail is found, too', async (t) => {
  const settings = { PUBLIC_URL: '' };
  const { app, body } = await readyToSend(t, settings);
  const utr = await createSend(app, body);
  app.clock.advance(RECALL);
  await app.background();
  const { status, findings } = await sendReport(app, utr);
  t.equal(status, 3);
  const codesOf = (found: readonly RecordedFinding[]) => found.map(({ code }) => code);
  t.notOk(codesOf(findings).includes('leave'), 'in a campaign');
  const series = await withWelcomeSeries(t, { settings });
  await series.live();
  const recorded = series.app.db
    .prepare<[], string>("SELECT findings FROM mailings WHERE owner_kind = 'schedule'")
    .pluck()
    .all();
  t.ok(recorded.length > 0);
  t.notOk(recorded.flatMap((found) => codesOf(JSON.parse(found))).includes('leave'), 'in an automation');
});

/** Makes a template with an error. Returns its id. */
async function badTemplate(app: Parameters<typeof sendReport>[0]): Promise<number> {
  const form = { template_name: 'Bad', template_html: WITH_ERROR };
  return (await app.one.call('POST', '/templates/create', { form })).body.message.id;
}

t.test('a reason names the first errors of many versions, and how many more there are', async (t) => {
  const findings = Array.from(
    { length: 140 },
    (_, at): RecordedFinding => ({
      code: 'urls',
      severity: 'error',
      count: 1,
      names: [`http://localhost/${at}`],
      limit: 0,
      version: 'fr',
    }),
  );
  const reason = checkFailure(findings);
  t.match(String(reason), /localhost\/4; further errors: 135$/);
  t.ok(stored(reason ?? '').length < 5000);
});

for (const [path, name, place, inGerman, form] of [
  [
    '/single/send/variants',
    'B',
    'in variant B',
    'in Variante B',
    { subjects: ['Other'], winner_by: 'hand', share: 100 },
  ],
  [
    '/single/send/languages',
    'fr',
    'in the version in the language fr',
    'in der Fassung auf Französisch',
    { language: 'fr', subject: 'Salut' },
  ],
] as const)
  t.test(`an error in ${name} alone is found there, and stops the campaign of the API`, async (t) => {
    const { app, body } = await readyToSend(t);
    const template = await badTemplate(app);
    const later = { schedule_type: 1, schedule_date: '2030-01-01', schedule_time: '10:00:00' };
    const start = async () => {
      const utr = await createSend(app, { ...body, ...later });
      const own = name === 'B' ? { template_ids: [template] } : { template_id: template };
      t.equal((await app.one.call('POST', path, { form: { utr, ...form, ...own } })).status, 200);
      const { check } = (await app.one.call('POST', '/check', { form: { utr } })).body.message;
      t.match(
        check.findings.filter(({ code }: { code: string }) => code === 'foreign'),
        [{ version: name, severity: 'error', path: /edit\/(languages|variants)$/ }],
      );
      app.db.exec('UPDATE single_sends SET status = 1, schedule_type = 0, starts_at = 0 WHERE status = 1');
      app.clock.advance(RECALL);
      await app.background();
      return utr;
    };
    const utr = await start();
    const { findings } = await sendReport(app, utr);
    t.match(
      findings.filter(({ code }: { code: string }) => code === 'foreign'),
      [{ version: name, names: ['*|FNAME|*'] }],
    );
    const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
    const page = (await app.page('GET', `/campaigns/${utr}`, { headers })).text;
    t.match(page, name === 'B' ? '<b>Variant B: </b>' : '<b>French: </b>');
    await app.one.call('POST', '/sending/mails/save', { form: { stops_errors: 1 } });
    const held = await start();
    t.match(await sendReport(app, held), {
      status: 0,
      held_code: 'check_failed',
      held_reason: `The check found errors in the e-mail: ${place}: placeholders of other services`,
    });
    const german = { headers: { ...headers, 'accept-language': 'de' } };
    t.match((await app.page('GET', `/campaigns/${held}`, german)).text, `${inGerman}: Platzhalter anderer Dienste`);
  });

t.test('where the account says so, an error in any mail keeps an automation of the API from going live', async (t) => {
  const { app, utr, live } = await withWelcomeSeries(t);
  app.db
    .prepare(
      "UPDATE automation_schedules SET template_json = '', template_html = ? WHERE id = (SELECT max(id) FROM automation_schedules WHERE kind = 'mail')",
    )
    .run(WITH_ERROR);
  await app.one.call('POST', '/sending/mails/save', { form: { stops_errors: 1 } });
  const refused = await app.one.call('GET', '/automations/set-live', { query: { utr } });
  t.equal(refused.status, 409, refused.text);
  t.match(refused.body.errors, /cannot go live: The check found errors in the e-mail: placeholders of other services/);
  t.equal(app.db.prepare('SELECT status FROM automations').pluck().get(), 0);
  await app.one.call('POST', '/sending/mails/save', { form: { stops_errors: 0 } });
  await live();
  t.equal(app.db.prepare('SELECT status FROM automations').pluck().get(), 1);
});

t.test('only an owner changes it', async (t) => {
  const { app } = await readyToSend(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'editor')) };
  t.equal((await app.page('GET', '/settings/mails', { headers })).status, 403);
  t.equal((await app.page('POST', '/settings/mails/check', { headers, form: { stops_errors: '1' } })).status, 403);
  t.match((await app.one.call('GET', '/sending/mails')).body.message.settings, { stops_errors: 0 });
});
