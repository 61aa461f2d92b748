/** What the reporter says of a run, and which runs count as failed. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import t from 'tap';

const { default: Reporter }: { default: new () => Duplex } = await import(
  new URL('./reporter.js', import.meta.url).href
);

/** The report of a run of one file whose TAP lines are these. */
function report(...lines: string[]): Promise<string> {
  const reporter = new Reporter();
  const told = text(reporter);
  const isOk = lines.some((line) => line.startsWith('not ok')) ? 'not ok' : 'ok';
  const file = lines.map((line) => `    ${line}\n`).join('');
  reporter.end(`TAP version 14\n# Subtest: a.test.ts\n${file}${isOk} 1 - a.test.ts\n1..1\n`);
  return told;
}

t.test('the last line counts what passed and what failed', async (t) => {
  t.match(await report('ok 1 - a', 'ok 2 - b', '1..2'), /^2 passed, 0 failed\n$/m);
  t.match(await report('ok 1 - a', 'not ok 2 - b', '1..2'), /^✗ a\.test\.ts > b\n[\s\S]*^1 passed, 1 failed\n$/m);
});

t.test('a failed assertion is printed as a diff with its place, not as JSON', async (t) => {
  const told = await report(
    'not ok 1 - the names are equal',
    '  ---',
    '  diff: |',
    '    --- expected',
    '    +++ actual',
    '    @@ -1,1 +1,1 @@',
    '    -Ann',
    '    +Zoë',
    '  at:',
    '    fileName: test/a.test.ts',
    '    lineNumber: 7',
    '    columnNumber: 3',
    '  compare: ===',
    '  ...',
    'not ok 2 - it throws',
    '  ---',
    '  found:',
    '    - 1',
    '  wanted: two',
    '  ...',
    '1..2',
  );
  t.match(
    told,
    '✗ a.test.ts > the names are equal\n    at test/a.test.ts:7:3\n    --- expected\n    +++ actual\n    @@ -1,1 +1,1 @@\n    -Ann\n    +Zoë\n',
  );
  t.match(told, '✗ a.test.ts > it throws\n    expected: two\n    found: [ 1 ]\n');
  t.notMatch(told, 'compare');
});

t.test('a file that asserts nothing fails, unless it skips with a reason, which is told', async (t) => {
  t.match(await report('1..0'), /^✗ a\.test\.ts: no assertion ran\n[\s\S]*^0 passed, 1 failed\n$/m);
  t.match(await report('ok 1 - a # SKIP', '1..1'), /no assertion ran\n[\s\S]*^0 passed, 1 failed\n$/m);
  t.match(await report('ok 1 - a # TODO later', '1..1'), /no assertion ran\n[\s\S]*^0 passed, 1 failed\n$/m);
  t.match(
    await report('ok 1 - a # SKIP no browser', '1..1'),
    /^- a\.test\.ts > a is skipped: no browser\n✓ a\.test\.ts 0 ms\n0 passed, 0 failed\n$/m,
  );
  t.match(
    await report('1..0 # SKIP no browser'),
    /^- a\.test\.ts is skipped: no browser\n[\s\S]*^0 passed, 0 failed\n$/m,
  );
});

t.test('a file that never ends is stopped and counts as failed', async (t) => {
  const folder = t.testdir({
    'a.test.ts': "import t from 'tap';\nt.test('a', async (t) => { t.pass(); for (;;); });\n",
    'package.json': '{"type": "module", "tap": {"disable-coverage": true, "type-strip-only": true}}',
    node_modules: t.fixture('symlink', resolve('node_modules')),
  });
  const reporter = resolve('test/reporter.js');
  const { status, stdout } = spawnSync('tap', ['--timeout=2', `--reporter=${reporter}`, 'a.test.ts'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    encoding: 'utf8',
  });
  t.not(status, 0);
  t.match(
    stdout,
    /^✗ a\.test\.ts: it was stopped, or ended with an error, though no assertion failed\n[\s\S]*1 failed\n$/m,
  );
});

t.test('without Chromium and Postfix their test files are skipped with a sentence, and the run is green', async (t) => {
  const files = ['test/browser.test.ts', 'test/delivery/transport/smtp/postfix.test.ts'];
  const run = (hidden: string) =>
    spawnSync('tap', ['--reporter=./test/reporter.js', ...files], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, TEST_WITHOUT: hidden },
      encoding: 'utf8',
    });
  const { status, stdout } = run('chromium,postfix');
  t.equal(status, 0, stdout);
  for (const name of ['chromium', 'postfix']) t.match(stdout, new RegExp(`is skipped: TEST_WITHOUT hides ${name}\n`));
  t.match(stdout, /^0 passed, 0 failed\n$/m);
});
