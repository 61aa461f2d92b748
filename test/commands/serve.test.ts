/** Starting and stopping the service. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { freePort } from '../../fixtures/free-ports.ts';
import { sendlark } from '../support/command-line.ts';
import { seededCopy } from '../support/seeded-copy.ts';
import { BUILT, type Program, Service, startSink } from '../support/service.ts';
import { startCampaign, until } from '../support/service-campaign.ts';
import { skipWithout, toolPath } from '../support/tools.ts';
import { until as holds } from '../support/until.ts';

const PEOPLE = 300;
/** The program where nobody has set the number of arenas, so that it starts again in place. */
const WITHOUT_ARENAS: Program = { ...BUILT, env: { PATH: process.env.PATH } };

t.test('SIGTERM finishes what is in flight, and nobody is mailed twice after the next start', async (t) => {
  const sink = await startSink(t, 20);
  // The relay waits until the stop, so that it comes within the send on a slow machine, too.
  sink.allow(60);
  const campaignMails = () => sink.mails.filter(({ to }) => to !== 'hello@example.com');
  const service = new Service(t, { SMTP_URL: sink.url, SENDER_VERIFICATION: 'optional', SHUTDOWN_SECONDS: '10' });
  await service.start();
  const counters = await startCampaign(service, PEOPLE);
  await until(counters, ({ delivered }) => delivered > 20);
  const ended = service.end('SIGTERM');
  sink.allow(Number.POSITIVE_INFINITY);
  t.equal(await ended, 0);
  const sent = campaignMails().length;
  t.ok(sent < PEOPLE, 'the stop came within the send');
  const client = new Database(join(service.folder, 'test.db'), { readonly: true });
  const states = client
    .prepare<[], { state: number; people: number }>(
      "SELECT d.state, count(*) AS people FROM deliveries d JOIN mailings m ON m.id = mailing_id WHERE owner_kind = 'single' GROUP BY d.state",
    )
    .all();
  client.close();
  t.strictSame(
    states,
    [
      { state: 0, people: PEOPLE - sent },
      { state: 2, people: sent },
    ],
    'the ledger knows each mail that left, and nothing is left in between',
  );
  await service.start();
  await until(counters, ({ status }) => status === 3);
  t.equal(campaignMails().length, PEOPLE, 'each mail left once');
  t.equal(new Set(campaignMails().map(({ to }) => to)).size, PEOPLE);
});

t.test('SIGTERM stops the hand-offs at once, though a request takes its time', async (t) => {
  const sink = await startSink(t, 20);
  sink.allow(60);
  const service = new Service(t, { SMTP_URL: sink.url, SENDER_VERIFICATION: 'optional', SMTP_CONNECTIONS: '2' });
  await service.start();
  const counters = await startCampaign(service, PEOPLE);
  await until(counters, ({ delivered }) => delivered > 20);
  const { hostname, port } = new URL(service.origin);
  const slow = connect(Number(port), hostname);
  slow.on('error', () => undefined);
  slow.write(
    `POST /api/contacts-type/add HTTP/1.1\r\nHost: ${hostname}\r\nPublicKey: pk_test_of_sendlark\r\nSecretKey: sk_test_of_sendlark\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n`,
  );
  await once(slow, 'data');
  const ended = service.end('SIGTERM');
  sink.allow(Number.POSITIVE_INFINITY);
  // Half a second is 50 mails long. On a busy machine the signal itself may take that long.
  let sent = -1;
  for (; sent < sink.mails.length; await setTimeout(500)) sent = sink.mails.length;
  t.ok(sent < PEOPLE, 'nothing begins while the request is waited for');
  slow.end('{}');
  t.equal(await ended, 0);
});

