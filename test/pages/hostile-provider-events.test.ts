/** Requests to the addresses for mail providers that nobody should send: other accounts' mail, malformed and hostile bodies, floods. */
import fc from 'fast-check';
import t from 'tap';
import { LAST_ACCEPTED_BEFORE } from '../../src/delivery/feedback/providers/event-recipients.ts';
import { startApp } from '../support/app.ts';
import {
  intakesOf,
  MAILGUN_KEY,
  mailgun,
  makeIntake,
  PEOPLE,
  post,
  sentToSix,
  suppressed,
} from '../support/provider-events.ts';
import { planned, wholeReads } from '../support/query-plans.ts';

t.test(
  'a token is for one provider and one account; a deleted address and an unknown one are answered alike',
  async (t) => {
    const { app } = await sentToSix(t);
    const own = await makeIntake(t, app.one, 'brevo');
    const theirs = await makeIntake(t, app.two, 'brevo');
    const body = JSON.stringify({ event: 'spam', email: PEOPLE[0]?.email, 'message-id': '<x@y.example>', ts_event: 1 });
    t.equal((await post(app, theirs, { body })).status, 200);
    t.match((await intakesOf(app.two)).brevo, { unmatched: 1, complaints: 0 });
    t.strictSame(await suppressed(app.two), [], 'the other account learns nothing of addresses it does not have');
    t.strictSame(await suppressed(app.one), []);

    const [id] = (await app.one.call('GET', '/provider-events')).body.message.intakes.map(
      (one: { id: number }) => one.id,
    );
    t.equal((await app.two.call('DELETE', '/provider-events/delete', { query: { id } })).status, 404);
    const unknown = await post(app, '/hooks/in/brevo/MQ.0123456789012345678901', { body });
    t.equal(unknown.status, 404);
    t.match(await post(app, own.replace('/brevo/', '/sparkpost/'), { body }), { status: 404, text: unknown.text });
    t.match(await post(app, own.replace('/brevo/', '/nobody/'), { body }), { status: 404 });
    t.equal((await app.one.call('DELETE', '/provider-events/delete', { query: { id } })).status, 200);
    t.match(await post(app, own, { body }), { status: 404, text: unknown.text });
  },
);

t.test('an account cannot report what became of the mail of another one', async (t) => {
  const { app, ids, counters } = await sentToSix(t, {
    BOUNCE_LISTEN: '127.0.0.1:2525',
    BOUNCE_DOMAIN: 'returns.example.com',
  });
  // The other account has the same people, so only the mail tells whose they are.
  await app.two.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const from = app.db.prepare("SELECT envelope_from FROM outbox WHERE envelope_to = 'anna@example.org'").pluck().get();
  const [brevo, sparkpost] = [await makeIntake(t, app.two, 'brevo'), await makeIntake(t, app.two, 'sparkpost')];
  const email = PEOPLE[0]?.email;
  await app.two.call('POST', '/bounces', { form: { address: email, kind: 'bounce' } });
  const [entry] = (await app.two.call('GET', '/suppressions/list')).body.message.suppressions;
  await app.two.call('DELETE', '/suppressions/delete', { query: { id: entry.id } });
  const bounce = { type: 'bounce', bounce_class: '10', event_id: '1', msg_from: from, raw_rcpt_to: email };
  await post(app, brevo, { body: JSON.stringify({ event: 'spam', email, 'message-id': ids[0], ts_event: 1 }) });
  await post(app, sparkpost, { body: JSON.stringify([{ msys: { message_event: bounce } }]) });
  t.strictSame([await suppressed(app.one), await suppressed(app.two)], [[], []]);
  t.match(await counters(), { bounces: 0, delivered: 6 });
});

t.test(
  'an event that names only an address is about the last mail before it, and about the address alone if there is none',
  async (t) => {
    const { app, counters } = await sentToSix(t);
    const path = await makeIntake(t, app.one, 'brevo');
    const at = Math.floor(app.clock.now().getTime() / 1000);
    const event = (name: number, ts_event: number) => ({ event: 'hard_bounce', email: PEOPLE[name]?.email, ts_event });
    await post(app, path, {
      body: JSON.stringify([event(0, at + 60), event(1, at - 2 * 3600), event(2, at + 40 * 86_400), event(3, 9e15)]),
    });
    t.equal((await suppressed(app.one)).length, 4);
    t.match(await counters(), { bounces: 1, delivered: 5 });
  },
);

