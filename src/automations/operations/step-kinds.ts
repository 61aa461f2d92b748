/**
 * The kinds of steps other than mails: the settings of each kind, and their checks. A new kind needs a line in STEP_KINDS of
 * database/schema/automations.ts, and in SETTINGS and OTHER_KINDS of this file. What a step does is in path.ts and step-actions.ts, and its
 * form is in screens/steps.tsx.
 */
import Type, { type Static } from 'typebox';
import { LINE_COLUMNS } from '../../audience/contacts/contact-fields.ts';
import { languageCode } from '../../audience/contacts/contact-languages.ts';
import { hasContactType } from '../../audience/contacts/contacts.ts';
import { countryId } from '../../audience/contacts/countries.ts';
import { namesErased } from '../../audience/contacts/erased-addresses.ts';
import { isEventName, parseFilter } from '../../audience/events/names.ts';
import { type CustomField, isValidValue, listCustomFields } from '../../audience/fields/custom-fields.ts';
import { hasSegment } from '../../audience/segments/segments.ts';
import type { Db } from '../../database/open.ts';
import { AWAITED, type automationSchedules, type STEP_KINDS } from '../../database/schema/index.ts';
import { messages } from '../../errors/field-errors.ts';
import { choice, integer, line } from '../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import { type Caller, requireScope } from '../../operations/callers.ts';
import type { Context } from '../../operations/operation.ts';
import { CHANGES_CONTACTS } from '../step-actions.ts';

/** The kinds of steps other than mails. */
export type OtherKind = Exclude<(typeof STEP_KINDS)[number], 'mail'>;

/** The longest time in hours that a step waits for an event or date: ten years. */
const MAX_TIMEOUT_HOURS = 87_600;

/** The settings of a step in a request. */
export const settingsInput = {
  segment_id: Type.Optional(
    integer({
      description:
        'if: the segment whose contacts take the path yes. segment_add and segment_remove: the segment that changes.',
    }),
  ),
  share: Type.Optional(
    integer({ minimum: 1, maximum: 99, description: 'split: the percentage of contacts who take the path yes.' }),
  ),
  contact_type_id: Type.Optional(
    integer({ description: 'move: the list (contact type) to which contacts are moved.' }),
  ),
  field: Type.Optional(
    line({
      description:
        'set_field: the name of a custom field, or of a field of every contact except the address. A wait for a date: the name of a custom field with dates.',
    }),
  ),
  value: Type.Optional(
    Type.Unsafe<string>({
      ...line({
        description:
          'set_field: the new value, which must fit the type of the field; an empty or absent value clears the field. webhook: a note that is sent with the event.',
      }),
      examples: ['Ulm'],
    }),
  ),
  until: Type.Optional({
    ...choice(...AWAITED),
    description:
      'wait_until: what contacts wait for: a reported event, a date of the contact, an hour of the day or a weekday, in the time zone of the contact.',
    examples: ['event'],
  }),
  event: Type.Optional(
    Type.Unsafe<string>({
      ...line({ description: 'A wait for an event: the name of the event.' }),
      examples: ['purchase'],
    }),
  ),
  event_filter: Type.Optional(
    line({
      description:
        'A wait for an event: only events that pass this filter count: a property, then = != > >= < or <=, then a text or number. If empty, every event of this name counts.',
    }),
  ),
  weekday: Type.Optional(
    integer({ minimum: 1, maximum: 7, description: 'A wait for a weekday: 1 (Monday) to 7 (Sunday).' }),
  ),
  hour: Type.Optional(
    Type.Unsafe<number>({
      ...integer({
        minimum: 0,
        maximum: 23,
        description:
          'A wait for an hour: the hour. A wait for a date or weekday: the hour of that day from which on contacts go on; 0 by default.',
      }),
      examples: [9],
    }),
  ),
  timeout_hours: Type.Optional(
    integer({
      minimum: 1,
      maximum: MAX_TIMEOUT_HOURS,
      description: 'A wait for an event or date: the number of hours after which contacts take the path no.',
    }),
  ),
};
const GivenSettings = Type.Object(settingsInput);
/** The settings of a step in a request, all of which may be absent. */
export type GivenSettings = Static<typeof GivenSettings>;
type SettingName = keyof GivenSettings;

/** The columns with the settings of a step. Null means that its kind has no such setting. */
type StoredSettings = Pick<typeof automationSchedules.$inferSelect, SettingName | 'field_id'>;