t.test('an upload that a kill cut off is removed at the next start, one of another database is not', async (t) => {
  const temporary = t.testdir({ 'sendlark-upload-0123456789abcdef-x': { 'contacts.csv': 'email' } });
  const service = new Service(t, { TMPDIR: temporary });
  await service.start();
  const uploads = () => readdirSync(temporary).filter((name) => name.startsWith('sendlark-upload-'));
  const { hostname, port } = new URL(service.origin);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(
    'POST /api/contacts/upload-csv HTTP/1.1\r\nHost: x\r\nPublicKey: pk_test_of_sendlark\r\nSecretKey: sk_test_of_sendlark\r\nContent-Length: 9999\r\n' +
      'Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\r\n',
  );
  await until(
    async () => uploads(),
    (found) => found.length === 2,
  );
  await service.end('SIGKILL');
  t.equal(uploads().length, 2, 'the kill left it there');
  await service.start();
  t.strictSame(uploads(), ['sendlark-upload-0123456789abcdef-x']);
});

t.test(
  'a second server on the same file is refused with one clear line, also under another name of the file',
  async (t) => {
    const service = new Service(t, {});
    await service.start();
    const path = join(service.folder, 'test.db');
    const { code, out, err } = await sendlark({ DATABASE_PATH: path, PORT: '0' }, 'serve');
    t.equal(code, 1);
    t.equal(out, '');
    t.equal(err, `Another Sendlark server is running on ${path}\n`);
    const link = join(service.folder, 'link.db');
    symlinkSync(path, link);
    t.match(await sendlark({ DATABASE_PATH: link, PORT: '0' }, 'serve'), {
      code: 1,
      err: /^Another Sendlark server is running/,
    });
  },
);

