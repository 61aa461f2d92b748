/** Which refusals slow a group of domains down, which domains are a group, and what is limited with whom. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { connect } from '../../../src/database/open.ts';
import type { ResolveMx } from '../../../src/delivery/pacing/domain-groups.ts';
import { providerOfServer } from '../../../src/delivery/pacing/mailbox-providers.ts';
import { readPacedGroups } from '../../../src/delivery/pacing/paced-groups.ts';
import { asksForLowerRate, Pacing } from '../../../src/delivery/pacing/pacing.ts';
import type { Outcome } from '../../../src/delivery/transport/courier.ts';
import { FakeClock } from '../../support/app.ts';
import { ACCEPTED } from '../../support/launched-mailing.ts';
import { seededCopy } from '../../support/seeded-copy.ts';

const MINUTE = 60_000;

function deferred(reply: string, stage: Outcome['stage'] = 'rcpt'): Outcome {
  const enhanced = /^\d{3} (4\.\d+\.\d+)/.exec(reply)?.[1] ?? null;
  return { kind: 'deferred', stage, code: Number(reply.slice(0, 3)), enhanced, reply };
}

const TOO_FAST = deferred('421 4.7.0 [TSS04] Messages temporarily deferred due to unexpected volume');

function open(t: Test, resolveMx: ResolveMx | null = null) {
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-pacing-'));
  seededCopy(join(folder, 'test.db'));
  const db = connect(join(folder, 'test.db'));
  t.teardown(() => {
    db.$client.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const clock = new FakeClock();
  const start = () => new Pacing({ client: db.$client, clock, resolveMx });
  const pacing = start();
  const mailing = (id: number, relay_id: number | null = null) => ({ id, relay_id });
  /** Returns true if recipients at this domain have to wait after a few of them. */
  const isPaced = (domain: string, relay: number | null = null, of = pacing) =>
    Array.from({ length: 5 }, () => of.waitFor(mailing(1, relay), domain)).some((wait) => wait > 0);
  return { client: db.$client, clock, start, pacing, mailing, isPaced };
}

/** What servers say, by those that say it. */
const ASK_FOR_FEWER: Record<string, string> = {
  Google: '421 4.7.28 Gmail has detected an unusual rate of mail originating from your IP address',
  Microsoft: '451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation',
  'Microsoft, busy': '451 4.7.500 Server busy. Please try again later from [192.0.2.1]. (S77719)',
  Yahoo: '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints',
  'Yahoo, of complaints':
    '421 4.7.0 [TS01] Messages from 192.0.2.1 temporarily deferred due to user complaints - 4.16.55.1',
  Comcast: '421 4.1.0 192.0.2.1 Throttled - try again later',
  'one that says when': '450 4.7.1 Messages from your server are rate limited, try again in 60 seconds',
  Rspamd: '451 4.7.1 Ratelimit "to" exceeded',
  Postfix: '450 4.7.1 Error: too much mail from 192.0.2.1',
  'any server': '450 4.4.2 too many messages from your server, slow down',
  'one that closes': '421 try later',
};
const ASK_FOR_NOTHING: Record<string, string> = {
  'Google, of one mailbox':
    '450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages',
  'a full mailbox': '452 4.2.2 The mailbox is full',
  Postgrey:
    '450 4.2.0 <ann@example.org>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/help/example.org.html',
  'milter-greylist': '451 4.7.1 Greylisting in action, please come back in 00:05:00',
  'milter-greylist, quiet': '451 4.7.1 Greylisting in action, please come back later',
  greyfix:
    '450 4.7.1 <ann@example.org>: Recipient address rejected: Greylisted by greyfix 0.4.0, try again in 30 seconds',
  freenet: '457 Greylisted, please come back later.',
  'in two words': '451 4.7.1 gray listed, come back later',
  'in 421': '421 4.7.1 Please try again in 5 minutes',
  'without its name': '450 4.7.1 <ann@example.org>: Recipient address rejected: try again in 300 seconds',
  'Plesk, and any milter': '451 4.7.1 Service unavailable - try again later',
  'Rspamd, greylisting': '451 4.7.1 Try again later',
  postscreen: '450 4.3.2 Service currently unavailable',
  Mimecast: '451 Internal resources are temporarily unavailable',
  'no reverse DNS': '451 4.7.25 client host has no reverse DNS',
  'a fault of the server': '451 4.3.0 local error in processing',
};

t.test('what servers say to ask for fewer mails is understood, and taken for nothing else', async (t) => {
  for (const [server, reply] of Object.entries(ASK_FOR_FEWER)) t.ok(asksForLowerRate(deferred(reply)), server);
  t.notOk(asksForLowerRate(deferred('421 4.7.0 too many connections', 'connect')), 'the relay itself');
  t.notOk(asksForLowerRate(ACCEPTED));
});

t.test('greylisting, a mailbox, filters and our own faults do not ask for fewer mails', async (t) => {
  for (const [server, reply] of Object.entries(ASK_FOR_NOTHING)) t.notOk(asksForLowerRate(deferred(reply)), server);
});

