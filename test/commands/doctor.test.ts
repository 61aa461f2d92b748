/** The doctor, on good and bad settings, with a relay and a DNS server of this machine. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import type { Check } from '../../src/commands/doctor/check.ts';
import { createAccount } from '../../src/database/accounts.ts';
import { connect, migrateAndSeed } from '../../src/database/open.ts';
import { holdSending } from '../../src/delivery/hold.ts';
import { Service, startSink } from '../service.ts';
import { sendlark } from './command-line.ts';
import { startDns } from './dns-server.ts';

interface Examined {
  code: number | null;
  err: string;
  /** The checks by name. */
  checks: Map<string, Check>;
}

async function examine(settings: Record<string, string>, dns: string): Promise<Examined> {
  const { code, out, err } = await sendlark(settings, 'doctor', '--json', '--dns', dns);
  const checks: Check[] = JSON.parse(out);
  return { code, err, checks: new Map(checks.map((check) => [check.name, check])) };
}

/** A database whose senders write from these domains. */
function databaseOf(t: Test, ...domains: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-doctor-'));
  const path = join(folder, 'test.db');
  const db = connect(path);
  migrateAndSeed(db);
  createAccount(db, systemClock, 'Main');
  const insert = db.$client.prepare(`
    INSERT INTO senders (user_id, from_name, from_email, reply_to_email, country_id, company_address, nickname, utr, send_at, created_at, updated_at)
    VALUES (1, '', ?, '', 1, '', '', '', '', '', '')`);
  for (const domain of domains) insert.run(`news@${domain}`);
  t.teardown(() => {
    db.$client.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { path, client: db.$client };
}

t.test('a good installation: every check says so, and the exit code is 0', async (t) => {
  const { path } = databaseOf(t, 'example.com', 'news.example.org');
  const sink = await startSink(t);
  const service = new Service(t, { DATABASE_PATH: path });
  await service.start();
  const keys = ['rsa', 'ed25519'].map(async (type) => {
    const words = ['dkim', 'create', 'example.com', '--selector', type, '--type', type, '--json'];
    return JSON.parse((await sendlark({ DATABASE_PATH: path }, ...words)).out).record;
  });
  const published = (await Promise.all(keys)).map(({ name, value }): [string, string[]] => [name, [value]]);
  const dns = await startDns(t, {
    'example.com': ['some-verification=x', 'v=spf1 a:relay.example ~all'],
    ...Object.fromEntries(published),
    '_dmarc.example.com': ['v=DMARC1; p=none'],
    'news.example.org': ['v=spf1 redirect=example.com'],
    '_dmarc.example.org': ['v=DMARC1; p=reject; sp=quarantine'],
  });
  const settings = { DATABASE_PATH: path, SMTP_URL: sink.url, PUBLIC_URL: service.origin };
  const { code, checks } = await examine(settings, dns);
  t.equal(code, 0);
  for (const name of ['Disk', 'Clock', 'Database', 'Sending', 'Public address'])
    t.match(checks.get(name), { state: 'ok' });
  t.match(checks.get('Relay'), { state: 'ok', found: /answers and offers .*PIPELINING/ });
  for (const name of ['SPF', 'DKIM', 'DMARC']) t.match(checks.get(`${name} of example.com`), { state: 'ok' }, name);
  t.match(checks.get('SPF of news.example.org'), { state: 'ok' });
  t.match(checks.get('DMARC of news.example.org'), { state: 'ok', found: /at _dmarc\.example\.org$/ });
  t.match(checks.get('DKIM of news.example.org'), {
    state: 'warn',
    advice: [/sendlark dkim create news\.example\.org$/],
  });
  const { out } = await sendlark(settings, 'doctor', '--dns', dns);
  t.match(out, /^ok {4}Database: integrity ok/m);
  t.match(out, /^WARN {2}DKIM of news\.example\.org: /m);
  t.equal(sink.mails.length, 0, 'it sends nothing');
});

t.test('a bad installation: each fault is named with what to do, and the exit code is 1', async (t) => {
  const domains = ['none.example', 'open.example', 'two.example', 'other.example', 'mute.example'];
  const { path, client } = databaseOf(t, ...domains);
  holdSending(client, 'Restored from a backup');
  await sendlark({ DATABASE_PATH: path }, 'dkim', 'create', 'none.example', '--type', 'ed25519');
  await sendlark({ DATABASE_PATH: path }, 'dkim', 'create', 'other.example', '--type', 'ed25519');
  const dns = await startDns(t, {
    'open.example': ['v=spf1 +all'],
    '_dmarc.open.example': ['v=DMARC1; p=maybe'],
    'two.example': ['v=spf1 ~all', 'v=spf1 -all'],
    '_dmarc.two.example': ['v=DMARC1; p=none', 'v=DMARC1; p=reject'],
    'sendlark._domainkey.other.example': ['v=DKIM1; k=ed25519; p=AAAA'],
    'other.example': ['v=spf1 mx'],
    'mute.example': [],
  });
  const closed = await freePort();
  const settings = {
    DATABASE_PATH: path,
    SMTP_URL: `smtp://user:canary-password@127.0.0.1:${closed}`,
    PUBLIC_URL: `http://127.0.0.1:${closed}`,
  };
  const { code, err, checks } = await examine(settings, dns);
  t.equal(code, 1);
  t.match(err, /^\d+ of \d+ checks failed\n$/);
  t.match(checks.get('Settings'), { state: 'warn', advice: [/not https/] });
  t.match(checks.get('Sending'), { state: 'warn', found: /Restored/, advice: [/sendlark release/] });
  t.match(checks.get('Relay'), { state: 'fail', found: /does not answer: .*ECONNREFUSED/ });
  t.match(checks.get('Public address'), { state: 'fail' });
  t.match(checks.get('SPF of none.example'), {
    state: 'fail',
    advice: ['none.example. IN TXT "v=spf1 a:127.0.0.1 ~all"', /relay/],
  });
  t.match(checks.get('DKIM of none.example'), {
    state: 'fail',
    advice: [/^sendlark\._domainkey\.none\.example\. IN TXT/],
  });
  t.match(checks.get('DMARC of none.example'), {
    state: 'fail',
    advice: [/^_dmarc\.none\.example\. IN TXT "v=DMARC1;/],
  });
  t.match(checks.get('SPF of open.example'), { state: 'fail', advice: [/everybody/] });
  t.match(checks.get('DMARC of open.example'), { state: 'fail' });
  t.match(checks.get('SPF of two.example'), { state: 'fail', found: /2 records/ });
  t.match(checks.get('DMARC of two.example'), { state: 'fail', found: /2 records/ });
  t.match(checks.get('DKIM of other.example'), { state: 'fail', found: /another key/ });
  t.match(checks.get('SPF of other.example'), { state: 'warn' });
  t.match(checks.get('SPF of mute.example'), { state: 'warn', found: /DNS gives no answer/ });
  t.notMatch(JSON.stringify([...checks.values()]), 'canary', 'no secret is told');
});

t.test('a damaged database is found', async (t) => {
  const { path, client } = databaseOf(t);
  client.unsafeMode();
  client.pragma('writable_schema = ON');
  client.exec(
    "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'cities') WHERE name = 'countries'",
  );
  client.pragma('writable_schema = RESET');
  const { code, checks } = await examine({ DATABASE_PATH: path }, '127.0.0.1:9');
  t.equal(code, 1);
  t.match(checks.get('Database'), { state: 'fail', found: /^damaged: /, advice: [/sendlark restore/] });
});

t.test('a relay that answers otherwise is told with its answer', async (t) => {
  const { path } = databaseOf(t);
  const answers = ['554 No service for you\r\n', ''];
  for (const answer of answers) {
    const server = createServer((socket) => socket.end(answer));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { checks } = await examine({ DATABASE_PATH: path, SMTP_URL: `smtp://127.0.0.1:${port}` }, '127.0.0.1:9');
    t.match(checks.get('Relay'), {
      state: 'fail',
      found: answer === '' ? /closed the connection/ : /554 No service for you/,
    });
    server.close();
  }
  const { checks } = await examine({ DATABASE_PATH: path, SMTP_URL: 'relay.example' }, '127.0.0.1:9');
  t.match(checks.get('Relay'), { state: 'fail', found: /SMTP_URL is not/ });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
