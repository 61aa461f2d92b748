/** Contacts with custom fields of every type, and which of them match rules. */
import { listCustomFields } from '../../../src/audience/fields/custom-fields.ts';
import { ruleCondition } from '../../../src/audience/segments/rule-sql.ts';
import type { SegmentRule } from '../../../src/database/schema/index.ts';
import { startApp, type TestApp } from '../../support/app.ts';

/** Values of a contact by the name of their field. */
export type Fields = Record<string, string>;

interface Person extends Fields {
  email: string;
}

/** When contacts are created and rules evaluated. */
export const NOW = '2026-01-15T09:00:00.000000Z';

/** An application with contact type 1 and custom fields `hobby` (text), `points` (number) and `seen` (datetime-local). */
export async function appWithFields(t: Parameters<typeof startApp>[0]) {
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
export function insertPeople(app: TestApp, people: readonly Person[]): void {
  const user = app.db.prepare('SELECT min(user_id) FROM contact_types').pluck().get();
  const ids = new Map(listCustomFields(app.drizzle, Number(user)).map((field) => [field.field_name, field.id]));
  const address = app.db.prepare('INSERT INTO addresses (user_id, normalized_email) VALUES (?, ?)');
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

/** The addresses of the contacts that match the rules, sorted. */
export function matching(app: TestApp, rules: readonly SegmentRule[], queryType: 'and' | 'or' | null): string[] {
  const { text, values } = ruleCondition(1, rules, queryType, NOW);
  const emails = app.db.prepare<[object], string>(`SELECT c.email FROM contacts c WHERE ${text} ORDER BY c.id`).pluck();
  return emails.all(values);
}