t.test('the mail servers of providers are known by the end of their names', async (t) => {
  const providers = [
    'ASPMX.L.GOOGLE.COM.',
    'shop.mail.protection.outlook.com',
    'mta5.am0.yahoodns.net',
    'mx.notgoogle.com',
  ];
  t.strictSame(providers.map(providerOfServer), ['Google', 'Microsoft', 'Yahoo', null]);
});

t.test('a refusal slows down the domains of one provider over one relay, and nobody else', async (t) => {
  const { pacing, isPaced } = open(t);
  t.ok(pacing.isIdle);
  pacing.note(1, 'gmail.com', TOO_FAST);
  t.notOk(pacing.isIdle);
  t.ok(isPaced('googlemail.com', 1));
  for (const domain of ['yahoo.com', 'shop.example']) t.notOk(isPaced(domain, 1), domain);
  t.notOk(isPaced('gmail.com', 2), 'another relay');
  t.notOk(isPaced('gmail.com', null), 'senders that are bound to none');
});

t.test('one refusal among hundreds of accepted mails changes nothing', async (t) => {
  const { pacing } = open(t);
  for (let mail = 0; mail < 200; mail++) pacing.note(null, 'gmail.com', ACCEPTED);
  pacing.note(null, 'gmail.com', TOO_FAST);
  t.ok(pacing.isIdle);
});

t.test(
  'a domain whose MX records lead to a provider is limited with it; one whose look-up fails is alone',
  async (t) => {
    const asked: string[] = [];
    const { pacing, isPaced } = open(t, async (domain) => {
      asked.push(domain);
      if (domain !== 'shop.com') throw new Error('ENOTFOUND');
      return [
        { exchange: 'backup.other.net', priority: 20 },
        { exchange: 'aspmx.l.google.com', priority: 1 },
      ];
    });
    for (let mail = 0; mail < 100; mail++) pacing.note(null, 'large.com', ACCEPTED);
    t.strictSame(asked, [], 'nobody asks before something is refused');
    for (const domain of ['shop.com', 'alone.org', 'a.example']) pacing.note(null, domain, TOO_FAST);
    await new Promise(setImmediate);
    t.strictSame(asked, ['shop.com', 'alone.org'], 'each once, and no names that exist nowhere');
    t.ok(isPaced('gmail.com'));
    t.ok(isPaced('shop.com'));
    t.ok(isPaced('alone.org'));
    t.notOk(isPaced('yahoo.com'));
    pacing.note(null, 'shop.com', TOO_FAST);
    await new Promise(setImmediate);
    t.equal(asked.length, 2, 'the answers are kept');
  },
);

t.test('domains with many mails are looked up while something is limited', async (t) => {
  const asked: string[] = [];
  const { pacing, isPaced, clock } = open(t, async (domain) => {
    asked.push(domain);
    return [{ exchange: 'smtp.google.com', priority: 1 }];
  });
  pacing.note(null, 'gmail.com', TOO_FAST);
  for (let mail = 0; mail < 100; mail++) pacing.note(null, 'large.com', ACCEPTED);
  pacing.note(null, 'small.com', ACCEPTED);
  clock.advance(10_000);
  pacing.startRound();
  await new Promise(setImmediate);
  t.strictSame(asked, ['large.com']);
  t.ok(isPaced('large.com'));
});

t.test('a limit rises with mails that are accepted until it is over, and goes on after a restart', async (t) => {
  const { client, clock, pacing, mailing, start, isPaced } = open(t);
  for (let mail = 0; mail < 20; mail++) pacing.note(null, 'gmail.com', ACCEPTED);
  pacing.note(null, 'gmail.com', TOO_FAST);
  pacing.startRound();
  const rate = () => readPacedGroups(client, clock.now().getTime())[0]?.rate ?? 0;
  t.equal(rate(), 10, 'half of what was accepted');
  const sendFor = (minutes: number, of: Pacing) => {
    for (let at = 0; at < minutes * 60; at++) {
      clock.advance(1000);
      while (of.waitFor(mailing(1), 'gmail.com') === 0 && !of.isIdle) of.note(null, 'gmail.com', ACCEPTED);
      of.startRound();
    }
  };
  sendFor(5, pacing);
  t.ok(rate() > 18 && rate() < 22, `after five minutes it is tried again: ${rate()}`);
  const next = start();
  t.ok(isPaced('gmail.com', null, next), 'after a restart');
  sendFor(12, next);
  t.ok(next.isIdle, 'in the end it is over');
  t.equal(rate(), 0);
});

t.test('a limit that is not used for longer than the longest wait between two tries is forgotten', async (t) => {
  const { pacing, clock } = open(t);
  pacing.note(null, 'gmail.com', TOO_FAST);
  clock.advance(74 * MINUTE);
  pacing.startRound();
  t.notOk(pacing.isIdle);
  clock.advance(2 * MINUTE);
  pacing.startRound();
  t.ok(pacing.isIdle);
});

t.test('the recipients of a stopped mailing delay those of no other', async (t) => {
  const { pacing, mailing } = open(t);
  pacing.note(null, 'gmail.com', TOO_FAST);
  for (let person = 0; person < 500; person++) pacing.waitFor(mailing(1), 'gmail.com');
  t.ok(pacing.waitFor(mailing(2), 'gmail.com') < 5000);
  pacing.forget(1);
  t.ok(pacing.waitFor(mailing(1), 'gmail.com') < 5000);
});
