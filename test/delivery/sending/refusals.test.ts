/** A relay that refuses us, and not the recipients, holds the mailing; nobody of it fails. */
import t, { type Test } from 'tap';
import { findBlame } from '../../../src/delivery/replies/blame.ts';
import { replyOutcome, type Stage } from '../../../src/delivery/transport/smtp/outcome.ts';
import { ACCEPTED, launch, launchToSink, Relay } from '../../support/launched-mailing.ts';

const WORDINGS: Record<'us' | 'unclear' | 'null', string[]> = {
  us: [
    // Postfix
    '554 5.7.1 <news@example.com>: Sender address rejected: Access denied',
    '553 5.7.1 <news@example.com>: Sender address rejected: not owned by user shop',
    '550 5.1.8 <news@example.com>: Sender address rejected: Domain not found',
    '454 4.7.1 <anna@example.org>: Relay access denied',
    '554 5.7.1 <anna@example.org>: Relay access denied',
    '554 5.7.1 <unknown[192.0.2.1]>: Client host rejected: Access denied',
    '450 4.7.1 Client host rejected: cannot find your reverse hostname, [192.0.2.1]',
    '550 5.7.25 Client host rejected: cannot find your hostname, [192.0.2.1]',
    '504 5.5.2 <shop>: Helo command rejected: need fully-qualified hostname',
    '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org',
    '550 5.7.23 <anna@example.org>: Recipient address rejected: Message rejected due to: SPF fail - not authorized',
    // Exchange and Microsoft 365
    '550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain',
    '550 5.7.1 Unable to relay',
    '550 5.7.60 SMTP; Client does not have permissions to send as this sender',
    '530 5.7.57 SMTP; Client was not authenticated to send anonymous mail during MAIL FROM',
    '550 5.7.64 TenantAttribution; Relay Access Denied',
    '550 5.1.8 Access denied, bad outbound sender',
    '550 5.7.708 Access denied, traffic not accepted from this IP.',
    '550 5.7.606 Access denied, banned sending IP [192.0.2.1]',
    // Exim
    '550 relay not permitted',
    '550 Sender verify failed',
    '550 Access denied - Invalid HELO name (See RFC2821 4.1.1.1)',
    '550-Please turn on SMTP Authentication in your mail client.\n550 host.example is not permitted to relay through this server without authentication',
    // Sendmail
    '550 5.7.1 <anna@example.org>... Relaying denied',
    '550 5.7.1 <anna@example.org>... Relaying denied. IP name lookup failed [192.0.2.1]',
    '553 5.1.8 <news@example.com>... Domain of sender address news@example.com does not exist',
    // qmail, Google
    "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
    '550 5.7.1 Invalid credentials for relay [192.0.2.1].',
    '550 5.7.26 This mail is unauthenticated, which poses a security risk to the sender and Gmail users',
    '530 5.7.0 Authentication required',
    // By code alone (RFC 3463, RFC 7372, RFC 7505)
    '550 5.1.7 no',
    '550 5.1.8 no',
    '550 5.7.20 no',
    '550 5.7.24 no',
    '550 5.7.27 no',
  ],
  unclear: [
    '554 5.7.1 <anna@example.org>: Recipient address rejected: Access denied',
    '550 5.7.1 Message rejected',
    '550 5.7.0 blocked by policy',
    '554 Transaction failed',
    '550 Administrative prohibition',
    '554 5.6.0 no',
  ],
  null: [
    '550 5.1.1 <anna@example.org>: Recipient address rejected: User unknown in local recipient table',
    '550 5.1.1 no such user',
    '550 No such user here',
    '550 5.1.2 bad domain',
    '550 5.2.1 mailbox disabled',
    '552 5.2.2 over quota',
    '552 mailbox full',
    '450 4.7.1 <anna@example.org>: Recipient address rejected: Greylisted, see https://example.org/help',
    '451 4.7.1 Please try again later',
    '450 4.2.1 The user you are trying to contact is receiving mail too quickly',
    '421 4.3.2 try later',
    '250 2.1.5 ok',
  ],
};

