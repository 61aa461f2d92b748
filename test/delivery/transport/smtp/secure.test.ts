/** TLS and login of the SMTP client, against smtp-server and against hostile relays. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import t, { type Test } from 'tap';
import { MailData } from '../../../../src/delivery/mime/mail-data.ts';
import type { Outcome } from '../../../../src/delivery/transport/smtp/outcome.ts';
import { SmtpPool } from '../../../../src/delivery/transport/smtp/pool.ts';
import { parseRelays, type Relay } from '../../../../src/delivery/transport/smtp/relay-urls.ts';
import { localhostCertificate } from '../../../support/smtp/certificate.ts';
import { startSink } from '../../../support/smtp/scripted-relay.ts';

const MESSAGE = MailData.of(`Subject: x\r\n\r\n${'Hello, world.\r\n'.repeat(7_000)}.\r\n..\r\n.end\r\n`);
const USER = 'us,er@example.com';
const PASSWORD = 'pä:ss/w@rd%';
const LOGIN = `${encodeURIComponent(USER)}:${encodeURIComponent(PASSWORD)}@`;

/** A certificate for localhost, its key, and the file the certificate is in. */
function certificate(t: Test): { key: string; cert: string; file: string } {
  const made = localhostCertificate();
  return { ...made, file: join(t.testdir({ 'cert.pem': made.cert }), 'cert.pem') };
}

/** A real server that keeps every mail and knows one user. */
async function startServer(t: Test, options: SMTPServerOptions) {
  const received: Buffer[] = [];
  const logins: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    ...options,
    onAuth: ({ method, username, password }, _session, done) => {
      logins.push(method);
      if (username === USER && password === PASSWORD) done(null, { user: USER });
      else done(new Error('535 5.7.8 who are you?'));
    },
    onData: async (stream, session, done) => {
      received.push(Buffer.concat(await stream.toArray()));
      done(null, session.secure ? 'by TLS' : 'in plain text');
    },
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const address = server.server.address();
  return { received, logins, port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
}

/** Sends one message through a pool of its own. */
async function sendThrough(relays: Relay[] | string, times = 1): Promise<Outcome> {
  const pool = new SmtpPool(typeof relays === 'string' ? parseRelays(relays) : relays, { connections: 1 });
  const job = { from: 'a@example.com', to: 'b@example.com', start: () => MESSAGE };
  const ended = await Promise.all(Array.from({ length: times }, () => pool.send(job)));
  await pool.close(1000);
  const [first] = ended;
  if (first === undefined || first === 'withdrawn') throw new Error('withdrawn');
  return first;
}

/** The relay of `url`, treated as if it were not on this machine. */
function remote(url: string, tls: Relay['tls']): Relay[] {
  return parseRelays(url).map((relay) => ({ ...relay, tls, verify: true, local: false }));
}

t.test('STARTTLS and implicit TLS carry messages byte for byte', async (t) => {
  const { key, cert } = certificate(t);
  const starttls = await startServer(t, { key, cert });
  t.match(await sendThrough(`smtp://${LOGIN}localhost:${starttls.port}`, 3), { kind: 'accepted', reply: /by TLS/ });
  t.strictSame(starttls.logins, ['PLAIN'], 'one login for all of them');
  const implicit = await startServer(t, { key, cert, secure: true });
  t.match(await sendThrough(`smtps://${LOGIN}127.0.0.1:${implicit.port}`, 3), { kind: 'accepted', reply: /by TLS/ });
  for (const { received } of [starttls, implicit]) {
    t.equal(received.length, 3);
    t.ok(received.every((message) => message.equals(MESSAGE.bytes)));
  }
});

t.test('on this machine TLS is used if offered, and not with ?tls=off', async (t) => {
  const { port, received } = await startServer(t, certificate(t));
  t.match(await sendThrough(`smtp://127.0.0.1:${port}`), { kind: 'accepted', reply: /by TLS/ });
  t.match(await sendThrough(`smtp://127.0.0.1:${port}?tls=off`), { kind: 'accepted', reply: /plain text/ });
  const plain = await startServer(t, { hideSTARTTLS: true });
  t.match(await sendThrough(`smtp://127.0.0.1:${plain.port}`), { kind: 'accepted', reply: /plain text/ });
  t.ok(received.every((message) => message.equals(MESSAGE.bytes)));
});

t.test('the mail is held if the certificate is not valid', async (t) => {
  const { key, cert } = certificate(t);
  const starttls = await startServer(t, { key, cert });
  const implicit = await startServer(t, { key, cert, secure: true });
  for (const outcome of [
    await sendThrough(`smtp://127.0.0.1:${starttls.port}?tls=required`),
    await sendThrough(`smtps://127.0.0.1:${implicit.port}?tls=required`),
    await sendThrough(remote(`smtp://127.0.0.1:${starttls.port}`, 'required')),
  ]) {
    t.match(outcome, { kind: 'held', stage: 'tls', code: 0, reply: /127\.0\.0\.1:\d+: self.signed certificate/ });
  }
});

t.test('a certificate of an authority in NODE_EXTRA_CA_CERTS is valid for its own names', async (t) => {
  const { key, cert, file } = certificate(t);
  const { port } = await startServer(t, { key, cert });
  const source = fileURLToPath(new URL('../../../../src/delivery/transport/smtp/', import.meta.url));
  const script = `
    const { MailData } = await import('${source}../../mime/mail-data.ts');
    const { SmtpPool } = await import('${source}pool.ts');
    const { parseRelays } = await import('${source}relay-urls.ts');
    for (const host of ['localhost', '127.0.0.1', '127.0.0.2']) {
      const relays = parseRelays('smtp://' + host + ':${port}?tls=required').map((relay) => ({ ...relay }));
      const pool = new SmtpPool(relays);
      const ended = await pool.send({ from: 'a@x.com', to: 'b@x.com', start: () => MailData.of('x') });
      console.log(host, ended.kind, ended.stage);
      await pool.close(1000);
    }`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, NODE_OPTIONS: '', NODE_EXTRA_CA_CERTS: file },
  });
  t.strictSame(stdout.trim().split('\n'), [
    'localhost accepted body',
    '127.0.0.1 accepted body',
    '127.0.0.2 deferred connect',
  ]);
});

