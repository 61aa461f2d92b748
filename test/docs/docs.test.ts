/** The documents say what the code does: the settings table, and every command, run in the order in which they stand. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import t from 'tap';
import { SETTINGS } from '../../src/config.ts';
import { startApp } from '../support/app.ts';
import { blocksOf, commandsOf, DOCS, inlineCodeOf, ROOT } from '../support/documents.ts';
import { operationsOf, readDocument } from '../support/openapi-operations.ts';
import { checkCaddy, checkCompose, checkCron, checkLitestream, checkNginx, checkUnit } from './files.ts';
import { checkImage } from './image.ts';
import { Machine } from './machine.ts';

const DOCUMENTS = [
  'README.md',
  'docs/README.md',
  'docs/settings.md',
  'docs/operating.md',
  'docs/contributing/architecture.md',
  'CHANGELOG.md',
];
/** Every document, with those that hold no command to run. */
const ALL = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...DOCS];
const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

t.test('the table of settings is that of the code, in its order', async (t) => {
  const document = readFileSync(join(ROOT, 'docs/settings.md'), 'utf8');
  const rows = [...document.matchAll(/^\| `([A-Z_]+)` \| (.*?) \| (.*?) \|$/gm)].map(([, name, fallback, about]) => ({
    name,
    fallback: fallback?.replaceAll('`', ''),
    about,
  }));
  const settings = Object.entries(SETTINGS).map(([name, { fallback, about }]) => ({ name, fallback, about }));
  t.strictSame(rows, settings);
});

t.test('.env.example lists every setting with its default and what it is for, all commented out', async (t) => {
  const example = readFileSync(join(ROOT, '.env.example'), 'utf8');
  const listed = [...example.matchAll(/^# (.*)\n# ([A-Z_]+)=(.*)$/gm)].map(([, about, name, fallback]) => ({
    name,
    fallback,
    about,
  }));
  const settings = Object.entries(SETTINGS).map(([name, { fallback, about }]) => ({ name, fallback, about }));
  t.strictSame(listed, settings);
  t.strictSame(Object.keys(parseEnv(example)), [], 'copied as it is, it changes nothing');
});

t.test('the unit, the Dockerfile and compose.yaml, to which the documents link, are what these say', async (t) => {
  const linked = (name: string) => {
    t.match(readFileSync(join(ROOT, 'docs/operating.md'), 'utf8'), `](../${name})`);
    return readFileSync(join(ROOT, name), 'utf8');
  };
  checkUnit(t, linked('deploy/systemd/sendlark.service'));
  await checkImage(t, linked('Dockerfile'));
  checkCompose(t, linked('compose.yaml'));
});

t.test('every file and folder that the documents name exists', async (t) => {
  for (const document of ALL) {
    const code = [...inlineCodeOf(document), ...blocksOf(document).map(({ text }) => text)].join('\n');
    for (const [path] of code.matchAll(
      /(?<![\w/.-])(src|test|scripts|data|drizzle|docs|assets)\/[\w./-]*\w\/?(?![\w<*/-])/g,
    ))
      t.ok(existsSync(join(ROOT, path)), `${document}: ${path}`);
  }
});

t.test(
  'every name of a file or folder in CONTRIBUTING and the architecture is that of one, and each folder of src is there',
  async (t) => {
    const files = ['src', 'test', 'scripts', 'data', 'drizzle'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `/${folder}/${name}`),
    );
    const [tree = ''] = blocksOf('docs/contributing/architecture.md').flatMap(({ text }) =>
      text.startsWith('src/\n') ? [text] : [],
    );
    for (const [document, code] of [
      ['CONTRIBUTING.md', inlineCodeOf('CONTRIBUTING.md')],
      [
        'docs/contributing/architecture.md',
        [...inlineCodeOf('docs/contributing/architecture.md'), ...tree.split(/[\s,;:()]+/)],
      ],
    ] as const) {
      for (const name of code.filter((text) => /^[a-z][\w/.-]*(?:\.(?:tsx?|css|json|sql)|\/)$/.test(text))) {
        const path = `/${name.replace(/\/$/, '')}`;
        t.ok(existsSync(join(ROOT, path)) || files.some((file) => file.endsWith(path)), `${document}: ${name}`);
      }
    }
    const sources = files.filter((file) => /^\/src\/.*\.tsx?$/.test(file));
    for (const name of new Set(sources.map((file) => file.split('/')[2] ?? '')))
      t.match(tree, new RegExp(`(?<![\\w/-])${name.replace('.', '\\.')}(?![\\w.-])`), name);
  },
);

