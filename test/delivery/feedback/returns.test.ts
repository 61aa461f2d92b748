/** Returned mail, from the listener to the counters, and reports by providers through the API. */

import { readFileSync } from 'node:fs';
import nodemailer from 'nodemailer';
import t, { type Test } from 'tap';
import { startBounceIntake } from '../../../src/delivery/feedback/bounces/intake.ts';
import { LAST_ACCEPTED } from '../../../src/delivery/feedback/bounces/record.ts';
import type { Courier } from '../../../src/delivery/transport/courier.ts';
import { SmtpPool } from '../../../src/delivery/transport/smtp/pool.ts';
import { parseRelays } from '../../../src/delivery/transport/smtp/relay-urls.ts';
import { startApp } from '../../support/app.ts';
import { SENDER } from '../../support/sender.ts';
import { DROP, type Script, startSink } from '../../support/smtp/scripted-relay.ts';

/** A single send to Ann, launched but not yet sent, and a listener for returned mail. */
async function launched(t: Test, courier?: () => Courier) {
  const settings = { BOUNCE_LISTEN: '127.0.0.1:2525', BOUNCE_DOMAIN: 'returns.example.com', RECALL_SECONDS: '0' };
  const app = await startApp(t, settings, courier);
  const post = (path: string, form: Record<string, unknown>) => app.one.call('POST', path, { form });
  await post('/contacts-type/add', { name: 'Readers' });
  await post('/contacts/add', { contact_type_id: 1, email: 'ann@example.org', country: 1 });
  await post('/unsubscribes-groups/save', { group_name: 'News', description: 'n', is_display: 1 });
  await post('/sender/save', SENDER);
  await app.background();
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
  const listener = await startBounceIntake(app.drizzle, app.clock, {
    host: '127.0.0.1',
    port: 0,
    domain: 'returns.example.com',
  });
  const transport = nodemailer.createTransport({ host: '127.0.0.1', port: listener.port, ignoreTLS: true });
  t.teardown(async () => {
    transport.close();
    await listener.close();
  });
  const comesBack = (to: string, raw: string | Buffer) => transport.sendMail({ envelope: { from: '', to: [to] }, raw });
  const counters = async () =>
    (await app.one.call('GET', '/single-send/details', { query: { utr } })).body.message.singleSend[0];
  return { app, utr, comesBack, counters };
}

/** The same, accepted by the outbox. */
async function sent(t: Test) {
  const send = await launched(t);
  await send.app.background();
  const read = send.app.db.prepare("SELECT envelope_from FROM outbox WHERE envelope_to = 'ann@example.org'");
  return { ...send, from: String(read.pluck().get()) };
}

/** The same, with a scripted relay; `left` returns the return paths of the mails it received for Ann. */
async function toRelay(t: Test, script: Script) {
  const sink = await startSink(t);
  const send = await launched(
    t,
    () => new SmtpPool(parseRelays(sink.url), { connections: 1, onRelayFailure: () => undefined }),
  );
  sink.script = script;
  const left = () => sink.received.filter(({ to }) => to === 'ann@example.org').map(({ from }) => from);
  return { ...send, sink, left };
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

t.test('a failed DSN is one bounce, however often it comes; the address is suppressed', async (t) => {
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
  t.notMatch(suppressions[0].diagnostic, /[<>]/, 'the stored text holds no markup');
});

t.test('a forged return path is refused, an auto-reply is not a bounce', async (t) => {
  const { from, comesBack, counters } = await sent(t);
  const forged = from.replace(/\.([a-z2-7])/, (_all, first) => `.${first === 'a' ? 'b' : 'a'}`);
  await t.rejects(comesBack(forged, dsn('failed', '5.1.1', '550 no')), /550/);
  await comesBack(from, readFileSync(new URL('corpus/vacation.eml', import.meta.url)));
  t.match(await counters(), { delivered: 1, bounces: 0 });
});

t.test('a policy refusal counts as a bounce and leaves the address usable', async (t) => {
  const { app, from, comesBack, counters } = await sent(t);
  await comesBack(from, dsn('failed', '5.7.1', '550 5.7.1 blocked by policy'));
  t.match(await counters(), { delivered: 0, bounces: 1 });
  t.strictSame((await app.one.call('GET', '/suppressions/list')).body.message.suppressions, []);
});

t.test('a provider reports a bounce or a complaint through the API; a suppression can be lifted', async (t) => {
  const { app, from, comesBack, counters } = await sent(t);
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
  await comesBack(from, dsn('failed', '5.1.1', '550 5.1.1 unknown'));
  const { suppressions } = (await app.one.call('GET', '/suppressions/list')).body.message;
  t.strictSame(suppressions, [], 'another report of the same bounce changes nothing');
  t.equal((await app.one.call('POST', '/bounces', { form: { address: 'x', kind: 'maybe' } })).status, 422);
});

t.test('a DSN faster than the relay’s 250 is a bounce like any other, and the 250 changes nothing', async (t) => {
  const script: Script = {};
  const { app, left, comesBack, counters } = await toRelay(t, script);
  script.dot = async () => {
    await comesBack(left()[0] ?? '', dsn('failed', '5.1.1', '550 5.1.1 unknown'));
    return '250 2.0.0 ok\r\n';
  };
  await app.background();
  t.match(await counters(), { status: 3, triggered: 1, delivered: 0, bounces: 1 });
  t.equal(left().length, 1);
  t.match((await app.one.call('GET', '/suppressions/list')).body.message.suppressions, [{ kind: 'bounce' }]);
});

for (const [what, status, suppressed] of [
  ['an address that does not exist', '5.1.1', 1],
  ['a policy', '5.7.1', 0],
] as const) {
  t.test(`a DSN for a mail whose 250 was lost is its final state: ${what}`, async (t) => {
    const { app, sink, left, comesBack, counters } = await toRelay(t, { dot: DROP });
    await app.background();
    t.match(await counters(), { status: 2, triggered: 1, delivered: 0, bounces: 0 }, 'back in the queue');
    await comesBack(left()[0] ?? '', dsn('failed', status, `550 ${status} no`));
    sink.script = {};
    app.clock.advance(60_000);
    await app.background();
    t.equal(left().length, 1, 'nobody is mailed again');
    t.match(await counters(), { status: 3, triggered: 1, delivered: 0, bounces: 1 });
    t.equal((await app.one.call('GET', '/suppressions/list')).body.message.suppressions.length, suppressed);
  });
}

t.test('a DSN for a mail that was cancelled meanwhile still suppresses the address', async (t) => {
  const { app, utr, left, comesBack } = await toRelay(t, { dot: DROP });
  await app.background();
  t.equal((await app.one.call('POST', '/single/send/cancel', { query: { utr } })).status, 200);
  await app.background();
  await comesBack(left()[0] ?? '', dsn('failed', '5.1.1', '550 5.1.1 unknown'));
  t.equal(app.db.prepare('SELECT state FROM deliveries ORDER BY id DESC').pluck().get(), 6, 'its state is final');
  t.equal((await app.one.call('GET', '/suppressions/list')).body.message.suppressions.length, 1);
});

t.test('a report by address looks up each mailing of its account, and never scans the ledger', async (t) => {
  const { app } = await sent(t);
  const plan = app.db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${LAST_ACCEPTED}`).all(1, 1);
  t.match(
    plan.map(({ detail }) => detail),
    [
      'SEARCH m USING COVERING INDEX mailings_user (user_id=?)',
      'SEARCH d USING INDEX deliveries_person (mailing_id=? AND address_id=?)',
    ],
  );
});
