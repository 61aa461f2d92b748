/** The test of returned mail: a mail of the service to itself, which shows what is wrong on its way and counts nowhere. */
import { connect, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { readConfig } from '../../../src/config.ts';
import { startBounceIntake } from '../../../src/delivery/feedback/bounces/intake.ts';
import { testReturnPath } from '../../../src/delivery/feedback/bounces/test-arrival.ts';
import { returnedMailCheck } from '../../../src/installation/health-checks/returned-mail.ts';
import { talkSmtp } from '../../../src/installation/health-checks/smtp-talk.ts';
import { answered } from '../../support/answered.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { addPerson, callerOf } from '../../support/people.ts';
import { startDns } from '../../support/smtp/dns-server.ts';
import { startSink } from '../../support/smtp/scripted-relay.ts';

const SETTINGS = { BOUNCE_DOMAIN: 'returns.example.com', BOUNCE_LISTEN: '127.0.0.1:2525' };
const CONFIG = readConfig(SETTINGS);
const LOCAL = [{ exchange: '127.0.0.1', priority: 10 }];

async function startListening(t: Test) {
  const app = await startApp(t, SETTINGS);
  const listener = await startBounceIntake(app.drizzle, app.clock, {
    host: '127.0.0.1',
    port: 0,
    domain: 'returns.example.com',
  });
  t.teardown(() => listener.close());
  return { app, port: listener.port };
}

const check = async (app: TestApp, port: number, resolveMx: () => Promise<typeof LOCAL> = async () => LOCAL) =>
  answered(await returnedMailCheck(app.db, CONFIG, { resolver: { resolveMx }, now: app.clock.now().getTime(), port }));

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));

t.test('a test mail that arrives is known by its address, and counts nowhere', async (t) => {
  const { app, port } = await startListening(t);
  const countsOf = () =>
    ['events', 'deliveries', 'mailings', 'suppressions', 'outbox'].map((table) =>
      app.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
    );
  const before = countsOf();
  t.match(await check(app, port), {
    name: 'Returned mail',
    state: 'ok',
    found: 'a test e-mail to returns.example.com arrived over 127.0.0.1',
  });
  t.strictSame(countsOf(), before);
});

t.test('the server that the DNS prefers is asked, then the next', async (t) => {
  const { app, port } = await startListening(t);
  const records = [
    { exchange: '127.0.0.1', priority: 20 },
    { exchange: '127.0.0.2', priority: 10 },
  ];
  t.match(await check(app, port, async () => records), { state: 'ok', found: /over 127\.0\.0\.1$/ });
});

t.test('what is wrong on the way is said with its cure, and never fails the doctor', async (t) => {
  const { app } = await startListening(t);
  const other = await startListening(t);
  t.match(await check(app, other.port), {
    state: 'warn',
    found: /was refused at 127\.0\.0\.1: 550 5\.1\.1 No such return path here$/,
    advice: [/another installation/],
  });
  t.match(await check(app, 1), { state: 'warn', found: /no server takes mail .* ECONNREFUSED$/, advice: [/firewall/] });
  t.match(await check(app, 1, failing('ENOTFOUND')), { state: 'warn', found: /names no server .*\(ENOTFOUND\)$/ });
  t.match(await check(app, 1, failing('ENODATA')), { state: 'warn', found: /at returns\.example\.com, port 1/ });
  const noMail = async () => [{ exchange: '', priority: 0 }];
  t.match(await check(app, 1, noMail), {
    state: 'warn',
    found: /names no server .*\(null MX\)$/,
    advice: [/MX record/],
  });
  const swallowing = await startSink(t);
  t.match(await check(app, swallowing.port), {
    state: 'warn',
    found: /was accepted at 127\.0\.0\.1, but did not arrive here$/,
    advice: [/pass on mail to returns\.example\.com to 127\.0\.0\.1:2525/],
  });
  t.match(swallowing.received, [{ from: '', to: /^test\+.*@returns\.example\.com$/ }]);
});

t.test('whatever else answers is named in one short line, and read to an end', async (t) => {
  const { app } = await startListening(t);
  const answering = async (text: string) => {
    const server = createServer((socket) => socket.on('error', () => undefined).write(text));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const at = server.address();
    return check(app, typeof at === 'object' && at !== null ? at.port : 0);
  };
  const hostile = await answering(`554 <script>\x1b[2J${'x'.repeat(5000)}\r\n`);
  t.match(hostile, { state: 'warn', found: /: 554 ‹script› \[2Jx+$/ });
  t.ok(hostile.found.length < 700);
  t.match(await answering('x'.repeat(200_000)), { state: 'warn', found: /it says too much$/ });
});

t.test('only an address that was made here within ten minutes is taken', async (t) => {
  const { app, port } = await startListening(t);
  const other = await startApp(t, SETTINGS);
  const now = app.clock.now().getTime();
  const ask = (to: string) =>
    talkSmtp(connect(port, '127.0.0.1'), 'connect', 5000, async (ask) => {
      await ask('', '220');
      await ask('EHLO there.example', '250');
      await ask('MAIL FROM:<>', '250');
      return ask(`RCPT TO:<${to}>`, '25');
    });
  const own = testReturnPath(app.db, 'returns.example.com', now);
  await t.resolves(ask(own));
  await t.resolves(ask(own.toUpperCase()), 'also as a server that folds addresses passes it on');
  await t.rejects(ask(testReturnPath(other.db, 'returns.example.com', now)), /550/);
  await t.rejects(ask(own.replace('test+', 'test+1')), /550/);
  app.clock.advance(10 * 60_000);
  await t.rejects(ask(own), /550/);
});

t.test('an operator asks for it, and the health page has what was found', async (t) => {
  const app = await startApp(t, SETTINGS);
  app.askDns(await startDns(t, {}));
  const operator = callerOf(app, addPerson(app));
  const health = async () => (await operator.call('GET', '/health')).body.message.health;
  t.match(await health(), { returns_seen_at: null });
  t.equal((await operator.call('POST', '/health/returned-mail')).status, 200);
  const { returns_seen_at, findings } = await health();
  t.ok(returns_seen_at);
  t.match(
    findings.find(({ name }: { name: string }) => name === 'Returned mail'),
    { state: 'warn', code: 'returns_dns' },
  );
  const elsewhere = await startApp(t);
  const refused = await callerOf(elsewhere, addPerson(elsewhere)).call('POST', '/health/returned-mail');
  t.match(refused, { status: 409, body: { errors: /not received here/ } });
});
