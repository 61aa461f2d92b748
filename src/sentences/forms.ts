/** The sentences on forms, with their codes; part of those in sentences.ts. */

export const FORM_SENTENCES = {
  forms_many: 'An account can have {count} forms: delete one first',
  form_field_twice: 'A field can be asked for once.',
  form_field_unknown: 'A form cannot ask for this field: {name}',
  form_address: 'Give an address that begins with https:// or http://.',
  form_segment_type: 'The segment is of another contact type than the form.',
  form_consent: 'Agreed to “{text}”. Asked for on {time} UTC from {asker}, confirmed from {confirmer}.',
  request_closed: 'the subscription is confirmed, too old or not asked for any more',

  // Why a form takes no subscriptions.
  form_off: 'It is switched off.',
  form_type_deleted: 'Its contact type was deleted: choose another one.',
  form_sender_deleted: 'Its sender was deleted: choose another one.',
  form_sender_unverified: 'Its sender is not verified yet.',
} as const;
