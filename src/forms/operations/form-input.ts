/** The input for adding or changing a form, the checks of the input, and the form that results from it. */
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

/** The maximum length of a text or URL, in characters. */
export const MAX_TEXT = 2000;

const ownText = () =>
  Type.Optional(text({ maxLength: MAX_TEXT, description: 'Empty: the usual text of the language.' }));
const ownLine = () => Type.Optional(line({ description: 'Empty: the usual text of the language.' }));
const webUrl = (description: string) =>
  Type.Optional(Type.String({ maxLength: MAX_TEXT, format: 'one-line', description }));
const list = (options: { maxItems: number; description: string; documented?: object }) =>
  Type.Optional(Type.Unsafe<string[]>({ ...stringList(options), empty: [] }));

const optionalFields = {
  segment_id: optionalReference(),
  language: Type.Optional(choice(...PAGE_LANGUAGES)),
  is_active: Type.Optional(flag('0: the form is switched off.')),
  fields: list({
    maxItems: MAX_FIELDS,
    description: 'The names of the fields that the form asks for: reserved or custom fields.',
  }),
  labels: list({
    maxItems: MAX_FIELDS,
    description: 'The labels of these fields on the page, in the same order; empty: the usual name of the field.',
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
  privacy_url: webUrl('The URL of a privacy policy.'),
  asks_tracking: Type.Optional(
    flag(
      '1: the form asks whether opens and clicks may be recorded, as long as the account records them only with consent.',
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
  redirect_url: webUrl('The URL to which contacts are redirected when they have confirmed.'),
};
export const NewForm = Type.Object({
  name: line({ description: 'The internal name, which visitors do not see.' }),
  contact_type_id: reference(),
  sender_id: reference(),
  ...optionalFields,
});
export const FormChanges = Type.Object({
  id: identifier('The form.'),
  name: Type.Optional(line({ minLength: 1, description: 'The internal name, which visitors do not see.' })),
  contact_type_id: Type.Optional(reference()),
  sender_id: Type.Optional(reference()),
  ...optionalFields,
});

/** The checked input of both operations. Absent fields are not changed. */
type ChangedForm = Partial<Static<typeof FormChanges>>;

const URL_FIELDS = ['privacy_url', 'redirect_url'] as const;

/**
 * Adds the field errors that only the database or the rules of forms show. `form` is the form to change; null for a new form.
 */
export function checkForm(
  db: Db,
  accountId: number,
  input: ChangedForm,
  form: Form | null,
  errors: FieldErrorCollector,
): void {
  const { contact_type_id: typeId, sender_id, segment_id: segmentId = 0, fields = [], group_ids = [] } = input;
  if (typeId !== undefined) errors.reference('contact_type_id', () => hasContactType(db, accountId, typeId));
  if (sender_id !== undefined) errors.reference('sender_id', () => isOwned(db, senders, sender_id, accountId));
  if (segmentId !== 0) {
    errors.reference('segment_id', () => isOwned(db, segments, segmentId, accountId));
    if (!errors.has('segment_id') && !isOfType(db, segmentId, typeId ?? form?.contact_type_id))
      errors.add('segment_id', sentence('form_segment_type'));
  }
  const unknown = fields.find((name) => findField(db, accountId, name) === undefined);
  if (unknown !== undefined) errors.add('fields', sentence('form_field_unknown', { name: unknown }));
  if (new Set(fields).size < fields.length) errors.add('fields', sentence('form_field_twice'));
  if (!group_ids.every((id) => isOwned(db, unsubscribeGroups, id, accountId)))
    errors.add('group_ids', messages.selected('group_ids'));
  for (const name of URL_FIELDS) if (!isUrl(urlText(input[name] ?? ''))) errors.add(name, sentence('form_address'));
}

/** Returns the form that results from checked input and the form before the change; `form` is null for a new form. */
export function formInput(db: Db, accountId: number, input: ChangedForm, form: Form | null): FormInput {
  const language = input.language ?? form?.language ?? 'en';
  const typeId = input.contact_type_id ?? form?.contact_type_id ?? 0;
  const segmentId = input.segment_id === undefined ? (form?.segment_id ?? 0) : input.segment_id;
  const { fields: names, labels = [], required = [] } = input;
  const fields = names?.map((name, index) => ({
    field: findField(db, accountId, name) ?? name,
    label: labels[index] ?? '',
    required: required.includes(name) ? (1 as const) : (0 as const),
  }));
  return {
    name: input.name ?? form?.name ?? '',
    contact_type_id: typeId,
    sender_id: input.sender_id ?? form?.sender_id ?? 0,
    // A segment of the previous contact type is dropped when the contact type changes.
    segment_id: segmentId === 0 || !isOfType(db, segmentId, typeId) ? null : segmentId,
    language,
    is_active: input.is_active ?? form?.is_active ?? 1,
    asks_tracking: input.asks_tracking ?? form?.asks_tracking ?? 0,
    fields: fields ?? form?.fields ?? [],
    group_ids: input.group_ids === undefined ? (form?.group_ids ?? []) : [...new Set(input.group_ids.map(recordId))],
    intro: input.intro ?? form?.intro ?? '',
    privacy_url: hrefOf(input.privacy_url) ?? form?.privacy_url ?? '',
    redirect_url: hrefOf(input.redirect_url) ?? form?.redirect_url ?? '',
    ...formTexts(language, input, form),
  };
}

function isOfType(db: Db, segmentId: number, typeId: number | undefined): boolean {
  const isFitting = and(
    eq(segments.id, segmentId),
    eq(segments.contact_type_id, typeId ?? 0),
    isNull(segments.deleted_at),
  );
  return db.select({ id: segments.id }).from(segments).where(isFitting).get() !== undefined;
}

/**
 * Host names, addresses and ports. URLs allow more characters, such as a semicolon, which would change the Content-Security-Policy
 * of the page, because that policy names the host.
 */
const HOST = /^[\w.:[\]-]+$/;

/** A host name with a dot, and what may follow it, before which people leave out the scheme. */
const WITHOUT_SCHEME = /^(?:[\p{L}\p{N}-]{1,63}\.){1,9}\p{L}{2,63}(?:[:/?#]|$)/u;

/** Returns the URL that a text stands for: a host name without a scheme, such as `shop.example/terms`, gets https. */
function urlText(text: string): string {
  return WITHOUT_SCHEME.test(text) ? `https://${text}` : text;
}

/** Returns true if a text is empty or the URL of a web page without a user name or password. */
function isUrl(text: string): boolean {
  if (text === '') return true;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !HOST.test(url.host)) return false;
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

/** Returns a URL in ASCII, as headers and attributes need it. Returns an empty or undefined text unchanged. */
function hrefOf(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? text : new URL(urlText(text)).href;
}
