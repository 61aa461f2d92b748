/** The parameters that describe the rules of a segment, and their check: for storing a segment and for counting one beforehand. */
import Type from 'typebox';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { listCustomFields } from '../audience/contacts/contact-fields.ts';
import { hasContactType } from '../audience/contacts/contacts.ts';
import { erasedAmong } from '../audience/contacts/erased.ts';
import { namedFinder } from '../audience/segments/activity-rules.ts';
import { type GivenRules, MAX_RULES, parseRules } from '../audience/segments/rules.ts';
import type { Db } from '../database/open.ts';
import { messages } from '../field-errors.ts';
import { reference, stringList } from '../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../http/requests/validation.ts';

export const segmentRuleProperties = {
  contact_type_id: reference(),
  select_field: stringList({
    minItems: 1,
    maxItems: MAX_RULES,
    description: 'Reserved or custom field names, created_at, and what people did with mails: activity.….',
  }),
  select_operator: stringList({ minItems: 1, maxItems: MAX_RULES, description: 'One operator for each field.' }),
  value: Type.Optional(
    stringList({ maxItems: 2 * MAX_RULES, description: 'Operands; each operator takes its own, left to right.' }),
  ),
  query_type: Type.Optional(
    Type.Unsafe<'and' | 'or' | ''>({ type: 'string', enum: ['and', 'or', ''], description: 'Empty: and.' }),
  ),
};

/** What of a segment needs the database to be checked. */
export type GivenSegment = GivenRules & { contact_type_id?: number };

/** Adds the errors of a segment's contact type and rules. */
export function checkSegmentRules(db: Db, accountId: number, body: GivenSegment, errors: FieldErrorCollector): void {
  if (body.contact_type_id !== undefined)
    errors.reference('contact_type_id', () => hasContactType(db, accountId, body.contact_type_id));
  if (errors.has('value')) return;
  const { errors: found } = parseRules(listCustomFields(db, accountId), body, namedFinder(db, accountId));
  for (const [field, text] of found) errors.add(field, text);
  const addresses = (body.value ?? []).flatMap((value) => parseAddress(value)?.normalized ?? []);
  if (erasedAmong(db.$client, accountId, addresses).length > 0) errors.add('value', messages.erased('value'));
}
