/** The documents say what the code does: the settings table, and every command they name. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { SETTINGS } from '../src/config.ts';
import { sendlark } from './commands/command-line.ts';

const ROOT = resolve(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

t.test('the table of settings is that of the code, in its order', async (t) => {
  const rows = [...README.matchAll(/^\| `([A-Z_]+)` \| (.*?) \| (.*?) \|$/gm)].map(([, name, fallback, about]) => ({
    name,
    fallback: fallback?.replaceAll('`', ''),
    about,
  }));
  const settings = Object.entries(SETTINGS).map(([name, { fallback, about }]) => ({ name, fallback, about }));
  t.strictSame(rows, settings);
});

const ANALYZE = '/usr/bin/systemd-analyze';
t.test(
  'systemd takes the unit file',
  { skip: existsSync(ANALYZE) ? false : 'systemd-analyze is missing' },
  async (t) => {
    const text = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8');
    const unit = /```ini\n(.*?)```/s.exec(text)?.[1] ?? '';
    const path = join(t.testdir(), 'sendlark.service');
    // The program and the user exist on the operator's machine only.
    writeFileSync(path, unit.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true').replace(/^User=.*/m, 'User=root'));
    const { status, stderr } = spawnSync(ANALYZE, ['verify', path], { encoding: 'utf8' });
    t.equal(status, 0, stderr);
    t.notMatch(stderr, /sendlark\.service.*(Unknown|Failed)/);
  },
);

t.test('every command the documents name exists', async (t) => {
  const docs = existsSync(join(ROOT, 'docs'))
    ? readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    : [];
  const texts = [
    README,
    ...docs.filter((name) => name.endsWith('.md')).map((name) => readFileSync(join(ROOT, 'docs', name), 'utf8')),
  ];
  const { out } = await sendlark({}, 'help');
  const known = new Set(['help', ...[...out.matchAll(/^ {2}(\w+) {2}/gm)].map((match) => match[1])]);
  for (const [command, name] of texts.flatMap((text) => [...text.matchAll(/(?:`|^ *|\$ )sendlark (\w+)/gm)])) {
    t.ok(known.has(name ?? ''), command.trim());
  }
});
