/** The kinds of steps other than mails: the settings of each, and how they are checked. */

import { namesErased } from '../../audience/contacts/address-rows.ts';
import { TEXT_COLUMNS } from '../../audience/contacts/contact-fields.ts';
import { hasContactType } from '../../audience/contacts/contacts.ts';
import { countryId } from '../../audience/contacts/countries.ts';
import { isValidValue, listCustomFields } from '../../audience/fields/custom-fields.ts';
import { hasSegment } from '../../audience/segments/segments.ts';
import type { Db } from '../../database/open.ts';
import type { automationSchedules, STEP_KINDS } from '../../database/schema/index.ts';
import { messages } from '../../errors/field-errors.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import type { Context } from '../../operations/operation.ts';

/** The kinds of steps other than mails. */
export type OtherKind = Exclude<(typeof STEP_KINDS)[number], 'mail'>;

/** The settings of steps as a request gives them. */
export interface GivenSettings {
  segment_id?: number;
  share?: number;
  contact_type_id?: number;
  field?: string;
  value?: string;
}

/** The columns with the settings of a step; null: its kind has no such setting. */
type StoredSettings = Pick<
  typeof automationSchedules.$inferSelect,
  'segment_id' | 'share' | 'contact_type_id' | 'field' | 'field_id' | 'value'
>;

/** The settings of a mail: none. */
export const NO_SETTINGS: StoredSettings = {
  segment_id: null,
  share: null,
  contact_type_id: null,
  field: null,
  field_id: null,
  value: null,
};

/** The settings of each kind. All but `value` are required. */
const SETTINGS: Readonly<Record<OtherKind, readonly (keyof GivenSettings)[]>> = {
  if: ['segment_id'],
  split: ['share'],
  exit: [],
  set_field: ['field', 'value'],
  move: ['contact_type_id'],
  segment_add: ['segment_id'],
  segment_remove: ['segment_id'],
};

/** The kinds in the order in which the page offers them. */
export const OTHER_KINDS = ['if', 'split', 'set_field', 'move', 'segment_add', 'segment_remove', 'exit'] as const;

/** The fields that every contact has and steps can set. An address belongs to a consent, so no step changes it. */
export const SETTABLE_FIELDS: readonly string[] = [...TEXT_COLUMNS, 'country'];

/** Returns those settings that a kind has. */
export function settingsOf<Given extends object>(kind: OtherKind, given: Given): Partial<Given> {
  const names: readonly string[] = SETTINGS[kind];
  return Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name))) as Partial<Given>;
}

/** Adds the field errors of a step's settings. */
export function checkSettings(
  { db, accountId }: Context,
  given: GivenSettings & { kind?: OtherKind },
  errors: FieldErrorCollector,
): void {
  const { kind, segment_id: segment, contact_type_id: list, field, value = '' } = given;
  if (segment) errors.reference('segment_id', () => hasSegment(db, accountId, segment));
  if (list) errors.reference('contact_type_id', () => hasContactType(db, accountId, list));
  if (kind === undefined) return;
  for (const name of SETTINGS[kind]) if (!given[name] && name !== 'value') errors.add(name, messages.required(name));
  if (value !== '' && namesErased(db.$client, accountId, [value])) errors.add('value', messages.erased('value'));
  if (kind !== 'set_field' || !field) return;
  const found = findSettable(db, accountId, field);
  if (found === null) errors.add('field', messages.selected('field'));
  else if (value !== '' && !found.accepts(value)) errors.add('value', messages.selected('value'));
}

/** Returns the columns with the settings of a step that `checkSettings` accepted. */
export function storedSettings(db: Db, accountId: number, kind: OtherKind, given: GivenSettings): StoredSettings {
  const { field = '', ...settings } = settingsOf(kind, given);
  if (kind !== 'set_field') return { ...NO_SETTINGS, ...settings };
  const found = findSettable(db, accountId, field);
  return { ...NO_SETTINGS, field: found?.name ?? null, field_id: found?.id ?? null, value: given.value ?? '' };
}

/** A field that a step can set: the name of a field that every contact has, or the id of a custom field. */
interface Settable {
  name: string | null;
  id: number | null;
  accepts(value: string): boolean;
}

/** Returns the field with this name, in any case; null if there is none. */
function findSettable(db: Db, accountId: number, given: string): Settable | null {
  const name = given.toLowerCase();
  if (name === 'country') return { name, id: null, accepts: (value) => countryId(value) !== null };
  if (SETTABLE_FIELDS.includes(name)) return { name, id: null, accepts: () => true };
  const custom = listCustomFields(db, accountId).find(({ field_name }) => field_name.toLowerCase() === name);
  if (custom === undefined) return null;
  return { name: null, id: custom.id, accepts: (value) => isValidValue(custom.field_type, value) };
}
