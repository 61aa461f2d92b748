/** The command line: help, usage errors, versions, accounts, keys, and what a database of an older release needs. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { lockForServer } from '../../src/database/server-lock.ts';
import { runProgram, sendlark } from '../support/command-line.ts';
import { ROOT } from '../support/documents.ts';
import { oldDatabase } from '../support/releases.ts';
import { BUILT, Service } from '../support/service.ts';
import { folder, prepared } from './prepared.ts';

t.test('help lists every command, and each command tells its forms', async (t) => {
  const { code, out } = await sendlark({}, 'help');
  t.equal(code, 0);
  const names = [...out.matchAll(/^ {2}(\w+) {2}/gm)].map((match) => match[1] ?? '');
  t.ok(names.includes('serve') && names.includes('doctor') && names.includes('backup'));
  for (const name of names) {
    const help = await sendlark({}, 'help', name);
    t.equal(help.code, 0);
    t.match(help.out, new RegExp(`^sendlark ${name}`));
    t.ok(help.out.split('\n').length > 3, `${name} teaches`);
  }
  t.match((await sendlark({}, 'keys', '--help')).out, /^sendlark keys create/);
});

t.test('the built program has no character that makes V8 keep a file with two bytes for each', async (t) => {
  const app = join(ROOT, 'dist/app');
  const built = readdirSync(app, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  t.ok(built.includes('main.js'));
  // V8 keeps the sources of what it has loaded. In a regular expression, write \u2192 in place of the arrow.
  const wide = built.filter((name) => /[\u0100-\uffff]/.test(readFileSync(join(app, name), 'utf8')));
  t.strictSame(wide, []);
});

t.test('wrong usage exits with 2 and one line that says what is wrong', async (t) => {
  const wrong = [
    ['sned'],
    ['help', 'sned'],
    ['keys'],
    ['keys', 'make'],
    ['keys', 'constructor'],
    ['keys', 'create', '--acount', '1'],
    ['keys', 'create', '--account', 'x'],
    ['account', 'create'],
    ['backup'],
    ['backup', 'a', 'b'],
    ['dkim', 'create', 'localhost'],
    ['dkim', 'create', 'example.com', '--selector', 'a.b'],
    ['dkim', 'create', 'example.com', '--type', 'dsa'],
    ['import', 'x.csv'],
    ['export', 'x.csv'],
    ['export', '--type', '1', 'a', 'b'],
    ['export', '--type', '1', '--json'],
  ];
  for (const words of wrong) {
    const { code, out, err } = await sendlark({ DATABASE_PATH: join(tmpdir(), 'none', 'x.db') }, ...words);
    t.equal(code, 2, words.join(' '));
    t.equal(out, '');
    const hint = ['sned', 'help'].includes(words[0] ?? '') ? '' : ` ${words[0]}`;
    if (words.includes('--json')) t.equal(JSON.parse(err).see, `sendlark help${hint}`);
    else t.match(err, new RegExp(`^[^\\n]+\\nSee: sendlark help${hint}\\n$`));
  }
  t.equal((await sendlark({}, 'keys', '--bogus')).err, "Unknown option '--bogus'\nSee: sendlark help keys\n");
});

t.test('a Node that is too old is told in one line before anything is loaded that it cannot run', async (t) => {
  const { engines }: { engines: { node: string } } = JSON.parse(readFileSync('package.json', 'utf8'));
  const oldest = engines.node.replace('>=', '');
  const [major = 0, minor = 0] = oldest.split('.').map(Number);
  // Says that this Node is another, and counts what is loaded besides the file it starts. Before 22.1, node:module
  // lacks enableCompileCache.
  const pretend = (version: string) => `data:text/javascript,
    import { registerHooks } from 'node:module';
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });
    const lacking = { url: 'data:text/javascript,export default {}', shortCircuit: true };
    const resolve = (name, context, next) => name === 'node:module' ? lacking : next(name, context);
    registerHooks({ ...(${Number.parseInt(version, 10) < major} && { resolve }), load: (url, context, next) => { if (/^file:/.test(url)) console.log(url); return next(url, context); } });`;
  const start = (version: string) =>
    spawnSync(process.execPath, ['--import', pretend(version), 'dist/cli.js', 'help'], { encoding: 'utf8' });
  for (const version of [`${major}.${minor - 1}.9`, '20.20.2', '18.0.0', '9.0.0']) {
    const { status, stdout, stderr } = start(version);
    t.equal(status, 1, version);
    t.match(stderr, new RegExp(`^Sendlark needs Node ${oldest} or newer, and this is ${version}\\. [^\n]+\n$`));
    t.match(stdout, /^file:\S+\/cli\.js\n$/, 'nothing else was loaded');
  }
  for (const version of [`${oldest}.0`, `${major + 1}.0.0`, '100.0.0']) {
    t.match(start(version), { status: 0, stdout: /Usage: sendlark/ }, version);
  }
});

t.test('what fails exits with 1 and one line; no command makes a database by accident', async (t) => {
  const path = join(folder(t), 'none.db');
  for (const words of [['keys', 'list'], ['backup', 'x.db'], ['purge'], ['release'], ['restore', 'nothing.db']]) {
    const { code, err } = await sendlark({ DATABASE_PATH: path }, ...words);
    t.equal(code, 1, words.join(' '));
    t.match(err, /^[^\n]+\n$/);
  }
  t.strictSame(readdirSync(join(path, '..')), []);
  t.match(await sendlark({ PORT: 'x' }, 'serve'), { code: 1, err: /^PORT is invalid: [^\n]+\n$/ });
});

t.test('--version tells the release of package.json', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  t.match(await sendlark({}, '--version'), { code: 0, out: `${version}\n` });
});

t.test('a list without entries says so', async (t) => {
  const { run } = prepared(t);
  t.match(await run('keys', 'list'), { code: 0, out: /^There are no keys; / });
  t.match(await run('dkim', 'list'), { code: 0, out: /^There are no keys, / });
  t.equal((await run('keys', 'list', '--json')).out, '[]\n');
});

t.test('accounts and keys are made, listed and revoked, also while the service runs', async (t) => {
  const service = new Service(t, {});
  await service.start();
  const run = (...words: string[]) => sendlark({ DATABASE_PATH: join(service.folder, 'test.db') }, ...words);
  t.match(await run('account', 'create', '--name', 'Second'), { code: 0, out: /^Account 2: Second\n/ });
  t.match(JSON.parse((await run('account', 'list', '--json')).out), [{ id: 1 }, { id: 2, name: 'Second' }]);
  const made = await run('keys', 'create', '--account', '2');
  const [, publicKey = '', secretKey = ''] = /^PublicKey: (\S+)\nSecretKey: (\S+)\n$/.exec(made.out) ?? [];
  const status = async () =>
    (await fetch(`${service.origin}/api/sender/list`, { headers: { PublicKey: publicKey, SecretKey: secretKey } }))
      .status;
  t.not(await status(), 401, 'the pair is valid at once');
  const small = await run('keys', 'create', '--name', 'Shop', '--scopes', 'transactional,read', '--json');
  const { publicKey: shop } = JSON.parse(small.out);
  t.match(await run('keys', 'create', '--scopes', 'all'), { code: 2, err: /all is none of transactional, read/ });
  t.match(await run('keys', 'create', '--scopes', ''), { code: 2 });
  t.match(await run('keys', 'create', '--name', 'a\nb'), { code: 2 });
  const listed = await run('keys', 'list');
  t.match(listed.out, new RegExp(`^${shop} {2}account 1 {2}transactional, read {2}made .* {2}Shop$`, 'm'));
  t.match(listed.out, new RegExp(`^${publicKey} {2}account 2 {2}everything {2}made .* {2}used \\d`, 'm'));
  t.notMatch(listed.out, secretKey, 'the secret is shown once');
  t.match(await run('keys', 'revoke', publicKey), { code: 0 });
  // A pair that was right is taken for right for up to a second; a pair that never stops runs into the test's time limit.
  while ((await status()) !== 401) await wait(50);
  t.equal(await status(), 401, 'requests are refused from then on');
  t.match(await run('keys', 'revoke', publicKey), { code: 1 });
  t.match(await run('keys', 'create', '--account', '9'), { code: 1, err: /no account 9/ });
});

t.test('users are added, listed, changed and removed by the command line, which no key pair can do', async (t) => {
  const { db, run } = prepared(t);
  t.match(await run('users', 'list'), { code: 0, out: /^There are no users; / });
  t.match(await run('users', 'add', 'Ann@example.org', 'owner'), { code: 0, out: /^Added: Ann@example\.org {2}owner/ });
  t.match(await run('users', 'add', 'ann@example.org', 'viewer'), { code: 1, err: /a user ann@example\.org already/ });
  t.match(await run('users', 'add', 'bo@example.org', 'king'), { code: 2, err: /king is no role/ });
  t.match(await run('users', 'add', 'bo@example.org', 'editor', '--account', '9'), { code: 1, err: /no account 9/ });
  t.match(await run('users', 'role', 'ann@example.org', 'viewer'), { code: 0 });
  const listed = [{ account: 1, email: 'Ann@example.org', role: 'viewer' }];
  t.match(JSON.parse((await run('users', 'list', '--json')).out), listed);
  t.match(await run('users', 'remove', 'ann@example.org'), { code: 0 });
  t.match(await run('users', 'remove', 'ann@example.org'), { code: 1, err: /no user ann@example\.org/ });
  t.strictSame(db.prepare('SELECT english(actor), action FROM audit_log ORDER BY id').raw().all(), [
    ['command line', 'user_added'],
    ['command line', 'user_changed'],
    ['command line', 'user_removed'],
  ]);
});

t.test('a database of an older release is brought up to date, but not under a running server', async (t) => {
  const { db, path, run } = prepared(t);
  db.close();
  copyFileSync(oldDatabase(t, 1), path);
  const lock = lockForServer(path);
  t.match(await run('dkim', 'list'), { code: 1, err: /^Another Sendlark server is running/ });
  lock.release();
  t.match(await run('dkim', 'list'), { code: 0 });
});

t.test('links to design pages are revoked for one mail or for all of an account', async (t) => {
  const { db, run } = prepared(t);
  const utr = '0b0a7b8e-1b1c-4a4f-9b8e-0123456789ab';
  db.pragma('foreign_keys = OFF');
  for (const [at, user] of [1, 1, 2].entries())
    db.exec(
      `INSERT INTO automation_schedules (user_id, automation_id, sender_id, subject, waiting_period, waiting_type, utr, template_id, preview_img, created_at, updated_at)
       VALUES (${user}, 1, 1, '', 1, 'days', '${at === 0 ? utr : `utr ${at}`}', 1, '', '', '')`,
    );
  const revoked = () => db.prepare('SELECT utr FROM design_revocations ORDER BY utr').pluck().all();
  t.match(await run('design-links', 'revoke', utr.toUpperCase()), { code: 0, out: 'Revoked: the links to one mail\n' });
  t.strictSame(revoked(), [utr]);
  t.strictSame(JSON.parse((await run('design-links', 'revoke', '--account', '1', '--json')).out), { mails: 2 });
  t.strictSame(revoked(), [utr, 'utr 1'], 'no other account');
  t.match(await run('design-links', 'revoke', 'nothing'), { code: 1, err: 'There is no such mail\n' });
  t.match(await run('design-links', 'revoke'), { code: 2 });
});

t.test('DKIM keys are made with the record to paste, listed without the private part, removed', async (t) => {
  const { db, run } = prepared(t);
  const made = JSON.parse((await run('dkim', 'create', 'Bücher.example', '--type', 'ed25519', '--json')).out);
  t.match(made, { domain: 'xn--bcher-kva.example', selector: 'sendlark', type: 'ed25519' });
  t.equal(made.record.name, 'sendlark._domainkey.xn--bcher-kva.example');
  t.match(await run('dkim', 'create', 'bücher.example'), { code: 1, err: /has a key under sendlark already/ });
  const rsa = await run('dkim', 'create', 'bücher.example', '--selector', 'S2');
  t.match(rsa.out, /Name: {2}s2\._domainkey\.xn--bcher-kva\.example\n {2}Value: v=DKIM1; k=rsa; p=\S+\n/);
  const listed = await run('dkim', 'list', '--json');
  t.equal(JSON.parse(listed.out).length, 2);
  t.notMatch(listed.out, 'PRIVATE KEY');
  db.prepare("UPDATE dkim_keys SET awaits_record = 1 WHERE selector = 's2'").run();
  const removed = await run('dkim', 'remove', 'bücher.example');
  t.match(removed, { code: 0, out: /The key under s2 signs from now on\. Publish its record/ });
  const left = db.prepare('SELECT selector, awaits_record FROM dkim_keys').all();
  t.strictSame(left, [{ selector: 's2', awaits_record: 0 }], 'the key that is left signs');
  t.match(await run('dkim', 'remove', 'bücher.example'), { code: 1 });
});

t.test('a .env with a byte order mark and a faulty line is read, and the command says where', async (t) => {
  const folder = t.testdir({ '.env': '\ufeffDATABASE_PATH=mine.db\nPORT: 1\n' });
  const command = [BUILT.command[0], join(ROOT, 'dist/cli.js')] as const;
  const { code, err } = await runProgram({ ...BUILT, command, cwd: folder }, {}, ['account', 'list']);
  t.equal(code, 1);
  t.match(err, /\.env, line 1: a byte order mark[^\n]*\n[^\n]*\.env, line 2: write PORT=value, not PORT: value\n/);
  t.match(err, 'No database at mine.db', 'the first setting was read');
});
