/** The SQL of segment rules beside an evaluation in TypeScript. */
import fc from 'fast-check';
import t from 'tap';
import { listCustomFields } from '../../../src/audience/fields/custom-fields.ts';
import { ruleCondition } from '../../../src/audience/segments/rule-sql.ts';
import { OPERATORS, parseRules } from '../../../src/audience/segments/rules.ts';
import type { SegmentRule } from '../../../src/database/schema/index.ts';
import { appWithFields, type Fields, insertPeople, matching, NOW } from './contacts-with-fields.ts';

const TEXTS = ['first_name', 'last_name', 'city', 'alt_email', 'country', 'hobby'];

/** Evaluates one rule for one contact in TypeScript, independently of the SQL, to compare the two. */
function holdsFor(person: Fields, { field, type, operator, operands }: SegmentRule): boolean {
  const value = person[field] ?? '';
  const [a = '', b = ''] = operands;
  const isNegated = / not |^is not|^does not/.test(operator);
  const positive = operator
    .replace('is not ', 'is ')
    .replace(/^is not$/, 'is')
    .replace('does not ', '');
  if (positive === 'is blank') return (value === '') !== isNegated;
  if (value === '') return isNegated;
  const low = (text: string) => text.toLowerCase().normalize('NFC');
  const time = (text: string, atEnd = false) =>
    Date.parse(`${text.length === 10 ? `${text}T${atEnd ? '23:59' : '00:00'}` : text.slice(0, 16)}:00Z`);
  const number = Number(value);
  const answers: Record<string, Record<string, () => boolean>> = {
    text: {
      is: () => low(value) === low(a),
      contain: () => low(value).includes(low(a)),
      contains: () => low(value).includes(low(a)),
      'start with': () => low(value).startsWith(low(a)),
      'starts with': () => low(value).startsWith(low(a)),
      'end with': () => low(value).endsWith(low(a)),
      'ends with': () => low(value).endsWith(low(a)),
    },
    number: {
      is: () => number === Number(a),
      'is greater than': () => number > Number(a),
      'is less than': () => number < Number(a),
      'is equal or greater than': () => number >= Number(a),
      'is equal or less than': () => number <= Number(a),
      'is between': () => number >= Number(a) && number <= Number(b),
    },
    'datetime-local': {
      'is on': () => value.slice(0, 10) === a.slice(0, 10),
      'is before': () => time(value) < time(a),
      'is after': () => time(value) > time(a, true),
      'is between': () => time(value) >= time(a) && time(value) <= time(b, true),
      'is within': () => time(value) <= time(NOW) && time(value) >= time(NOW) - Number(a) * 86_400_000,
    },
  };
  const answer = answers[type]?.[positive];
  if (answer === undefined) throw new Error(`the model does not know ${operator}`);
  return answer() !== isNegated;
}

t.test('random rules over random contacts give what an evaluation in TypeScript gives', async (t) => {
  const app = await appWithFields(t);
  const country = app.db.prepare('SELECT id, name FROM countries WHERE id <= 3 ORDER BY id').all() as {
    id: number;
    name: string;
  }[];
  const word = fc.constantFrom('', 'a', 'A', 'Aa', 'ab', 'ÄB', 'äb', 'ΣΑ', 'σα', 'İx', '%', "'", 'e\u0301', 'é', '10');
  const number = fc.constantFrom('', '0', '-1', '1', '1.0', '+1', '9', '10', '.5', '0.5', '-0', '12345678901');
  const moment = fc.constantFrom(
    '',
    '2026-01-15',
    '2026-01-15T09:00',
    '2026-01-15T09:01',
    '2026-01-14T09:00',
    '2026-01-14T08:59',
    '2026-01-08',
    '2025-12-31T23:59',
    '2024-02-29T00:00',
  );
  const person = fc.record({
    first_name: word,
    last_name: word,
    city: word,
    alt_email: word,
    country: fc.constantFrom('', ...country.map(({ id }) => String(id))),
    hobby: word,
    points: number,
    seen: moment,
    created_at: fc.constantFrom(
      NOW,
      '2026-01-14T08:59:59.999999Z',
      '2026-01-08T00:00:00.000000Z',
      '2024-02-29T12:00:00.000000Z',
    ),
  });
  const operandOf = (type: string, operator: string) => {
    if (operator.endsWith('within')) return fc.constantFrom('0', '1', '7', '365');
    if (type === 'number') return number.filter((text) => text !== '');
    if (type === 'datetime-local') return moment.filter((text) => text !== '');
    return fc
      .oneof(word, fc.constantFrom(...country.map(({ name }) => name.toUpperCase())))
      .filter((text) => text !== '');
  };
  const rule = fc.constantFrom(...TEXTS, 'points', 'seen', 'created_at').chain((field) => {
    const type = field === 'points' ? 'number' : field === 'seen' || field === 'created_at' ? 'datetime-local' : 'text';
    return fc
      .constantFrom(...Object.entries(OPERATORS[type]))
      .chain(([operator, count]) =>
        fc
          .tuple(...Array.from({ length: count }, () => operandOf(type, operator)))
          .map((operands) => ({ field, operator, operands })),
      );
  });
  fc.assert(
    fc.property(
      fc.array(person, { minLength: 1, maxLength: 12 }),
      fc.array(
        fc.tuple(fc.array(rule, { minLength: 1, maxLength: 4 }), fc.constantFrom('and' as const, 'or' as const, null)),
        { minLength: 5, maxLength: 5 },
      ),
      (people, segments) => {
        app.db.exec('DELETE FROM contacts; DELETE FROM addresses');
        const named = people.map((one, at) => ({ ...one, email: `p${at}@example.com` }));
        insertPeople(app, named);
        for (const [given, queryType] of segments) {
          const { rules, errors } = parseRules(listCustomFields(app.drizzle, 1), {
            select_field: given.map(({ field }) => field),
            select_operator: given.map(({ operator }) => operator),
            value: given.flatMap(({ operands }) => operands),
          });
          if (errors.length > 0) throw new Error(JSON.stringify(errors));
          const expected = named
            .filter((one) => {
              const seen = { ...one, country: country.find(({ id }) => String(id) === one.country)?.name ?? '' };
              const answers = rules.map((each) => holdsFor(seen, each));
              return queryType === 'or' ? answers.includes(true) : !answers.includes(false);
            })
            .map(({ email }) => email);
          const found = matching(app, rules, queryType);
          if (found.join() !== expected.join())
            throw new Error(`${JSON.stringify(rules)}: ${found} instead of ${expected}`);
        }
      },
    ),
    { numRuns: 300 },
  );
});

t.test('the links of a rule are looked up once for all contacts, and among those of the account', async (t) => {
  const app = await appWithFields(t);
  const rule = { field: 'activity.link', customId: null, type: 'link', operator: 'clicked' } as const;
  const { text, values } = ruleCondition(1, [{ ...rule, operands: ['https://shop.example/'] }], null, NOW);
  const plan = app.db
    .prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN SELECT c.id FROM contacts c WHERE ${text}`)
    .all(values)
    .map(({ detail }) => detail);
  t.ok(plan.includes('MATERIALIZE own'), plan.join('; '));
  t.strictSame(Object.values(values), ['https://shop.example/', '1']);
});