t.test('bodies that are no events are refused, and a batch that is partly malformed has no effect', async (t) => {
  const { app } = await sentToSix(t);
  const path = await makeIntake(t, app.one, 'brevo');
  const event = (at: number) => JSON.stringify({ event: 'hard_bounce', email: PEOPLE[at]?.email, ts_event: at });
  const many = `[${Array(10_001).fill('{}').join(',')}]`;
  const malformed = [
    ...['', ' ', 'null', '1', '"x"', '[', '[]x', '[1]', '[null]', '[[]]', '[{}', '{', '{"a":}', '\u0000', many],
    `[${event(0)},${event(1)},]`,
    `[${event(0)},{"event":"spam"]`,
    `[${event(0)} ${event(1)}]`,
    `[{"event":"${'x'.repeat(600_000)}"}]`,
    `[${' '.repeat(2000)}${event(0)}]`,
    `${'['.repeat(100_000)}`,
  ];
  for (const body of malformed) {
    app.clock.advance(3000);
    t.equal((await post(app, path, { body })).status, 400, body.slice(0, 60));
  }
  t.strictSame(await suppressed(app.one), []);
  t.equal((await post(app, path, { body: Buffer.alloc(17 * 1024 * 1024, 0x20) })).status, 413);
  for (const body of ['[]', ' [ ] ', `\n[ ${event(0)} , ${event(1)} ]\n`])
    t.equal((await post(app, path, { body })).status, 200);
  t.equal((await suppressed(app.one)).length, 2);
  t.match((await intakesOf(app.one)).brevo, { refused: malformed.length, last_refusal: 'malformed' });
});

t.test('after thirty failures in a minute whoever asks at this intake has to wait, and at no other', async (t) => {
  const app = await startApp(t);
  const path = await makeIntake(t, app.one, 'brevo', 'a-password');
  for (let time = 0; time < 30; time++) t.equal((await post(app, path, { body: '{}' })).status, 401);
  const genuine = { body: '{"event":"delivered"}', headers: { authorization: 'Bearer a-password' } };
  t.match(await post(app, path, genuine), { status: 429, headers: { 'retry-after': '60' } });
  const other = await makeIntake(t, app.two, 'brevo', 'a-password');
  t.equal((await post(app, other, genuine)).status, 200, 'the provider reports for others from the same network');
  for (let time = 0; time < 30; time++)
    t.equal((await post(app, '/hooks/in/brevo/nobodys', { body: '{}' })).status, 404);
  t.match(await post(app, '/hooks/in/brevo/nobodys', { body: '{}' }), { status: 429 });
  t.equal((await post(app, other, genuine)).status, 200, 'also when strangers there have no token');
  app.clock.advance(60_000);
  t.equal((await post(app, path, genuine)).status, 200);
  t.match((await intakesOf(app.one)).brevo, { refused: 30, last_refusal: 'login' });
});

t.test('a large batch is carried out whole, and what is remembered of it stays bounded', async (t) => {
  const { app } = await sentToSix(t);
  const path = await makeIntake(t, app.one, 'brevo');
  const batch = (from: number) =>
    JSON.stringify(
      Array.from({ length: 6000 }, (_, at) => ({ event: 'spam', email: 'x@example.net', ts_event: from + at })),
    );
  for (const from of [1, 6001]) t.equal((await post(app, path, { body: batch(from) })).status, 200);
  t.match((await intakesOf(app.one)).brevo, { unmatched: 12_000, duplicates: 0 });
  const rows = () => app.db.prepare('SELECT count(*) FROM provider_event_keys').pluck().get();
  t.equal(rows(), 10_000);
  app.clock.advance(4 * 86_400_000);
  for (let time = 0; time < 25; time++)
    await post(app, path, { body: JSON.stringify({ event: 'spam', email: 'x', ts: time }) });
  t.equal(rows(), 25, 'after three days it is forgotten');
  t.equal(app.db.prepare('SELECT remembered FROM provider_intakes').pluck().get(), 25);
});

