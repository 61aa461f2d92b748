/** Our SMTP client against a real Postfix. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { launchMailing } from '../../../../fixtures/mailing.ts';
import { readConfig } from '../../../../src/config.ts';
import { connect } from '../../../../src/database/open.ts';
import { DELIVERY_STATE } from '../../../../src/database/schema/index.ts';
import { openTokens } from '../../../../src/delivery/links/tokens.ts';
import { MailData } from '../../../../src/delivery/mime/mail-data.ts';
import type { Outcome } from '../../../../src/delivery/transport/smtp/outcome.ts';
import { SmtpPool } from '../../../../src/delivery/transport/smtp/pool.ts';
import { parseRelays } from '../../../../src/delivery/transport/smtp/relay-urls.ts';
import { Background } from '../../../../src/threads/background.ts';
import { FakeClock } from '../../../support/app.ts';
import { type Sink, startSink } from '../../../support/smtp/scripted-relay.ts';
import { until } from '../../../support/until.ts';
import { type Postfix, startPostfix, whyNoPostfix } from './postfix.ts';

const skip = whyNoPostfix();

/** Sends one message to each recipient through a new pool; returns each outcome in short form. */
async function send(url: string, to: string[], { connections = 1, body = 'Hello\r\n' } = {}): Promise<string[]> {
  const pool = new SmtpPool(parseRelays(url), { connections });
  const ended = await Promise.all(
    to.map((one) => {
      const message = MailData.of(`From: news@example.com\r\nTo: ${one}\r\nMessage-ID: <${one}>\r\n\r\n${body}`);
      return pool.send({ from: 'news@example.com', to: one, start: () => message });
    }),
  );
  await pool.close(1000);
  return ended.map(brief);
}

function brief(ended: Outcome | 'withdrawn'): string {
  return ended === 'withdrawn' ? ended : `${ended.kind} ${ended.stage} ${ended.code} ${ended.enhanced}`;
}

const people = (count: number, name = 'ann') => Array.from({ length: count }, (_, at) => `${name}${at}@example.org`);

/** Waits until Postfix has forwarded everything it accepted. */
async function arrived(t: Test, next: Sink, count: number): Promise<void> {
  await until(() => next.received.length >= count);
  t.equal(next.received.length, count, 'everything accepted comes out at the other end, once');
}

