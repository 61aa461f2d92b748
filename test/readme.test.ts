/** The documents say what the code does: the settings table, and every command they name. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