for (const [blame, replies] of Object.entries(WORDINGS)) {
  t.test(`a refusal is told from its words and code: ${blame}`, async (t) => {
    for (const reply of replies) {
      const outcome = replyOutcome('rcpt', {
        code: Number(reply.slice(0, 3)),
        text: reply.replace(/^\d+[ -]|(?<=\n)\d+[ -]/g, ''),
      });
      t.equal(String(findBlame(outcome)), blame, reply);
    }
  });
}

t.test('only replies to a recipient or to a message count', async (t) => {
  const reply = { code: 554, text: '5.7.1 Relay access denied' };
  const stages: Stage[] = ['connect', 'tls', 'auth', 'mail'];
  for (const stage of stages) t.equal(findBlame(replyOutcome(stage, reply)), null, stage);
  for (const stage of ['data', 'body'] as const) t.equal(findBlame(replyOutcome(stage, reply)), 'us', stage);
});

for (const reply of [
  '554 5.7.1 <news@example.com>: Sender address rejected: Access denied',
  '554 5.7.1 Relay access denied',
  '554 5.7.1 <unknown[192.0.2.1]>: Client host rejected: Access denied',
  '450 4.7.1 Client host rejected: cannot find your reverse hostname',
  '550 5.7.1 no',
]) {
  t.test(`300 recipients refused with "${reply}": held, all in the queue, nobody failed`, async (t) => {
    const { sink, courier, until, start, rows, mailing, suppressions } = await launchToSink(t, 300, {
      rcpt: `${reply}\r\n`,
    });
    await until(() => mailing().state === 'held' && rows().every(({ state }) => state === 0));
    t.match(mailing(), { failed: 0, bounces: 0, delivered: 0, triggered: 0, finished_at: null });
    t.match(
      mailing().held_reason,
      /^The SMTP server refuses mail because of the sender or this machine, .*back in the queue/,
    );
    t.equal(rows().length, 300);
    t.ok(sink.commands.filter((line) => line.startsWith('RCPT')).length < 60, 'after a few');
    t.equal(suppressions(), 0);
    sink.script = {};
    const again = start(courier());
    for (let tries = 0; tries < 2000 && mailing().finished_at === null; tries++) await again.step();
    t.match(mailing(), { state: 'done', delivered: 300, triggered: 300, failed: 0 });
    await again.close(100);
  });
}

t.test('a relay that begins to refuse us in the middle holds the rest; the accepted stay accepted', async (t) => {
  let accepted = 0;
  const { until, rows, mailing } = await launchToSink(t, 600, {
    rcpt: () => (++accepted <= 200 ? '250 ok\r\n' : '554 5.7.1 Relay access denied\r\n'),
  });
  await until(() => mailing().state === 'held' && rows().every(({ state }) => state === 0 || state === 2));
  t.match(mailing(), { delivered: 200, failed: 0 });
});

t.test(
  'refused among acceptances: that recipient failed, or is tried again where we are named; the others go on',
  async (t) => {
    const { until, rows, mailing, suppressions } = await launchToSink(t, 200, {
      rcpt: ({ line }) => {
        if (line.includes('reader0000050')) return '550 5.1.1 no such user\r\n';
        if (/reader00000[0-9]7/.test(line)) return '550 5.7.1 blocked by policy\r\n';
        return line.includes('reader0000199') ? '554 5.7.1 Sender address rejected\r\n' : '250 ok\r\n';
      },
    });
    await until(() => mailing().delivered === 188 && rows().every(({ state }) => state !== 1));
    t.match(mailing(), { state: 'sending', delivered: 188, failed: 10, bounces: 1 });
    t.equal(rows()[199]?.state, 0, 'the one whose refusal names us');
    t.equal(suppressions(), 1);
  },
);

t.test('unknown users in a row bounce and hold nothing', async (t) => {
  const { until, mailing } = await launchToSink(t, 100, { rcpt: '550 5.1.1 no such user\r\n' });
  await until(() => mailing().finished_at !== null);
  t.match(mailing(), { bounces: 100, failed: 0 });
});

t.test('a single recipient refused by a policy fails; one refused for its sender holds the mailing', async (t) => {
  const policy = await launchToSink(t, 1, { rcpt: '550 5.7.1 no\r\n' });
  await policy.until(() => policy.mailing().finished_at !== null);
  t.match(policy.mailing(), { failed: 1 });
  const sender = await launchToSink(t, 1, { rcpt: '554 5.7.1 Sender address rejected\r\n' });
  await sender.until(() => sender.mailing().state === 'held');
  t.match(sender.mailing(), { failed: 0, held_reason: /the recipient, who is back.*Sender address rejected/ });
});

