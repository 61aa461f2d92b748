/** Segment rules: every operator as plain cases, and random rules over random contacts against an evaluation in TypeScript. */

import fc from 'fast-check';
import t from 'tap';
import { listCustomFields } from '../../../src/audience/contacts/custom-fields.ts';
import { ruleCondition } from '../../../src/audience/segments/rule-sql.ts';
import { OPERATORS, parseRules } from '../../../src/audience/segments/rules.ts';
import type { SegmentRule } from '../../../src/database/schema/index.ts';
import { startApp, type TestApp } from '../../helper.ts';

type Fields = Record<string, string>;
interface Person extends Fields {
  email: string;
}

const NOW = '2026-01-15T09:00:00.000000Z';
const TEXTS = ['first_name', 'last_name', 'city', 'alt_email', 'country', 'hobby'];

async function appWithFields(t: Parameters<typeof startApp>[0]) {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  for (const [field_name, field_type] of [
    ['hobby', 'text'],
    ['points', 'number'],
    ['seen', 'datetime-local'],
  ]) {
    await app.one.call('POST', '/custom-fields/save', { form: { field_name, field_type } });
  }
  return app;
}

/** Inserts contacts into the table directly. The country is an id as text. */
function insertPeople(app: TestApp, people: readonly Person[]): void {
  const user = app.db.prepare('SELECT min(user_id) FROM contact_types').pluck().get();
  const ids = new Map(listCustomFields(app.drizzle, Number(user)).map((field) => [field.field_name, field.id]));
  const address = app.db.prepare('INSERT INTO addresses (user_id, compared_email) VALUES (?, ?)');
  const contact = app.db.prepare(`
    INSERT INTO contacts (user_id, contact_type_id, address_id, email, first_name, last_name, city, alt_email, country_id, custom_values, created_at, updated_at)
    VALUES (@user, 1, @address, @email, @first_name, @last_name, @city, @alt_email, @country, @custom, @created_at, @created_at)`);
  const insert = (person: Person) => {
    const custom = Object.fromEntries(
      ['hobby', 'points', 'seen'].flatMap((name) => (person[name] ? [[ids.get(name), person[name]]] : [])),
    );
    contact.run({
      user,
      address: address.run(user, person.email.toLowerCase()).lastInsertRowid,
      email: person.email,
      first_name: person.first_name ?? '',
      last_name: person.last_name ?? '',
      city: person.city ?? '',
      alt_email: person.alt_email || null,
      country: person.country ? Number(person.country) : null,
      custom: Object.keys(custom).length === 0 ? null : JSON.stringify(custom),
      created_at: person.created_at ?? NOW,
    });
  };
  app.db.transaction(() => people.forEach(insert))();
}

function matching(app: TestApp, rules: readonly SegmentRule[], queryType: 'and' | 'or' | null): string[] {
  const { text, values } = ruleCondition(rules, queryType, NOW);
  const emails = app.db.prepare<[object], string>(`SELECT c.email FROM contacts c WHERE ${text} ORDER BY c.id`).pluck();
  return emails.all(values);
}

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
