/** Import and export of contacts by the command line. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { progressBar } from '../../src/commands/progress-bar.ts';
import { skipWithout, toolPath } from '../support/tools.ts';
import { prepared } from './prepared.ts';

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
  t.match(await run('import', file, '--type', '5'), { code: 1, err: 'There is no list 5\n' });
});

t.test('an import and a migration start no automation with --no-automations', async (t) => {
  const { db, path, run } = prepared(t);
  db.exec(`
    INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (1, 'Readers', '', '');
    INSERT INTO automations (user_id, utr, automation_type, automation_for, automation_for_table, automation_name, unsubscribe_group_id, status, created_at, updated_at)
    VALUES (1, 'utr', 'welcome', 1, 'contacts', 'Welcome', 1, 1, '', '')`);
  const file = join(path, '../people.csv');
  const joined = async (command: string, email: string, ...options: string[]) => {
    writeFileSync(file, `email\n${email}\n`);
    const ended = await run(...command.split(' '), file, '--type', '1', ...options);
    t.equal(ended.code, 0, ended.err);
    return db.prepare('SELECT count(*) FROM membership_changes').pluck().get();
  };
  t.equal(await joined('import', 'a@example.org', '--no-automations'), 0);
  t.equal(await joined('import', 'b@example.org'), 1);
  t.equal(await joined('migrate keila', 'c@example.org', '--no-automations', '--confirm'), 1);
  t.equal(await joined('migrate keila', 'd@example.org', '--confirm'), 2);
  writeFileSync(file, 'email\ne@example.org\n');
  const { out } = await run('migrate', 'keila', file, '--type', '1', '--no-automations');
  t.match(out, `To do it: sendlark migrate keila ${file} --type 1 --no-automations --confirm`);
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
  t.match(await run('export', '--type', '9', copy, '--force'), { code: 1, err: 'There is no list 9\n' });

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

t.test('the bar shows share, rate and time left', async (t) => {
  t.equal(progressBar(250, 1000, 5, 'rows'), '[######..................]  25 %  50 rows/s  15 s left');
  t.equal(progressBar(0, 0, 0, 'rows'), '[########################] 100 %');
  t.equal(progressBar(400, 1000, 0.00001, 'rows'), '[##########..............]  40 %', 'no rate from the first moment');
});
