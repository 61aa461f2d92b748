/** The doctor, on good and bad settings, with a relay and a DNS server of this machine. */

import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { freePort } from '../../fixtures/free-ports.ts';
import { createAccount } from '../../src/database/accounts.ts';
import { connect } from '../../src/database/open.ts';
import { holdSending } from '../../src/delivery/queue/holds.ts';
import { parseRelays } from '../../src/delivery/transport/smtp/relay-urls.ts';
import { findDoctorFindings } from '../../src/installation/health-checks/doctor-findings.ts';
import { checkReturnPath } from '../../src/installation/health-checks/domain-authentication.ts';
import type { Finding } from '../../src/installation/health-checks/finding.ts';
import { systemClock } from '../../src/time/clock.ts';
import { sendlark } from '../support/command-line.ts';
import { seededCopy } from '../support/seeded-copy.ts';
import { Service, startSink } from '../support/service.ts';
import { startDns } from '../support/smtp/dns-server.ts';

interface Examined {
  code: number | null;
  err: string;
  /** The checks by name. */
  checks: Map<string, Finding>;
}

async function examine(settings: Record<string, string>, dns: string): Promise<Examined> {
  const { code, out, err } = await sendlark(settings, 'doctor', '--json', '--dns', dns);
  const checks: Finding[] = JSON.parse(out);
  return { code, err, checks: new Map(checks.map((check) => [check.name, check])) };
}

/** A database whose senders write from these domains. */
function databaseOf(t: Test, ...domains: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-doctor-'));
  const path = join(folder, 'test.db');
  seededCopy(path);
  const db = connect(path);
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
  const { path, client } = databaseOf(t, 'example.com', 'news.example.org');
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
  for (const name of ['Disk', 'Files', 'Clock', 'Database', 'Sending', 'Public address'])
    t.match(checks.get(name), { state: 'ok' });
  t.match(checks.get('SMTP server'), { state: 'ok', found: /answers and offers .*PIPELINING/ });
  for (const name of ['SPF', 'DKIM', 'DMARC']) t.match(checks.get(`${name} of example.com`), { state: 'ok' }, name);
  t.match(checks.get('SPF of news.example.org'), { state: 'ok' });
  t.match(checks.get('Settings'), { state: 'warn', advice: [/not https/] });
  t.match(checks.get('Disk'), { found: /^\d+\.\d GB free/ });
  t.match(checks.get('Clock'), { found: /^\d{4}-\d\d-\d\dT/ });
  t.match(checks.get('Database'), { found: /schema of this release, SQLite \d/ });
  t.match(checks.get('Alignment of example.com'), {
    state: 'ok',
    found: 'DKIM (d=example.com) and SPF (return path example.com)',
  });
  t.match(checks.get('Alignment of news.example.org'), { state: 'ok', found: 'SPF (return path news.example.org)' });
  t.match(checks.get('DMARC of news.example.org'), { state: 'ok', found: /at _dmarc\.example\.org$/ });
  t.match(checks.get('DKIM of news.example.org'), {
    state: 'warn',
    advice: [/sendlark dkim create news\.example\.org$/],
  });
  const { out } = await sendlark(settings, 'doctor', '--dns', dns);
  t.match(out, /^ok {4}Database: integrity ok/m);
  t.match(out, /^WARN {2}DKIM of news\.example\.org: /m);
  t.equal(sink.mails.length, 0, 'it sends nothing');
  const seen = findDoctorFindings(client);
  t.match(seen?.relays, [{ relay: new URL(sink.url).host, state: 'ok' }], 'what it saw is kept');
  const passed = { SPF: 'ok', DKIM: 'ok', DMARC: 'ok', Alignment: 'ok' };
  t.strictSame(
    seen?.domains.map(({ checks }) => checks),
    [passed, { ...passed, DKIM: 'warn' }],
  );
});

