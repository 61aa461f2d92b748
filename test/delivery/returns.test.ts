/** Mail that comes back, from the listener to the counters (trust 17, 18), and what providers report. */
import { readFileSync } from 'node:fs';
import nodemailer from 'nodemailer';
import t, { type Test } from 'tap';
import { listenForReturns } from '../../src/delivery/bounces/intake.ts';
import { startApp } from '../helper.ts';

async function sent(t: Test) {
  const app = await startApp(t, {
    BOUNCE_LISTEN: '127.0.0.1:2525',
    BOUNCE_DOMAIN: 'returns.example.com',
    RECALL_SECONDS: '0',
  });
  const post = (path: string, form: Record<string, unknown>) => app.one.call('POST', path, { form });
  await post('/contacts-type/add', { name: 'Readers' });
  await post('/contacts/add', { contact_type_id: 1, email: 'ann@example.org', country: 1 });
  await post('/unsubscribes-groups/save', { group_name: 'News', description: 'n', is_display: 1 });
  await post('/sender/save', {
    from_name: 'Lark',
    from_email: 'lark@example.com',
    reply_to_email: 'lark@example.com',
    country_id: 1,
    company_address: '1 Harbour St',
    nickname: 'l',
  });
  const { utr } = (
    await post('/single/send/create', {
      template_id: 1,
      template_html: '<p>x</p>',
      sender_id: 1,
      unsubscribe_group_id: 1,
      single_send_name: 's',
      subject: 's',
      preheader: 'p',
      'recipient_id[0]': 'contacts_1',
      schedule_type: 0,
    })
  ).body.message;
  await app.background();
  const from = String(
    app.db.prepare("SELECT envelope_from FROM outbox WHERE envelope_to = 'ann@example.org'").pluck().get(),
  );
  const listener = await listenForReturns(app.drizzle, app.clock, { host: '127.0.0.1', port: 0 });
  const transport = nodemailer.createTransport({ host: '127.0.0.1', port: listener.port, ignoreTLS: true });
  t.teardown(async () => {
    transport.close();
    await listener.close();
  });
  const comesBack = (to: string, raw: string | Buffer) => transport.sendMail({ envelope: { from: '', to: [to] }, raw });
  const counters = async () =>
    (await app.one.call('GET', '/single-send/details', { query: { utr } })).body.message.singleSend[0];
  return { app, from, comesBack, counters };
}

const dsn = (action: string, status: string, diagnostic: string) =>
  [
    'From: MAILER-DAEMON@relay.example',
    'Subject: Undelivered Mail',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'Sorry.',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; relay.example',
    '',
    'Final-Recipient: rfc822; ann@example.org',
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${diagnostic}`,
    '',
    '--b--',
    '',
  ].join('\r\n');

t.test('a failed DSN is one bounce, however often it comes; the address is suppressed (trust 17)', async (t) => {
  const { app, from, comesBack, counters } = await sent(t);
  t.match(from, /^bounce\+[0-9a-z]+\.[a-z2-7]{16}@returns\.example\.com$/);
  t.match(await counters(), { delivered: 1, bounces: 0 });
  await comesBack(from, dsn('delayed', '4.4.1', '451 try later'));
  t.match(await counters(), { delivered: 1, bounces: 0 }, 'a delay is none');
  const failed = dsn('failed', '5.1.1', '550 5.1.1 <script>alert(1)</script> unknown');
  await comesBack(from.toUpperCase(), failed);
  await comesBack(from, failed);
  t.match(await counters(), { delivered: 0, bounces: 1 });
  const { suppressions } = (await app.one.call('GET', '/suppressions/list')).body.message;
  t.match(suppressions, [{ email_address: 'ann@example.org', kind: 'bounce' }]);
  t.notMatch(suppressions[0].diagnostic, /[<>]/, 'the text is stored inert (trust 18)');
});

t.test('a forged return path is refused, an auto-reply is no bounce (trust 17)', async (t) => {
  const { from, comesBack, counters } = await sent(t);
  const forged = from.replace(/\.([a-z2-7])/, (_all, first) => `.${first === 'a' ? 'b' : 'a'}`);
  await t.rejects(comesBack(forged, dsn('failed', '5.1.1', '550 no')), /550/);
  await comesBack(from, readFileSync(new URL('corpus/vacation.eml', import.meta.url)));
  t.match(await counters(), { delivered: 1, bounces: 0 });
});

t.test('a refusal of policy counts as a bounce and leaves the address usable (trust 6)', async (t) => {
  const { app, from, comesBack, counters } = await sent(t);
  await comesBack(from, dsn('failed', '5.7.1', '550 5.7.1 blocked by policy'));
  t.match(await counters(), { delivered: 0, bounces: 1 });
  t.strictSame((await app.one.call('GET', '/suppressions/list')).body.message.suppressions, []);
});

t.test('a provider reports a bounce or a complaint through the API; a suppression can be lifted', async (t) => {
  const { app, counters } = await sent(t);
  const answer = await app.one.call('POST', '/bounces', {
    form: { address: 'ANN@example.org', kind: 'bounce', diagnostic: 'gone' },
  });
  t.equal(answer.status, 200);
  t.match(await counters(), { delivered: 0, bounces: 1 });
  const [entry] = (await app.one.call('GET', '/suppressions/list')).body.message.suppressions;
  t.equal(
    (await app.two.call('DELETE', '/suppressions/delete', { query: { id: entry.id } })).status,
    404,
    'of its own account only',
  );
  t.equal((await app.one.call('DELETE', '/suppressions/delete', { query: { id: entry.id } })).status, 200);
  t.strictSame((await app.one.call('GET', '/suppressions/list')).body.message.suppressions, []);
  t.equal((await app.one.call('POST', '/bounces', { form: { address: 'x', kind: 'maybe' } })).status, 422);
});