const SETTING_NAMES = [
  'segment_id',
  'share',
  'contact_type_id',
  'field',
  'value',
  'until',
  'event',
  'event_filter',
  'weekday',
  'hour',
  'timeout_hours',
] as const satisfies readonly SettingName[];

/** The columns with the settings, for a mail, which has no settings. */
export const NO_SETTINGS: StoredSettings = {
  segment_id: null,
  share: null,
  contact_type_id: null,
  field: null,
  field_id: null,
  value: null,
  until: null,
  event: null,
  event_filter: null,
  weekday: null,
  hour: null,
  timeout_hours: null,
};

/** What a step other than a mail stores in the columns that only mails use. */
export const NO_MAIL = {
  languages: null,
  sender_id: 0,
  subject: '',
  preheader: '',
  template_id: 0,
  preview_img: '',
  template_json: '',
  template_html: '',
  tracking: 0,
};

/** The names of the settings that a step must have, and may have. */
interface Settings {
  required: readonly SettingName[];
  optional?: readonly SettingName[];
}

const SETTINGS: Readonly<Record<OtherKind, Settings>> = {
  if: { required: ['segment_id'] },
  split: { required: ['share'] },
  wait_until: { required: ['until'] },
  set_field: { required: ['field'], optional: ['value'] },
  move: { required: ['contact_type_id'] },
  segment_add: { required: ['segment_id'] },
  segment_remove: { required: ['segment_id'] },
  webhook: { required: [], optional: ['value'] },
  exit: { required: [] },
};
/** The settings of a wait, by what contacts wait for. */
const SETTINGS_OF_WAIT: Readonly<Record<(typeof AWAITED)[number], Settings>> = {
  event: { required: ['until', 'event', 'timeout_hours'], optional: ['event_filter'] },
  date: { required: ['until', 'field', 'timeout_hours'], optional: ['hour'] },
  weekday: { required: ['until', 'weekday'], optional: ['hour'] },
  hour: { required: ['until', 'hour'] },
};
/** The values of optional settings that a request leaves out. */
const DEFAULTS = { value: '', event_filter: '' };

/** The kinds of steps other than mails, in the order in which the page offers them. */
export const OTHER_KINDS = [
  'if',
  'split',
  'wait_until',
  'set_field',
  'move',
  'segment_add',
  'segment_remove',
  'webhook',
  'exit',
] as const;

/** Throws 403 if a step of this kind changes contacts, and the key pair of the request may not change contacts. */
export function requireScopeOfStep(kind: string, { scopes }: Pick<Caller, 'scopes'>): void {
  if (scopes !== null && CHANGES_CONTACTS.has(kind)) requireScope({ role: 'editor', scope: 'contacts' }, scopes);
}

/** The fields of every contact that steps can set. A contact consented with the address, so no step changes the address. */
export const SETTABLE_FIELDS: readonly string[] = [...LINE_COLUMNS, 'country'];

/** Returns the names of the settings of a step of this kind. Those of a wait depend on what contacts wait for (`until`). */
function settingsOf(kind: OtherKind, until: GivenSettings['until']): Required<Settings> {
  return { optional: [], ...(kind === 'wait_until' && until !== undefined ? SETTINGS_OF_WAIT[until] : SETTINGS[kind]) };
}

/** Returns the part of the input that is settings of a step of this kind. */
export function ownSettings<Input extends { until?: string }>(kind: OtherKind, input: Input): Partial<Input> {
  const { required, optional } = settingsOf(
    kind,
    AWAITED.find((known) => known === input.until),
  );
  const names: readonly string[] = [...required, ...optional];
  return Object.fromEntries(Object.entries(input).filter(([name]) => names.includes(name))) as Partial<Input>;
}

/**
 * Returns the names of the settings of a stored step that a change keeps. The field counts as changed if the value changes, because the
 * value must fit the field. All settings count as changed if contacts wait for something else.
 */
export function keptSettings(before: GivenSettings, after: GivenSettings): ReadonlySet<SettingName> {
  if (after.until !== before.until) return new Set();
  const isKept = (name: SettingName) => (after[name] ?? '') === (before[name] ?? '');
  return new Set(SETTING_NAMES.filter((name) => isKept(name) && (name !== 'field' || isKept('value'))));
}

/**
 * Adds the field errors of a step's settings. Does not check the settings in `kept`, because the segment, list or field may have been
 * deleted since.
 */
