/** The layout of the tree: which folder may import which, and citations that resolve. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import t from 'tap';
import { readImports } from '../fixtures/import-graph.ts';
import { LANGUAGE_CODES } from '../src/languages.ts';

const ROOT = resolve(import.meta.dirname, '..');
const SRC = join(ROOT, 'src');

/**
 * Layers from the ground up. A file may import from its own layer and from those below it; the longest name that a path begins with
 * counts. Each feature has its operations, routes, screens and words in its own folder, but in the layers of the names with a star.
 */
const LAYERS = [
  [
    'config.ts',
    'env-file.ts',
    'errors',
    'json.ts',
    'languages.ts',
    'log.ts',
    'thread-files.ts',
    'time',
    'units.ts',
    'version.ts',
  ],
  ['database'],
  ['audience'],
  ['delivery'],
  ['templates'],
  ['automations', 'campaigns'],
  [
    'audience/person',
    'campaigns/home',
    'feeds',
    'forms',
    'installation',
    'senders',
    'templates/brand',
    'templates/designs',
    'templates/pictures',
    'templates/versions',
    'transactional',
    'users',
    'webhooks',
  ],
  ['http', 'operations'],
  ['*/operations', '*/operations.ts', 'audience/unsubscribed'],
  ['api.ts', 'pages', 'ui', '*/routes.ts', '*/screens', '*/words.de.ts', '*/words.en.ts'],
  ['app.ts', 'dashboard.ts', 'nodes', 'threads'],
  ['server.ts', 'mcp'],
  ['commands'],
  ['cli.ts'],
];
/** The layer of HTTP. What is below can be used by a thread or a command without a web server. */
const HTTP = LAYERS.findIndex((names) => names.includes('http'));

const graph = readImports(['src', 'test', 'scripts']);
/** The sources by their paths in src. */
const files = [...graph.keys()].filter((name) => name.startsWith('src/')).map((name) => name.slice('src/'.length));
const textOf = (file: string) => readFileSync(join(SRC, file), 'utf8');
const topOf = (file: string) => file.split('/')[0] ?? file;
const layers = LAYERS.flatMap((names, layer) => names.map((name) => ({ name, layer }))).sort(
  (one, other) =>
    Number(other.name.startsWith('*')) - Number(one.name.startsWith('*')) || other.name.length - one.name.length,
);
const layerOf = (file: string) => layers.find(({ name }) => isIn(file, name))?.layer ?? -1;

/** Returns true if a file is the one with this name or in it. A star stands for the folder of a feature, which is one below HTTP. */
function isIn(file: string, name: string): boolean {
  if (!name.startsWith('*')) return `${file}/`.startsWith(`${name}/`);
  return `${file}/`.includes(`${name.slice(1)}/`) && LAYERS.slice(0, HTTP).some((names) => names.includes(topOf(file)));
}

/** The files of src that a file of src imports, as in `files`. */
function importsOf(file: string): string[] {
  const imported = graph.get(`src/${file}`)?.files ?? [];
  return imported.filter((name) => name.startsWith('src/')).map((name) => name.slice('src/'.length));
}

/** What is loaded before a file of src runs: files of src as in `files`, packages and modules of Node by name. */
function loadedBy(file: string): string[] {
  return (graph.get(`src/${file}`)?.loaded ?? []).map((name) => name.replace(/^src\//, ''));
}

t.test('every file belongs to a layer', async (t) => {
  t.strictSame(
    files.filter((file) => layerOf(file) === -1),
    [],
  );
});

t.test(
  'but English, a language is named by its words and the list of languages alone, so that another one adds only words',
  async (t) => {
    const isOfWords = (file: string) => file === 'languages.ts' || /(?:^|\/)words(?:[./]|$)/.test(file);
    const others = LANGUAGE_CODES.filter((code) => code !== 'en').map(
      (code) => new RegExp(`['"\`]${code}(?:-[A-Z]{2})?['"\`]`),
    );
    const naming = files.filter((file) => !isOfWords(file) && others.some((name) => name.test(textOf(file))));
    t.strictSame(naming, []);
  },
);

t.test('imports go downward only', async (t) => {
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => layerOf(target) > layerOf(file))
      .map((target) => `${file} imports ${target}`),
  );
  t.strictSame(wrong, []);
});

