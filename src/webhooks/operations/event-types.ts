/** The types of events that endpoints can ask for. A new type is an entry here and, except for `contact.event`, a trigger in drizzle/triggers.sql. */
import Type, { type TProperties, type TSchema } from 'typebox';
import { consentLog, HELD_CODES, SUNSET_ACTIONS } from '../../database/schema/index.ts';
import { choice, described, integer, nullable } from '../../http/requests/schemas.ts';
import { TEST_EVENT } from '../log.ts';

const text = (description?: string) => Type.String({ ...(description && { description }) });
const data = <T extends TProperties>(fields: T) => Type.Object(fields);

const ErasedContact = {
  title: 'ErasedContact',
  ...data({
    contact_id: integer(),
    contact_type_id: integer(),
    email: described(Type.Null(), 'Null, because the person was erased.'),
    erased: described(Type.Literal(true), 'The person was erased.'),
  }),
};
/** What an event about a contact has, unless the person was erased before it was sent. */
const unlessErased = <T extends TProperties>(fields: T) => Type.Union([data(fields), ErasedContact]);

const contact = {
  contact_id: integer(),
  contact_type_id: integer(),
  first_name: text(),
  last_name: text(),
  email: text(),
  alt_email: nullable(text(), 'A second e-mail address; null if the contact has none.'),
  country_id: nullable(integer(), 'Id of the country in the reference data; null for none.'),
  state: text(),
  city: text(),
  address_line1: text(),
  address_line2: text(),
  state_province_region: text(),
  postal_code: text(),
  language: text('The language, as an ISO 639-1 code; empty when it is unknown.'),
  custom_field: Type.Record(Type.String(), Type.String(), { description: 'Values of custom fields by name.' }),
};
const consent = data({
  email: text(),
  unsubscribe_groups_id: nullable(integer()),
  source: described(choice(...consentLog.source.enumValues), 'How: the API, a page, a form, a complaint and so on.'),
  mailing_id: nullable(integer(), 'Id of the mailing in whose e-mail they chose it; null where it was no mail.'),
});
const mail = data({
  email: text(),
  contact_id: nullable(integer()),
  delivery_id: nullable(integer(), 'Id of this recipient’s e-mail; null of transactional e-mail.'),
  mailing_id: nullable(integer(), 'Id of the mailing; null of transactional e-mail.'),
  single_send_utr: nullable(text(), 'The campaign (single send); null of other e-mail.'),
  automation_utr: nullable(text(), 'The automation; null of other e-mail.'),
  transactional_utr: Type.Optional(text('The transactional e-mail; absent of other e-mail.')),
  by: nullable(choice('person', 'proxied', 'machine'), 'Who opened or clicked it; null for other events.'),
  url: nullable(text(), 'The link that was clicked; null of other events.'),
  reply: nullable(text(), 'What the SMTP server answered, or the bounce says; null of other events.'),
});
const send = { single_send_utr: text('The campaign (single send).'), single_send_name: text(), subject: text() };
const enrolment = {
  automation_utr: text('The automation.'),
  automation_name: text(),
  email: text(),
  contact_id: nullable(integer()),
};
const inactive = {
  email: text(),
  action: described(choice(...SUNSET_ACTIONS), 'What is done with inactive contacts: docs/sunset.md.'),
};

/**
 * The event types in the order of the webhook form, with their groups and texts, and what the `data` of an event has. The triggers write it, and
 * of mails of a hand-off src/delivery/queue/ledger/ledger.ts; test/webhooks/ holds both to these schemas.
 */
