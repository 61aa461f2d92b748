/** Commands among others in a shell: standard input and output, closed pipes, errors for programs, completion, misspelt names. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { sendlark } from '../support/command-line.ts';
import { ROOT } from '../support/documents.ts';
import { folder, prepared } from './prepared.ts';

/** Runs a line of bash in which `sendlark` is the built program on this database. */
function bash(path: string, line: string) {
  const program = `sendlark() { DATABASE_PATH='${path}' '${process.execPath}' '${join(ROOT, 'dist/cli.js')}' "$@"; }`;
  const { status, stdout, stderr } = spawnSync('/bin/bash', ['--norc', '-c', `set -o pipefail; ${program}; ${line}`], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
  return { code: status, out: stdout, err: stderr };
}

t.test('in place of a file, - is standard input and output', (t) => {
  const { db, path } = prepared(t);
  db.exec("INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (1, 'Readers', '', '')");
  const import_ = "printf 'email,first_name\\nann@example.org,Ann\\n' | sendlark import - --type 1";
  t.match(bash(path, import_), { code: 0, out: /1 rows: 1 created/ });
  t.match(bash(path, 'sendlark export --type 1 -'), { code: 0, out: /^\S*email[\s\S]*ann@example\.org/ });
  const moved = join(folder(t), 'moved.db');
  const copy = join(folder(t), 'copy.db');
  t.strictSame(bash(path, `sendlark backup - > '${copy}'`), { code: 0, out: '', err: '' });
  t.match(bash(moved, `sendlark restore - < '${copy}'`), { code: 0, out: /^Restor[\s\S]*Sending is held/ });
  t.match(bash(moved, 'sendlark export --type 1'), { code: 0, out: /ann@example\.org/, err: '' });
  const mailchimp =
    "printf 'Email Address,First Name\\nbob@example.org,Bob\\n' | sendlark migrate mailchimp - --type 1";
  t.match(bash(path, mailchimp), { code: 0, out: /Contacts: 1 new/ });
  t.match(bash(path, 'sendlark backup - --json'), { code: 2, out: '' });
  t.end();
});

t.test('a reader that has had enough ends a command without a word', (t) => {
  const { db, path } = prepared(t);
  db.exec(`
    INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (1, 'Readers', '', '');
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
    INSERT INTO addresses (id, user_id, normalized_email) SELECT i, 1, 'reader' || i || '@example.org' FROM n;
    INSERT INTO contacts (user_id, contact_type_id, address_id, email, created_at, updated_at)
      SELECT 1, 1, id, normalized_email, '', '' FROM addresses`);
  const { out, err } = bash(path, 'sendlark export --type 1 | head -n 1');
  t.match(out, /^[^\n]*email[^\n]*\n$/);
  t.equal(err, '');
  t.equal(bash(path, 'sendlark help | head -c 1').err, '');
  t.end();
});

t.test('an output that cannot be written is said in one line', (t) => {
  const { path } = prepared(t);
  const text = 'Standard output cannot be written: ENOSPC: no space left on device, write';
  for (const command of ['help', 'account list', 'backup -'])
    t.strictSame(bash(path, `sendlark ${command} > /dev/full`), { code: 1, out: '', err: `${text}\n` }, command);
  t.strictSame(JSON.parse(bash(path, 'sendlark account list --json > /dev/full').err), { error: text });
  t.end();
});

t.test('with --json an error is JSON on standard error, and so is a warning', async (t) => {
  const { run, path } = prepared(t);
  const failed = await run('export', '--type', '7', 'x.csv', '--json');
  t.strictSame({ ...failed, err: JSON.parse(failed.err) }, { code: 1, out: '', err: { error: 'There is no list 7' } });
  const wrong = await run('keys', 'revoke', '--nothing', '--json');
  t.match(JSON.parse(wrong.err), { error: /Unknown option '--nothing'/, see: 'sendlark help keys' });
  t.equal(wrong.code, 2);
  const { err } = await sendlark({ DATABASE_PATH: path, SMPT_URL: 'x' }, 'account', 'list', '--json');
  t.match(JSON.parse(err), { warning: /^SMPT_URL is not a setting/ });
});

t.test('a misspelt command is answered with the one it is like', async (t) => {
  t.match(await sendlark({}, 'bakcup'), { code: 2, err: /^There is no command bakcup; did you mean backup\?\n/ });
  t.match(await sendlark({}, 'key'), { code: 2, err: 'did you mean keys?' });
  t.match(await sendlark({}, 'x'), { code: 2, err: /^There is no command x\n/ });
  t.match(await sendlark({}, '--port', '80'), { code: 2, err: /^Unknown option '--port'\nSee: sendlark help\n/ });
});

t.test('bash completes commands, their words and options', (t) => {
  const { path } = prepared(t);
  const completed = (...words: string[]) => {
    const list = words.map((word) => `'${word}'`).join(' ');
    const line = `source <(sendlark completion bash); COMP_WORDS=(sendlark ${list}); COMP_CWORD=${words.length}; _sendlark; echo "\${COMPREPLY[@]}"`;
    return bash(path, line).out.trim();
  };
  t.equal(completed('ba'), 'backup');
  t.equal(completed('keys', ''), 'create list revoke');
  t.equal(completed('export', '--'), '--type --force --json --help');
  t.equal(completed('help', 'rest'), 'restore');
  t.end();
});

t.test('the completions for zsh and fish name every command, and their shells take them', async (t) => {
  const { out: help } = await sendlark({}, 'help');
  const names = [...help.matchAll(/^ {2}([a-z-]+) {2}/gm)].map(([, name]) => name ?? '');
  t.ok(names.length > 15);
  for (const shell of ['zsh', 'fish']) {
    const { code, out } = await sendlark({}, 'completion', shell);
    t.equal(code, 0);
    for (const name of names) t.match(out, new RegExp(`\\b${name}\\b`), `${shell}: ${name}`);
    t.match(out, 'Run a sender node: hand over', `${shell}: a colon is shown as it is`);
    const file = join(t.testdir({ script: out }), 'script');
    const { status, stderr, error } = spawnSync(shell, ['-n', file], { encoding: 'utf8' });
    if (error === undefined) t.equal(status, 0, stderr);
    else t.comment(`${shell} is not installed here, so its script is not read`);
  }
});