t.test(
  'an event of Mailgun that was forgotten among many newer ones cannot be sent again with another content',
  async (t) => {
    const { app } = await sentToSix(t);
    const path = await makeIntake(t, app.one, 'mailgun', MAILGUN_KEY);
    const first = mailgun(app, { event: 'delivered' });
    t.equal((await post(app, path, first)).status, 200);
    app.clock.advance(60_000);
    const seen = app.clock.now().getTime();
    app.db
      .prepare(
        `INSERT INTO provider_event_keys (intake_id, key, seen_at)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT 1, randomblob(16), ? + i FROM n`,
      )
      .run(seen);
    app.db.exec('UPDATE provider_intakes SET remembered = 200001');
    app.clock.advance(600_000);
    t.equal((await post(app, path, mailgun(app, { event: 'delivered' }))).status, 200);
    const rows = () => app.db.prepare('SELECT count(*) FROM provider_event_keys').pluck().get();
    t.equal(rows(), 200_000, 'what is remembered stays bounded');
    const { signature } = JSON.parse(String(first.body));
    const complaint = { event: 'complained', recipient: 'nobody@example.net' };
    t.equal((await post(app, path, { body: JSON.stringify({ signature, 'event-data': complaint }) })).status, 200);
    t.match((await intakesOf(app.one)).mailgun, { duplicates: 1, unmatched: 0, complaints: 0 });
    t.equal((await post(app, path, mailgun(app, complaint))).status, 200);
    t.match((await intakesOf(app.one)).mailgun, { duplicates: 1, unmatched: 1 });
  },
);

t.test('events are carried out without reading a table that grows from end to end', async (t) => {
  const { app } = await sentToSix(t);
  const path = await makeIntake(t, app.one, 'brevo');
  const events = ['hard_bounce', 'blocked', 'spam', 'unsubscribed'].map((event, at) => ({
    event,
    email: PEOPLE[at]?.email,
  }));
  const plans = await planned(async () => {
    t.equal((await post(app, path, { body: JSON.stringify(events) })).status, 200);
  });
  t.ok(plans.length > 10, `${plans.length} statements`);
  t.strictSame(plans.flatMap(wholeReads), []);
  const plan = app.db
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${LAST_ACCEPTED_BEFORE}`)
    .all({ address: 1, account: 1, since: '', from: 0, until: 0 });
  t.match(
    plan.flatMap(({ detail }) => (/ USING /.test(detail) ? detail : [])),
    [
      'SEARCH mailings USING INDEX mailings_recent (user_id=? AND <expr>>?)',
      'SEARCH mailings USING INDEX mailings_recent_others (user_id=? AND <expr>>?)',
      'SEARCH d USING INDEX deliveries_person (mailing_id=? AND address_id=?)',
    ],
  );
});

t.test('whatever the body says, the answer is 200 or 400 and nobody is suppressed who was not named', async (t) => {
  const { app } = await sentToSix(t);
  const paths = Object.fromEntries(
    await Promise.all(
      ['postmark', 'brevo', 'sparkpost'].map(async (name) => [name, await makeIntake(t, app.one, name)] as const),
    ),
  );
  const words = [
    'event',
    'hard_bounce',
    'spam',
    'email',
    'RecordType',
    'Bounce',
    'Type',
    'HardBounce',
    'Email',
    'msys',
  ];
  const more = [
    'message_event',
    'type',
    'bounce',
    'bounce_class',
    '10',
    'rcpt_to',
    'message-id',
    '__proto__',
    'constructor',
  ];
  const word = fc.oneof(fc.constantFrom(...words, ...more), fc.string());
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      word,
      fc.integer(),
      fc.double(),
      fc.constant(null),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('any'), { maxLength: 4 }),
    object: fc.dictionary(word, tie('any'), { maxKeys: 6 }),
  })).any;
  const body = fc.oneof(
    value.map((it) => JSON.stringify(it)),
    fc.string({ unit: 'binary' }),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.values(paths)), body, async (path, text) => {
      app.clock.advance(3000);
      const { status } = await post(app, path, { body: text });
      return status === 200 || status === 400;
    }),
    { numRuns: Number(process.env.FUZZ_CASES ?? 150) },
  );
  t.strictSame(await suppressed(app.one), []);
});
