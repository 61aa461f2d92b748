/** What providers that do not sign their requests report: Postmark, Brevo, SparkPost. */
import t from 'tap';
import {
  intakesOf,
  makeIntake,
  PEOPLE,
  post,
  sentToSix,
  suppressed,
  unsubscribed,
} from '../support/provider-events.ts';

t.test('Postmark: records are carried out, with a password where one is set', async (t) => {
  const { app, counters } = await sentToSix(t);
  const path = await makeIntake(t, app.one, 'postmark', 'a password');
  const at = app.clock.now().toISOString();
  const bounce = (ID: number, Type: string, Email?: string) => ({
    RecordType: 'Bounce',
    ID,
    Type,
    TypeCode: 1,
    MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
    Details: 'smtp;550 5.1.1 The email account that you tried to reach does not exist.',
    Description: 'The server was unable to deliver your message.',
    Email,
    BouncedAt: at,
    Inactive: true,
  });
  const records = [
    bounce(692560173, 'HardBounce', PEOPLE[0]?.email),
    bounce(692560174, 'SoftBounce', PEOPLE[1]?.email),
    { ...bounce(692560175, 'SpamComplaint', PEOPLE[2]?.email), RecordType: 'SpamComplaint' },
    ...['Recipient', 'Customer'].map((Origin, index) => ({
      RecordType: 'SubscriptionChange',
      MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
      ChangedAt: at,
      Recipient: PEOPLE[3 + index]?.email,
      Origin,
      SuppressSending: true,
      SuppressionReason: 'ManualSuppression',
    })),
    { RecordType: 'SubscriptionChange', Recipient: PEOPLE[0]?.email, SuppressSending: false, SuppressionReason: null },
    bounce(692560176, 'AutoResponder', PEOPLE[5]?.email),
  ];
  const login = (password: string) => ({
    authorization: `Basic ${Buffer.from(`hook:${password}`).toString('base64')}`,
  });
  for (const headers of [{}, login('another'), { authorization: 'Bearer x' }, { authorization: 'Basic' }]) {
    const answer = await post(app, path, { body: JSON.stringify(records[0]), headers });
    t.match(answer, { status: 401, headers: { 'www-authenticate': 'Basic realm="Sendlark"' } });
  }
  t.strictSame(await suppressed(app.one), []);
  for (const record of [...records, ...records])
    t.equal((await post(app, path, { body: JSON.stringify(record), headers: login('a password') })).status, 200);
  t.strictSame(await suppressed(app.one), ['anna@example.org bounce', 'cleo@example.org complaint']);
  t.strictSame(await unsubscribed(app.one), ['dora@example.org']);
  t.match(await counters(), { bounces: 1, delivered: 5, unsubscribes: 1 });
  t.match((await intakesOf(app.one)).postmark, {
    permanent: 1,
    temporary: 1,
    complaints: 1,
    unsubscribes: 1,
    refused: 4,
  });
});

t.test('Brevo: one event or a list of them, with the token alone', async (t) => {
  const { app, ids } = await sentToSix(t);
  const path = await makeIntake(t, app.one, 'brevo');
  const event = (at: number, name: string, fields = {}) => ({
    event: name,
    email: PEOPLE[at]?.email,
    id: 26224,
    date: '2026-01-15 10:00:11',
    ts: 1768467611,
    'message-id': '<201798300811.5787683@relay.domain.com>',
    ts_event: Math.floor(app.clock.now().getTime() / 1000),
    subject: 'News',
    ...fields,
  });
  const list = [
    event(1, 'soft_bounce'),
    event(2, 'spam'),
    event(3, 'unsubscribed'),
    event(4, 'blocked'),
    event(5, 'opened'),
  ];
  const own = event(0, 'hard_bounce', {
    'message-id': ids[0],
    email: 'somebody@forwarded.example',
    reason: 'unknown user',
  });
  for (const body of [own, list, list, own])
    t.equal((await post(app, path, { body: JSON.stringify(body) })).status, 200);
  t.strictSame(await suppressed(app.one), ['anna@example.org bounce', 'cleo@example.org complaint']);
  t.strictSame(await unsubscribed(app.one), ['dora@example.org']);
  const counts = { permanent: 1, returned: 1, temporary: 1, complaints: 1, unsubscribes: 1, others: 2, duplicates: 5 };
  t.match((await intakesOf(app.one)).brevo, counts);
});

t.test(
  'SparkPost: batches within msys, found by the return path or the address; a test of the address is acknowledged',
  async (t) => {
    const { app } = await sentToSix(t, { BOUNCE_LISTEN: '127.0.0.1:2525', BOUNCE_DOMAIN: 'returns.example.com' });
    const returnPath = app.db
      .prepare("SELECT envelope_from FROM outbox WHERE envelope_to = 'anna@example.org'")
      .pluck()
      .get();
    const path = await makeIntake(t, app.one, 'sparkpost');
    let id = 92356927693813856n;
    const event = (at: number, type: string, fields = {}, kind = 'message_event') => ({
      msys: {
        [kind]: {
          type,
          event_id: String(id++),
          message_id: '000443ee14578172be22',
          msg_from: 'sender@example.com',
          rcpt_to: PEOPLE[at]?.email,
          raw_rcpt_to: PEOPLE[at]?.email,
          raw_reason: '550 5.1.1 user unknown',
          timestamp: String(Math.floor(app.clock.now().getTime() / 1000)),
          ...fields,
        },
      },
    });
    const batch = [
      event(0, 'bounce', {
        bounce_class: '10',
        msg_from: returnPath,
        rcpt_to: 'x@alias.example',
        raw_rcpt_to: 'x@alias.example',
      }),
      event(1, 'bounce', { bounce_class: '22' }),
      event(2, 'spam_complaint', { fbtype: 'abuse' }),
      event(3, 'list_unsubscribe', {}, 'unsubscribe_event'),
      event(4, 'out_of_band', { bounce_class: '60' }),
      event(5, 'bounce', { bounce_class: '51' }),
    ];
    for (const body of [[{ msys: {} }], batch, batch])
      t.equal((await post(app, path, { body: JSON.stringify(body) })).status, 200);
    t.strictSame(await suppressed(app.one), ['anna@example.org bounce', 'cleo@example.org complaint']);
    t.strictSame(await unsubscribed(app.one), ['dora@example.org']);
    const counts = {
      permanent: 1,
      returned: 1,
      temporary: 1,
      complaints: 1,
      unsubscribes: 1,
      others: 2,
      duplicates: 5,
    };
    t.match((await intakesOf(app.one)).sparkpost, counts);
  },
);