t.test(
  'a database on a disk that can only be read is told so, not to change the owner',
  { skip: spawnSync('unshare', ['-rm', 'true']).status !== 0 && 'needs the right to mount' },
  (t) => {
    const folder = t.testdir({});
    const path = join(folder, 'test.db');
    const [file, ...words] = BUILT.command;
    const start = `'${[file, ...words].join("' '")}'`;
    const script = `mount -t tmpfs tmpfs '${folder}' && : > '${path}' && mount -o remount,ro '${folder}' && ${start} serve; ${start} keys list`;
    const env = { ...BUILT.env, PATH: process.env.PATH, DATABASE_PATH: path, PORT: '0' };
    const { stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', script], { env, encoding: 'utf8' });
    const reason = `the disk of ${folder} can only be read. Mount it so that it can be written; under systemd, name the folder in ReadWritePaths=`;
    t.match(stderr, `The database ${path}-lock cannot be opened: ${reason}\n`);
    t.match(stderr, `The database ${path} cannot be opened: ${reason}\n`);
    t.end();
  },
);

t.test(
  'a file that the service may not open is told with user, owner and cure',
  { skip: process.getuid?.() !== 0 && 'needs root to start as another user' },
  (t) => {
    const folder = t.testdir({});
    const path = join(folder, 'test.db');
    chownSync(folder, 65534, 65534);
    writeFileSync(path, '');
    chmodSync(path, 0o600);
    const [file, ...words] = BUILT.command;
    const env = { ...BUILT.env, DATABASE_PATH: path, PORT: '0' };
    const { status, stderr } = spawnSync(file, [...words, 'serve'], { env, uid: 65534, gid: 65534, encoding: 'utf8' });
    t.equal(status, 1);
    t.equal(
      stderr,
      `The database ${path} cannot be opened: the user nobody may not read and write it; it belongs to user 0 and group 0 with mode 600. As root: chown nobody ${folder} ${path}*\n`,
    );
    chownSync(path, 65534, 65534);
    chmodSync(path, 0o400);
    const own = spawnSync(file, [...words, 'serve'], { env, uid: 65534, gid: 65534, encoding: 'utf8' });
    t.match(own.stderr, `with mode 400. chmod u+rw ${path}\n`, 'a file of its own');
    chownSync(folder, 0, 0);
    rmSync(`${path}-lock`);
    const beside = spawnSync(file, [...words, 'serve'], { env, uid: 65534, gid: 65534, encoding: 'utf8' });
    t.match(beside.stderr, `As root: chown nobody ${folder} ${path}*\n`, 'a lock that cannot be made beside it');
    t.end();
  },
);

t.test('a database of a newer release is refused with one clear line', async (t) => {
  const path = join(t.testdir({}), 'test.db');
  seededCopy(path);
  const client = new Database(path);
  client.prepare("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('', ?)").run(Date.UTC(2100, 0));
  client.close();
  const { code, err } = await sendlark({ DATABASE_PATH: path, PORT: '0' });
  t.equal(code, 1);
  t.match(err, /^[^\n]*newer release[^\n]*\n$/);
});

/** A program that listens on a free port of loopback; gives the port. */
async function occupiedPort(t: Test): Promise<number> {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  return (other.address() as AddressInfo).port;
}

t.test('a start says whether mail leaves: from sender nodes, from here, or not at all', async (t) => {
  const outbox = 'No SMTP server: mail stays in the test outbox, nothing leaves this machine';
  const nodes = 'Campaign mail leaves from the sender nodes of NATS_URL';
  const NATS_URL = 'nats://127.0.0.1:1';
  const SMTP_URL = 'smtp://127.0.0.1:1';
  const said: [Record<string, string>, string[]][] = [
    [{}, [outbox]],
    [{ SMTP_URL }, []],
    [{ NATS_URL }, [nodes]],
    [{ NATS_URL, SMTP_URL }, [nodes]],
  ];
  for (const [settings, expected] of said) {
    const [file, ...words] = BUILT.command;
    const env = { ...BUILT.env, DATABASE_PATH: join(t.testdir({}), 'test.db'), PORT: '0', LOG_LEVEL: 'fatal' };
    seededCopy(env.DATABASE_PATH);
    const child = spawn(file, [...words, 'serve'], {
      env: { ...env, PUBLIC_URL: 'http://mail.example.com', ...settings },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(String(JSON.parse(line).msg));
      // Its lines are written at once.
      if (/ serves /.test(line)) child.kill('SIGTERM');
    }
    t.strictSame(
      lines.filter((line) => line === outbox || line === nodes),
      expected,
      JSON.stringify(settings),
    );
  }
});

t.test('the log is JSON of one shape from the first line, and has neither keys nor the link to sign in', async (t) => {
  const folder = t.testdir({});
  const path = join(folder, 'first-sign-in.txt');
  const env = { ...BUILT.env, DATABASE_PATH: join(folder, 'test.db'), PORT: '0' };
  const read = async (command: string, settings: Record<string, string>, isLast: (text: string) => boolean) => {
    const [file, ...words] = BUILT.command;
    const child = spawn(file, [...words, command], {
      env: { ...env, ...settings },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    const lines: Record<string, unknown>[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(JSON.parse(line));
      if (isLast(String(lines.at(-1)?.msg))) child.kill('SIGTERM');
    }
    return lines;
  };
  // At level debug, pino's own lines are among them.
  const service = await read('serve', { LOG_LEVEL: 'debug' }, (text) => text.startsWith('The first keys'));
  const node = await read('node', { NATS_URL: 'nats://127.0.0.1:1' }, (text) => text.startsWith('NATS cannot'));
  for (const line of [...service, ...node]) {
    t.match(line, { level: Number, time: Number, pid: Number, hostname: String, msg: String });
    if (line.err !== undefined) t.match(line.err, { type: String, message: String, stack: String });
  }
  t.match(
    node.find(({ msg }) => String(msg).startsWith('NATS cannot')),
    { level: 40, err: { message: /./ }, msg: 'NATS cannot be reached; trying again' },
  );
  const keys = readFileSync(path, 'utf8');
  const [, publicKey = '', secretKey = '', link = ''] =
    /^PublicKey: (\S+)\nSecretKey: (\S+)\n[\s\S]*^(http:\S+\/welcome#\S+)$/m.exec(keys) ?? [];
  const logged = JSON.stringify(service);
  t.ok(logged.includes(path), 'the log names the file');
  for (const secret of [publicKey, secretKey, link.split('#')[1] ?? '']) {
    t.ok(secret.length > 20);
    t.notOk(logged.includes(secret));
  }
  t.equal(statSync(path).mode & 0o777, 0o600);
});

t.test(
  'in a terminal the keys and the link are shown, and stored nowhere',
  { skip: skipWithout('script') },
  async (t) => {
    const folder = t.testdir({});
    const env = { ...WITHOUT_ARENAS.env, DATABASE_PATH: join(folder, 'test.db'), PORT: '0' };
    const command = `timeout -s TERM 120 ${BUILT.command.join(' ')} serve`;
    const child = spawn(toolPath('script'), ['-qec', command, '/dev/null'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    let shown = '';
    for await (const chunk of child.stdout) {
      shown += chunk;
      if (shown.includes('nothing leaves this machine')) break;
    }
    t.match(shown, /^Sendlark serves http:/, 'a person reads no JSON first');
    t.match(shown, /^PublicKey: \S+\r?\nSecretKey: \S+\r?\n/m);
    t.match(shown, /\/welcome#\S+/);
    t.notOk(existsSync(join(folder, 'first-sign-in.txt')));
    const timeout = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'));
    t.ok(timeout > 1);
    child.kill('SIGKILL');
    process.kill(timeout, 'SIGTERM');
    await holds(() => !existsSync(`/proc/${timeout}`));
    t.pass('it ends also when its terminal is gone');
  },
);

t.test('a start that cannot listen ends with one line that names the setting, and makes no keys', async (t) => {
  const path = join(t.testdir({}), 'test.db');
  seededCopy(path);
  const taken = String(await occupiedPort(t));
  const bounces = { BOUNCE_DOMAIN: 'bounces.example.com', PORT: '0' };
  const faults: [Record<string, string>, RegExp][] = [
    [{ PORT: taken }, /^PORT: another program listens on port \d+ of 127\.0\.0\.1\n$/],
    [{ HOST: '192.0.2.1', PORT: '0' }, /^HOST: 192\.0\.2\.1 is not an address of this machine\n$/],
    // No name, so that no DNS is asked.
    [{ HOST: 'nothing..invalid', PORT: '0' }, /^HOST: the name nothing\.\.invalid leads to no address\n$/],
    [{ ...bounces, BOUNCE_LISTEN: `127.0.0.1:${taken}` }, /^BOUNCE_LISTEN: another program listens on port \d+ of /],
    [{ ...bounces, BOUNCE_LISTEN: '192.0.2.1:0' }, /^BOUNCE_LISTEN: 192\.0\.2\.1 is not an address of this machine\n$/],
  ];
  for (const [settings, line] of faults) {
    const { code, out, err } = await sendlark({ DATABASE_PATH: path, LOG_LEVEL: 'error', ...settings }, 'serve');
    t.match({ code, out, err }, { code: 1, out: '', err: line });
  }
  const service = new Service(t, { DATABASE_PATH: path, PUBLIC_KEY: '', SECRET_KEY: '' });
  await service.start();
  t.match(await service.get('/contacts-type'), { status: 'success' }, 'the next start shows the first keys');
  await service.end('SIGTERM');
  const { out } = await sendlark({ DATABASE_PATH: path }, 'keys', 'list');
  t.equal(out.trim().split('\n').length, 1, 'and only that start made any');
});

t.test("a start on another program's database leaves nothing beside it", async (t) => {
  const folder = t.testdir({});
  const path = join(folder, 'other.db');
  const other = new Database(path);
  other.exec('CREATE TABLE notes (text)');
  other.close();
  for (const words of [['serve'], ['restore', import.meta.filename]]) {
    const { code, out, err } = await sendlark({ DATABASE_PATH: path, PORT: '0' }, ...words);
    t.match({ code, out, err }, { code: 1, out: '', err: /^[^\n]+\n$/ }, `${words}`);
    t.strictSame(readdirSync(folder), ['other.db'], `${words}`);
  }
});

t.test('BOUNCE_LISTEN on the port of the API is refused', async (t) => {
  const port = await freePort();
  const settings = { PORT: String(port), BOUNCE_LISTEN: `127.0.0.1:${port}`, BOUNCE_DOMAIN: 'bounces.example.com' };
  const path = join(t.testdir({}), 'test.db');
  seededCopy(path);
  const { code, err } = await sendlark({ DATABASE_PATH: path, LOG_LEVEL: 'error', ...settings }, 'serve');
  t.match({ code, err }, { code: 1, err: /^BOUNCE_LISTEN: another program listens on / });
});

t.test('a database that cannot be opened is named with the reason', async (t) => {
  const folder = t.testdir({});
  const start = (path: string) => sendlark({ DATABASE_PATH: path, PORT: '0' }, 'serve');
  t.match(await start(join(folder, 'none', 'x.db')), {
    code: 1,
    err: /none\/x\.db\S* cannot be opened: there is no folder \S+none\n$/,
  });
  t.match(await start(folder), { code: 1, err: /cannot be opened: it is a folder\n$/ });
});

const onLinux = process.platform === 'linux' ? false : 'only Linux tells this in /proc';
const told = ({ pid }: Service, file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8');

t.test('at rest the service takes at most 130 MB, within half a minute of its start', { skip: onLinux }, async (t) => {
  const service = new Service(t, {});
  await service.start();
  const megabytes = () => Number(/VmRSS:\s+(\d+)/.exec(told(service, 'status'))?.[1]) / 1024;
  for (let look = 0; look < 30 && megabytes() > 130; look++) await setTimeout(1000);
  const atRest = megabytes();
  t.ok(atRest <= 130, `${atRest} MB`);
});

/** Starts the service with these settings where nobody else has set the number of arenas. */
async function startWithoutArenas(
  t: Test,
  settings: Record<string, string>,
  command: Program['command'] = WITHOUT_ARENAS.command,
): Promise<Service> {
  const service = new Service(t, settings, { ...WITHOUT_ARENAS, command });
  seededCopy(join(service.folder, 'test.db'));
  await service.start();
  return service;
}

t.test('the service has one arena of the C library unless told otherwise', { skip: onLinux }, async (t) => {
  const settings = { NODE_OPTIONS: '--no-warnings', EXAMPLE: 'ä = "b"\nc' };
  const command = [process.execPath, '--stack-size=900', 'dist/cli.js', 'serve'] as const;
  for (const [arenas, given] of Object.entries({ 1: {}, 3: { MALLOC_ARENA_MAX: '3' } })) {
    const service = await startWithoutArenas(t, { ...settings, ...given }, command);
    const environment = told(service, 'environ').split('\0');
    t.ok(environment.includes(`MALLOC_ARENA_MAX=${arenas}`));
    for (const [name, value] of Object.entries(settings)) t.ok(environment.includes(`${name}=${value}`), name);
    const [, ...words] = told(service, 'cmdline').split('\0').filter(Boolean);
    t.match(
      words,
      ['--stack-size=900', /dist\/cli\.js$/, 'serve'],
      'and goes on with the words that it was started with',
    );
    t.equal(await service.end('SIGTERM'), 0, 'and the number of its process');
  }
});

t.test(
  'the service starts where the number of arenas does not stay in the environment',
  { skip: onLinux },
  async (t) => {
    // So does glibc with a Node that has capabilities of its own.
    const removed = 'data:text/javascript,delete%20process.env.MALLOC_ARENA_MAX';
    const service = await startWithoutArenas(t, { NODE_OPTIONS: `--import=${removed}` });
    t.match(told(service, 'cmdline'), 'dist/cli.js');
  },
);

t.test('the service starts through the loader of shared libraries', { skip: onLinux }, async (t) => {
  const [loader = ''] = /\/\S*\/ld[^/\s]*\.so\S*/.exec(readFileSync('/proc/self/maps', 'utf8')) ?? [];
  const service = await startWithoutArenas(t, {}, [loader, process.execPath, 'dist/cli.js', 'serve']);
  t.match(told(service, 'cmdline'), 'dist/cli.js');
});
