/** What becomes of transactional mail: suppression, retries, rates, holds, turns of accounts, bounces and complaints. */
import t from 'tap';
import { recipientFinder } from '../../../src/delivery/feedback/providers/event-recipients.ts';
import { holdSending, releaseSending } from '../../../src/delivery/queue/holds.ts';
import { QUEUE_QUERIES } from '../../../src/delivery/transactional/ledger.ts';
import { recordReturned } from '../../../src/delivery/transactional/returned.ts';
import type { Outcome } from '../../../src/delivery/transport/courier.ts';
import { removeUnfinishedPieces } from '../../../src/transactional/send.ts';
import { ACCEPTED, Relay } from '../../support/launched-mailing.ts';
import { SENDER, verifySenders } from '../../support/sender.ts';
import { createSend, outboxOf, RECALL, readyToSend } from '../../support/single-sends.ts';
import { piecesOf, post, RECEIPT, sent, stateOf, withRelay } from '../../support/transactional.ts';
import { describedData } from '../../support/webhooks/described.ts';

t.test('an unsubscription does not stop it; a bounce or a complaint does, with the reason', async (t) => {
  const { app } = await readyToSend(t);
  const gone = { form: { email_address: 'ann@example.org' } };
  t.equal((await app.one.call('POST', '/global-unsubscribes/save', gone)).status, 200);
  const first = await sent(app);
  await app.background();
  t.equal((await stateOf(app, first)).state, 'accepted');
  await app.one.call('POST', '/bounces', { form: { address: 'ann@example.org', kind: 'bounce' } });
  const second = await sent(app);
  await app.background();
  t.match(await stateOf(app, second), {
    state: 'suppressed',
    reply: 'suppressed after an earlier bounce',
    reason_code: 'suppressed_bounce',
  });
  t.equal(outboxOf(app).length, 1);
});

t.test('a temporary refusal is tried again with the same Message-ID; a final one has its reason', async (t) => {
  const deferred: Outcome = { kind: 'deferred', stage: 'rcpt', code: 450, enhanced: '4.2.1', reply: '450 later' };
  const refused: Outcome = {
    kind: 'refused',
    stage: 'rcpt',
    code: 550,
    enhanced: '5.1.1',
    reply: '550 5.1.1 no such user',
  };
  const answers: Record<string, Outcome[]> = { 'Ann@example.org': [deferred, ACCEPTED], 'gone@example.org': [refused] };
  const { app, relay } = await withRelay(t, (to) => answers[to]?.shift() ?? ACCEPTED);
  const utr = await sent(app);
  const gone = await sent(app, { ...RECEIPT, email: 'gone@example.org' });
  await app.background();
  const waiting = await stateOf(app, utr);
  t.match(waiting, { state: 'queued', attempts: 1, reply: '450 later', next_try_at: String });
  t.match(await stateOf(app, gone), { state: 'bounced', reply: '550 5.1.1 no such user' });
  app.clock.advance(20_000);
  await app.one.call('POST', '/sender/update', { form: { sender_id: 1, ...SENDER, from_email: 'other@example.net' } });
  await app.background();
  t.match(await stateOf(app, utr), { state: 'accepted', attempts: 2, message_id: waiting.message_id });
  t.equal(relay.started.filter((to) => to !== 'other@example.net').length, 3);
  const again = await sent(app, { ...RECEIPT, email: 'gone@example.org' });
  await app.background();
  t.equal((await stateOf(app, again)).state, 'suppressed');
});

t.test('a mail whose sender is not verified any more waits for 4 days, and is cancelled then', async (t) => {
  const { app, relay } = await withRelay(t, () => ACCEPTED, { SMTP_URL: 'smtp://127.0.0.1:9' });
  await app.background();
  verifySenders(app);
  const utr = await sent(app);
  await app.one.call('POST', '/sender/update', { form: { sender_id: 1, ...SENDER, from_email: 'other@example.net' } });
  for (let day = 0; day < 4; day++) {
    await app.background();
    t.equal((await stateOf(app, utr)).state, 'queued');
    app.clock.advance(24 * 3_600_000);
  }
  await app.background();
  t.match(await stateOf(app, utr), { state: 'cancelled', reason_code: 'held_sender_unverified' });
  t.ok(relay.started.every((to) => [SENDER.from_email, 'other@example.net'].includes(to)));
});

