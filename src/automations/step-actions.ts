/** Steps that change contacts or tell webhooks. A step changes a page of contacts at once, in the transaction in which they take the step. */
import { sql } from 'drizzle-orm';
import { moveToType } from '../audience/bulk/apply.ts';
import { isLineField, RESERVED_FIELDS } from '../audience/contacts/contact-fields.ts';
import { storedLine } from '../audience/contacts/contacts.ts';
import { countryId } from '../audience/contacts/countries.ts';
import { customValuePath, listCustomFields } from '../audience/fields/custom-fields.ts';
import { syncAfterContactChange } from '../audience/segments/membership.ts';
import { addContactsToSegment, removeFromSegment } from '../audience/segments/segments.ts';
import type { Db } from '../database/open.ts';
import type { STEP_OUTCOMES } from '../database/schema/index.ts';
import { isoTimestamp } from '../time/clock.ts';
import type { Schedule } from './automations.ts';
import { CONTACT_ID, TARGET_SEGMENT_JOIN } from './enrolled-contact.ts';

/** The kinds of steps that change contacts. */
export const CHANGES_CONTACTS: ReadonlySet<string> = new Set(['set_field', 'move', 'segment_add', 'segment_remove']);

/** An enrolment at a step. */
export interface AtStep {
  /** The id of the enrolment. */
  id: number;
  address_id: number;
  /** The id of the contact; null if the contact does not exist any more. */
  contact_id: number | null;
}

/** An enrolment that takes a step, and the outcome. */
export interface Taken {
  /** The id of the enrolment. */
  id: number;
  outcome: (typeof STEP_OUTCOMES)[number];
}

/** A step that changes contacts, or tells webhooks. */
export type Acting = Pick<
  Schedule,
  'id' | 'user_id' | 'kind' | 'segment_id' | 'contact_type_id' | 'field' | 'field_id' | 'value'
>;

/**
 * Makes the change of a step for these contacts, or writes the events for webhooks, which the webhook thread sends. Segments, automations
 * and webhooks are told of the change. Returns the ids of the enrolments for which the change was made. It is not made if the contact does
 * not exist any more, if the list or segment was deleted, or if the list has another contact with the address already. Call it in the
 * transaction that takes the step.
 */
export function act(db: Db, step: Acting, people: readonly AtStep[], now: Date): ReadonlySet<number> {
  const stamp = isoTimestamp(now);
  const contacts = people.flatMap(({ contact_id }) => contact_id ?? []);
  const { user_id: account, segment_id: segment, contact_type_id: list } = step;
  switch (step.kind) {
    case 'move':
      moveToType(db, account, contacts, list ?? 0, stamp);
      return withContacts(people, contactsIn(db, list ?? 0, contacts));
    case 'segment_add':
      addContactsToSegment(db, account, segment ?? 0, contacts, stamp);
      return membersOf(db, segment ?? 0, people);
    case 'segment_remove': {
      const members = membersOf(db, segment ?? 0, people);
      const addresses = people.filter(({ id }) => members.has(id)).map(({ address_id }) => address_id);
      removeFromSegment(db, account, segment ?? 0, addresses, stamp);
      return members;
    }
    case 'webhook':
      return withContacts(people, tellWebhooks(db, step.id, people));
    default:
      return new Set();
  }
}

/** Returns the ids of the enrolments whose contact is one of these. */
function withContacts(people: readonly AtStep[], contacts: ReadonlySet<number>): Set<number> {
  return new Set(people.filter(({ contact_id }) => contacts.has(contact_id ?? 0)).map(({ id }) => id));
}

/**
 * Sets a field of the contacts who took this step, or clears the field, and updates the segments of their lists. Does nothing if the field
 * was deleted. Call it in the transaction that takes the step. `after` is the id of the last row of `steps` before the rows of these contacts.
 */
export function setField(
  db: Db,
  { user_id: account, field, field_id, value }: Acting,
  after: number,
  date: Date,
): void {
  const now = isoTimestamp(date);
  const set = assignment(db, account, field, field_id, value ?? '');
  if (set === null) return;
  const changed = db.$client
    .prepare<[object], { contact_type_id: number; address_id: number }>(`
      UPDATE contacts SET ${set.text}, updated_at = @now WHERE id IN (
      SELECT ${CONTACT_ID} FROM steps t CROSS JOIN enrolments e ON e.id = t.enrolment_id JOIN automations au ON au.id = e.automation_id ${TARGET_SEGMENT_JOIN}
      WHERE t.id > @after AND t.outcome = 'done') RETURNING contact_type_id, address_id`)
    .all({ ...set.values, after, now });
  for (const [list, rows] of Map.groupBy(changed, ({ contact_type_id }) => contact_type_id))
    syncAfterContactChange(
      db,
      list,
      rows.map(({ address_id }) => address_id),
      now,
      { field: { name: field, customId: field_id } },
    );
}