t.test('every command of the documents is run, or its file checked, on a machine of its own', async (t) => {
  const machine = await Machine.start(t);
  for (const { document, language, text } of DOCUMENTS.flatMap(blocksOf)) {
    await t.test(`${document}: ${language}: ${text.slice(0, text.indexOf('\n'))}`, async (t) => {
      if (language === 'sh') for (const command of commandsOf(text)) await machine.run(t, command);
      else if (language === 'cron') await machine.runCron(t, checkCron(t, text));
      else if (language === 'caddyfile') await machine.checkPages(t, checkCaddy(t, text));
      else if (language === 'nginx') checkNginx(t, text);
      else if (language === 'yaml') checkLitestream(t, text);
      else t.equal(language, 'text', 'a block of a language that nothing here checks');
    });
  }
  for (const [document, code] of DOCUMENTS.flatMap((name) => inlineCodeOf(name).map((code) => [name, code] as const))) {
    if (/^sendlark \w/.test(code)) t.ok(machine.hasRun(code), `${document}: ${code} was run in a block`);
  }
});

t.test('the README has 900 words at most, and every document is one click from the index of the documents', (t) => {
  const words = readFileSync(join(ROOT, 'README.md'), 'utf8')
    .split(/\s+/)
    .filter((word) => word !== '');
  t.ok(words.length <= 900, `${words.length} words`);
  const index = readFileSync(join(ROOT, 'docs/README.md'), 'utf8');
  for (const document of DOCS.filter((name) => name !== 'docs/README.md'))
    t.ok(index.includes(`](${document.slice('docs/'.length)})`), document);
  t.end();
});

t.test('the tour can be pasted into every shell', async (t) => {
  const commands = blocksOf('README.md')
    .flatMap(({ text }) => commandsOf(text))
    .filter((command) => command.startsWith('curl '));
  t.ok(commands.length > 5);
  // Words without a character that any of the shells reads in its own way, or within single quotes.
  for (const command of commands) t.match(command, /^curl( ([\w:/.@=-]*[\w:/.=-]|'[^'"\\\r\n]+'))+$/);
  const folder = t.testdir({ curl: '#!/bin/sh\nfor word; do printf "%s\\n" "$word"; done\n' });
  chmodSync(join(folder, 'curl'), 0o755);
  const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder };
  const words = (shell: string, flag: string) =>
    spawnSync(shell, [flag, commands.join('\n')], { env, encoding: 'utf8' });
  const expected = words('bash', '-c').stdout;
  t.match(expected, '@keys.txt');
  for (const [shell, flag] of [
    ['zsh', '-c'],
    ['fish', '-c'],
    ['pwsh', '-Command'],
  ] as const) {
    const { error, stdout } = words(shell, flag);
    if (error)
      t.pass(`${shell} is not installed here, so its words are not compared`, { skip: `${shell} is not installed` });
    else t.equal(stdout, expected, shell);
  }
});

t.test('every link of the documents leads to a file and a heading that exist', (t) => {
  const folders = readdirSync(join(ROOT, 'integrations')).map((name) => `integrations/${name}/README.md`);
  const prose = (document: string) => readFileSync(join(ROOT, document), 'utf8').replaceAll(/```.*?```/gs, '');
  // As GitHub makes them: small letters, without marks, and hyphens for spaces.
  const anchorsOf = (document: string) =>
    [...prose(document).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );
  for (const document of [...ALL, ...folders]) {
    for (const [, link = ''] of prose(document).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? document : join(dirname(document), path);
      t.ok(existsSync(join(ROOT, target)), `${document}: ${link}`);
      if (anchor !== undefined && target.endsWith('.md'))
        t.ok(anchorsOf(target).includes(anchor), `${document}: the heading of ${link}`);
    }
  }
  t.end();
});

t.test('every script that the documents name exists', async (t) => {
  for (const document of ALL) {
    const code = [...inlineCodeOf(document), ...blocksOf(document).map(({ text }) => text)].join('\n');
    for (const [, name = ''] of code.matchAll(/npm run ([\w:]+)/g)) t.ok(scripts[name], `${document}: npm run ${name}`);
  }
});

t.test('every path of the API that the documents or a command name exists', async (t) => {
  const folder = join(ROOT, 'src/commands');
  const commands = readdirSync(folder).filter((name) => name.endsWith('.ts'));
  const texts = [...ALL.map((name) => join(ROOT, name)), ...commands.map((name) => join(folder, name))].map((path) =>
    readFileSync(path, 'utf8'),
  );
  const named = texts.flatMap((text) => [...text.matchAll(/\b(GET|POST|DELETE) (?:\/api)?(\/[\w/-]+)/g)]);
  const operations = operationsOf(await readDocument(await startApp(t)));
  const known = new Set(operations.map(({ method, path }) => `${method} ${path}`));
  for (const [, method, path = ''] of named) {
    // The paths of other services, and of a reader's own endpoint.
    if (/^\/(v\d|hooks)\//.test(path)) continue;
    t.ok(known.has(`${method} /api${path}`), `${method} ${path}`);
  }
});
