/** The test of a relay: each thing that can be wrong is named, in words and in the server's own. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createSecureContext, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import t, { type Test } from 'tap';
import { diagnose } from '../../../../src/delivery/transport/relays/relay-diagnosis.ts';
import { tryRelay } from '../../../../src/delivery/transport/relays/try-relay.ts';
import type { Relay } from '../../../../src/delivery/transport/smtp/relay-urls.ts';
import { sentence } from '../../../../src/errors/sentences.ts';
import { localhostCertificate } from '../../../support/smtp/certificate.ts';
import { startSink } from '../../../support/smtp/scripted-relay.ts';

/** Long enough for a machine that is busy with much else. */
const PATIENT = { replyMs: 20_000, totalMs: 30_000 };
/** For a server that says nothing: long enough for what it does say. */
const IMPATIENT = { replyMs: 1_000, totalMs: 3_000 };
const PASSWORD = 'pw-canary-1';

function relayAt(port: number, more: Partial<Relay> = {}): Relay {
  return { host: '127.0.0.1', port, tls: 'off', verify: true, local: true, login: null, ...more };
}

/** Tries a relay; gives the stage, the sentence and the reply. */
async function ask(relay: Relay, waits = PATIENT) {
  const options = { from: 'shop@example.com', to: 'ann@example.org', name: 'mail.example.com', ...waits };
  const trial = await tryRelay(relay, options);
  const { found, advice } = diagnose(trial, relay);
  return { stage: trial.stage, found, advice: advice.length, reply: trial.outcome?.reply ?? null };
}

