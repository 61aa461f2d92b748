/** What a run of the tests says, and which runs count as failed. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import t, { type Test } from 'tap';
import { chooseTests, estimatedMs } from '../../scripts/test/choose.ts';
import { Report } from '../../scripts/test/report.ts';

/** The report of a process that ran one file whose TAP lines are these, with its counts. */
async function report(...lines: string[]): Promise<string> {
  let told = '';
  const made = new Report((text) => {
    told += text;
  });
  const parser = made.parser();
  const complete = once(parser, 'complete');
  const isOk = lines.some((line) => line.startsWith('not ok')) ? 'not ok' : 'ok';
  const file = lines.map((line) => `        ${line}\n`).join('');
  parser.end(
    `TAP version 14\n# Subtest: files\n    # Subtest: a.test.ts\n${file}    ${isOk} 1 - a.test.ts\n    1..1\n${isOk} 1 - files\n1..1\n`,
  );
  await complete;
  return `${told}${made.passed} passed, ${made.failed} failed\n`;
}

/** Runs these files as a contributor does. */
function run(files: readonly string[], env: Record<string, string> = {}) {
  const { status, stdout } = spawnSync(process.execPath, ['scripts/test/run.ts', ...files], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    encoding: 'utf8',
  });
  return { status, stdout };
}

/** A test file with this code, beside the others so that it finds the packages. */
function fileWith(t: Test, code: string): string {
  const folder = t.testdir();
  const file = join(folder, 'a.test.ts');
  writeFileSync(file, `import t from 'tap';\n${code}\n`);
  return relative('.', file);
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
    /^- a\.test\.ts > a is skipped: no browser\n0 passed, 0 failed\n$/m,
  );
  t.match(
    await report('1..0 # SKIP no browser'),
    /^- a\.test\.ts is skipped: no browser\n[\s\S]*^0 passed, 0 failed\n$/m,
  );
});

t.test('a failed file is named with the command that runs just that one', async (t) => {
  t.match(await report('not ok 1 - a', '1..1'), '  alone: npm test -- a.test.ts\n');
});

t.test('a file that ends its process fails, and the files after it still run', async (t) => {
  const file = fileWith(t, "t.test('a', async (t) => { t.pass(); process.exit(0); });");
  const { status, stdout } = run([file, 'test/database/functions/reply-kind.test.ts']);
  t.equal(status, 1);
  t.match(stdout, `✗ ${file}: `);
  t.match(stdout, /^\d+ of 2 files in /m);
  t.match(stdout, /^[1-9]\d* passed, [1-9]\d* failed\n$/m);
});

t.test(
  'an error that nobody catches fails the innermost test under way, and the tests after it still run',
  async (t) => {
    const file = fileWith(
      t,
      `t.test('outer', async (t) => {
      await t.test('throws', async () => {
        setTimeout(() => { throw new Error('too late'); }, 1);
        await new Promise(() => undefined);
      });
    });
    t.test('rejects', async () => {
      void Promise.reject('words');
      await new Promise((resolve) => setTimeout(resolve, 20));
    });
    t.test('last', async (t) => t.fail('it ran'));`,
    );
    const { status, stdout } = run([file]);
    t.equal(status, 1);
    t.match(stdout, `✗ ${file} > outer > throws > too late\n`);
    t.match(stdout, `✗ ${file} > rejects > not an error, but 'words'\n`);
    t.match(stdout, `✗ ${file} > last > it ran\n`);
  },
);

t.test('a change runs the tests nearest to it, and says how many it leaves out', async (t) => {
  const chosen = (file: string) => chooseTests([file], 1, () => 1000);
  const own = 'test/nodes/leaving.test.ts';
  t.strictSame(chosen(own), { tests: [own], leftOut: 0 }, 'a changed test, whatever it needs');
  t.equal(
    chosen('src/database/functions/reply-kind.ts').tests[0],
    'test/database/functions/reply-kind.test.ts',
    'what imports it first',
  );
  t.equal(chosen('src/api/segments.ts').tests[0], 'test/api/segments.test.ts', 'what has its name');
  t.ok(
    chosen('src/campaigns/archive/operations.ts').tests.includes('test/campaigns/archive/archive.test.ts'),
    'wherever that is',
  );
  t.ok(chosen('docs/contributing/guarantees.md').tests.includes('test/structure.test.ts'), 'what mentions it');
  t.ok(chosen('scripts/test/run.ts').tests.includes('test/scripts/run-tests.test.ts'), 'what starts it');
  t.strictSame(chosen('src/server.ts').tests, ['test/server.test.ts'], 'what starts the built program');
  t.ok(
    chosen('src/ui/islands/chart.ts').tests.includes('test/dashboard/walk/keyboard.test.ts'),
    'what looks at it in a browser',
  );
  const tables = chosen('src/ui/styles/tables.css').tests;
  t.equal(tables[0], 'test/dashboard/frame.test.tsx', 'what reads all style sheets');
  t.notOk(tables.includes('test/contract/contract.test.ts'), 'and not what mentions tables');
  t.equal(chosen('src/ui/styles/screens/home.css').tests[0], 'test/dashboard/home.test.tsx', 'what shows its screen');
  t.ok(chosen('src/app.ts').tests.length > 0, 'some of all tests for what puts the product together');
  const { tests, leftOut } = chosen('src/database/schema/audience.ts');
  t.ok(leftOut > 100, `${leftOut} of ${tests.length + leftOut} are left out`);
});

t.test('the tests of a change take about ten seconds, by how long each took the last time', async (t) => {
  const file = 'src/database/schema/audience.ts';
  const of = (processes: number, ms: (test: string) => number) => chooseTests([file], processes, ms).tests;
  t.equal(of(1, () => 1000).length, 4);
  t.equal(of(3, () => 1000).length, 12, 'more processes finish more');
  const [first = '', second] = of(1, () => 1000);
  const passesOver = of(3, (test) => (test === first ? 60_000 : 1000));
  t.equal(passesOver[0], second, 'a long one is passed over');
  t.equal(passesOver.length, 12);
  t.strictSame(
    of(3, (test) => (test === second ? 50_000 : 60_000)),
    [second],
    'of long ones alone the shortest runs',
  );
  const own = 'test/nodes/leaving.test.ts';
  const withOwn = chooseTests([own, file], 1, (test) => (test === own ? 60_000 : 1000));
  t.strictSame(withOwn.tests, [own], 'a changed test uses up the time of others');
});

t.test('a file that has never run is taken for longer if it waits for processes, and longest with a browser', (t) => {
  const [unit, service, browser] = ['test/api/segments.test.ts', 'test/webhooks/kill.test.ts', 'test/browser.test.ts'];
  t.ok(estimatedMs(unit) < estimatedMs(service));
  t.ok(estimatedMs(service) < estimatedMs(browser));
  t.end();
});

t.test('without Chromium and Postfix their test files are skipped with a sentence, and the run is green', async (t) => {
  const files = ['test/browser.test.ts', 'test/delivery/transport/smtp/postfix.test.ts'];
  const { status, stdout } = run(files, { TEST_WITHOUT: 'chromium,postfix' });
  t.equal(status, 0, stdout);
  for (const name of ['chromium', 'postfix']) t.match(stdout, new RegExp(`is skipped: TEST_WITHOUT hides ${name}\n`));
  t.match(stdout, /^0 passed, 0 failed\n$/m);
});