t.test('a remote relay without STARTTLS gets no mail', async (t) => {
  const sink = await startSink(t);
  t.match(await sendThrough(remote(sink.url, 'required')), { kind: 'held', stage: 'tls', code: 0, reply: /STARTTLS/ });
  t.notMatch(sink.commands.join(), /MAIL/);
});

t.test('STARTTLS refused: temporarily, permanently, or where it is optional', async (t) => {
  const sink = await startSink(t, { offers: ['STARTTLS'], starttls: '454 4.7.0 not now\r\n' });
  t.match(await sendThrough(remote(sink.url, 'required')), { kind: 'deferred', stage: 'tls', code: 454 });
  t.match(await sendThrough(sink.url), { kind: 'accepted' });
  sink.script.starttls = '502 5.5.1 what?\r\n';
  t.match(await sendThrough(remote(sink.url, 'required')), { kind: 'held', stage: 'tls', code: 502 });
});

t.test('RFC 3207 4: plain text sent after the reply to STARTTLS is never trusted', async (t) => {
  const { key, cert } = certificate(t);
  const context = createSecureContext({ key, cert });
  for (const injected of ['250 injected\r\n', '250-half', '250-a\r\n']) {
    const sink = await startSink(t, { offers: ['STARTTLS'], context, starttls: `220 go ahead\r\n${injected}` });
    t.match(await sendThrough(sink.url), { kind: 'deferred', code: 0 }, injected);
    t.equal(sink.received.length, 0);
  }
  const honest = await startSink(t, { offers: ['STARTTLS'], context });
  t.match(await sendThrough(honest.url), { kind: 'accepted' });
  t.equal(
    honest.commands.filter((line) => line.startsWith('EHLO')).length,
    2,
    'what was offered before counts for nothing',
  );
});

t.test('a relay that speaks no TLS, or closes during the TLS handshake', async (t) => {
  const sink = await startSink(t);
  t.match(await sendThrough(`smtps://127.0.0.1:${sink.port}`), { kind: 'held', stage: 'tls' });
  const silent = createServer((socket) => socket.once('data', () => socket.destroy())).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.close());
  const address = silent.address();
  const port = typeof address === 'object' ? address?.port : 0;
  t.match(await sendThrough(`smtps://127.0.0.1:${port}`), { kind: 'deferred', stage: 'tls' });
});

