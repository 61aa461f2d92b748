/** The health check that the public address leads back to this service, and of its certificate. */
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import t, { type Test } from 'tap';
import { createTokens, type Tokens } from '../../../src/delivery/links/tokens.ts';
import { proofOf, publicUrlCheck } from '../../../src/installation/health-checks/public-url.ts';
import { answered } from '../../support/answered.ts';
import { startApp } from '../../support/app.ts';
import { addPerson, callerOf } from '../../support/people.ts';
import { localhostCertificate } from '../../support/smtp/certificate.ts';

const tokensOf = (secret: string) =>
  createTokens([secret], { findEmail: () => undefined, unsigned: { deliveries: 0, mailings: 0, addresses: 0 } });
const TOKENS = tokensOf('ours');

/** Answers as a service with these tokens does. */
const service =
  (tokens: Tokens): RequestListener =>
  (request, response) => {
    const challenge = new URL(request.url ?? '', 'http://x').searchParams.get('challenge') ?? '';
    response.end(JSON.stringify({ alive: true, proof: proofOf(tokens, challenge) }));
  };

async function listening(t: Test, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

const startHttp = async (t: Test, answer: RequestListener) =>
  `http://127.0.0.1:${await listening(t, createServer(answer))}`;

async function startHttps(t: Test, certificate: ReturnType<typeof localhostCertificate>, isTrusted: boolean) {
  if (isTrusted) {
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, certificate.cert]);
    t.teardown(() => setDefaultCACertificates(before));
  }
  return `https://localhost:${await listening(t, createTlsServer(certificate, service(TOKENS)))}`;
}

const look = async (url: string) => answered(await publicUrlCheck(url, TOKENS, Date.now()));

t.test('only the service with the secrets of this database is taken for this one', async (t) => {
  t.match(await look(await startHttp(t, service(TOKENS))), { state: 'ok', found: /leads here$/ });
  t.match(await look(await startHttp(t, service(tokensOf('theirs')))), {
    state: 'fail',
    found: /another installation of Sendlark/,
  });
  t.match(await look(await startHttp(t, (_request, response) => response.end('{"alive":true}'))), { state: 'fail' });
  t.match(await look(''), { state: 'warn', found: 'The public address is not set' });
});

t.test('an answer that asks to go on in another protocol is a fault, and does not keep the look waiting', async (t) => {
  const other = await startHttp(t, (_request, response) => {
    response.writeHead(101, { connection: 'upgrade', upgrade: 'x' });
    response.end();
  });
  t.match(await look(other), { state: 'fail', found: /closed without an answer/ });
});

t.test('whatever else answers is named in one short line, and is never shown', async (t) => {
  const hostile = await startHttp(t, (_request, response) => {
    response.writeHead(500);
    response.end('<script>'.repeat(100_000));
  });
  const other = await look(hostile);
  t.match(other, { state: 'fail', found: /something else \(500\)$/, advice: [/reverse proxy/] });
  t.notMatch(JSON.stringify(other), 'script');
  const moved = await startHttp(t, (_request, response) => {
    response.writeHead(301, { location: `https://elsewhere.example/${'x'.repeat(5000)}` });
    response.end();
  });
  const finding = await look(moved);
  t.match(finding, { state: 'fail', found: /leads on to https:\/\/elsewhere\.example\/x+$/ });
  t.ok(finding.found.length < 300);
  const endless = await startHttp(t, (_request, response) => {
    const more = setInterval(() => response.write('x'.repeat(1024)), 1);
    response.on('close', () => clearInterval(more));
  });
  t.match(await look(endless), { state: 'fail', found: /something else/ });
});

t.test('an address where nobody listens, or without an entry in the DNS, is named with its cure', async (t) => {
  const server = createServer();
  const port = await listening(t, server);
  server.close();
  t.match(await look(`http://127.0.0.1:${port}`), {
    state: 'fail',
    found: `nothing answers at 127.0.0.1, port ${port}`,
    advice: [/firewall/],
  });
  t.match(await look('https://nowhere.invalid'), { state: 'fail', found: /nowhere\.invalid/, advice: [/A or AAAA/] });
  const plain = await startHttp(t, service(TOKENS));
  t.match(await look(plain.replace('http:', 'https:')), { state: 'fail', found: /cannot be reached/ });
});

t.test('the certificate is judged by its authority, its name and its end', async (t) => {
  const untrusted = await startHttps(t, localhostCertificate(), false);
  t.match(await look(untrusted), { state: 'fail', found: /do not trust .*SELF_SIGNED/, advice: [/Let’s Encrypt/] });
  await t.test('of another name', async (t) => {
    const url = await startHttps(t, localhostCertificate({ otherName: 'shop.example' }), true);
    t.match(await look(url), { state: 'fail', found: /is for other names: shop\.example$/, advice: [/localhost/] });
  });
  await t.test('expired', async (t) => {
    const url = await startHttps(t, localhostCertificate({ endsInDays: -1 }), true);
    t.match(await look(url), { state: 'fail', found: /expired on \d{4}-\d\d-\d\d$/, advice: [/renew/] });
  });
  await t.test('ending soon', async (t) => {
    const url = await startHttps(t, localhostCertificate({ endsInDays: 3 }), true);
    t.match(await look(url), { state: 'warn', found: /ends on \d{4}/, advice: [/renew/] });
  });
  await t.test('well', async (t) => {
    const url = await startHttps(t, localhostCertificate({ endsInDays: 60 }), true);
    t.match(await look(url), { state: 'ok', found: /with a certificate until \d{4}-\d\d-\d\d$/ });
  });
});

t.test(
  'an operator has it looked at; it is kept for the health of the installation until the address changes',
  async (t) => {
    const app = await startApp(t, { PUBLIC_URL: 'http://127.0.0.1:1' });
    const operator = callerOf(app, addPerson(app));
    const health = async () => (await app.one.call('GET', '/health')).body.message.health;
    t.match(await health(), { public_url: 'http://127.0.0.1:1', address_seen_at: null });
    const guest = callerOf(app, addPerson(app, 'owner', { name: 'guest', accountId: 2 }));
    for (const caller of [guest, app.one])
      t.equal((await caller.call('POST', '/health/public-address')).status, 403, 'only operators');
    const both = await Promise.all([1, 2].map(() => operator.call('POST', '/health/public-address')));
    t.strictSame(
      both.map(({ status }) => status),
      [200, 200],
    );
    const seen = await health();
    t.match(seen, { address_seen_at: '2026-01-15T09:00:00.000000Z' });
    t.match(
      seen.findings.find(({ name }: { name: string }) => name === 'Public address'),
      { state: 'fail', code: 'address_refused' },
    );
    app.db
      .prepare("UPDATE installation SET value = replace(value, ':1\"', ':2\"') WHERE name = 'public_address_seen'")
      .run();
    t.match(await health(), { address_seen_at: null }, 'what was seen of another address says nothing');
  },
);

t.test('the service proves to be itself, and signs nothing but a challenge', async (t) => {
  const app = await startApp(t);
  const challenge = '0123456789abcdef0123456789abcdef';
  const { body } = await app.page('GET', '/healthz', { query: { challenge } });
  t.equal(app.tokens.read('healthz', body.proof), challenge);
  for (const wrong of ['', 'x', `${challenge}0`, 'healthz:'])
    t.strictSame((await app.page('GET', '/healthz', { query: { challenge: wrong } })).body, { alive: true });
});