t.test('the API, the pages of recipients and the dashboard do not import one another', async (t) => {
  const peers = ['api.ts', 'pages', 'ui'];
  const wrong = files
    .filter((file) => peers.includes(topOf(file)))
    .flatMap((file) =>
      importsOf(file)
        .filter((target) => peers.includes(topOf(target)) && topOf(target) !== topOf(file))
        .map((target) => `${file} imports ${target}`),
    );
  t.strictSame(wrong, []);
});

/** The circles among names, of which each leads to others; one for each way back to a name that is on the path. */
function circlesOf(names: Iterable<string>, others: (name: string) => Iterable<string>): string[] {
  const state = new Map<string, 'open' | 'done'>();
  const circles: string[] = [];
  const visit = (name: string, path: readonly string[]) => {
    if (state.get(name) === 'done') return;
    if (state.get(name) === 'open') {
      circles.push([...path.slice(path.indexOf(name)), name].join(' → '));
      return;
    }
    state.set(name, 'open');
    for (const other of others(name)) visit(other, [...path, name]);
    state.set(name, 'done');
  };
  for (const name of names) visit(name, []);
  return circles;
}

t.test('no two files import each other, directly or through others', async (t) => {
  t.strictSame(circlesOf(files, importsOf), []);
});

t.test('no two folders of the engine import each other, directly or through others', async (t) => {
  const folderOf = (file: string) => file.split('/').slice(0, 2).join('/');
  const engine = files.filter((file) => topOf(file) === 'delivery');
  const folders = Map.groupBy(engine, folderOf);
  const imported = (folder: string) =>
    new Set(
      (folders.get(folder) ?? [])
        .flatMap(importsOf)
        .map(folderOf)
        .filter((name) => name !== folder && folders.has(name)),
    );
  t.strictSame(circlesOf(folders.keys(), imported), []);
});

t.test('what is below HTTP does not know Fastify', async (t) => {
  const knowing = files.filter(
    (file) =>
      layerOf(file) < HTTP && graph.get(`src/${file}`)?.packages.some((name) => /^(@fastify\/|fastify)/.test(name)),
  );
  t.strictSame(knowing, []);
});

t.test('a service at rest has not loaded what it may never use', async (t) => {
  const lazy = [
    '@modelcontextprotocol/server',
    '@nats-io/jetstream',
    '@nats-io/kv',
    '@nats-io/transport-node',
    '@simplewebauthn/server',
    'html-to-text',
    'iconv-lite',
    'mjml',
    'smtp-server',
    'undici',
    'yauzl',
    // An import of it reads all that it exports, and so loads Node's own undici; process.getBuiltinModule() does not.
    'node:http',
  ];
  const loaded = new Set(['server.ts', 'threads/background-thread.ts']);
  for (const file of loaded) for (const target of loadedBy(file)) if (files.includes(target)) loaded.add(target);
  t.ok(loaded.size > 300, 'the imports are found');
  const packages = [...loaded].flatMap((file) =>
    loadedBy(file)
      .filter((name) => lazy.includes(name))
      .map((name) => `${file} imports ${name}`),
  );
  t.strictSame(packages, []);
});

