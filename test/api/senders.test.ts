/** Senders and their verification mail: what leaves, what does not, and where an owner reads about it. */
import PostalMime from 'postal-mime';
import t, { type Test } from 'tap';
import type { Courier } from '../../src/delivery/transport/courier.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { Relay } from '../support/launched-mailing.ts';
import { SHOP_SENDER } from '../support/sender.ts';

const MINUTE = 60_000;
async function started(t: Test, courierOf?: (db: unknown) => Courier) {
  const app = await startApp(t, {}, courierOf);
  const call = async (method: string, path: string, options: object) => {
    const { status, body } = await app.one.call(method, path, options);
    t.equal(status, 200, `${method} ${path}`);
    await app.background();
    return body.message;
  };
  return {
    app,
    save: (changes = {}) => call('POST', '/sender/save', { form: { ...SHOP_SENDER, ...changes } }),
    change: (changes = {}) => call('POST', '/sender/update', { form: { sender_id: 1, ...SHOP_SENDER, ...changes } }),
    resend: async (sender_id = 1) => {
      const message = await call('GET', '/sender/resend-mail', { query: { sender_id } });
      t.equal(message, 'Verification Mail Send');
    },
    report: async (sender_id = 1) => (await call('GET', '/sender/report', { query: { sender_id } })).report,
    block: (email_address: string) => call('POST', '/global-unsubscribes/save', { form: { email_address } }),
    mails: () => app.db.prepare<[], string>('SELECT envelope_to FROM outbox ORDER BY id').pluck().all(),
  };
}

const linkOf = (app: TestApp): string => {
  const raw = app.db.prepare<[], Buffer>('SELECT raw FROM outbox ORDER BY id DESC LIMIT 1').pluck().get();
  return /http:\/\/mail\.example\.com(\/verify\/\S+)/.exec(String(raw).replaceAll('=\r\n', ''))?.[1] ?? 'no link';
};

t.test('an address gets one verification mail in five minutes, however often it is asked for', async (t) => {
  const { app, save, resend, mails } = await started(t);
  await save();
  for (let at = 0; at < 11; at++) await resend();
  t.equal(mails().length, 1);
  app.clock.advance(4 * MINUTE);
  await resend();
  t.equal(mails().length, 1);
  app.clock.advance(MINUTE);
  await resend();
  t.equal(mails().length, 2);
});

t.test('other senders of an address, and changing it there and back, do not get round the limit', async (t) => {
  const { save, change, mails } = await started(t);
  await save();
  await save({ nickname: 'Second' });
  await save({ nickname: 'Third', from_email: 'HELLO@EXAMPLE.COM' });
  t.strictSame(mails(), ['hello@example.com']);
  await change({ from_email: 'desk@example.com' });
  t.strictSame(mails(), ['hello@example.com', 'desk@example.com'], 'a corrected address gets its mail at once');
  for (const from_email of ['hello@example.com', 'desk@example.com', 'hello@example.com']) await change({ from_email });
  t.equal(mails().length, 2);
});

t.test('confirming an address confirms every sender of the account that has it', async (t) => {
  const { app, save } = await started(t);
  await save();
  await save({ nickname: 'Second' });
  await app.two.call('POST', '/sender/save', { form: SHOP_SENDER });
  await save({ from_email: 'desk@example.com' });
  app.clock.advance(6 * MINUTE);
  await app.one.call('GET', '/sender/resend-mail', { query: { sender_id: 1 } });
  await app.background();
  t.equal((await app.page('POST', linkOf(app))).status, 200);
  t.strictSame(app.db.prepare('SELECT is_verified FROM senders ORDER BY id').pluck().all(), [1, 1, 0, 0]);
  await app.page('POST', linkOf(app));
  const logged = app.db
    .prepare("SELECT account_id, actor, subject, address FROM audit_log WHERE action = 'sender_verified'")
    .all();
  const entry = { account_id: 1, actor: '', subject: 'hello@example.com', address: '127.0.0.1' };
  t.strictSame(logged, [entry], 'the log says so, once');
});

