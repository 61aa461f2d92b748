/** The check of a campaign when it starts: recorded in its report, and, where the account says so, stopping what the API sends. */
import t from 'tap';
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
  t.match(page, 'Found by the check when it started');
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
    held_reason: 'The check found errors in the mail: foreign',
  });
  t.match(await sendDetails(app, good), { status: 3, delivered: 3 });
  t.match(await sendDetails(app, ofDashboard), { status: 3, delivered: 3 });
});

t.test('only an owner changes it', async (t) => {
  const { app } = await readyToSend(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'editor')) };
  t.equal((await app.page('GET', '/settings/mails', { headers })).status, 403);
  t.equal((await app.page('POST', '/settings/mails/check', { headers, form: { stops_errors: '1' } })).status, 403);
  t.match((await app.one.call('GET', '/sending/mails')).body.message.settings, { stops_errors: 0 });
});