/** Returns the SQL that sets a field of a contact to this value, with the values of its parameters; null if the field was deleted. */
function assignment(
  db: Db,
  account: number,
  field: string | null,
  fieldId: number | null,
  value: string,
): { text: string; values: Record<string, string | number | null> } | null {
  if (field === 'country') return { text: 'country_id = @value', values: { value: countryId(value) } };
  if (field !== null && isLineField(field))
    return { text: `${field} = @value`, values: { value: storedLine(field, value) } };
  if (!listCustomFields(db, account).some(({ id }) => id === fieldId)) return null;
  const stored = "ifnull(custom_values, '{}')";
  return {
    text: `custom_values = iif(@value = '', json_remove(${stored}, @path), json_set(${stored}, @path, @value))`,
    values: { value, path: customValuePath(fieldId ?? 0) },
  };
}

/** Returns the contacts who are in a list; none if the list was deleted. */
function contactsIn(db: Db, list: number, contacts: readonly number[]): Set<number> {
  const rows = db.all<{ id: number }>(sql`
    SELECT c.id FROM json_each(${JSON.stringify(contacts)}) CROSS JOIN contacts c ON c.id = value
    WHERE c.contact_type_id = ${list} AND c.deleted_at IS NULL AND EXISTS (SELECT 1 FROM contact_types WHERE id = ${list} AND deleted_at IS NULL)`);
  return new Set(rows.map(({ id }) => id));
}

/** Returns the ids of the enrolments whose contact is in a segment; none if the segment was deleted. */
function membersOf(db: Db, segment: number, people: readonly AtStep[]): Set<number> {
  const rows = db.all<{ id: number }>(sql`
    SELECT value ->> 'id' AS id FROM json_each(${JSON.stringify(people)}) CROSS JOIN segment_recipients r
      ON r.segment_id = ${segment} AND r.address_id = value ->> 'address_id' AND r.is_removed = 0
    WHERE EXISTS (SELECT 1 FROM segments WHERE id = ${segment} AND deleted_at IS NULL)`);
  return new Set(rows.map(({ id }) => id));
}

/** Writes the events of a step for the account's webhooks that want such events. Returns the ids of the contacts who still exist. */
function tellWebhooks(db: Db, step: number, people: readonly AtStep[]): Set<number> {
  const json = JSON.stringify(people);
  db.$client.prepare<[object]>(STEP_EVENTS).run({ step, people: json });
  const rows = db.all<{ id: number }>(sql`
    SELECT c.id FROM json_each(${json}) p CROSS JOIN contacts c ON c.id = p.value ->> 'contact_id' WHERE c.deleted_at IS NULL`);
  return new Set(rows.map(({ id }) => id));
}

/** SQL: the fields of a contact `c` with their names, as arguments of json_object. */
const CONTACT_COLUMNS = RESERVED_FIELDS.map((field) => (field === 'country' ? 'country_id' : field))
  .map((column) => `'${column}', c.${column}`)
  .join(', ');

/** SQL: writes an event for each contact of @people at the step @step, if a webhook of the account wants such events. */
const STEP_EVENTS = `
  INSERT INTO webhook_events (user_id, type, lane, data)
  SELECT c.user_id, w.event, c.address_id,
    json_object('automation_utr', au.utr, 'automation_name', au.automation_name, 'step_utr', s.utr, 'note', s.value, 'run', e.run,
      'contact_id', c.id, 'contact_type_id', c.contact_type_id, ${CONTACT_COLUMNS},
      'custom_field', json(ifnull((SELECT json_group_object(f.field_name, v.value) FROM json_each(c.custom_values) v
        CROSS JOIN custom_fields f ON f.id = CAST(v.key AS INTEGER) AND f.user_id = c.user_id), '{}')))
  FROM json_each(@people) p CROSS JOIN contacts c ON c.id = p.value ->> 'contact_id' AND c.deleted_at IS NULL
    CROSS JOIN webhook_wants w ON w.user_id = c.user_id AND w.event = 'automation.step'
    CROSS JOIN enrolments e ON e.id = p.value ->> 'id' CROSS JOIN automation_schedules s ON s.id = @step
    CROSS JOIN automations au ON au.id = s.automation_id
  ORDER BY p.key`;
