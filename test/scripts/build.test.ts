/** The build of `npm start`, on a small project of its own. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ROOT } from '../support/documents.ts';

/** A command that imports the service, which the build bundles apart. */
const SERVES = "export const serve = () => import('../server.ts');";
const OPTIONS = { target: 'ES2023', module: 'nodenext', strict: true, types: [] };

function project(t: Test) {
  const folder = t.testdir({
    src: {
      'cli.ts': "await import('./commands/index.ts');",
      commands: { 'index.ts': `import { two } from '../two.ts';\nconsole.log('one' as string, two);\n${SERVES}` },
      'server.ts': 'export {};',
      'two.ts': 'export const two = 2;',
    },
    'package.json': '{"type":"module"}',
    'package-lock.json': '{}',
    'tsconfig.json': JSON.stringify({ compilerOptions: OPTIONS }),
  });
  for (const name of ['scripts/build.js', 'scripts/build-browser.js']) cpSync(join(ROOT, name), join(folder, name));
  // Package by package: a build empties node_modules/.cache/start, which services of other tests use.
  const packages = join(ROOT, 'node_modules');
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(packages)) {
    if (name !== '.cache') symlinkSync(join(packages, name), join(folder, 'node_modules', name));
  }
  const build = () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/build.js'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  return { folder, build, path: (name: string) => join(folder, name) };
}

const BUILT = { status: 0, stdout: /^Building, [^\n]+\n$/, stderr: '' };
const NOTHING = { status: 0, stdout: '', stderr: '' };

t.test('a build runs, and says so in one sentence, only if something changed since the last one', async (t) => {
  const { build, path } = project(t);
  const run = () => spawnSync(process.execPath, [path('dist/cli.js')], { encoding: 'utf8' }).stdout;
  t.match(build(), BUILT, 'nothing is built yet');
  const { mtimeMs } = statSync(path('dist/cli.js'));
  t.strictSame(build(), NOTHING, 'nothing changed');
  t.equal(statSync(path('dist/cli.js')).mtimeMs, mtimeMs);

  writeFileSync(path('src/two.ts'), 'export const two: number = 3;');
  t.match(build(), BUILT, 'a file was edited');
  t.equal(run(), 'one 3\n');

  mkdirSync(path('src/new'));
  renameSync(path('src/two.ts'), path('src/new/two.ts'));
  t.match(build(), { status: 1 }, 'a file that another imports was moved');
  writeFileSync(
    path('src/commands/index.ts'),
    `import { two } from '../new/two.ts';\nconsole.log('moved', two);\n${SERVES}`,
  );
  t.match(build(), BUILT);
  t.equal(run(), 'moved 3\n');
  t.strictSame(readdirSync(path('dist')).sort(), ['.built-from', 'app', 'browser', 'cli.js']);

  for (const name of ['package-lock.json', 'tsconfig.json']) {
    writeFileSync(path(name), `${readFileSync(path(name), 'utf8')}\n`);
    t.match(build(), BUILT, `${name} changed`);
  }

  rmSync(path('dist/cli.js'));
  t.match(build(), BUILT, 'a built file was removed');
  t.strictSame(build(), NOTHING);
});

t.test('a build succeeds while a service writes to the cache of compiled code that it removes', async (t) => {
  const { build, path } = project(t);
  const cache = path('node_modules/.cache/start/v24');
  const writing = `const { mkdirSync, writeFileSync } = require('node:fs');
    const cache = ${JSON.stringify(cache)};
    let file = 0;
    const write = () => {
      try {
        mkdirSync(cache, { recursive: true });
        for (let n = 0; n < 100; n++) writeFileSync(cache + '/' + (file++ % 50), '');
      } catch {}
      if (process.connected) setImmediate(write);
    };
    process.send('writing', write);`;
  const service = spawn(process.execPath, ['-e', writing], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await once(service, 'message');
  for (let time = 0; time < 3; time++) {
    writeFileSync(path('src/two.ts'), `export const two = ${time};`);
    t.match(build(), BUILT);
  }
  // Before the folder is removed.
  service.kill('SIGKILL');
  await once(service, 'exit');
});

t.test('a build that fails exits with 1, and so does the next one until its cause is mended', async (t) => {
  const { build, path } = project(t);
  writeFileSync(path('src/commands/index.ts'), 'console.log(;');
  for (let time = 0; time < 2; time++) t.match(build(), { status: 1 });
});

t.test('the link to the Node of the checkout is made again where npm 10 has removed it', async (t) => {
  const { build, path } = project(t);
  t.match(build(), BUILT);
  rmSync(path('node_modules'), { recursive: true });
  const brought = `node_modules/node-${process.platform}-${process.arch}/bin`;
  mkdirSync(path(brought), { recursive: true });
  mkdirSync(path('node_modules/.bin'));
  symlinkSync(process.execPath, path(`${brought}/node`));
  t.strictSame(build(), NOTHING);
  const { stdout } = spawnSync(path('node_modules/.bin/node'), ['-p', '1 + 1'], { encoding: 'utf8' });
  t.equal(stdout, '2\n');
});