t.test(
  'a key pair gets the verification mail in the language of Accept-Language, or else of the mails of the account',
  async (t) => {
    const app = await startApp(t);
    const subjectTo = async (from_email: string, headers: Record<string, string> = {}) => {
      const form = { ...SHOP_SENDER, from_email };
      t.equal((await app.one.call('POST', '/sender/save', { form, headers })).status, 200);
      await app.background();
      const raw = app.db.prepare<[], Buffer>('SELECT raw FROM outbox ORDER BY id DESC LIMIT 1').pluck().get();
      return (await PostalMime.parse(raw ?? '')).subject;
    };
    t.equal(await subjectTo('a@example.com'), 'Confirm a@example.com');
    t.equal(await subjectTo('b@example.com', { 'accept-language': 'de-AT' }), 'b@example.com bestätigen');
    await app.one.call('POST', '/sending/mails/save', { form: { language: 'de' } });
    t.equal(await subjectTo('c@example.com'), 'c@example.com bestätigen');
    t.equal(await subjectTo('d@example.com', { 'accept-language': 'fr' }), 'd@example.com bestätigen');
    t.equal(await subjectTo('e@example.com', { 'accept-language': 'en' }), 'Confirm e@example.com');
  },
);

t.test('no verification mail goes to an unsubscribed or suppressed address, and the report says why', async (t) => {
  const { app, save, resend, report, block, mails } = await started(t);
  await block('hello@example.com');
  await save();
  for (let at = 0; at < 3; at++) {
    await resend();
    app.clock.advance(6 * MINUTE);
  }
  await app.one.call('POST', '/bounces', { form: { address: 'gone@example.com', kind: 'bounce' } });
  await save({ from_email: 'gone@example.com' });
  t.strictSame(mails(), []);
  t.match(await report(), { is_verified: 0, state: 'suppressed', attempts: 0, reply: 'unsubscribed from all mail' });
  t.match(await report(2), { state: 'suppressed', reply: /suppressed after an earlier bounce/ });
  await app.one.call('DELETE', '/global-unsubscribes/delete', { query: { id: 1 } });
  await resend();
  t.strictSame(mails(), ['hello@example.com'], 'once it is off the list, the next request sends it at once');
});

t.test('while a verification mail waits for the relay, no second one is queued behind it', async (t) => {
  const busy = {
    kind: 'deferred',
    stage: 'rcpt',
    code: 450,
    enhanced: '4.2.0',
    reply: '450 4.2.0 Greylisted',
  } as const;
  const relay = new Relay(() => busy);
  const { app, save, resend, report } = await started(t, () => relay);
  await save();
  for (let hour = 0; hour < 12; hour++) {
    app.clock.advance(60 * MINUTE);
    await resend();
  }
  t.equal(app.db.prepare("SELECT count(*) FROM mailings WHERE owner_kind = 'system'").pluck().get(), 1);
  t.match(await report(), { state: 'queued', reply: '450 4.2.0 Greylisted' });
});

t.test('the report of a sender tells what the relay answered to its verification mail', async (t) => {
  const reply = '550 5.1.1 <hello@example.com>: no such user';
  const relay = new Relay(() => ({ kind: 'refused', stage: 'rcpt', code: 550, enhanced: '5.1.1', reply }));
  const { app, save, report } = await started(t, () => relay);
  app.db.exec(`INSERT INTO senders (user_id, from_name, from_email, reply_to_email, country_id, company_address, nickname, utr,
    send_at, created_at, updated_at) VALUES (1, '', 'old@example.com', '', 1, '', '', '', '', '', '')`);
  t.strictSame(
    await report(),
    { is_verified: 0, sent_at: null, attempts: 0, reply: null, held_code: null, held_reason: null, state: null },
    'nothing was asked of it yet',
  );
  await save();
  const { sent_at, ...rest } = await report(2);
  t.match(sent_at, /^2026-01-15T09:00:00\.000000Z$/);
  t.strictSame(rest, { is_verified: 0, attempts: 1, reply, held_code: null, held_reason: null, state: 'bounced' });
  const record = (await app.one.call('GET', '/sender/details', { query: { sender_id: 2 } })).body.message.sender;
  t.notOk('reply' in record || 'state' in record, 'the record of the interface stays as it is');
  t.equal((await app.two.call('GET', '/sender/report', { query: { sender_id: 2 } })).status, 404);
});

t.test('the report of a sender tells that the relay refuses it altogether', async (t) => {
  const reply = '550 5.7.1 Sender refused';
  const relay = new Relay(() => ({ kind: 'held', stage: 'mail', code: 550, enhanced: '5.7.1', reply }));
  const { save, report } = await started(t, () => relay);
  await save();
  t.match(await report(), {
    state: 'queued',
    held_code: 'relay_refused',
    held_reason: `The SMTP server refuses mail: ${reply}`,
  });
});