/** A real server that knows one user; gives its port. */
async function startServer(t: Test, options: SMTPServerOptions): Promise<number> {
  const server = new SMTPServer({
    authOptional: true,
    ...options,
    onAuth: ({ username, password }, _session, done) =>
      username === 'shop' && password === PASSWORD ? done(null, { user: 'shop' }) : done(new Error('5.7.8 not you')),
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const address = server.server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

t.test('a relay that would take the mail passes, and gets no message', async (t) => {
  const sink = await startSink(t);
  t.match(await ask(relayAt(sink.port)), { stage: 'done', found: sentence('relay_test_passed'), reply: null });
  t.strictSame(sink.commands.slice(1), ['MAIL FROM:<shop@example.com>', 'RCPT TO:<ann@example.org>', 'RSET', 'QUIT']);
  t.equal(sink.received.length, 0);
});

t.test('what the relay refuses is named with what it said', async (t) => {
  const refusing = (script: Parameters<typeof startSink>[1]) => startSink(t, script);
  const sender = await refusing({ mail: '550 5.7.1 not your domain\r\n' });
  t.match(await ask(relayAt(sender.port)), {
    stage: 'mail',
    found: sentence('relay_test_sender'),
    advice: 1,
    reply: '550 5.7.1 not your domain',
  });
  const recipient = await refusing({ rcpt: '554 5.7.1 Relay access denied\r\n' });
  t.match(await ask(relayAt(recipient.port)), {
    stage: 'rcpt',
    found: sentence('relay_test_recipient'),
    reply: '554 5.7.1 Relay access denied',
  });
  const greeting = await refusing({ greeting: '554 your address is on a list\r\n' });
  t.match(await ask(relayAt(greeting.port)), { stage: 'connect', found: sentence('relay_test_greeting') });
  const hostile = await refusing({ mail: `550 ${'<b>\x1b[31m'.repeat(2000)}\r\n` });
  const { reply } = await ask(relayAt(hostile.port));
  t.ok(reply !== null && reply.length <= 1_000, 'what it said is bounded');
  t.notMatch(reply, '\x1b', 'and printable');
});

t.test('a wrong password is named, and never repeated, even if the relay does', async (t) => {
  const { key, cert } = localhostCertificate();
  const port = await startServer(t, { key, cert });
  const login = { user: 'shop', password: 'wrong-canary' };
  const offered = { tls: 'offered', verify: false } as const;
  const refused = await ask(relayAt(port, { ...offered, login }));
  t.match(refused, { stage: 'auth', found: sentence('relay_test_login'), reply: /5\.7\.8 not you/ });
  t.match(await ask(relayAt(port, { ...offered, login: { user: 'shop', password: PASSWORD } })), { stage: 'done' });

  const token = Buffer.from('\0shop\0wrong-canary').toString('base64');
  const echoing = await startSink(t, {
    offers: ['AUTH PLAIN'],
    auth: ({ line }) => `535 5.7.8 ${line} wrong-canary ${Buffer.from('wrong-canary').toString('base64')}\r\n`,
  });
  const { reply } = await ask(relayAt(echoing.port, { login }));
  t.match(reply, /^535 5\.7\.8 AUTH PLAIN … … …$/);
  t.notOk(reply?.includes(token));
  const none = await startSink(t, { offers: [] });
  t.match(await ask(relayAt(none.port, { login })), { stage: 'auth', found: sentence('relay_test_no_login') });
  const busy = await startSink(t, { offers: ['AUTH PLAIN'], auth: '454 4.7.0 later\r\n' });
  t.match(await ask(relayAt(busy.port, { login })), { stage: 'auth', found: sentence('relay_test_busy') });
});

t.test('a certificate that is not valid is named by what is wrong with it', async (t) => {
  const fine = localhostCertificate();
  const expired = localhostCertificate({ endsInDays: -1 });
  const other = localhostCertificate({ otherName: 'mail.example.net' });
  const strange = localhostCertificate();
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, fine.cert, expired.cert, other.cert]);
  t.teardown(() => setDefaultCACertificates(before));
  for (const tls of ['implicit', 'required'] as const) {
    const askWith = async ({ key, cert }: { key: string; cert: string }) =>
      ask(relayAt(await startServer(t, { key, cert, secure: tls === 'implicit' }), { tls, host: 'localhost' }));
    t.match(await askWith(fine), { stage: 'done' }, `${tls}: a valid one passes`);
    t.match(await askWith(expired), { stage: 'tls', found: sentence('relay_test_expired'), reply: /expired/ });
    t.match(await askWith(other), {
      stage: 'tls',
      found: sentence('relay_test_other_name'),
      reply: /mail\.example\.net/,
    });
    t.match(await askWith(strange), { stage: 'tls', found: sentence('relay_test_unknown_issuer') });
  }
});

t.test('the wrong port or encryption is named', async (t) => {
  const { key, cert } = localhostCertificate();
  const plain = await startServer(t, { hideSTARTTLS: true });
  t.match(await ask(relayAt(plain, { tls: 'required' })), { stage: 'tls', found: sentence('relay_test_no_starttls') });
  t.match(await ask(relayAt(plain, { tls: 'implicit' })), { stage: 'tls', found: sentence('relay_test_plain_port') });
  const implicit = await startServer(t, { key, cert, secure: true });
  t.match(await ask(relayAt(implicit), IMPATIENT), { stage: 'connect', found: sentence('relay_test_silent') });
  const broken = await startSink(t, {
    starttls: '220 go\r\n',
    offers: ['STARTTLS'],
    other: null,
    context: createSecureContext(),
  });
  t.match(await ask(relayAt(broken.port, { tls: 'required' })), { stage: 'tls', found: sentence('relay_test_no_tls') });
});

t.test('a relay that is not reached or says nothing is named, in bounded time', async (t) => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const address = closed.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  await new Promise((resolve) => closed.close(resolve));
  t.match(await ask(relayAt(port)), { stage: 'connect', found: sentence('relay_test_closed_port') });
  t.match(await ask(relayAt(25, { host: 'nowhere.invalid' })), {
    stage: 'connect',
    found: sentence('relay_test_no_host'),
  });
  const silent = await startSink(t, { greeting: null });
  t.match(await ask(relayAt(silent.port), IMPATIENT), { stage: 'connect', found: sentence('relay_test_silent') });
  const late = await startSink(t, { mail: null });
  t.match(await ask(relayAt(late.port), IMPATIENT), { stage: 'mail', found: sentence('relay_test_silent') });
  const dripping = await startSink(t, { drip: 100 });
  t.match(await ask(relayAt(dripping.port), IMPATIENT), { found: sentence('relay_test_silent') });
});