export function checkSettings(
  { db, accountId }: Context,
  input: GivenSettings & { kind?: OtherKind },
  errors: FieldErrorCollector,
  kept: ReadonlySet<SettingName> = new Set(),
): void {
  const isNew = (name: SettingName) => !kept.has(name);
  const { kind, segment_id: segment, contact_type_id: list, field, value = '', event, event_filter: filter } = input;
  if (segment && isNew('segment_id')) errors.reference('segment_id', () => hasSegment(db, accountId, segment));
  if (list && isNew('contact_type_id')) errors.reference('contact_type_id', () => hasContactType(db, accountId, list));
  if (event && !isEventName(event)) errors.add('event', messages.selected('event'));
  if (filter && parseFilter(filter) === null) errors.add('event_filter', messages.selected('event_filter'));
  for (const [name, text] of [
    ['value', value],
    ['event_filter', filter ?? ''],
  ] as const)
    if (text !== '' && isNew(name) && namesErased(db.$client, accountId, [text]))
      errors.add(name, messages.erased(name));
  if (kind === undefined) return;
  for (const name of settingsOf(kind, input.until).required)
    if (isNew(name) && !input[name] && !(name === 'hour' && input.hour === 0))
      errors.add(name, messages.required(name));
  if (!field || !isNew('field')) return;
  if (kind === 'set_field') {
    const settable = findSettable(db, accountId, field);
    if (settable === null) errors.add('field', messages.selected('field'));
    else if (value !== '' && !settable.accepts(value)) errors.add('value', messages.selected('value'));
  }
  if (input.until === 'date') errors.reference('field', () => findDate(db, accountId, field) !== undefined);
}

/** Returns the columns with the settings of a step that `checkSettings` accepted. */
export function storedSettings(db: Db, accountId: number, kind: OtherKind, input: GivenSettings): StoredSettings {
  const { required, optional } = settingsOf(kind, input.until);
  const { field, ...settings } = ownSettings(kind, input);
  const defaults = Object.fromEntries(
    Object.entries(DEFAULTS).filter(([name]) => [...required, ...optional].some((setting) => setting === name)),
  );
  const stored = { ...NO_SETTINGS, ...defaults, ...settings };
  if (field === undefined) return stored;
  if (kind === 'wait_until') return { ...stored, field_id: findDate(db, accountId, field)?.id ?? null };
  const settable = findSettable(db, accountId, field);
  return { ...stored, field: settable?.name ?? null, field_id: settable?.id ?? null };
}

/** Returns the settings of a stored step in the form of a request. */
export function givenSettings(db: Db, step: StoredSettings & { user_id: number }): GivenSettings {
  const custom = listCustomFields(db, step.user_id).find(({ id }) => id === step.field_id);
  const stored = { ...step, field: step.field ?? custom?.field_name ?? null };
  const names: readonly string[] = SETTING_NAMES;
  return Object.fromEntries(
    Object.entries(stored).filter(([name, value]) => names.includes(name) && value !== null),
  ) as GivenSettings;
}

/** Returns the custom field with this name, in upper or lower case, if it holds dates; otherwise undefined. */
export function findDate(db: Db, accountId: number, name: string): CustomField | undefined {
  return listCustomFields(db, accountId).find(
    ({ field_name, field_type }) => field_name.toLowerCase() === name.toLowerCase() && isDateType(field_type),
  );
}

/** Returns true if a custom field of this type holds dates for which a step can wait. */
export function isDateType(type: string): boolean {
  return type === 'datetime-local' || type === 'yearly-date';
}

/** A field that a step can set. */
interface Settable {
  /** The name of a field that every contact has; null for a custom field. */
  name: string | null;
  /** The id of a custom field; null for other fields. */
  id: number | null;
  /** Returns true if the field can have this value. */
  accepts(value: string): boolean;
}

/** Returns the field with this name, in upper or lower case, that a step can set; null if there is none. */
function findSettable(db: Db, accountId: number, text: string): Settable | null {
  const name = text.toLowerCase();
  if (name === 'country') return { name, id: null, accepts: (value) => countryId(value) !== null };
  if (name === 'language') return { name, id: null, accepts: (value) => languageCode(value) !== null };
  if (SETTABLE_FIELDS.includes(name)) return { name, id: null, accepts: () => true };
  const custom = listCustomFields(db, accountId).find(({ field_name }) => field_name.toLowerCase() === name);
  if (custom === undefined) return null;
  return { name: null, id: custom.id, accepts: (value) => isValidValue(custom.field_type, value) };
}
