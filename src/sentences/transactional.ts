/** The sentences on transactional mail, with their codes; part of those in sentences.ts. */

export const TRANSACTIONAL_SENTENCES = {
  key_used: 'This Idempotency-Key was used for another request',
  key_wrong: 'The Idempotency-Key has 1 to 255 printable ASCII characters.',
  transactional_waiting:
    'Too many transactional mails of the account wait to be sent, or they are too large together: try again later',
  transactional_no_relay:
    'Campaigns leave from sender nodes, but transactional mail leaves from the service itself, which has no relay',
  values_missing: 'The data has no value for {names}.',
  no_campaign_values: 'A transactional mail has no preference page and no web copy: take {names} out of it.',
  mail_too_large:
    'The mail is too large with these values: its bodies may take {size} MiB, its subject 998 characters.',
  data_names: 'Names have letters, digits and underscores, at most 255 of them.',
  data_many: 'There may be {count} values.',
  attachments_many: 'There may be {count} attachments.',
  attachments_large: 'The attachments may take {size} MiB together.',
  attachment_name_long: 'The name of attachment {number} may have {most} characters.',
  attachment_not_base64: 'The content of attachment {number} is not base64 without line breaks.',
} as const;
