/** The build of `npm start`, on a small project of its own. */
import { spawnSync } from 'node:child_process';
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

const OPTIONS = { target: 'ES2023', module: 'nodenext', strict: true, types: [] };

function project(t: Test) {
  const folder = t.testdir({
    src: { 'one.ts': 'export const one: number = 1;', 'two.ts': 'export const two = 2;' },
    'package.json': '{"type":"module"}',
    'package-lock.json': '{}',
    'tsconfig.json': JSON.stringify({ compilerOptions: OPTIONS }),
  });
  for (const name of ['tsconfig.build.json', 'scripts/build.js', 'scripts/build-browser.js'])
    cpSync(join(ROOT, name), join(folder, name));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const build = () => {
    const { status, stdout } = spawnSync(process.execPath, ['scripts/build.js'], { cwd: folder, encoding: 'utf8' });
    return { status, stdout };
  };
  return { folder, build, path: (name: string) => join(folder, name) };
}

const BUILT = { status: 0, stdout: /^Building, [^\n]+\n$/ };
const NOTHING = { status: 0, stdout: '' };

t.test('a build runs, and says so in one sentence, only if something changed since the last one', async (t) => {
  const { build, path } = project(t);
  t.match(build(), BUILT, 'nothing is built yet');
  const { mtimeMs } = statSync(path('dist/one.js'));
  t.strictSame(build(), NOTHING, 'nothing changed');
  t.equal(statSync(path('dist/one.js')).mtimeMs, mtimeMs);

  writeFileSync(path('src/one.ts'), 'export const one: number = 3;');
  t.match(build(), BUILT, 'a file was edited');
  t.match(readFileSync(path('dist/one.js'), 'utf8'), 'one = 3');

  mkdirSync(path('src/new'));
  renameSync(path('src/two.ts'), path('src/new/two.ts'));
  t.match(build(), BUILT, 'a file was moved');
  t.strictSame(readdirSync(path('dist')).sort(), ['.built-from', 'browser', 'new', 'node_modules', 'one.js']);

  for (const name of ['package-lock.json', 'tsconfig.json']) {
    writeFileSync(path(name), `${readFileSync(path(name), 'utf8')}\n`);
    t.match(build(), BUILT, `${name} changed`);
  }

  rmSync(path('dist/one.js'));
  t.match(build(), BUILT, 'a built file was removed');
  t.strictSame(build(), NOTHING);
});

t.test('a build that fails exits with 1, and so does the next one until its cause is mended', async (t) => {
  const { build, path } = project(t);
  writeFileSync(path('src/one.ts'), 'export const one: number = "text";');
  for (let time = 0; time < 2; time++) t.match(build(), { status: 1, stdout: /TS2322/ });
});

t.test('the link to the Node of the checkout is made again where npm 10 has removed it', async (t) => {
  const { build, path } = project(t);
  t.match(build(), BUILT);
  rmSync(path('node_modules'));
  const brought = `node_modules/node-${process.platform}-${process.arch}/bin`;
  mkdirSync(path(brought), { recursive: true });
  mkdirSync(path('node_modules/.bin'));
  symlinkSync(process.execPath, path(`${brought}/node`));
  t.strictSame(build(), NOTHING);
  const { stdout } = spawnSync(path('node_modules/.bin/node'), ['-p', '1 + 1'], { encoding: 'utf8' });
  t.equal(stdout, '2\n');
});

t.test(
  'the built program finds a bundled drizzle-orm before the installed one, whose package.json is slow to read',
  (t) => {
    const { build, path } = project(t);
    writeFileSync(
      path('src/one.ts'),
      "declare const process: any;\nprocess.stdout.write((import.meta as any).resolve('drizzle-orm'));",
    );
    t.match(build(), BUILT);
    const { stdout } = spawnSync(process.execPath, [path('dist/one.js')], { encoding: 'utf8' });
    t.match(stdout, '/dist/node_modules/drizzle-orm/drizzle-orm.js');
    t.end();
  },
);
