/**
 * The types of events that endpoints can ask for. A new type needs an entry here and a trigger in drizzle/triggers.sql. Only
 * `contact.event` has no trigger.
 */
import Type, { type TProperties, type TSchema } from 'typebox';
import { consentLog, HELD_CODES, SUNSET_ACTIONS } from '../../database/schema/index.ts';
import { choice, described, integer, nullable } from '../../http/requests/schemas.ts';
import { TEST_EVENT } from '../log.ts';

const text = (description?: string) => Type.String({ ...(description && { description }) });

const ErasedContact = {
  title: 'ErasedContact',
  ...Type.Object({
    contact_id: integer(),
    contact_type_id: integer(),
    email: described(Type.Null(), 'Null, because the contact was deleted permanently.'),
    erased: described(Type.Literal(true), 'The contact was deleted permanently.'),
  }),
};
/** The data of an event about a contact; ErasedContact if the person was erased before the event was sent. */
const unlessErased = <T extends TProperties>(fields: T) => Type.Union([Type.Object(fields), ErasedContact]);

const contact = {
  contact_id: integer(),
  contact_type_id: integer(),
  first_name: text(),
  last_name: text(),
  email: text(),
  alt_email: nullable(text(), 'A second e-mail address; null if the contact has none.'),
  country_id: nullable(integer(), 'Id of the country in the reference data; null if it is unknown.'),
  state: text(),
  city: text(),
  address_line1: text(),
  address_line2: text(),
  state_province_region: text(),
  postal_code: text(),
  language: text('The language, as an ISO 639-1 code; empty if it is unknown.'),
  custom_field: Type.Record(Type.String(), Type.String(), { description: 'Values of custom fields by name.' }),
};
const consent = Type.Object({
  email: text(),
  unsubscribe_groups_id: nullable(integer()),
  source: described(
    choice(...consentLog.source.enumValues),
    'Where the choice was made: in the API, on a page, in a form, by a complaint and so on.',
  ),
  mailing_id: nullable(integer(), 'Id of the mailing whose e-mail led to the choice; null for other choices.'),
});
const mail = Type.Object({
  email: text(),
  contact_id: nullable(integer()),
  delivery_id: nullable(integer(), 'Id of this recipient’s e-mail; null for transactional e-mail.'),
  mailing_id: nullable(integer(), 'Id of the mailing; null for transactional e-mail.'),
  single_send_utr: nullable(text(), 'The campaign (single send); null for other e-mail.'),
  automation_utr: nullable(text(), 'The automation; null for other e-mail.'),
  transactional_utr: Type.Optional(text('The transactional e-mail; absent for other e-mail.')),
  by: nullable(choice('person', 'proxied', 'machine'), 'Who opened the e-mail or clicked; null for other events.'),
  url: nullable(text(), 'The link that was clicked; null for other events.'),
  reply: nullable(text(), 'What the SMTP server answered, or what the bounce says; null for other events.'),
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
  action: described(choice(...SUNSET_ACTIONS), 'What the account does with inactive contacts: docs/sunset.md.'),
};

/**
 * The event types in the order of the webhook form, with their groups, their names in the dashboard's languages, and the schemas of
 * their `data`. Triggers write these data; src/delivery/queue/ledger/ledger.ts writes those of hand-offs. test/webhooks/ checks both
 * against the schemas.
 */
export const EVENTS = [
  {
    type: 'contact.created',
    group: 'people',
    en: 'A contact was added',
    de: 'Ein Kontakt wurde hinzugefügt',
    data: Type.Object(contact),
  },
  {
    type: 'contact.updated',
    group: 'people',
    en: 'A contact was changed',
    de: 'Ein Kontakt wurde geändert',
    data: unlessErased({
      ...contact,
      previous_email: nullable(text(), 'The address before the change; null if the address did not change.'),
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
    data: Type.Object({ ...inactive, inactive_since: text('When the contact last opened, clicked or joined, UTC.') }),
  },
  {
    type: 'contact.active',
    group: 'people',
    en: 'An inactive contact is active again',
    de: 'Ein inaktiver Kontakt ist wieder aktiv',
    data: Type.Object({ ...inactive, by: described(choice('person', 'owner'), 'Who made the contact active again.') }),
  },
  {
    type: 'contact.event',
    group: 'people',
    en: 'An event of a contact was recorded',
    de: 'Ein Ereignis eines Kontakts wurde erfasst',
    data: Type.Object({
      email: text(),
      name: text('What happened, such as purchase.'),
      key: nullable(text(), 'The key with which the event was reported; null if it was reported without a key.'),
      happened_at: Type.String({ format: 'date-time', description: 'When the event happened, UTC.' }),
      value: nullable(Type.Number(), 'A number, such as the total of an order.'),
      currency: nullable(text(), 'The currency of `value`, in three letters; null if it was not reported.'),
      properties: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
        description: 'Further values that were reported, by name.',
      }),
    }),
  },
  {
    type: 'contact_type.deleted',
    group: 'people',
    en: 'A list was deleted',
    de: 'Eine Liste wurde gelöscht',
    data: Type.Object({
      contact_type_id: integer(),
      name: text(),
      contacts_count: integer({
        description: 'How many contacts were deleted with the list. No event is sent for each of them.',
      }),
    }),
  },
  {
    type: 'mail.accepted',
    group: 'mails',
    en: 'An e-mail was accepted by the SMTP server',
    de: 'Der SMTP-Server hat eine Mail angenommen',
    data: mail,
  },
  { type: 'mail.bounced', group: 'mails', en: 'An e-mail bounced', de: 'Eine Mail kam als Bounce zurück', data: mail },
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
    data: Type.Object(send),
  },
  {
    type: 'send.completed',
    group: 'sends',
    en: 'A campaign was completed',
    de: 'Eine Kampagne wurde abgeschlossen',
    data: Type.Object({
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
    de: 'Eine Kampagne oder Automation wurde automatisch pausiert: bitte prüfen',
    data: Type.Object({
      single_send_utr: nullable(text(), 'The campaign (single send); null for an automation.'),
      single_send_name: nullable(text()),
      subject: nullable(text()),
      automation_utr: nullable(text(), 'The automation; null for a campaign.'),
      code: described(choice(...HELD_CODES), 'The code of the reason.'),
      reason: text('The reason, as a sentence.'),
    }),
  },
  {
    type: 'automation.entered',
    group: 'sends',
    en: 'A contact entered an automation',
    de: 'Ein Kontakt wurde in eine Automation aufgenommen',
    data: Type.Object(enrolment),
  },
  {
    type: 'automation.left',
    group: 'sends',
    en: 'A contact exited an automation',
    de: 'Ein Kontakt ist aus einer Automation ausgestiegen',
    data: Type.Object({
      ...enrolment,
      finished: Type.Boolean({ description: 'True if the contact got the last e-mail.' }),
      reason: nullable(text(), 'Why the contact exited; null if they completed the automation.'),
    }),
  },
  {
    type: 'automation.step',
    group: 'sends',
    en: 'A contact came to a webhook step of an automation',
    de: 'Ein Kontakt kam zu einem Webhook-Schritt einer Automation',
    data: Type.Object({
      automation_utr: text('The automation.'),
      automation_name: text(),
      step_utr: text('The step.'),
      note: text('The note of the step; empty if it has none.'),
      run: integer({ description: 'How often the contact has entered the automation: 1 at the first entry.' }),
      ...contact,
    }),
  },
] as const;
export const WEBHOOK_EVENTS = EVENTS.map(({ type }) => type);

/** All events that are sent to webhooks: the type, what happened, and the schema of the `data`. */
export const SENT_EVENTS: readonly { type: string; summary: string; data: TSchema }[] = [
  ...EVENTS.map(({ type, en: summary, data }) => ({ type, summary, data })),
  {
    type: TEST_EVENT,
    summary: 'A test that was asked for',
    data: Type.Object({
      endpoint_id: integer({ description: 'Id of the webhook.' }),
      note: text('What the owner noted about the webhook.'),
    }),
  },
];
