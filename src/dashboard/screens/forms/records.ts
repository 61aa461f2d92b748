/** The records of the API that the screens about forms show, and a form as it is being edited. */
import type { FastifyRequest } from 'fastify';
import type { ApiClient } from '../../api-client.ts';
import { field } from '../../sign-in/fields.ts';

export interface FormField {
  name: string;
  label: string;
  required: 0 | 1;
}

export interface Form extends Record<(typeof TEXTS)[number], string> {
  id: number;
  name: string;
  contact_type_id: number;
  sender_id: number;
  segment_id: number | null;
  language: 'en' | 'de';
  is_active: 0 | 1;
  asks_tracking: 0 | 1;
  off_code: string | null;
  off_reason: string | null;
  url: string;
  fields: FormField[];
  group_ids: number[];
  shown: number;
  sent: number;
  confirmed: number;
}

/** What a form can be made of. */
export interface Choices {
  types: { id: number; name: string }[];
  senders: { id: number; from_name: string; from_email: string }[];
  segments: { id: number; segment_name: string; contact_type_id: number }[];
  groups: { id: number; group_name: string; description: string }[];
  /** The names of the fields that can be asked for. */
  fields: string[];
  /** Whether the account records opens and clicks of people who allow it. */
  isByConsent: boolean;
}

/** The texts and addresses of a form, by their names in the API. */
export const TEXTS = [
  'title',
  'intro',
  'consent_text',
  'privacy_url',
  'tracking_text',
  'button_text',
  'mail_subject',
  'mail_text',
  'sent_text',
  'confirmed_text',
  'already_text',
  'expired_text',
  'off_text',
  'redirect_url',
] as const;

/** What the builder holds: the form as it was read, with what was typed since. */
export interface Draft extends Record<(typeof TEXTS)[number], string> {
  name: string;
  contact_type_id: string;
  sender_id: string;
  segment_id: string;
  language: 'en' | 'de';
  is_active: 0 | 1;
  asks_tracking: 0 | 1;
  fields: FormField[];
  group_ids: string[];
}

/** Fields of a contact that no form can ask for. */
const NOT_ASKED = new Set(['email', 'alt_email', 'country']);

export async function readChoices(api: ApiClient): Promise<Choices> {
  const [
    { contactTypes },
    { senders },
    { segments },
    { unsubscribesGroups },
    { reservedFields },
    { customFields },
    { tracking },
  ] = await Promise.all([
    api.get<{ contactTypes: Choices['types'] }>('/contacts-type'),
    api.get<{ senders: Choices['senders'] }>('/senders'),
    api.get<{ segments: Choices['segments'] }>('/segment/list'),
    api.get<{ unsubscribesGroups: Choices['groups'] }>('/unsubscribes-groups'),
    api.get<{ reservedFields: { field_name: string }[] }>('/reserve-fields'),
    api.get<{ customFields: { field_name: string }[] }>('/custom-fields'),
    api.get<{ tracking: { mode: string } }>('/tracking'),
  ]);
  const fields = [...reservedFields, ...customFields].map((known) => known.field_name);
  return {
    types: contactTypes,
    senders,
    segments,
    groups: unsubscribesGroups,
    fields: fields.filter((name) => !NOT_ASKED.has(name)),
    isByConsent: tracking.mode === 'consent',
  };
}

/** A form with its HTML for another website. Throws an ApiFailure with 404 where there is none. */
export function readForm(api: ApiClient, id: string): Promise<{ form: Form; snippet: string }> {
  return api.get('/forms/details', { id });
}

export function draftOf(form: Form): Draft {
  return {
    ...form,
    contact_type_id: String(form.contact_type_id),
    sender_id: String(form.sender_id),
    segment_id: String(form.segment_id ?? ''),
    group_ids: form.group_ids.map(String),
  };
}

/** What was typed into the builder. */
export function typedDraft(request: FastifyRequest): Draft {
  const typed = (name: string) => field(request, name);
  const [names, asked, labels] = [listed(request, 'field'), listed(request, 'ask'), listed(request, 'label')];
  const fields = names.flatMap((name, at): FormField[] => {
    const how = asked[at] ?? '';
    return how === '' ? [] : [{ name, label: labels[at] ?? '', required: how === 'required' ? 1 : 0 }];
  });
  const texts = Object.fromEntries(TEXTS.map((name) => [name, typed(name).replaceAll('\r\n', '\n')]));
  return {
    ...(texts as Record<(typeof TEXTS)[number], string>),
    name: typed('name'),
    contact_type_id: typed('contact_type_id'),
    sender_id: typed('sender_id'),
    segment_id: typed('segment_id'),
    language: typed('language') === 'de' ? 'de' : 'en',
    is_active: typed('is_active') === '1' ? 1 : 0,
    asks_tracking: typed('asks_tracking') === '1' ? 1 : 0,
    fields,
    group_ids: listed(request, 'group'),
  };
}

/** A draft as a body for the API. */
export function bodyOf({ fields, ...draft }: Draft): Record<string, unknown> {
  return {
    ...draft,
    fields: fields.map(({ name }) => name),
    labels: fields.map(({ label }) => label),
    required: fields.flatMap(({ name, required }) => (required === 1 ? [name] : [])),
  };
}

/** The texts of a field that is sent several times. */
function listed({ body }: FastifyRequest, name: string): string[] {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string');
  return [];
}