export const EVENTS = [
  {
    type: 'contact.created',
    group: 'people',
    en: 'A contact was added',
    de: 'Ein Kontakt wurde hinzugefügt',
    data: data(contact),
  },
  {
    type: 'contact.updated',
    group: 'people',
    en: 'A contact was changed',
    de: 'Ein Kontakt wurde geändert',
    data: unlessErased({
      ...contact,
      previous_email: nullable(text(), 'The address before; null where it is the same.'),
    }),
  },
  {
    type: 'contact.deleted',
    group: 'people',
    en: 'A contact was deleted',
    de: 'Ein Kontakt wurde gelöscht',
    data: unlessErased({ contact_id: integer(), contact_type_id: integer(), email: text() }),
  },
  {
    type: 'contact.unsubscribed',
    group: 'people',
    en: 'A contact unsubscribed',
    de: 'Ein Kontakt hat sich abgemeldet',
    data: consent,
  },
  {
    type: 'contact.resubscribed',
    group: 'people',
    en: 'A contact resubscribed',
    de: 'Ein Kontakt hat sich wieder angemeldet',
    data: consent,
  },
  {
    type: 'contact.inactive',
    group: 'people',
    en: 'A contact became inactive',
    de: 'Ein Kontakt wurde inaktiv',
    data: data({ ...inactive, inactive_since: text('When they last opened, clicked or joined, UTC.') }),
  },
  {
    type: 'contact.active',
    group: 'people',
    en: 'An inactive contact is active again',
    de: 'Ein inaktiver Kontakt ist wieder aktiv',
    data: data({ ...inactive, by: described(choice('person', 'owner'), 'Who made them active again.') }),
  },
  {
    type: 'contact.event',
    group: 'people',
    en: 'An event of a contact was recorded',
    de: 'Ein Ereignis eines Kontakts wurde erfasst',
    data: data({
      email: text(),
      name: text('What happened, such as purchase.'),
      key: nullable(text(), 'The key with which it was reported; null if it was reported without a key.'),
      happened_at: Type.String({ format: 'date-time', description: 'When it happened, UTC.' }),
      value: nullable(Type.Number(), 'A number, such as the total of an order.'),
      currency: nullable(text(), 'Of the value, in three letters.'),
      properties: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
        description: 'What else was reported, by name.',
      }),
    }),
  },
  {
    type: 'contact_type.deleted',
    group: 'people',
    en: 'A list was deleted',
    de: 'Eine Liste wurde gelöscht',
    data: data({
      contact_type_id: integer(),
      name: text(),
      contacts_count: integer({ description: 'How many contacts were deleted with it, without an event for each.' }),
    }),
  },
  {
    type: 'mail.accepted',
    group: 'mails',
    en: 'An e-mail was accepted by the SMTP server',
    de: 'Der SMTP-Server hat eine Mail angenommen',
    data: mail,
  },
  { type: 'mail.bounced', group: 'mails', en: 'An e-mail bounced', de: 'Eine Mail war ein Bounce', data: mail },
  {
    type: 'mail.complained',
    group: 'mails',
    en: 'An e-mail was reported as spam',
    de: 'Eine Mail wurde als Spam gemeldet',
    data: mail,
  },
  { type: 'mail.opened', group: 'mails', en: 'An e-mail was opened', de: 'Eine Mail wurde geöffnet', data: mail },
  { type: 'mail.clicked', group: 'mails', en: 'A link was clicked', de: 'Ein Link wurde angeklickt', data: mail },
  {
    type: 'send.started',
    group: 'sends',
    en: 'A campaign started',
    de: 'Eine Kampagne hat begonnen',
    data: data(send),
  },
  {
    type: 'send.completed',
    group: 'sends',
    en: 'A campaign was completed',
    de: 'Eine Kampagne wurde abgeschlossen',
    data: data({
      ...send,
      triggered: integer(),
      delivered: integer(),
      bounces: integer(),
      failed: integer({ description: 'Recipients whose e-mail could not be handed over.' }),
      suppressed: integer({ description: 'Recipients who were skipped.' }),
      cancelled: integer({ description: 'Recipients whose e-mail was cancelled.' }),
    }),
  },
  {
    type: 'send.held',
    group: 'sends',
    en: 'A campaign or automation paused: needs attention',
    de: 'Eine Kampagne oder Automation pausiert: bitte prüfen',
    data: data({
      single_send_utr: nullable(text(), 'The campaign (single send); null of an automation.'),
      single_send_name: nullable(text()),
      subject: nullable(text()),
      automation_utr: nullable(text(), 'The automation; null of a campaign.'),
      code: described(choice(...HELD_CODES), 'Why, for programs.'),
      reason: text(),
    }),
  },
  {
    type: 'automation.entered',
    group: 'sends',
    en: 'A contact entered an automation',
    de: 'Ein Kontakt kam in eine Automation',
    data: data(enrolment),
  },
  {
    type: 'automation.left',
    group: 'sends',
    en: 'A contact exited an automation',
    de: 'Ein Kontakt ist aus einer Automation ausgestiegen',
    data: data({
      ...enrolment,
      finished: Type.Boolean({ description: 'True after the last e-mail.' }),
      reason: nullable(text(), 'Why the contact exited; null if they completed the automation.'),
    }),
  },
  {
    type: 'automation.step',
    group: 'sends',
    en: 'A contact came to a webhook step of an automation',
    de: 'Ein Kontakt kam zu einem Webhook-Schritt einer Automation',
    data: data({
      automation_utr: text('The automation.'),
      automation_name: text(),
      step_utr: text('The step.'),
      note: text('The note of the step; empty without one.'),
      run: integer({ description: 'Which of the entries of the contact it is, from 1.' }),
      ...contact,
    }),
  },
] as const;
export const WEBHOOK_EVENTS = EVENTS.map(({ type }) => type);

/** Everything that is sent to webhooks: its type, what happened, and the schema of its `data`. */
export const SENT_EVENTS: readonly { type: string; summary: string; data: TSchema }[] = [
  ...EVENTS.map(({ type, en: summary, data }) => ({ type, summary, data })),
  {
    type: TEST_EVENT,
    summary: 'A test that was asked for',
    data: data({
      endpoint_id: integer({ description: 'Id of the webhook.' }),
      note: text('What the owner noted about the webhook.'),
    }),
  },
];
