/** The command line, run as an operator runs it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import { progressBar } from '../../src/commands/progress.ts';
import { assertWritable } from '../../src/commands/target-file.ts';
import { createAccount } from '../../src/database/accounts.ts';
import { connect, lockForServer, migrateAndSeed } from '../../src/database/open.ts';
import { oldDatabase } from '../database/releases.ts';
import { Service } from '../service.ts';
import { skipWithout, toolPath } from '../tools.ts';
import { sendlark } from './command-line.ts';

function folder(t: Test): string {
  const made = mkdtempSync(join(tmpdir(), 'sendlark-cli-'));
  t.teardown(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A database with account 1, and the command line on it. */
function prepared(t: Test) {
  const path = join(folder(t), 'test.db');
  const db = connect(path);
  migrateAndSeed(db);
  createAccount(db, systemClock, 'Main');
  t.teardown(() => db.$client.close());
  return { db: db.$client, path, run: (...words: string[]) => sendlark({ DATABASE_PATH: path }, ...words) };
}

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
    t.match(err, new RegExp(`^[^\\n]+\\nSee: sendlark help${hint}\\n$`));
  }
  t.equal((await sendlark({}, 'keys', '--bogus')).err, "Unknown option '--bogus'\nSee: sendlark help keys\n");
});

t.test('a Node that is too old is told in one line before anything is loaded that it cannot run', async (t) => {
  const { engines }: { engines: { node: string } } = JSON.parse(readFileSync('package.json', 'utf8'));
  const oldest = engines.node.replace('>=', '');
  const [major = 0, minor = 0] = oldest.split('.').map(Number);
  // Says that this Node is another, and counts what is loaded besides the file it starts.
  const pretend = (version: string) => `data:text/javascript,
    import { registerHooks } from 'node:module';
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });
    registerHooks({ load: (url, context, next) => { if (/^file:/.test(url)) console.log(url); return next(url, context); } });`;
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

t.test('no command writes over a database, whatever name it is given, or over what belongs to one', async (t) => {
  const { db, path, run } = prepared(t);
  db.exec("INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (1, 'Readers', '', '')");
  const home = join(path, '..');
  const others = join(folder(t), 'others.db');
  const other = connect(others);
  migrateAndSeed(other);
  t.teardown(() => other.$client.close());
  linkSync(path, join(home, 'hard.db'));
  symlinkSync(path, join(home, 'soft.db'));
  const targets = [path, join(home, 'hard.db'), join(home, 'soft.db'), relative(process.cwd(), path), others];
  const beside = ['-wal', '-shm', '-lock', '-journal'].flatMap((end) => [path + end, others + end]);
  const refused = /is the database itself|is a database in use|belongs to the database/;
  for (const file of [...targets, ...beside]) {
    for (const replaces of ['copies of a database', 'no database'] as const) {
      t.throws(() => assertWritable({ file, force: true, database: path, replaces }), { message: refused }, file);
    }
  }
  t.match(await run('backup', join(home, 'hard.db'), '--force'), { code: 1, err: refused });
  t.match(await run('export', '--type', '1', others, '--force'), { code: 1, err: refused });
  for (const same of [path, join(home, 'hard.db')]) {
    t.match(await run('restore', same, '--force'), { code: 1, err: /is the database itself/ }, `restore ${same}`);
  }
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
  t.equal(other.$client.pragma('integrity_check', { simple: true }), 'ok');

  const copy = join(home, 'copy.db');
  t.match(await run('backup', copy), { code: 0 });
  t.match(await run('backup', copy, '--force'), { code: 0 }, 'an earlier copy may be replaced');
  t.match(
    await run('export', '--type', '1', copy, '--force'),
    { code: 1, err: /is a database\n$/ },
    'but not by a CSV file',
  );
  t.match(await run('backup', home), { code: 1, err: /is a folder: name a file in it\n$/ });
  t.match(await run('backup', join(home, 'none', 'x.db')), { code: 1, err: /^There is no folder \S+none\n$/ });
  t.match(await run('import', home, '--type', '1'), { code: 1, err: /is a folder/ });
});

t.test('a command that is told to stop leaves nothing unfinished behind', async (t) => {
  const made = folder(t);
  const script = `
    import { writeFileSync } from 'node:fs';
    import { writeWhole } from ${JSON.stringify(resolve('dist/commands/target-file.js'))};
    await writeWhole(${JSON.stringify(join(made, 'copy.db'))}, async (unfinished) => {
      writeFileSync(unfinished, 'half');
      console.log('begun');
      await new Promise((done) => setTimeout(done, 60_000));
    });`;
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    t.equal(readdirSync(made).length, 1);
    child.kill(signal);
    t.strictSame(await once(child, 'exit'), [code, null]);
    t.strictSame(readdirSync(made), [], signal);
  }
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
  const listed = await run('keys', 'list');
  t.match(listed.out, new RegExp(`^${publicKey} {2}account 2`, 'm'));
  t.notMatch(listed.out, secretKey, 'the secret is shown once');
  t.match(await run('keys', 'revoke', publicKey), { code: 0 });
  // A pair that was right is taken for right for up to a second; a pair that never stops runs into the test's time limit.
  while ((await status()) !== 401) await wait(50);
  t.equal(await status(), 401, 'requests are refused from then on');
  t.match(await run('keys', 'revoke', publicKey), { code: 1 });
  t.match(await run('keys', 'create', '--account', '9'), { code: 1, err: /no account 9/ });
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
  t.match(await run('dkim', 'remove', 'bücher.example'), { code: 0 });
  t.equal(db.prepare('SELECT group_concat(selector) FROM dkim_keys').pluck().get(), 's2');
  t.match(await run('dkim', 'remove', 'bücher.example'), { code: 1 });
});

t.test('a CSV file is imported into a contact type, bad rows are named', async (t) => {
  const { db, path, run } = prepared(t);
  db.exec("INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (1, 'Readers', '', '')");
  const file = join(path, '../people.csv');
  writeFileSync(file, 'email,first_name\na@example.org,Ada\nnot an address,Bo\n');
  const { code, out } = await run('import', file, '--type', '1');
  t.equal(code, 0);
  t.match(out, /^2 rows: 1 created, 0 updated, 1 failed$/m);
  t.match(out, /^line 3, email: /m);
  t.match(JSON.parse((await run('import', file, '--type', '1', '--json')).out), { updated: 1, failed: 1 });
  t.match(await run('import', file, '--type', '5'), { code: 1, err: 'There is no contact type 5\n' });
});

t.test('every file that holds data is made readable by its owner alone, whatever the umask', async (t) => {
  const home = folder(t);
  const script = `
    process.umask(0);
    const folder = process.argv[1];
    const { connect, lockForServer, migrateAndSeed } = await import(${JSON.stringify(resolve('dist/database/open.js'))});
    const { backup } = await import(${JSON.stringify(resolve('dist/commands/backup.js'))});
    const { exportFile } = await import(${JSON.stringify(resolve('dist/commands/export.js'))});
    const { restore } = await import(${JSON.stringify(resolve('dist/commands/restore.js'))});
    const { parseCall } = await import(${JSON.stringify(resolve('dist/commands/command.js'))});
    const { readdirSync, statSync } = await import('node:fs');
    const seen = new Map();
    const look = () => {
      for (const name of readdirSync(folder)) {
        const mode = statSync(folder + '/' + name, { throwIfNoEntry: false })?.mode & 0o777;
        if (mode !== 0) seen.set(name.replace(/\\.[0-9a-f]{12}/, ''), mode.toString(8));
      }
    };
    const watch = setInterval(look, 0);
    process.env.DATABASE_PATH = folder + '/one.db';
    const lock = lockForServer(process.env.DATABASE_PATH);
    const db = connect(process.env.DATABASE_PATH);
    migrateAndSeed(db);
    db.$client.exec("INSERT INTO accounts (name, created_at) VALUES ('a', '')");
    db.$client.exec("INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (1, 'Readers', '', '')");
    look();
    const call = (command, ...words) => command.run(parseCall(command, [...words, '--json']));
    await call(backup, folder + '/copy.db');
    await call(exportFile, folder + '/people.csv', '--type', '1');
    look();
    process.env.DATABASE_PATH = folder + '/two.db';
    await call(restore, folder + '/copy.db');
    look();
    clearInterval(watch);
    lock.release();
    console.error(JSON.stringify([...seen]));`;
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', script, '--', home], { encoding: 'utf8' });
  const seen = new Map<string, string>(JSON.parse(ran.stderr.trim().split('\n').at(-1) ?? ''));
  for (const name of [
    'one.db',
    'one.db-wal',
    'one.db-shm',
    'one.db-lock',
    'copy.db',
    'copy.db.unfinished',
    'people.csv',
    'two.db',
    'two.db-lock',
  ])
    t.ok(seen.has(name), name);
  t.strictSame(
    [...seen].filter(([, mode]) => mode !== '600'),
    [],
    'unfinished files too',
  );
});

t.test('contacts are exported to a file or standard output, and the import takes them back', async (t) => {
  const { db, path, run } = prepared(t);
  db.exec(
    "INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (1, 'From', '', ''), (1, 'To', '', '')",
  );
  const file = join(path, '../people.csv');
  const people = Array.from({ length: 1200 }, (_, at) => `p${at}@example.org,Zoë ${at}`);
  writeFileSync(file, ['email,first_name', ...people].join('\n'));
  const imported = await run('import', file, '--type', '1');
  t.match(
    imported.out,
    /^Reading: \d+ of \d+ kB\nImporting: \d+ of 1200 rows$/m,
    'plain lines where there is no terminal',
  );
  t.notMatch(imported.out, '\r');

  const copy = join(path, '../copy.csv');
  const exported = await run('export', '--type', '1', copy);
  t.match(exported.out, /^Exporting: 500 of 1200 contacts\n.*^1200 contacts written to \S+copy\.csv\n$/ms);
  t.equal(statSync(copy).mode & 0o777, 0o600, 'only the owner can read it');
  t.match(await run('export', '--type', '1', copy), { code: 1, err: /exists; --force replaces it/ });
  const again = await run('export', '--type', '1', copy, '--force', '--json');
  t.strictSame(JSON.parse(again.out), { file: copy, contacts: 1200 });
  t.equal((await run('export', '--type', '1')).out, readFileSync(copy, 'utf8'), 'the same on standard output');
  t.match(await run('export', '--type', '9', copy, '--force'), { code: 1, err: 'There is no contact type 9\n' });

  t.match(JSON.parse((await run('import', copy, '--type', '2', '--json')).out), { created: 1200, failed: 0 });
  const names = db.prepare('SELECT first_name FROM contacts WHERE contact_type_id = ? ORDER BY address_id').pluck();
  t.strictSame(names.all(2), names.all(1));
  t.strictSame(
    readdirSync(join(path, '..')).filter((name) => /unfinished/.test(name)),
    [],
  );
});

t.test('on a terminal the import draws a bar with rate and time left', { skip: skipWithout('script') }, async (t) => {
  const { db, path } = prepared(t);
  db.exec("INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (1, 'Readers', '', '')");
  const file = join(path, '../people.csv');
  writeFileSync(file, 'email\na@example.org\nnobody\n');
  const command = `'${process.execPath}' dist/cli.js import '${file}' --type 1`;
  const { stdout } = spawnSync(toolPath('script'), ['-qec', command, '/dev/null'], {
    env: { ...process.env, DATABASE_PATH: path },
    encoding: 'utf8',
  });
  t.match(stdout, /\r\S*Importing \[#{24}\] 100 %\r\n/);
  t.match(stdout, /^line 3, email: /m);
});

t.test('purge removes what was deleted and nothing that consent or sent mails rest on', async (t) => {
  const { db, run } = prepared(t);
  db.exec(`
    INSERT INTO contact_types (id, user_id, name, created_at, updated_at, deleted_at)
      VALUES (1, 1, 'Kept', '', '', NULL), (2, 1, 'Gone', '', '', 'x');
    INSERT INTO addresses (id, user_id, compared_email) VALUES (1, 1, 'a@x.org'), (2, 1, 'b@x.org'), (3, 1, 'c@x.org');
    INSERT INTO contacts (id, user_id, contact_type_id, address_id, email, first_name, created_at, updated_at, deleted_at)
      VALUES (1, 1, 1, 1, 'a@x.org', '', '', '', NULL), (2, 1, 1, 2, 'b@x.org', 'CanaryName', '', '', 'x'),
        (3, 1, 2, 3, 'c@x.org', '', '', '', NULL);
    INSERT INTO segments (id, user_id, contact_type_id, segment_name, select_field, select_operator, value, created_at, updated_at, deleted_at)
      VALUES (1, 1, 1, 'Gone', '[]', '[]', '[]', '', '', 'x');
    INSERT INTO segment_recipients (user_id, segment_id, address_id, email, created_at, updated_at) VALUES (1, 1, 1, 'a@x.org', '', '');
    INSERT INTO automations (id, user_id, automation_name, unsubscribe_group_id, automation_type, utr, created_at, updated_at, deleted_at)
      VALUES (1, 1, 'Gone', '1', 1, 'u1', '', '', 'x'), (2, 1, 'Kept', '1', 1, 'u2', '', '', NULL);
    INSERT INTO enrolments (id, automation_id, address_id, state, entered_at, waiting_since, due_at) VALUES (1, 1, 1, 'active', 0, 0, 0), (2, 2, 1, 'active', 0, 0, 0);
    INSERT INTO steps (enrolment_id, schedule_id, taken_at) VALUES (1, 1, 0), (2, 1, 0);
    INSERT INTO consent_log (user_id, address_id, action, source, created_at) VALUES (1, 2, 'unsubscribed', 'page', '');
    INSERT INTO unsubscribers (user_id, address_id, email_address, created_at, updated_at) VALUES (1, 2, 'b@x.org', '', '');
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, automation_id, content, state, created_at) VALUES (1, 1, 'schedule', 1, 1, '{}', 'cancelled', '');
    INSERT INTO deliveries (mailing_id, address_id, contact_id, state) VALUES (1, 2, 2, 2);
  `);
  const counts = JSON.parse((await run('purge', '--json')).out);
  t.match(counts, {
    ...{ contacts: 2, contact_types: 1, segments: 1, segment_recipients: 1 },
    ...{ automations: 1, enrolments: 1, steps: 1, senders: 0 },
  });
  const left = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  t.strictSame(['contacts', 'automations', 'enrolments', 'steps'].map(left), [1, 1, 1, 1]);
  t.strictSame(['addresses', 'consent_log', 'unsubscribers', 'mailings', 'deliveries'].map(left), [3, 1, 1, 1, 1]);
  t.strictSame(db.pragma('foreign_key_check'), []);
  t.notMatch(db.serialize().toString('latin1'), 'CanaryName', 'their content is overwritten in the file');
  t.match((await run('purge')).out, /^Nothing was deleted/);
});

/** Deleted contacts that fill some 4 MB. */
const DELETED_PEOPLE = `
  INSERT OR IGNORE INTO contact_types (id, user_id, name, created_at, updated_at) VALUES (1, 1, 'Kept', '', '');
  WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 1000)
    INSERT INTO addresses (user_id, compared_email) SELECT 1, 'p' || at || '@x.org' FROM n;
  INSERT INTO contacts (user_id, contact_type_id, address_id, email, first_name, address_line1, created_at, updated_at, deleted_at)
    SELECT 1, 1, id, compared_email, '', hex(zeroblob(2000)), '', '', 'x' FROM addresses;`;

t.test('purge gives the space back while others use the file', async (t) => {
  const { db, path, run } = prepared(t);
  db.exec(DELETED_PEOPLE);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const before = statSync(path).size;
  const { bytes_given_back: given, bytes_free: free } = JSON.parse((await run('purge', '--json')).out);
  t.ok(given > 3_500_000, `${given} bytes given back`);
  t.equal(free, 0);
  db.pragma('wal_checkpoint(TRUNCATE)');
  t.ok(statSync(path).size <= before - given);
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
});

t.test(
  'a file of an earlier release is written anew by the first purge beside no service, and only then',
  async (t) => {
    const { db, path, run } = prepared(t);
    db.exec(DELETED_PEOPLE);
    db.pragma('auto_vacuum = NONE');
    db.exec('VACUUM');
    db.close();
    const before = statSync(path).size;
    const lock = lockForServer(path);
    t.match(
      (await run('purge')).out,
      /^\d\.\d MB of the file are free and used again; to give them back, stop the service/m,
    );
    t.equal(statSync(path).size, before, 'a service that runs is not kept waiting');
    lock.release();
    t.match((await run('purge')).out, /^\d\.\d MB given back to the disk$/m);
    t.ok(statSync(path).size < before - 3_500_000);
    const after = new Database(path);
    t.equal(after.pragma('auto_vacuum', { simple: true }), 2);
    t.equal(after.pragma('integrity_check', { simple: true }), 'ok');
    after.close();
  },
);

t.test('the bar shows share, rate and time left', async (t) => {
  t.equal(progressBar(250, 1000, 5, 'rows'), '[######..................]  25 %  50 rows/s  15 s left');
  t.equal(progressBar(0, 0, 0, 'rows'), '[########################] 100 %');
  t.equal(progressBar(400, 1000, 0.00001, 'rows'), '[##########..............]  40 %', 'no rate from the first moment');
});