const NAMED = '554 5.7.1 <news@example.com>: Sender address rejected: Access denied';

const HOUR = 3_600_000;

/**
 * A mailing of an automation: laid out, and each person due an hour after the one before. Everybody is refused once
 * `refuse` was called.
 */
async function sparse(t: Test, people: number) {
  let answer = ACCEPTED;
  const relay = new Relay(() => answer);
  const room = relay.room.bind(relay);
  relay.room = () => 0;
  const { db, clock, background, mailing, rows } = await launch(t, people, relay);
  db.$client.exec("UPDATE mailings SET owner_kind = 'schedule'");
  while (rows().length < people || mailing().state !== 'sending') await background.step();
  const later = db.$client.prepare('UPDATE deliveries SET due_at = ? WHERE id = ?');
  for (const [at, { id }] of rows().entries()) later.run(clock.now().getTime() + at * HOUR, id);
  relay.room = room;
  await background.untilIdle();
  return {
    mailing,
    rows,
    refuse: () => {
      answer = replyOutcome('rcpt', { code: 554, text: NAMED.slice(4) });
    },
    async pass(ms: number) {
      clock.advance(ms);
      await background.untilIdle();
    },
  };
}

t.test(
  'an automation that was accepted before and is refused once an hour: nobody fails, the third holds it',
  async (t) => {
    const { mailing, rows, refuse, pass } = await sparse(t, 5);
    const nobodyFailed = () => rows().every(({ state }, at) => state === (at === 0 ? 2 : 0));
    refuse();
    for (const refused of [1, 2]) {
      await pass(HOUR);
      await pass(HOUR / 100);
      t.match(mailing(), { state: 'sending', delivered: 1, failed: 0 });
      t.ok(nobodyFailed(), `after ${refused}`);
    }
    await pass(HOUR);
    t.match(mailing(), { state: 'held', delivered: 1, failed: 0 });
    t.ok(nobodyFailed());
  },
);

t.test('one person of an automation whose refusals name us for four days: held, not failed', async (t) => {
  const { mailing, rows, refuse, pass } = await sparse(t, 2);
  refuse();
  for (let hours = 0; hours < 130 && mailing().state !== 'held'; hours++) await pass(HOUR);
  t.match(mailing(), { state: 'held', delivered: 1, failed: 0, held_reason: /the recipient, who is back/ });
  t.equal(rows()[1]?.state, 0);
});

/** A send to 200 people, of whom those that `isBlocked` names by their number have addresses of a domain that refuses. */
function atBlockedDomain(t: Test, isBlocked: (at: number) => boolean, reply: string) {
  const people = Array.from({ length: 200 }, (_, at) => `r${at}@${isBlocked(at) ? 'blocked' : 'sound'}.example`);
  return launchToSink(t, people, {
    rcpt: ({ line }) => (line.includes('blocked.example') ? `${reply}\r\n` : '250 ok\r\n'),
  });
}

for (const [place, isBlocked] of [
  ['first', (at: number) => at < 120],
  ['last', (at: number) => at >= 80],
  ['in the middle', (at: number) => at >= 40 && at < 160],
] as const) {
  t.test(
    `a list sorted by domain, one of which refuses by policy, ${place}: it fails alone, nothing is held`,
    async (t) => {
      const { until, mailing } = await atBlockedDomain(t, isBlocked, '550 5.7.1 blocked by policy');
      await until(() => mailing().finished_at !== null || mailing().state === 'held');
      t.match(mailing(), { state: 'done', delivered: 80, failed: 120 });
    },
  );
}

t.test(
  'a list sorted by domain, the first of which refuses us by name: the others get it, those are tried again',
  async (t) => {
    const { until, mailing, rows } = await atBlockedDomain(
      t,
      (at) => at < 120,
      '554 5.7.1 Client host blocked using zen.example',
    );
    await until(() => rows().filter(({ state }) => state === 2).length === 80 || mailing().state === 'held');
    await until(() => rows().every(({ state, attempt }) => state === 2 || (state === 0 && attempt === 1)));
    t.match(mailing(), { state: 'sending', delivered: 80, failed: 0 });
  },
);
