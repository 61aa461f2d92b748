/** The body of a request that adds or changes a form: what is wrong with it, and the form that it makes. */
import { and, eq, isNull } from 'drizzle-orm';
import { hasContactType } from '../audience/contacts/contacts.ts';
import type { Db } from '../database/open.ts';
import { ownedRecord, recordId } from '../database/ownership.ts';
import { segments, senders, unsubscribeGroups } from '../database/schema/index.ts';
import { messages } from '../field-errors.ts';
import { findField } from '../forms/fields.ts';
import type { Form, FormInput } from '../forms/forms.ts';
import { formTexts, type TEXT_NAMES } from '../forms/texts.ts';
import type { FieldErrorCollector } from '../http/requests/validation.ts';
import { SENTENCES, sentence } from '../sentences.ts';

/** What a request says about a form. What is absent stays as it is. */
export interface FormBody
  extends Partial<Record<(typeof TEXT_NAMES)[number] | 'intro' | 'privacy_url' | 'redirect_url', string>> {
  name?: string;
  contact_type_id?: number;
  sender_id?: number;
  segment_id?: number;
  language?: Form['language'];
  is_active?: 0 | 1;
  asks_tracking?: 0 | 1;
  fields?: string[];
  labels?: string[];
  required?: string[];
  group_ids?: string[];
}

const URLS = ['privacy_url', 'redirect_url'] as const;

/** Adds the errors of a body that need the database or the rules of forms. `form` is the one that is changed, if one is. */
export function checkForm(
  db: Db,
  accountId: number,
  body: FormBody,
  form: Form | null,
  errors: FieldErrorCollector,
): void {
  const { contact_type_id: type, sender_id, segment_id: segment = 0, fields = [], group_ids = [] } = body;
  if (type !== undefined) errors.reference('contact_type_id', () => hasContactType(db, accountId, type));
  if (sender_id !== undefined) errors.reference('sender_id', () => find(db, senders, sender_id, accountId));
  if (segment !== 0) {
    errors.reference('segment_id', () => find(db, segments, segment, accountId));
    if (!errors.has('segment_id') && !isOfType(db, segment, type ?? form?.contact_type_id))
      errors.add('segment_id', SENTENCES.form_segment_type);
  }
  const unknown = fields.find((name) => findField(db, accountId, name) === undefined);
  if (unknown !== undefined) errors.add('fields', sentence('form_field_unknown', { name: unknown }));
  if (new Set(fields).size < fields.length) errors.add('fields', SENTENCES.form_field_twice);
  if (!group_ids.every((id) => find(db, unsubscribeGroups, id, accountId)))
    errors.add('group_ids', messages.selected('group_ids'));
  for (const name of URLS) if (!isAddress(body[name] ?? '')) errors.add(name, SENTENCES.form_address);
}

/** The form that a checked body makes of the one before; of nothing if that is null. */
export function formInput(db: Db, accountId: number, body: FormBody, form: Form | null): FormInput {
  const language = body.language ?? form?.language ?? 'en';
  const type = body.contact_type_id ?? form?.contact_type_id ?? 0;
  const segment = body.segment_id === undefined ? (form?.segment_id ?? 0) : body.segment_id;
  const { fields, labels = [], required = [] } = body;
  const asked = fields?.map((name, at) => ({
    field: findField(db, accountId, name) ?? name,
    label: labels[at] ?? '',
    required: required.includes(name) ? (1 as const) : (0 as const),
  }));
  return {
    name: body.name ?? form?.name ?? '',
    contact_type_id: type,
    sender_id: body.sender_id ?? form?.sender_id ?? 0,
    // A segment of the type before does not fit the new one.
    segment_id: segment === 0 || !isOfType(db, segment, type) ? null : segment,
    language,
    is_active: body.is_active ?? form?.is_active ?? 1,
    asks_tracking: body.asks_tracking ?? form?.asks_tracking ?? 0,
    fields: asked ?? form?.fields ?? [],
    group_ids: body.group_ids === undefined ? (form?.group_ids ?? []) : [...new Set(body.group_ids.map(recordId))],
    intro: body.intro ?? form?.intro ?? '',
    privacy_url: hrefOf(body.privacy_url) ?? form?.privacy_url ?? '',
    redirect_url: hrefOf(body.redirect_url) ?? form?.redirect_url ?? '',
    ...formTexts(language, body, form),
  };
}

function find(
  db: Db,
  table: typeof senders | typeof segments | typeof unsubscribeGroups,
  id: unknown,
  accountId: number,
): boolean {
  return (
    db
      .select({ id: table.id })
      .from(table)
      .where(ownedRecord(table, id, accountId))
      .get() !== undefined
  );
}

function isOfType(db: Db, segment: number, type: number | undefined): boolean {
  const isSame = and(eq(segments.id, segment), eq(segments.contact_type_id, type ?? 0), isNull(segments.deleted_at));
  return db.select({ id: segments.id }).from(segments).where(isSame).get() !== undefined;
}

/** Names, numbers and ports of hosts. URLs allow more, such as a semicolon, which would change the policy that names the host. */
const HOST = /^[\w.:[\]-]+$/;

/** Whether a text is empty or the address of a web page, without a login. */
function isAddress(text: string): boolean {
  if (text === '') return true;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !HOST.test(url.host)) return false;
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

/** An address in the form for headers and attributes, in ASCII. */
function hrefOf(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? text : new URL(text).href;
}