t.test('AUTH LOGIN where PLAIN is not offered', async (t) => {
  const { port, logins } = await startServer(t, {
    authMethods: ['LOGIN'],
    hideSTARTTLS: true,
    allowInsecureAuth: true,
  });
  t.match(await sendThrough(`smtp://${LOGIN}127.0.0.1:${port}`), { kind: 'accepted' });
  t.strictSame(logins, ['LOGIN']);
  t.match(await sendThrough(`smtp://${LOGIN}127.0.0.1:${port}?tls=off`), { kind: 'accepted' });
});

t.test('RFC 4954 4: a password too long for one line follows on the next', async (t) => {
  const sink = await startSink(t, { offers: ['AUTH PLAIN'], auth: '334 \r\n', other: '235 2.7.0 welcome\r\n' });
  const password = 'x'.repeat(500);
  t.match(await sendThrough(`smtp://u:${password}@127.0.0.1:${sink.port}`), { kind: 'accepted' });
  t.strictSame(sink.commands.slice(1, 3), ['AUTH PLAIN', Buffer.from(`\0u\0${password}`).toString('base64')]);
});

t.test('AUTH=PLAIN, as older relays write it, is understood', async (t) => {
  const sink = await startSink(t, { offers: ['AUTH=LOGIN PLAIN'] });
  t.match(await sendThrough(`smtp://u:p@127.0.0.1:${sink.port}`), { kind: 'accepted' });
  t.equal(sink.commands[1], 'AUTH PLAIN AHUAcA==');
});

t.test('a login that fails permanently holds the mail, a temporary failure defers it', async (t) => {
  const wrong = await startServer(t, { hideSTARTTLS: true, allowInsecureAuth: true });
  t.match(await sendThrough(`smtp://u:wrong@127.0.0.1:${wrong.port}`), { kind: 'held', stage: 'auth', code: 535 });
  const sink = await startSink(t, { offers: ['AUTH PLAIN'], auth: '454 4.7.0 busy\r\n' });
  t.match(await sendThrough(`smtp://u:p@127.0.0.1:${sink.port}`), {
    kind: 'deferred',
    stage: 'auth',
    code: 454,
    enhanced: '4.7.0',
  });
  sink.script.offers = ['AUTH LOGIN'];
  sink.script.auth = '535 5.7.8 no\r\n';
  t.match(await sendThrough(`smtp://u:p@127.0.0.1:${sink.port}`), {
    kind: 'held',
    stage: 'auth',
    code: 535,
    enhanced: '5.7.8',
  });
  sink.script.offers = ['AUTH CRAM-MD5'];
  t.match(await sendThrough(`smtp://u:p@127.0.0.1:${sink.port}`), { kind: 'held', stage: 'auth', code: 0 });
  sink.script.offers = [];
  t.match(await sendThrough(`smtp://u:p@127.0.0.1:${sink.port}`), { kind: 'held', stage: 'auth', code: 0 });
});

t.test('a password is never sent in plain text to a remote relay, whatever the settings say', async (t) => {
  const sink = await startSink(t, { offers: ['AUTH PLAIN LOGIN', 'PIPELINING'] });
  for (const tls of ['off', 'offered'] as const) {
    const outcome = await sendThrough(remote(`smtp://user:canary@127.0.0.1:${sink.port}`, tls));
    t.match(outcome, { kind: 'held', stage: 'auth', code: 0 });
    t.notMatch(outcome.reply, /canary/);
  }
  t.notMatch(sink.commands.join(), /AUTH/);
});

t.test('reports of a refused login or certificate contain neither user nor password', async (t) => {
  const { port } = await startServer(t, certificate(t));
  const wrong = 'pw-canary%3A1';
  for (const url of [
    `smtp://user-canary:${wrong}@127.0.0.1:${port}`,
    `smtp://user-canary:${wrong}@127.0.0.1:${port}?tls=required`,
    `smtp://user-canary:${wrong}@127.0.0.1:1`,
  ]) {
    const told: unknown[] = [];
    const courier = new SmtpPool(parseRelays(url), {
      connections: 1,
      onRelayFailure: (...trouble) => told.push(trouble),
    });
    const job = {
      mailingId: 1,
      accountId: 1,
      from: 'a@example.com',
      to: 'b@example.com',
      dotless: false,
      start: () => MESSAGE,
    };
    told.push(await courier.send(job));
    await courier.close(100);
    t.equal(told.length, 2, 'the report and the outcome');
    const text = JSON.stringify(told);
    const login = Buffer.from('\0user-canary\0pw-canary:1');
    for (const canary of ['canary', login.toString('base64'), Buffer.from('pw-canary:1').toString('base64')])
      t.notOk(text.includes(canary), text);
  }
});