t.test('after 4 days of temporary refusals it fails with the last reply', async (t) => {
  const deferred: Outcome = { kind: 'deferred', stage: 'rcpt', code: 450, enhanced: '4.2.1', reply: '450 later' };
  const { app } = await withRelay(t, () => deferred);
  const utr = await sent(app);
  for (let hour = 0; hour < 100; hour++) {
    await app.background();
    app.clock.advance(75 * 60 * 1000);
  }
  t.match(await stateOf(app, utr), { state: 'failed', reply: 'Given up after 4 days: 450 later' });
});

t.test('a mail goes before the recipients of a campaign that wait', async (t) => {
  const { app, body, relay } = await withRelay(t, () => ACCEPTED, { SEND_RATE: '1' });
  await createSend(app, body);
  app.clock.advance(RECALL);
  await app.step();
  await app.background();
  t.equal(relay.started.length, 1, 'the rate lets one mail of the campaign leave');
  const utr = await sent(app);
  await app.background();
  t.equal(relay.started.length, 1, 'the rate holds for transactional mail too');
  app.clock.advance(1000);
  await app.background();
  t.equal(relay.started.at(-1), 'Ann@example.org');
  t.equal((await stateOf(app, utr)).state, 'accepted');
  t.equal(relay.started.length, 2);
});

t.test('while all sending is held none leaves; afterwards it does', async (t) => {
  const { app, relay } = await withRelay(t, () => ACCEPTED);
  holdSending(app.db, 'Held');
  const utr = await sent(app);
  await app.background();
  t.equal(relay.started.length, 0);
  t.equal((await stateOf(app, utr)).state, 'queued');
  releaseSending(app.db, app.clock.now().getTime());
  await app.background();
  t.equal((await stateOf(app, utr)).state, 'accepted');
});

t.test('a mail whose sender was deleted meanwhile is cancelled with the reason', async (t) => {
  const { app } = await readyToSend(t);
  const utr = await sent(app);
  await app.one.call('DELETE', '/sender/delete', { query: { sender_id: 1 } });
  await app.background();
  t.match(await stateOf(app, utr), { state: 'cancelled', reason_code: 'held_sender_deleted' });
});

t.test('accounts take turns: a flood of one delays another by its share alone', async (t) => {
  const { app, relay } = await withRelay(t, () => ACCEPTED);
  const flood = await Promise.all(
    Array.from({ length: 60 }, (_, at) => sent(app, { ...RECEIPT, email: `flood${at}@example.org` })),
  );
  t.equal(flood.length, 60);
  await app.two.call('POST', '/sender/save', {
    form: {
      from_name: 'Two',
      from_email: 'two@example.com',
      reply_to_email: 'two@example.com',
      country_id: 1,
      company_address: '1',
      nickname: 't',
    },
  });
  const [own] = (await app.two.call('GET', '/senders')).body.message.senders;
  t.equal((await post(app.two, { ...RECEIPT, sender_id: own.id, email: 'two@example.org' })).status, 200);
  await app.background();
  const at = relay.started.indexOf('two@example.org');
  t.ok(at !== -1 && at < 16, `place ${at} of ${relay.started.length}`);
});

const BOUNCE = { kind: 'bounce', suppress: true, diagnostic: '550 no such user' } as const;

