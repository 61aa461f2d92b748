/** Segment rules: every operator, and how operands are read. */
import t from 'tap';
import { listCustomFields } from '../../../src/audience/fields/custom-fields.ts';
import { OPERATORS, parseRules } from '../../../src/audience/segments/rules.ts';
import { appWithFields, insertPeople, matching } from './contacts-with-fields.ts';

t.test('every operator', async (t) => {
  const app = await appWithFields(t);
  const germany = app.db.prepare("SELECT id FROM countries WHERE name = 'Germany'").pluck().get();
  insertPeople(app, [
    {
      email: 'zoe@example.com',
      first_name: 'ZOË',
      city: 'MÜNCHEN',
      country: String(germany),
      points: '10.0',
      seen: '2026-01-10T23:30',
      created_at: '2025-12-31T23:59:59.000000Z',
    },
    { email: 'two@example.com', first_name: '50%_off', points: '9', seen: '2026-01-10' },
    { email: 'none@example.com' },
  ]);
  const cases: [string, string, string[], string][] = [
    ['first_name', 'is', ['zoë'], 'zoe'],
    ['first_name', 'is not', ['zoë'], 'two none'],
    ['city', 'contains', ['ünch'], 'zoe'],
    ['first_name', 'contains', ['%'], 'two'],
    ['city', 'does not contain', ['ünch'], 'two none'],
    ['first_name', 'starts with', ['50'], 'two'],
    ['first_name', 'does not start with', ['Zo'], 'two none'],
    ['city', 'ends with', ['chen'], 'zoe'],
    ['email', 'ends with', ['the whole of it and more@example.com'], ''],
    ['city', 'does not end with', ['CHEN'], 'two none'],
    ['alt_email', 'is blank', [], 'zoe two none'],
    ['city', 'is not blank', [], 'zoe'],
    ['country', 'is', ['germany'], 'zoe'],
    ['country', 'is not', [String(germany)], 'zoe two none'],
    ['points', 'is', ['10'], 'zoe'],
    ['points', 'is not', ['+10.00'], 'two none'],
    ['points', 'is greater than', ['9'], 'zoe'],
    ['points', 'is less than', ['10'], 'two'],
    ['points', 'is equal or greater than', ['10'], 'zoe'],
    ['points', 'is equal or less than', ['9'], 'two'],
    ['points', 'is between', ['9', '10'], 'zoe two'],
    ['points', 'is not between', ['9', '9.5'], 'zoe none'],
    ['points', 'is blank', [], 'none'],
    ['points', 'is not blank', [], 'zoe two'],
    ['seen', 'is on', ['2026-01-10'], 'zoe two'],
    ['seen', 'is on', ['2026-01-10T08:00'], 'zoe two'],
    ['seen', 'is not on', ['2026-01-10'], 'none'],
    ['seen', 'is before', ['2026-01-10T23:30'], 'two'],
    ['seen', 'is after', ['2026-01-10T00:00'], 'zoe'],
    ['seen', 'is after', ['2026-01-10'], ''],
    ['seen', 'is between', ['2026-01-10', '2026-01-10'], 'zoe two'],
    ['seen', 'is not between', ['2026-01-10T12:00', '2026-01-11'], 'two none'],
    ['seen', 'is within', ['5'], 'zoe'],
    ['seen', 'is within', ['6'], 'zoe two'],
    ['seen', 'is not within', ['5'], 'two none'],
    ['seen', 'is blank', [], 'none'],
    ['seen', 'is not blank', [], 'zoe two'],
    ['created_at', 'is on', ['2025-12-31'], 'zoe'],
    ['created_at', 'is after', ['2025-12-31'], 'two none'],
    ['created_at', 'is within', ['1'], 'two none'],
  ];
  const fields = listCustomFields(app.drizzle, 1);
  for (const [field, operator, value, expected] of cases) {
    const { rules, errors } = parseRules(fields, { select_field: [field], select_operator: [operator], value });
    t.strictSame(errors, []);
    const found = matching(app, rules, null).map((email) => email.split('@')[0]);
    t.equal(found.join(' '), expected, `${field} ${operator} ${value.join(', ')}`);
  }
  const covered = new Set(cases.map(([field, operator]) => `${field} ${operator}`));
  for (const [type, field] of Object.entries({ number: 'points', 'datetime-local': 'seen' })) {
    for (const operator of Object.keys(OPERATORS[type as 'number']))
      t.ok(covered.has(`${field} ${operator}`), operator);
  }
});

t.test('operands are taken from left to right; missing, extra and mistyped ones are errors', async (t) => {
  const app = await appWithFields(t);
  const fields = listCustomFields(app.drizzle, 1);
  const parse = (select_field: string[], select_operator: string[], value?: string[]) =>
    parseRules(fields, { select_field, select_operator, ...(value && { value }) });
  t.strictSame(
    parse(['points', 'city', 'SEEN'], ['IS BETWEEN', 'Is  Blank', 'is on'], ['1', '2', '2026-01-01']).rules.map(
      ({ field, operator, operands }) => [field, operator, ...operands],
    ),
    [
      ['points', 'is between', '1', '2'],
      ['city', 'is blank'],
      ['seen', 'is on', '2026-01-01'],
    ],
  );
  const bad: [string[], string[], string[] | undefined, string][] = [
    [['nothing'], ['is'], ['1'], 'select_field'],
    [['__proto__'], ['is'], ['1'], 'select_field'],
    [['city'], ['constructor'], ['1'], 'select_operator'],
    [['city'], ['is greater than'], ['1'], 'select_operator'],
    [['city', 'email'], ['is'], ['1'], 'select_operator'],
    [['city'], ['is', 'is'], ['1', '2'], 'select_operator'],
    [['city'], ['is'], undefined, 'value'],
    [['city'], ['is'], [''], 'value'],
    [['city'], ['is'], ['1', '2'], 'value'],
    [['city'], ['is blank'], ['1'], 'value'],
    [['points'], ['is between'], ['1'], 'value'],
    [['points'], ['is'], ['ten'], 'value'],
    [['seen'], ['is on'], ['2026-02-30'], 'value'],
    [['seen'], ['is on'], ['2026-02-03T10:00:00'], 'value'],
    [['seen'], ['is within'], ['-1'], 'value'],
    [['seen'], ['is within'], ['99999'], 'value'],
  ];
  for (const [select_field, select_operator, value, field] of bad) {
    const { errors } = parse(select_field, select_operator, value);
    t.strictSame([...new Set(errors.map(([name]) => name))], [field], [...select_field, ...select_operator].join());
  }
});
