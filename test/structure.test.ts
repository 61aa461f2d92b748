/** The layout of the tree: which folder may import which, and that every file says what it is. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import t from 'tap';

const ROOT = resolve(import.meta.dirname, '..');
const SRC = join(ROOT, 'src');

/** Layers from the ground up. A file may import from its own layer and from those below it. */
const LAYERS = [
  ['clock.ts', 'config.ts', 'failure.ts', 'thread-files.ts', 'version.ts'],
  ['database'],
  ['audience'],
  ['delivery'],
  ['automations', 'single-sends'],
  ['senders', 'designs'],
  ['deps.ts', 'http'],
  ['api', 'pages', 'dashboard'],
  ['app.ts', 'threads'],
  ['server.ts'],
  ['commands', 'command-line.ts'],
  ['cli.ts'],
];
/** Folders below HTTP: they can be used by a thread or a command without a web server. */
const WITHOUT_HTTP = ['database', 'audience', 'delivery', 'automations', 'single-sends', 'senders', 'designs'];

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
const textOf = (file: string) => readFileSync(join(SRC, file), 'utf8');
const topOf = (file: string) => file.split('/')[0] ?? file;
const layerOf = (file: string) => LAYERS.findIndex((names) => names.includes(topOf(file)));

/** The files of src that a file imports. */
function importsOf(file: string): string[] {
  return [...textOf(file).matchAll(/^(?:import|export) [^;]*?from '(\.[^']+)';$/gm)].map((match) =>
    relative(SRC, resolve(SRC, dirname(file), match[1] ?? '')),
  );
}

t.test('every file belongs to a layer', async (t) => {
  t.strictSame(
    files.filter((file) => layerOf(file) === -1),
    [],
  );
});

t.test('imports go downward only', async (t) => {
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => layerOf(target) > layerOf(file))
      .map((target) => `${file} imports ${target}`),
  );
  t.strictSame(wrong, []);
});

t.test('the API, the pages and the dashboard do not import one another', async (t) => {
  const peers = ['api', 'pages', 'dashboard'];
  const wrong = files
    .filter((file) => peers.includes(topOf(file)))
    .flatMap((file) =>
      importsOf(file)
        .filter((target) => peers.includes(topOf(target)) && topOf(target) !== topOf(file))
        .map((target) => `${file} imports ${target}`),
    );
  t.strictSame(wrong, []);
});

t.test('what is below HTTP does not know Fastify', async (t) => {
  const knowing = files.filter(
    (file) => WITHOUT_HTTP.includes(topOf(file)) && /from '(@fastify\/|fastify)/.test(textOf(file)),
  );
  t.strictSame(knowing, []);
});

t.test('every file opens with a comment that says what it is', async (t) => {
  const bare = files.filter((file) => !/^(#!.*\n)?(\/\*\*|\/\/)/.test(textOf(file)));
  t.strictSame(bare, []);
});
