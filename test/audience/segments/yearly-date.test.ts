/** Fields with a day of every year: their values, rules about them, and how they come in. */
import t from 'tap';
import { listCustomFields } from '../../../src/audience/fields/custom-fields.ts';
import { ruleCondition } from '../../../src/audience/segments/rule-sql.ts';
import { parseRules } from '../../../src/audience/segments/rules.ts';
import { startApp, type TestApp } from '../../support/app.ts';

const DAYS = ['01-01', '01-06', '02-28', '02-29', '03-01', '12-24', '12-31'];

/** An account with a contact for each of these birthdays, and one without. */
async function withBirthdays(t: Parameters<typeof startApp>[0]) {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const form = { field_name: 'birthday', field_type: 'yearly-date' };
  t.equal((await app.one.call('POST', '/custom-fields/save', { form })).status, 200);
  const contacts = [...DAYS, ''].map((birthday) => ({
    email: `d${birthday}@example.org`,
    custom_field: { birthday },
  }));
  const answer = await app.one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts } });
  t.equal(answer.status, 200, answer.text);
  return app;
}

/** The birthdays that match a rule on a day; `-` for the contact without one. */
function matching(app: TestApp, date: string, operator: string, ...value: string[]): string[] {
  const fields = listCustomFields(app.drizzle, 1);
  const { rules, errors } = parseRules(fields, {
    select_field: ['birthday'],
    select_operator: [operator],
    value,
  });
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  const { text, values } = ruleCondition(1, rules, null, `${date}T23:30:00.000000Z`);
  const emails = app.db.prepare<[object], string>(`SELECT email FROM contacts c WHERE ${text} ORDER BY id`).pluck();
  return emails.all(values).map((email) => email.slice(1).split('@')[0] || '-');
}

t.test(
  'is today and in the next days go over the end of a year, and 29 February is the 28th in other years',
  async (t) => {
    const app = await withBirthdays(t);
    for (const [date, operator, days, expected] of [
      ['2026-12-24', 'is today', [], ['12-24']],
      ['2026-12-25', 'is today', [], []],
      ['2026-02-28', 'is today', [], ['02-28', '02-29']],
      ['2028-02-28', 'is today', [], ['02-28']],
      ['2028-02-29', 'is today', [], ['02-29']],
      ['2026-03-01', 'is today', [], ['03-01']],
      ['2026-12-24', 'is in the next', ['0'], ['12-24']],
      ['2026-12-24', 'is in the next', ['7'], ['12-24', '12-31']],
      ['2026-12-24', 'is in the next', ['8'], ['01-01', '12-24', '12-31']],
      ['2026-02-26', 'is in the next', ['2'], ['02-28', '02-29']],
      ['2028-02-26', 'is in the next', ['2'], ['02-28']],
      ['2026-02-27', 'is in the next', ['2'], ['02-28', '02-29', '03-01']],
      ['2026-06-01', 'is in the next', ['365'], DAYS],
      ['2026-12-24', 'is not today', [], [...DAYS.filter((day) => day !== '12-24'), '-']],
      ['2026-12-24', 'is not in the next', ['8'], ['01-06', '02-28', '02-29', '03-01', '-']],
      ['2026-12-24', 'is', ['02-29'], ['02-29']],
      ['2026-12-24', 'is blank', [], ['-']],
    ] as const)
      t.strictSame(matching(app, date, operator, ...days), expected, `${date} ${operator} ${days}`);
  },
);

t.test('only days are values and operands, and a segment follows the days by itself', async (t) => {
  const app = await withBirthdays(t);
  for (const birthday of ['02-30', '13-01', '1-1', '2026-01-01', '12/24', 'x']) {
    const json = { contact_type_id: 1, contacts: [{ email: 'x@example.org', custom_field: { birthday } }] };
    const { body } = await app.one.call('POST', '/contacts/upsert', { json });
    t.match(JSON.stringify(body), /"outcome":"failed"/, birthday);
  }
  const store = (operator: string, value: string[]) =>
    app.one.call('POST', '/segment/store', {
      form: {
        segment_name: operator,
        contact_type_id: 1,
        select_field: ['birthday'],
        select_operator: [operator],
        value,
      },
    });
  for (const [operator, value] of [
    ['is in the next', '366'],
    ['is in the next', '-1'],
    ['is', '12-32'],
    ['is before', '12-24'],
  ] as const)
    t.equal((await store(operator, [value])).status, 422, `${operator} ${value}`);
  t.equal((await store('is in the next', ['43'])).status, 200);
  const members = () =>
    app.db.prepare('SELECT email FROM segment_recipients WHERE is_removed = 0 ORDER BY email').pluck().all();
  await app.background();
  t.equal(app.clock.now().toISOString().slice(0, 10), '2026-01-15');
  t.strictSame(members(), []);
  app.clock.advance(86_400_000);
  await app.background();
  t.strictSame(members(), ['d02-28@example.org', 'd02-29@example.org']);
});