t.test('a bad installation: each fault is named with what to do, and the exit code is 1', async (t) => {
  const domains = ['none.example', 'open.example', 'two.example', 'other.example', 'mute.example', 'nobody.example'];
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
    'nobody.example': ['v=spf1 -all'],
  });
  chmodSync(path, 0o644);
  const closed = await freePort();
  const settings = {
    DATABASE_PATH: path,
    SMTP_URL: `smtp://user:canary-password@127.0.0.1:${closed}`,
    PUBLIC_URL: `http://127.0.0.1:${closed}`,
  };
  const { code, err, checks } = await examine(settings, dns);
  t.equal(code, 1);
  t.match(err, /^\{"error":"\d+ of \d+ checks failed"\}\n$/);
  t.match(checks.get('Settings'), { state: 'warn', advice: [/not https/] });
  t.match(checks.get('Sending'), { state: 'warn', found: /Restored/, advice: [/sendlark release/] });
  t.match(checks.get('Files'), { state: 'warn', found: /others can read/, advice: [/chmod 600 '.*test\.db'/] });
  t.match(checks.get('SMTP server'), { state: 'fail', found: /does not answer: .*ECONNREFUSED/ });
  t.match(checks.get('Public address'), { state: 'fail' });
  t.match(checks.get('SPF of none.example'), {
    state: 'fail',
    advice: ['none.example. IN TXT "v=spf1 mx ~all"', /SMTP server/],
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
  t.match(checks.get('SPF of nobody.example'), { state: 'fail', advice: [/nobody/] });
  t.match(checks.get('SPF of mute.example'), { state: 'warn', found: /DNS gives no answer/ });
  t.notMatch(JSON.stringify([...checks.values()]), 'canary', 'no secret is told');
});

t.test(
  'with a domain of return paths, its SPF record counts, and where it is another organisation only DKIM speaks for the sender',
  async (t) => {
    const domains = ['example.com', 'news.example.com', 'strict.example', 'signed.example', 'elsewhere.example'];
    const { path } = databaseOf(t, ...domains);
    const make = ['dkim', 'create', 'signed.example', '--type', 'ed25519', '--json'];
    const { record } = JSON.parse((await sendlark({ DATABASE_PATH: path }, ...make)).out);
    const dns = await startDns(t, {
      'bounces.example.com': ['v=spf1 mx ~all'],
      [record.name]: [record.value],
      '_dmarc.example.com': ['v=DMARC1; p=none'],
      '_dmarc.news.example.com': ['v=DMARC1; p=none'],
      '_dmarc.strict.example': ['v=DMARC1; p=none; aspf=s'],
    });
    const examined = (BOUNCE_DOMAIN: string, SMTP_URL: string) =>
      examine({ DATABASE_PATH: path, BOUNCE_DOMAIN, SMTP_URL }, dns);
    const relays = 'smtp://127.0.0.1:9?tls=off,smtp://[::1]:9';
    const { checks } = await examined('bounces.example.com', relays);
    const spf = [...checks.keys()].filter((name) => name.startsWith('SPF'));
    t.strictSame(spf, ['SPF of bounces.example.com']);
    for (const domain of ['example.com', 'news.example.com']) {
      t.match(checks.get(`Alignment of ${domain}`), { state: 'ok', found: 'SPF (return path bounces.example.com)' });
    }
    t.match(checks.get('Alignment of signed.example'), { state: 'ok', found: 'DKIM (d=signed.example)' });
    t.match(checks.get('Alignment of elsewhere.example'), {
      state: 'fail',
      found: 'SPF counts for the return path bounces.example.com only, and Sendlark does not sign',
      advice: ['sendlark dkim create elsewhere.example', /BOUNCE_DOMAIN/],
    });
    const { checks: below } = await examined('bounces.strict.example', relays);
    t.match(below.get('Alignment of strict.example'), { state: 'fail', found: /\(aspf=s\)/ });
  },
);