t.test('a real Postfix', { skip }, async (t) => {
  const next = await startSink(t);
  const postfix = await startPostfix(t, next.port);
  t.beforeEach(() => next.received.splice(0));

  t.test('a campaign: each recipient one final state, each accepted mail arrives once under its own Message-ID', (t) =>
    campaign(t, postfix, next),
  );

  t.test('each recipient gets its own outcome, over TLS, on one connection', async (t) => {
    const to = ['ann@example.org', 'nobody@example.org', 'later@example.org', 'policy@example.org', 'bob@example.org'];
    const ended = await send(postfix.url(), to);
    t.strictSame(ended, [
      'accepted body 250 2.0.0',
      'refused rcpt 550 5.1.1',
      'deferred rcpt 451 4.3.0',
      'refused rcpt 554 5.7.1',
      'accepted body 250 2.0.0',
    ]);
    await arrived(t, next, 2);
    // Postfix writes the line when the connection has ended, which may be after the mails have come out.
    const isLogged = () => /disconnect from \S+ ehlo=2 starttls=1 mail=5 rcpt=2\/5/.test(postfix.log());
    await until(isLogged);
  });

  t.test('it forwards byte for byte what we sent, including lines that start with a dot', async (t) => {
    const body = `.\r\n..\r\n.end\r\n${'a'.repeat(990)}\r\n~ the last printable character\r\n\r\n.\r\n`;
    t.strictSame(await send(postfix.url(), ['ann@example.org'], { body }), ['accepted body 250 2.0.0']);
    await arrived(t, next, 1);
    const message = next.received[0]?.message.toString() ?? '';
    t.equal(message.slice(message.indexOf('\r\n\r\n') + 4), body);
  });

  t.test('a mail over its SIZE is held before anything is sent', async (t) => {
    const body = `${'x'.repeat(70)}\r\n`.repeat(3000);
    t.strictSame(await send(postfix.url(), ['ann@example.org', 'bob@example.org'], { body }), [
      'held mail 0 null',
      'held mail 0 null',
    ]);
    t.equal(next.received.length, 0);
  });

  t.test(
    'over its limit of connections mail is deferred, nobody bounces, and it is sent once a connection is free',
    async (t) => {
      const other = createConnection(Number(new URL(postfix.url('narrow')).port), '127.0.0.1');
      await once(other, 'data');
      const turnedAway = await send(postfix.url('narrow'), people(20), { connections: 4 });
      t.ok(turnedAway.every((ended) => ended === 'deferred connect 421 4.7.0'));
      other.end('QUIT\r\n');
      await once(other, 'close');
      const taken = await send(postfix.url('narrow'), people(20));
      t.ok(taken.every((ended) => ended === 'accepted body 250 2.0.0'));
      await arrived(t, next, 20);
    },
  );

  t.test('when it closes a connection after too many refusals, no other recipient fails', async (t) => {
    const ended = await send(postfix.url('impatient'), [...people(12, 'nobody'), ...people(6)]);
    await until(() => /too many errors/.test(postfix.log()));
    t.ok(ended.slice(0, 12).every((one) => one === 'refused rcpt 550 5.1.1' || one.startsWith('deferred')));
    t.ok(ended.slice(12).every((one) => one === 'accepted body 250 2.0.0'));
    await arrived(t, next, 6);
  });

  t.test('over its limit of messages the rest is deferred, and nothing is held', async (t) => {
    const ended = await send(postfix.url('slow'), people(15));
    t.strictSame(ended.slice(0, 10), Array(10).fill('accepted body 250 2.0.0'));
    t.strictSame(ended.slice(10), Array(5).fill('deferred mail 450 4.7.1'));
    await arrived(t, next, 10);
  });

  t.test(
    'its self-signed certificate is accepted on this machine, and the mail is held if a valid one is required',
    async (t) => {
      for (const listener of ['usual', 'plain'] as const) {
        t.strictSame(await send(`${postfix.url(listener)}?tls=required`, ['ann@example.org']), ['held tls 0 null']);
        t.strictSame(await send(postfix.url(listener), ['ann@example.org']), ['accepted body 250 2.0.0']);
      }
      await arrived(t, next, 2);
    },
  );
});

async function campaign(t: Test, postfix: Postfix, next: Sink): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-postfix-send-'));
  const path = join(folder, 'test.db');
  const db = connect(path);
  const client = db.$client;
  const nameOf = (at: number) => (at < 20 ? 'nobody' : at < 30 ? 'later' : at < 35 ? 'policy' : 'reader');
  const people = Array.from({ length: 300 }, (_, at) => `${nameOf(at)}${at}@example.org`);
  await launchMailing(db, people, '<p>Hello ((first_name)), <a href="https://shop.example/">news</a></p>\n.\n');
  const background = new Background({
    db,
    config: readConfig({ DATABASE_PATH: path }),
    clock: new FakeClock(),
    courier: new SmtpPool(parseRelays(postfix.url()), {
      connections: 6,
      onRelayFailure: (_relay, { reply }) => t.fail(reply),
    }),
    tokens: openTokens(client),
    publicUrl: () => 'http://localhost',
    log: (_fields, text, level = 'info') => level !== 'info' && t.fail(text),
  });
  t.teardown(async () => {
    await background.close(1000);
    client.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await background.untilIdle();
  const count = (state: number) => client.prepare('SELECT count(*) FROM deliveries WHERE state = ?').pluck().get(state);
  t.match(
    {
      accepted: count(DELIVERY_STATE.accepted),
      bounced: count(DELIVERY_STATE.bounced),
      failed: count(DELIVERY_STATE.failed),
      queued: count(DELIVERY_STATE.queued),
    },
    { accepted: 265, bounced: 20, failed: 5, queued: 10 },
  );
  t.match(client.prepare('SELECT * FROM mailings').get(), { triggered: 300, delivered: 265, bounces: 20, failed: 5 });
  t.equal(client.prepare('SELECT count(*) FROM suppressions').pluck().get(), 20);
  await arrived(t, next, 265);
  t.equal(new Set(next.received.map(({ to }) => to)).size, 265);
  t.equal(
    new Set(next.received.map(({ message }) => /^message-id: *(\S+)/im.exec(message.toString('latin1'))?.[1])).size,
    265,
  );
}
