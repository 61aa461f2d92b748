/** The values of a contact that decided at a step, as they were at that moment. The lines of the log keep them for `EVENTS_DAYS`. */
import type { Database } from 'better-sqlite3';
import { isLineField } from '../audience/contacts/contact-fields.ts';
import { customValuePath, listCustomFields } from '../audience/fields/custom-fields.ts';
import type { Db } from '../database/open.ts';
import { prepared } from '../database/prepared.ts';
import type { SegmentRule } from '../database/schema/index.ts';
import { type Said, sentence } from '../errors/sentences.ts';
import { stored } from '../errors/stored.ts';

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
  const found = rules.flatMap((rule) => usedField(db, account, rule) ?? []);
  return [...new Map(found.map((field) => [field.name, field])).values()].slice(0, MOST_FIELDS);
}

/** Returns the sentence about the values of these fields. `values`: a JSON list in the order of the fields. */
export function saidValues(fields: readonly { name: string }[], values: string): Said {
  const list: string[] = JSON.parse(values);
  return sentence('used_values', { values: fields.map(({ name }, at) => `${name}: ${list[at] || '–'}`).join(', ') });
}

/** An enrolment at a step, and what decided there. */
export interface Used {
  id: number;
  used: Said;
}

/** Returns the id of the last line of the log, for `noteUsed`. */
export function lastLine(client: Database): number {
  return prepared<[], number>(client, 'SELECT ifnull(max(id), 0) FROM enrolment_log').pluck().get() ?? 0;
}

/** Adds to the lines of the log after `line` what decided there. Call it in the transaction that takes the step. */
export function noteUsed(client: Database, line: number, used: readonly Used[]): void {
  if (used.length === 0) return;
  prepared<[object]>(
    client,
    `WITH lines AS MATERIALIZED (
      SELECT l.id, u.value ->> 1 AS used FROM json_each(@used) u CROSS JOIN enrolments e ON e.id = u.value ->> 0
        CROSS JOIN enrolment_log l INDEXED BY enrolment_log_person ON l.address_id = e.address_id AND l.id > @line
      WHERE l.step_id IS NOT NULL)
    UPDATE enrolment_log SET reason = lines.used FROM lines WHERE enrolment_log.id = lines.id`,
  ).run({ line, used: JSON.stringify(used.map(({ id, used: said }) => [id, stored(said)])) });
}
