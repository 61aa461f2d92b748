/** The input for adding or changing a form: its checks, and the form that results from it. */

import { and, eq, isNull } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { hasContactType } from '../../audience/contacts/contacts.ts';
import type { Db } from '../../database/open.ts';
import { isOwned, recordId } from '../../database/ownership.ts';
import { segments, senders, unsubscribeGroups } from '../../database/schema/index.ts';
import { messages } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import {
  choice,
  flag,
  identifier,
  line,
  optionalReference,
  reference,
  stringList,
  text,
} from '../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import { PAGE_LANGUAGES } from '../../languages.ts';
import { findField, MAX_FIELDS } from '../fields.ts';
import type { Form, FormInput } from '../forms.ts';
import { formTexts } from '../texts.ts';

export const MAX_TEXT = 2000;

const ownText = () =>
  Type.Optional(text({ maxLength: MAX_TEXT, description: 'Empty: the usual text of the language.' }));
const ownLine = () => Type.Optional(line({ description: 'Empty: the usual text of the language.' }));
const address = (description: string) =>
  Type.Optional(Type.String({ maxLength: MAX_TEXT, format: 'one-line', description }));
const list = (options: { maxItems: number; description: string; documented?: object }) =>
  Type.Optional(Type.Unsafe<string[]>({ ...stringList(options), empty: [] }));

const options = {
  segment_id: optionalReference(),
  language: Type.Optional(choice(...PAGE_LANGUAGES)),
  is_active: Type.Optional(flag('0: switched off.')),
  fields: list({
    maxItems: MAX_FIELDS,
    description: 'The names of the fields that are asked for: reserved or custom ones.',
  }),
  labels: list({
    maxItems: MAX_FIELDS,
    description: 'What the page calls them, in the same order; empty: their usual names.',
  }),
  required: list({ maxItems: MAX_FIELDS, description: 'The names of the fields that must be filled in.' }),
  group_ids: list({
    maxItems: 50,
    description: 'The topics (unsubscribe groups) that contacts choose from.',
    documented: { items: { type: 'integer' } },
  }),
  title: ownLine(),
  intro: Type.Optional(text({ maxLength: MAX_TEXT, description: 'The text above the fields.' })),
  consent_text: ownText(),
  privacy_url: address('The address of a privacy policy.'),
  asks_tracking: Type.Optional(
    flag(
      '1: ask whether opens and clicks may be recorded; shown only while the account records those of contacts who allow it.',
    ),
  ),
  tracking_text: ownText(),
  button_text: ownLine(),
  mail_subject: ownLine(),
  mail_text: ownText(),
  sent_text: ownText(),
  confirmed_text: ownText(),
  already_text: ownText(),
  expired_text: ownText(),
  off_text: ownText(),
  redirect_url: address('The address to which contacts are redirected when they have confirmed.'),
};
export const NewForm = Type.Object({
  name: line({ description: 'For the owner.' }),
  contact_type_id: reference(),
  sender_id: reference(),
  ...options,
});
export const FormChanges = Type.Object({
  id: identifier('The form.'),
  name: Type.Optional(line({ minLength: 1, description: 'For the owner.' })),
  contact_type_id: Type.Optional(reference()),
  sender_id: Type.Optional(reference()),
  ...options,
});

/** Absent fields are not changed. */
type ChangedForm = Partial<Static<typeof FormChanges>>;

const URLS = ['privacy_url', 'redirect_url'] as const;

/**
 * Adds the field errors of the input that need the database or the rules of forms. `form` is the form to change, or null for a new one.
 */
export function checkForm(
  db: Db,
  accountId: number,
  input: ChangedForm,
  form: Form | null,
  errors: FieldErrorCollector,
): void {
  const { contact_type_id: type, sender_id, segment_id: segment = 0, fields = [], group_ids = [] } = input;
  if (type !== undefined) errors.reference('contact_type_id', () => hasContactType(db, accountId, type));
  if (sender_id !== undefined) errors.reference('sender_id', () => isOwned(db, senders, sender_id, accountId));
  if (segment !== 0) {
    errors.reference('segment_id', () => isOwned(db, segments, segment, accountId));
    if (!errors.has('segment_id') && !isOfType(db, segment, type ?? form?.contact_type_id))
      errors.add('segment_id', sentence('form_segment_type'));
  }
  const unknown = fields.find((name) => findField(db, accountId, name) === undefined);
  if (unknown !== undefined) errors.add('fields', sentence('form_field_unknown', { name: unknown }));
  if (new Set(fields).size < fields.length) errors.add('fields', sentence('form_field_twice'));
  if (!group_ids.every((id) => isOwned(db, unsubscribeGroups, id, accountId)))
    errors.add('group_ids', messages.selected('group_ids'));
  for (const name of URLS) if (!isUrl(input[name] ?? '')) errors.add(name, sentence('form_address'));
}

/** Returns the form that results from checked input and the form before; null: a new form. */
export function formInput(db: Db, accountId: number, input: ChangedForm, form: Form | null): FormInput {
  const language = input.language ?? form?.language ?? 'en';
  const type = input.contact_type_id ?? form?.contact_type_id ?? 0;
  const segment = input.segment_id === undefined ? (form?.segment_id ?? 0) : input.segment_id;
  const { fields, labels = [], required = [] } = input;
  const asked = fields?.map((name, at) => ({
    field: findField(db, accountId, name) ?? name,
    label: labels[at] ?? '',
    required: required.includes(name) ? (1 as const) : (0 as const),
  }));
  return {
    name: input.name ?? form?.name ?? '',
    contact_type_id: type,
    sender_id: input.sender_id ?? form?.sender_id ?? 0,
    // A segment of the previous contact type does not fit the new one.
    segment_id: segment === 0 || !isOfType(db, segment, type) ? null : segment,
    language,
    is_active: input.is_active ?? form?.is_active ?? 1,
    asks_tracking: input.asks_tracking ?? form?.asks_tracking ?? 0,
    fields: asked ?? form?.fields ?? [],
    group_ids: input.group_ids === undefined ? (form?.group_ids ?? []) : [...new Set(input.group_ids.map(recordId))],
    intro: input.intro ?? form?.intro ?? '',
    privacy_url: hrefOf(input.privacy_url) ?? form?.privacy_url ?? '',
    redirect_url: hrefOf(input.redirect_url) ?? form?.redirect_url ?? '',
    ...formTexts(language, input, form),
  };
}

function isOfType(db: Db, segment: number, type: number | undefined): boolean {
  const isSame = and(eq(segments.id, segment), eq(segments.contact_type_id, type ?? 0), isNull(segments.deleted_at));
  return db.select({ id: segments.id }).from(segments).where(isSame).get() !== undefined;
}

/**
 * Host names, addresses and ports. URLs allow more characters, such as a semicolon, which would change the policy that contains the host.
 */
const HOST = /^[\w.:[\]-]+$/;

/** Returns true if a text is empty or the URL of a web page, without a login. */
function isUrl(text: string): boolean {
  if (text === '') return true;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !HOST.test(url.host)) return false;
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

/** Returns a URL in the form for headers and attributes, in ASCII. */
function hrefOf(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? text : new URL(text).href;
}