t.test('a mail that comes back, or its complaint, is found by its return path and by its Message-ID', async (t) => {
  const { app } = await readyToSend(t, { BOUNCE_LISTEN: '127.0.0.1:2525', BOUNCE_DOMAIN: 'returns.example.com' });
  const utrs = [await sent(app), await sent(app, { ...RECEIPT, email: 'bob@example.org' })];
  await app.background();
  const find = recipientFinder(app.db, app.clock.now().getTime());
  const paths = app.db.prepare<[], string>('SELECT envelope_from FROM outbox ORDER BY id').pluck().all();
  const [{ user_id: account }] = (await app.one.call('GET', '/senders')).body.message.senders;
  const event = { key: '', name: '', effect: null, recipient: null, happenedAt: null, diagnostic: '' };
  const byPath = find(account, { ...event, messageId: null, returnPath: paths[0] ?? '' });
  const messageId = (await stateOf(app, utrs[1] ?? '')).message_id;
  const byId = find(account, { ...event, messageId: `<${messageId}>`, returnPath: null });
  t.match([byPath, byId], [{ transactionalId: 1 }, { transactionalId: 2, normalizedEmail: 'bob@example.org' }]);
  t.equal(find(account + 1, { ...event, messageId, returnPath: null }), null, 'of another account');
  const forged = paths[0]?.replace('+01.', '+02.') ?? '';
  t.equal(find(account, { ...event, messageId: null, returnPath: forged }), null, 'a forged return path');
  recordReturned(app.db, { id: 1, ...BOUNCE }, app.clock.now());
  recordReturned(app.db, { id: 2, ...BOUNCE, kind: 'complaint' }, app.clock.now());
  t.match(await stateOf(app, utrs[0] ?? ''), { state: 'bounced', reply: '550 no such user', complained_at: null });
  t.match(await stateOf(app, utrs[1] ?? ''), { state: 'accepted', complained_at: String });
  const { suppressions } = (await app.one.call('GET', '/suppressions/list')).body.message;
  t.strictSame(
    suppressions.map(({ kind }: { kind: string }) => kind),
    ['bounce', 'complaint'],
  );
});

t.test('webhooks are told of mails that were accepted, that came back, and of complaints', async (t) => {
  const { app } = await readyToSend(t);
  const events = ['mail.accepted', 'mail.bounced', 'mail.complained'];
  await app.one.call('POST', '/webhooks/save', { form: { url: 'https://hooks.example/', events } });
  const utr = await sent(app);
  await app.background();
  recordReturned(app.db, { id: 1, ...BOUNCE }, app.clock.now());
  for (const _ of [1, 2]) recordReturned(app.db, { id: 1, ...BOUNCE, kind: 'complaint' }, app.clock.now());
  const told = app.db
    .prepare<[], { type: string; data: string }>(
      "SELECT type, data FROM webhook_events WHERE type LIKE 'mail.%' ORDER BY id",
    )
    .all();
  t.strictSame(
    told.map(({ type, data }) => {
      const { transactional_utr, email } = describedData(t, type, data);
      return [type, transactional_utr, email];
    }),
    events.map((type) => [type, utr, 'ann@example.org']),
  );
});

t.test(
  'after a stop in the middle nothing is lost, and only a start of the service removes pieces without a mail',
  async (t) => {
    const relay = new Relay((to) => (to.startsWith('Ann') ? new Promise<Outcome>(() => undefined) : ACCEPTED));
    const { app } = await readyToSend(t, {}, () => relay);
    const utr = await sent(app, { ...RECEIPT, attachments: [{ name: 'a', content: 'aGk=' }] });
    app.db.exec("INSERT INTO transactional_pieces VALUES ('left over', 0, 0, x'00')");
    await app.step();
    t.equal((await stateOf(app, utr)).state, 'sending');
    app.restartBackground(() => new Relay(() => ACCEPTED));
    t.strictSame([(await stateOf(app, utr)).state, piecesOf(app)], ['queued', 2], 'a request may still add their mail');
    removeUnfinishedPieces(app.db);
    t.equal(piecesOf(app), 1);
    await app.background();
    t.strictSame([(await stateOf(app, utr)).state, piecesOf(app)], ['accepted', 0]);
  },
);

t.test('the queue is read by its index', async (t) => {
  const { app } = await readyToSend(t);
  for (const text of Object.values(QUEUE_QUERIES)) {
    const steps = app.db
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
      .all(...(text.includes('LIMIT ?') ? [1, 1, 1] : [1]));
    const details = steps.map(({ detail }) => detail).join('; ');
    t.notMatch(details, /SCAN t\b|TEMP B-TREE/, details);
  }
});