t.test('every file opens with a comment that says what it is', async (t) => {
  const bare = files.filter((file) => !/^(#!.*\n)?(\/\*\*|\/\/)/.test(textOf(file)));
  t.strictSame(bare, []);
});

t.test(
  'what leads from a source to a folder beside `src` is two folders deep, as the scripts of the binary are',
  async (t) => {
    const leading = files.filter((file) => /new URL\(\s*'\.\.\//.test(textOf(file)));
    t.not(leading.length, 0);
    for (const file of leading) {
      const up = [...textOf(file).matchAll(/new URL\(\s*'((?:\.\.\/)+)/g)].map(([, path = '']) => path);
      t.strictSame([file.split('/').length, new Set(up)], [2, new Set(['../../'])], file);
    }
  },
);

t.test('a test imports set-ups from its own folder, one above it or test/support', async (t) => {
  const wrong = relativeImports('test')
    .filter(([file, target]) => {
      const folder = dirname(target);
      const isOwn = dirname(file) !== 'test' && `${folder}/`.startsWith(`${dirname(file)}/`);
      const isAbove = folder !== 'test' && `${file}/`.startsWith(`${folder}/`);
      return folder.startsWith('test') && !isOwn && !isAbove && !`${folder}/`.startsWith('test/support/');
    })
    .map(([file, target]) => `${file} imports ${target}`);
  t.strictSame(wrong, []);
});

t.test('scripts import no tests, and only the tests of scripts import scripts', async (t) => {
  const wrong = [...relativeImports('scripts'), ...relativeImports('test')]
    .filter(([file, target]) =>
      file.startsWith('scripts/')
        ? target.startsWith('test/')
        : target.startsWith('scripts/') && !file.startsWith('test/scripts/'),
    )
    .map(([file, target]) => `${file} imports ${target}`);
  t.strictSame(wrong, []);
});

t.test('nothing cites a document that is not in the repository', async (t) => {
  const cited = sources()
    .filter(([name]) => name !== 'test/structure.test.ts')
    .flatMap(([name, text]) =>
      [...text.matchAll(/\btrust \d+|decisions §|interface "|\bhouse, "/g)].map(([citation]) => `${name}: ${citation}`),
    );
  t.strictSame(cited, []);
});

t.test('every promise names a test that exists, and every citation of a promise resolves', async (t) => {
  const promises = readFileSync(join(ROOT, 'docs/contributing/guarantees.md'), 'utf8')
    .split('\n')
    .flatMap((line) => /^(\d+)\. (.*)/.exec(line)?.slice(1) ?? []);
  const numbers = promises.filter((_, at) => at % 2 === 0);
  t.strictSame(
    numbers,
    numbers.map((_, at) => String(at + 1)),
    'the numbers run without a gap',
  );
  promises.forEach((promise, at) => {
    if (at % 2 === 1) t.ok(namesTests(promise), `promise ${numbers[(at - 1) / 2]} names tests that exist`);
  });
  const unknown = sources().flatMap(([name, text]) =>
    [...text.matchAll(/\bguarantee (\d+)/g)]
      .filter(([, number = '']) => !numbers.includes(number))
      .map(([citation]) => `${name}: ${citation}`),
  );
  t.strictSame(unknown, []);
});

t.test(
  'the English of sentences is named only where it is stated and shown, so that nothing is stored or queried in it',
  async (t) => {
    const named = sources().filter(([name, text]) => name.startsWith('src/') && /\bSENTENCES\b/.test(text));
    t.strictSame(
      named.map(([name]) => name).filter((name) => !/^src\/(?:errors|ui\/words)\//.test(name)),
      [],
    );
  },
);

/** Returns true if a promise cites at least one test by file and title, and each of them exists. An ellipsis stands for any words. */
function namesTests(promise: string): boolean {
  const files = [...promise.matchAll(/(test\/[\w./-]+\.ts): ((?:"[^"]+"(?:, |; | and )?)+)/g)];
  return (
    files.length > 0 &&
    files.every(([, file = '', titles = '']) => {
      if (!existsSync(join(ROOT, file))) return false;
      const text = readFileSync(join(ROOT, file), 'utf8').replaceAll("\\'", "'");
      return [...titles.matchAll(/"([^"]+)"/g)].every(([, title = '']) =>
        title.split('…').every((part) => text.includes(part)),
      );
    })
  );
}

/** Which file below a folder imports which, with paths from the root. */
function relativeImports(folder: string): [file: string, target: string][] {
  return [...graph]
    .filter(([file]) => file.startsWith(`${folder}/`))
    .flatMap(([file, { files }]) => files.map((target): [string, string] => [file, target]));
}

/** Every text of ours with its path: sources, tests, scripts and documents. */
function sources(): [name: string, text: string][] {
  const folders = ['src', 'test', 'scripts', 'fixtures', 'docs'];
  const inside = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  return [...inside, 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
    .filter((name) => /\.(tsx?|js|md)$/.test(name) && existsSync(join(ROOT, name)))
    .map((name) => [name, readFileSync(join(ROOT, name), 'utf8')]);
}
