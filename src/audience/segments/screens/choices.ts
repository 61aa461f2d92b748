/** The lists, fields and names that the form for segment rules offers. */
import type { FastifyRequest } from 'fastify';
import type { SegmentRule } from '../../../database/schema/index.ts';
import { ask } from '../../../ui/operations.ts';
import { type ListedContactType, listContactTypes } from '../../contact-types/operations.ts';
import { readFields } from '../../contacts/screens/filter.tsx';
import { EVENT_FIELD } from '../../events/names.ts';
import { listNames, type Names } from '../operations.ts';
import { ACTIVITY_FIELDS } from '../rules.ts';

/** A possible field of a rule: a field of contacts, their activity, or an event. */
export interface RuleField {
  field_name: string;
  field_type: SegmentRule['type'];
}

export interface RuleChoices extends Names {
  types: readonly ListedContactType[];
  fields: readonly RuleField[];
}

/** Reads the choices of an account. */
export async function readRuleChoices(request: FastifyRequest): Promise<RuleChoices> {
  const [types, contactFields, names] = await Promise.all([
    ask(request, listContactTypes, {}),
    readFields(request),
    ask(request, listNames, {}),
  ]);
  // If an account has an older custom field named created_at, created_at in rules means that field.
  const timeAdded = contactFields.every(({ field_name }) => field_name.toLowerCase() !== 'created_at')
    ? [{ field_name: 'created_at', field_type: 'datetime-local' as const }]
    : [];
  const activity = Object.entries(ACTIVITY_FIELDS).map(([field_name, field_type]) => ({ field_name, field_type }));
  const events = names.events.map((name): RuleField => ({ field_name: `${EVENT_FIELD}${name}`, field_type: 'event' }));
  const fields = [...contactFields, ...timeAdded, ...activity, ...events];
  return { ...names, types, fields };
}
