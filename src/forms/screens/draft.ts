/** A form that is being edited, and its choices. */

import type { FastifyRequest } from 'fastify';
import { listContactTypes } from '../../audience/contact-types/operations.ts';
import { listOwnFields, listReservedFields } from '../../audience/fields/operations.ts';
import { listSegments } from '../../audience/segments/operations.ts';
import { readTracking } from '../../audience/tracking/operations.ts';
import { listGroups } from '../../audience/unsubscribed/groups.ts';
import { languageOfLocale, PAGE_LANGUAGES } from '../../languages.ts';
import type { Given } from '../../operations/perform.ts';
import { listSenders } from '../../senders/operations/senders.ts';
import { ask } from '../../ui/operations.ts';
import { field, fieldList } from '../../ui/submitted.ts';
import type { Form, saveForm } from '../operations/forms.ts';
import { TEXT_NAMES } from '../texts.ts';

/** The choices of a form. */
export type Choices = Awaited<ReturnType<typeof readChoices>>;

/** The texts and URLs of a form. */
const TEXTS = [...TEXT_NAMES, 'intro', 'privacy_url', 'redirect_url'] as const;

/** The content of the builder: the stored form with the changes since. */
export interface Draft
  extends Pick<Form, (typeof TEXTS)[number] | 'name' | 'language' | 'is_active' | 'asks_tracking' | 'fields'> {
  contact_type_id: string;
  sender_id: string;
  segment_id: string;
  group_ids: string[];
}

/** Fields of a contact that a form cannot have. */
const NOT_ASKED = new Set(['email', 'alt_email', 'country']);

/** Reads the account's choices for forms. */
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
  const fields = [...reservedFields, ...ownFields].map((known) => known.field_name);
  return {
    types,
    senders,
    segments,
    groups,
    /** The names of the fields that a form can have. */
    fields: fields.filter((name) => !NOT_ASKED.has(name)),
    /** True if the account records opens and clicks by consent. */
    isByConsent: tracking.mode === 'consent',
  };
}

/** Returns a stored form as the builder has it. */
export function draftOf(form: Form): Draft {
  return {
    ...form,
    contact_type_id: String(form.contact_type_id),
    sender_id: String(form.sender_id),
    segment_id: String(form.segment_id ?? ''),
    group_ids: form.group_ids.map(String),
  };
}

/** Returns the submitted content of the builder. */
export function typedDraft(request: FastifyRequest): Draft {
  const typed = (name: string) => field(request, name);
  const [names, asked, labels] = [fieldList(request, 'field'), fieldList(request, 'ask'), fieldList(request, 'label')];
  const fields = names.flatMap((name, at): Draft['fields'] => {
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
    language: languageOfLocale(typed('language'), PAGE_LANGUAGES) ?? 'en',
    is_active: typed('is_active') === '1' ? 1 : 0,
    asks_tracking: typed('asks_tracking') === '1' ? 1 : 0,
    fields,
    group_ids: fieldList(request, 'group'),
  };
}

/** Returns a draft as input for saving the form. */
export function givenBy({ fields, ...draft }: Draft): Given<typeof saveForm.input> {
  return {
    ...draft,
    fields: fields.map(({ name }) => name),
    labels: fields.map(({ label }) => label),
    required: fields.flatMap(({ name, required }) => (required === 1 ? [name] : [])),
  };
}
