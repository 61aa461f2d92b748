/** The values of a contact that decided at a step, as they were at that moment. The lines of the log keep them for `EVENTS_DAYS`. */
import { isLineField } from '../audience/contacts/contact-fields.ts';
import { customValuePath, listCustomFields } from '../audience/fields/custom-fields.ts';
import type { Db } from '../database/open.ts';
import type { SegmentRule } from '../database/schema/index.ts';
import type { SentenceCode } from '../errors/sentences.ts';
import { stored } from '../errors/stored.ts';
import { WITH_PERSON } from './enrolled-person.ts';

/** The number of fields of a condition whose values are kept. */
const MOST_FIELDS = 5;
/** The number of characters that are kept of each value. */
const MOST_CHARACTERS = 100;

/** A field of contacts: of a custom field the id, of all others the name. */
type Field = Pick<SegmentRule, 'field' | 'customId'>;

/** Returns the name of a field, and SQL for its value of the contact `p`; null if the field was deleted, or has no value of its own. */
export function usedField(db: Db, account: number, { field, customId }: Field): { name: string; sql: string } | null {
  const short = (value: string) => `ifnull(substr(${value}, 1, ${MOST_CHARACTERS}), '')`;
  if (customId !== null) {
    const custom = listCustomFields(db, account).find(({ id }) => id === customId);
    return custom === undefined
      ? null
      : { name: custom.field_name, sql: short(`p.custom_values ->> '${customValuePath(customId)}'`) };
  }
  if (field === 'country') return { name: field, sql: short('(SELECT name FROM countries WHERE id = p.country_id)') };
  return isLineField(field) || field === 'email' ? { name: field, sql: short(`p.${field}`) } : null;
}

/** Returns the fields that the rules of a segment compare, each once. */
export function usedFields(db: Db, account: number, rules: readonly SegmentRule[]): { name: string; sql: string }[] {
  const fields = rules.flatMap((rule) => usedField(db, account, rule) ?? []);
  return [...new Map(fields.map((field) => [field.name, field])).values()].slice(0, MOST_FIELDS);
}

const PERSON_JOINS = `JOIN automations au ON au.id = e.automation_id ${WITH_PERSON}`;

/** What decided at a step, as SQL for `logSteps`. */
export interface UsedValues {
  sql: string;
  values: Record<string, string | null>;
  joins: string;
}

/** Returns what a condition about these fields read; undefined without fields. */
export function usedValues(fields: readonly { name: string; sql: string }[]): UsedValues | undefined {
  if (fields.length === 0) return;
  const names = fields.map(({ name }, at) => [`name${at}`, at === 0 ? stored(`${name}: `) : `, ${name}: `]);
  const list = fields.map(({ sql }, at) => `@name${at} || ifnull(nullif(${sql}, ''), '–')`).join(' || ');
  return {
    sql: storedWith('used_values', `'values', ${list}`),
    values: Object.fromEntries(names),
    joins: PERSON_JOINS,
  };
}

/** Returns the values of a field before a step that sets it, and after it, of the contacts for which it was done. */
export function usedChange({ name, sql }: { name: string; sql: string }, value: string): UsedValues {
  // As `stored` does, a mark at the beginning of a value is doubled.
  const before = `ifnull(nullif(iif(${sql} GLOB ':*', ':', '') || ${sql}, ''), '–')`;
  const change = storedWith('used_change', `'after', @to, 'before', ${before}, 'field', @field`);
  return {
    sql: `iif(t.outcome = 'done', ${change}, NULL)`,
    values: { to: stored(value || '–'), field: stored(name) },
    joins: PERSON_JOINS,
  };
}

/** SQL: the stored form of a sentence with these names and values, as arguments of `json_object`, in the order of the names. */
const storedWith = (code: SentenceCode, values: string) => `':${code}' || json_object(${values})`;
