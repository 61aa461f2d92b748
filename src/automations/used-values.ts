/** The values of a contact that decided at a step, as they were at that moment. The log of the automation keeps them for `EVENTS_DAYS`. */
import { isLineField } from '../audience/contacts/contact-fields.ts';
import { customValuePath, listCustomFields } from '../audience/fields/custom-fields.ts';
import type { Db } from '../database/open.ts';
import type { SegmentRule } from '../database/schema/index.ts';
import type { SentenceCode } from '../errors/sentences.ts';
import { stored } from '../errors/stored.ts';
import { CONTACT_JOINS } from './enrolled-contact.ts';

/** The maximum number of fields of a condition whose values are kept. */
const MAX_FIELDS = 5;
/** The maximum number of characters that are kept of a value. */
const MAX_CHARACTERS = 100;

/** A field of contacts: a custom field by its id, or another field by its name. */
type Field = Pick<SegmentRule, 'field' | 'customId'>;

/** Returns the name of a field, and SQL for the value of the contact `p` in it; null if the field was deleted, or is not stored with the contact. */
export function usedField(db: Db, account: number, { field, customId }: Field): { name: string; sql: string } | null {
  const short = (value: string) => `ifnull(substr(${value}, 1, ${MAX_CHARACTERS}), '')`;
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
  return [...new Map(fields.map((field) => [field.name, field])).values()].slice(0, MAX_FIELDS);
}

const PERSON_JOINS = `JOIN automations au ON au.id = e.automation_id ${CONTACT_JOINS}`;

/** SQL for `logSteps` that returns what decided at a step. */
export interface UsedValues {
  sql: string;
  /** The values of the parameters in `sql`. */
  values: Record<string, string | null>;
  /** The joins that `sql` needs. */
  joins: string;
}

/** Returns SQL for the values of these fields, which a condition compared; undefined if it compared none. */
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

/** Returns SQL for the value of a field before and after a step that sets the field; NULL for contacts whose field was not set. */
export function usedChange({ name, sql }: { name: string; sql: string }, value: string): UsedValues {
  // A colon at the beginning of a value is doubled, as in `stored`, because a stored sentence begins with a colon.
  const before = `ifnull(nullif(iif(${sql} GLOB ':*', ':', '') || ${sql}, ''), '–')`;
  const change = storedWith('used_change', `'after', @to, 'before', ${before}, 'field', @field`);
  return {
    sql: `iif(t.outcome = 'done', ${change}, NULL)`,
    values: { to: stored(value || '–'), field: stored(name) },
    joins: PERSON_JOINS,
  };
}

/** Returns SQL for the stored form of a sentence. `values` are its values as arguments of `json_object`, in the order of their names. */
const storedWith = (code: SentenceCode, values: string) => `':${code}' || json_object(${values})`;