t.test('alignment is no better than the check it rests on', async (t) => {
  const { path } = databaseOf(t, 'none.example', 'unpublished.example');
  await sendlark({ DATABASE_PATH: path }, 'dkim', 'create', 'unpublished.example', '--type', 'ed25519');
  const { checks } = await examine({ DATABASE_PATH: path }, await startDns(t, {}));
  t.match(checks.get('SPF of none.example'), { state: 'fail' });
  t.match(checks.get('Alignment of none.example'), {
    state: 'fail',
    found: 'no check that counts for the domain passes: SPF (return path none.example)',
  });
  t.match(checks.get('Alignment of unpublished.example'), {
    state: 'fail',
    found: /^no check that counts for the domain passes: DKIM .* and SPF .*$/,
  });
});

t.test('each of several relays is looked at', async (t) => {
  const { path } = databaseOf(t, 'example.com');
  const sink = await startSink(t);
  const SMTP_URL = `${sink.url},smtp://127.0.0.1:${await freePort()}`;
  const { checks } = await examine({ DATABASE_PATH: path, SMTP_URL }, '127.0.0.1:9');
  const [first, second, ...others] = [...checks.values()].filter(({ name }) => name.startsWith('SMTP server '));
  t.match(first, { name: `SMTP server ${new URL(sink.url).host}`, state: 'ok' });
  t.match(second, { state: 'fail', found: /ECONNREFUSED/ });
  t.strictSame(others, []);
});

t.test('a relay without a public address is a fault, since mail is held', async (t) => {
  const { path } = databaseOf(t);
  const sink = await startSink(t);
  const { code, checks } = await examine({ DATABASE_PATH: path, SMTP_URL: sink.url }, '127.0.0.1:9');
  t.equal(code, 1);
  t.match(checks.get('Settings'), { state: 'fail', found: /public address is not/, advice: [/^Set the public/] });
});

t.test('the SPF record to paste allows every relay that is elsewhere', async (t) => {
  const resolver = new Resolver();
  resolver.setServers([await startDns(t, {})]);
  const relays = parseRelays('smtps://relay.example,smtp://192.0.2.1,smtp://[2001:db8::1]:25,smtp://localhost:25');
  const { advice } = await checkReturnPath(resolver, 'example.com', relays);
  t.equal(advice?.[0], 'example.com. IN TXT "v=spf1 a:relay.example ip4:192.0.2.1 ip6:2001:db8::1 mx ~all"');
});

t.test('a relay that mail cannot be handed to under TLS is told', async (t) => {
  const { path } = databaseOf(t);
  const sink = await startSink(t);
  const { code, checks } = await examine({ DATABASE_PATH: path, SMTP_URL: `${sink.url}?tls=required` }, '127.0.0.1:9');
  t.equal(code, 1);
  t.match(checks.get('SMTP server'), { state: 'fail', found: /takes no mail: .*no STARTTLS/, advice: [/TLS/] });
  t.equal(sink.mails.length, 0);
});

t.test('a clock before the service last ran is found', async (t) => {
  const { path, client } = databaseOf(t);
  client
    .prepare("INSERT INTO installation (name, value) VALUES ('last_seen', ?)")
    .run(String(Date.now() + 3 * 24 * 60 * 60 * 1000));
  const { code, checks } = await examine({ DATABASE_PATH: path }, '127.0.0.1:9');
  t.equal(code, 1);
  t.match(checks.get('Clock'), { state: 'fail', found: /before the service last ran/ });
});

t.test('an address that leads to something else is told', async (t) => {
  const { path } = databaseOf(t);
  const other = createHttpServer((_request, response) => response.end('Hello')).listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const { checks } = await examine({ DATABASE_PATH: path, PUBLIC_URL: `http://127.0.0.1:${port}` }, '127.0.0.1:9');
  t.match(checks.get('Public address'), { state: 'fail', found: /leads to something else \(200\)/, advice: [/DNS/] });
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
    t.match(checks.get('SMTP server'), {
      state: 'fail',
      found: answer === '' ? /closed the connection/ : /554 No service for you/,
    });
    server.close();
  }
  const { checks } = await examine({ DATABASE_PATH: path, SMTP_URL: 'relay.example' }, '127.0.0.1:9');
  t.match(checks.get('SMTP server'), { state: 'fail', found: /^SMTP_URL is invalid: entry 1/ });
});
