/** Where faults are made to measure the tests, and which tests are asked first. */
import t from 'tap';
import { placesOf } from '../../scripts/mutants/places.ts';
import { nearestTests } from '../../scripts/test/choose.ts';

/** The faults of some code: what is written there, and what becomes of it. */
function faultsOf(code: string): string[] {
  return placesOf('src/a.ts', code).flatMap(({ changes }) =>
    changes.map(({ start, end, text }) => `${code.slice(start, end)} → ${text}`),
  );
}

t.test('a comparison is turned, a condition negated, a call left out, a return changed', async (t) => {
  t.strictSame(faultsOf('if (a < 5) act();'), ['a < 5 → !(a < 5)', '< → <=', '< → >=', '5 → 6', 'act(); → ;']);
  t.strictSame(faultsOf('function a(): number { return b ?? c.trim(); }'), [
    'b ?? c.trim() → (b ?? c.trim()) + 1',
    ' ?? c.trim() → ',
    '.trim() → ',
  ]);
  t.strictSame(faultsOf("const a = b.state === 'done';"), ['=== → !==', "'done' → '-'"]);
});

t.test('a comparison, a state and a number of SQL are changed, but no assignment', async (t) => {
  t.strictSame(faultsOf("db.prepare(`UPDATE m SET state = 'done' WHERE id = ? AND tries >= 3`);"), [
    "db.prepare(`UPDATE m SET state = 'done' WHERE id = ? AND tries >= 3`); → ;",
    "'done' → '-'",
    '= → <>',
    'AND → OR',
    '>= → >',
    '>= → <',
    '3 → 4',
  ]);
});

t.test('types, imports, comments, log lines and texts for people have no faults', async (t) => {
  const code = [
    "import { a } from './a.ts';",
    "type State = 'open' | 5;",
    '// 1 < 2',
    "this.#log.info({ a: 1 }, 'a mail left');",
    "const title = 'Your mail and' + more;",
  ];
  t.strictSame(faultsOf(code.join('\n')), []);
});

t.test('the same place of two trees has one key, although other lines have moved it', async (t) => {
  const [one] = placesOf('src/a.ts', 'const a = b > c;');
  const [, other] = placesOf('src/a.ts', 'const z = x > y;\n\nconst a = b > c;');
  t.equal(one?.key, other?.key);
});

t.test(
  'the test of the same name is asked first, then those of rare words, and only tests that reach the file',
  async (t) => {
    t.equal(nearestTests('src/audience/segments/rule-sql.ts')[0], 'test/audience/segments/rule-sql.test.ts');
    const tests = nearestTests('src/delivery/feedback/providers/mailgun.ts');
    const [named, others] = ['test/pages/provider-events.test.ts', 'test/delivery/feedback/returns.test.ts'];
    t.equal(tests.indexOf(named) < tests.indexOf(others), true);
    t.notOk(
      tests.includes('test/delivery/feedback/parse-bounce.test.ts'),
      'it is in the same folder and reads no provider',
    );
  },
);
