/** The draft of a form: the content of the builder before it is saved, and what the owner can choose from. */
import type { FastifyRequest } from 'fastify';
import { listContactTypes } from '../../audience/contact-types/operations.ts';
import { listOwnFields, listReservedFields } from '../../audience/fields/operations.ts';
import { listSegments } from '../../audience/segments/operations.ts';
import { readTracking } from '../../audience/tracking/operations.ts';
import { listGroups } from '../../audience/unsubscribed/groups.ts';
import { languageOfLocale, PAGE_LANGUAGES } from '../../languages.ts';
import type { UncheckedInput } from '../../operations/perform.ts';
import { listSenders } from '../../senders/operations/senders.ts';
import { ask } from '../../ui/operations.ts';
import { field, fieldList } from '../../ui/submitted.ts';
import type { Form, saveForm } from '../operations/forms.ts';
import { TEXT_NAMES } from '../texts.ts';

/** The records of the account from which the owner of a form can choose. */
export type Choices = Awaited<ReturnType<typeof readChoices>>;

/** The texts and URLs of a form. */
const TEXTS = [...TEXT_NAMES, 'intro', 'privacy_url', 'redirect_url'] as const;

/** The content of the builder: the stored form with the owner's changes. */
export interface Draft
  extends Pick<Form, (typeof TEXTS)[number] | 'name' | 'language' | 'is_active' | 'asks_tracking' | 'fields'> {
  contact_type_id: string;
  sender_id: string;
  segment_id: string;
  group_ids: string[];
}

/** The reserved fields that a form cannot have as further fields. */
const EXCLUDED_FIELDS = new Set(['email', 'alt_email', 'country']);

/** Reads what the owner of a form can choose from. */
export async function readChoices(request: FastifyRequest) {
  const [types, senders, segments, groups, { reservedFields }, ownFields, { tracking }] = await Promise.all([
    ask(request, listContactTypes, {}),
    ask(request, listSenders, {}),
    ask(request, listSegments, {}),
    ask(request, listGroups, {}),
    ask(request, listReservedFields, {}),
    ask(request, listOwnFields, {}),
    ask(request, readTracking, {}),
  ]);
  const fields = [...reservedFields, ...ownFields].map((field) => field.field_name);
  return {
    types,
    senders,
    segments,
    groups,
    /** The names of the fields that a form can have. */
    fields: fields.filter((name) => !EXCLUDED_FIELDS.has(name)),
    /** True if the account records opens and clicks by consent. */
    isByConsent: tracking.mode === 'consent',
  };
}

/** Returns a stored form as a draft. */
export function draftOf(form: Form): Draft {
  return {
    ...form,
    contact_type_id: String(form.contact_type_id),
    sender_id: String(form.sender_id),
    segment_id: String(form.segment_id ?? ''),
    group_ids: form.group_ids.map(String),
  };
}

/** Returns the draft that was submitted. */
export function typedDraft(request: FastifyRequest): Draft {
  const value = (name: string) => field(request, name);
  const names = fieldList(request, 'field');
  const choices = fieldList(request, 'ask');
  const labels = fieldList(request, 'label');
  const fields = names.flatMap((name, index): Draft['fields'] => {
    const choice = choices[index] ?? '';
    return choice === '' ? [] : [{ name, label: labels[index] ?? '', required: choice === 'required' ? 1 : 0 }];
  });
  const texts = Object.fromEntries(TEXTS.map((name) => [name, value(name).replaceAll('\r\n', '\n')]));
  return {
    ...(texts as Record<(typeof TEXTS)[number], string>),
    name: value('name'),
    contact_type_id: value('contact_type_id'),
    sender_id: value('sender_id'),
    segment_id: value('segment_id'),
    language: languageOfLocale(value('language'), PAGE_LANGUAGES) ?? 'en',
    is_active: value('is_active') === '1' ? 1 : 0,
    asks_tracking: value('asks_tracking') === '1' ? 1 : 0,
    fields,
    group_ids: fieldList(request, 'group'),
  };
}

/** Returns a draft as the input of the operation that saves the form. */
export function draftInput({ fields, ...draft }: Draft): UncheckedInput<typeof saveForm.input> {
  return {
    ...draft,
    fields: fields.map(({ name }) => name),
    labels: fields.map(({ label }) => label),
    required: fields.flatMap(({ name, required }) => (required === 1 ? [name] : [])),
  };
}
