/**
 * The sentences with which the service explains why it refused something, or what it found, each with a code. The API returns them in
 * English; programs compare codes, and the dashboard shows each sentence in the user's language.
 */

import { CHECK_SENTENCES } from './sentences/checks.ts';
import { FEATURE_SENTENCES } from './sentences/features.ts';
import { REFUSAL_SENTENCES } from './sentences/refusals.ts';
import { RELAY_SENTENCES } from './sentences/relays.ts';

/** The sentences by code. `{name}` stands for a value. A sentence in lower case follows “because” or a colon. */
export const SENTENCES = {
  // Why a contact gets no mail, or no more mail.
  unsubscribed_all: 'unsubscribed from all mail',
  unsubscribed_group: 'unsubscribed from this group',
  excluded: 'excluded from this send',
  suppressed_bounce: 'suppressed after an earlier bounce',
  suppressed_complaint: 'suppressed after an earlier complaint',
  suppression_bounce: 'bounce: {diagnostic}',
  suppression_complaint: 'complaint: {diagnostic}',
  inactive: 'inactive for long',
  left_target: 'left the target',
  exit_step: 'reached an exit step',
  goal_reached: 'reached the goal',
  exit_rule: 'joined the segment of the exit rule',
  held_out: 'in the control group',
  removed_from_segment: 'removed from the segment',
  contact_deleted: 'the contact was deleted',
  readdressed: 'the address was changed',
  mailing_cancelled: 'the mailing was cancelled',
  automation_not_live: 'the automation is not live',
  joined_outside_live: 'joined before the automation went live, or while it was paused',
  replay_was_in: 'is or was in the automation, and may not enter again',
  awaits_event: 'the event that starts the automation has not happened since it went live',
  awaits_trigger: 'the trigger has not let this contact in since the automation went live',
  not_in_target: 'not in the target',
  over_cap_day: 'frequency cap reached: {mails} e-mails on one day',
  over_cap: 'frequency cap reached: {mails} e-mails in {days} days',
  waits_for_cap: 'waits until the frequency cap allows another e-mail',
  no_test_sent:
    'No test was sent, because these addresses get no mail: {who}. Remove the reason, or test with other addresses.',

  // Why a mail was returned or not delivered.
  cause_address: 'The address does not exist.',
  cause_domain: 'The domain does not exist or takes no mail.',
  cause_syntax: 'The receiving server considers the address invalid.',
  cause_disabled: 'The mailbox is disabled.',
  cause_full: 'The mailbox is full.',
  cause_busy: 'The receiving server takes no more mail for now.',
  cause_size: 'The e-mail is too large for the receiving server.',
  cause_content: 'The receiving server does not take this kind of content.',
  cause_sender: 'The receiving server does not accept the sender address.',
  cause_policy:
    'The receiving server refuses the e-mail by its rules: because of reputation, authentication or content.',
  cause_policy_for_now:
    'The receiving server holds the e-mail back by its rules: because of reputation or rate, or to see a second attempt.',
  cause_route: 'The receiving server could not be reached.',
  cause_expired: 'The e-mail could not be delivered in time.',
  cause_system: 'The receiving server has a problem of its own.',
  cause_other: 'The receiving server refused the e-mail.',
  cause_other_for_now: 'The receiving server asks for a later try.',
  returned: '{cause}: {reply}',
  complaint: 'Complaint: {kind}',
  given_up: 'Given up after 4 days: {reply}',
  not_built: 'The e-mail could not be built',
  merged_too_large: 'With the values of this contact the e-mail is larger than {size} MB',
  merged_subject_too_long: 'With the values of this contact the subject is longer than {count} characters',
  other_replies: 'Other replies',
  kept_in_outbox: '250 kept in the outbox',

  // Why a campaign, a mailing or all sending is held.
  held_and: '{reason}; {more}',
  held_cancelled: 'Cancelled before it ran',
  held_copy: 'A copy: update it to queue it',
  held_no_audience:
    'Nobody to send to: the audience is empty, or everybody in it is unsubscribed, suppressed or excluded',
  held_sender_deleted: 'The sender was deleted',
  held_sender_unverified: 'The sender is not verified yet',
  held_mails_sender_deleted: 'The sender of an e-mail of the automation was deleted',
  held_not_prepared: 'The mailing could not be prepared: {problem}',
  held_not_launched: 'The campaign could not be started: {problem}',
  held_stopped: 'The automation stopped: {problem}',
  held_missed_time: 'The scheduled time was missed by {minutes} minutes: {cause}',
  missed_held: 'sending was held',
  missed_stopped: 'the service was not running',
  missed_unverified: 'the sender was not verified',
  held_mail: 'The e-mail "{subject}" cannot be sent: {problem}',
  held_by_relay: 'The SMTP server refuses mail: {reply}',
  held_by_refusal:
    'The SMTP server refuses mail because of the sender or this machine, not because of the recipient, who is back in the queue: {reply}',
  held_by_refusals:
    'The SMTP server refuses mail because of the sender or this machine, not because of the recipients. {count} recipients in a row are back in the queue: {reply}',
  held_errors_found: 'The check found errors in the e-mail: {errors}',
  // Only in rows of earlier releases.
  held_check_failed: 'The check found errors in the e-mail: {codes}',
  found_in_variant: 'in variant {name}: {error}',
  found_in_version: 'in the version in the language {language}: {error}',
  found_more: 'further errors: {count}',
  found_no_unsubscribe: 'there is no unsubscribe link',
  found_no_address: 'the postal address is missing',
  found_bad_links: 'links lead nowhere, or to an address that recipients cannot reach: {names}',
  found_foreign_tags: 'placeholders of other services are sent as they are: {names}',
  found_no_one_click: 'one-click unsubscribe (RFC 8058) is missing or wrong: {names}',
  found_freemail: 'mail from an address at {names} fails DMARC, so mail providers refuse it or file it as spam',
  found_bad_headers: 'these headers have to be there exactly once: {names}',
  held_too_many_bounces:
    'Of the first {results} e-mails, {bounces} bounced. More than 5% is a sign that addresses are old or invented, and harms the reputation of the sender.',
  held_too_many_refusals:
    'Of the first {results} e-mails, {failed} were refused for good. More than 5% is a sign that receivers do not trust the sender or the content.',
  held_too_many_complaints:
    'Of the first {results} e-mails, {complaints} were reported as spam. More than 0.1% is a sign that recipients do not know why they get the e-mail.',
  held_canary_unclear:
    'The first batch went to {size} contacts, and only {results} e-mails were accepted or refused for good. The servers of the other contacts put the e-mail off.',
  held_type_deleted: 'A contact type it names was deleted',
  held_own_type_deleted: 'Its contact type was deleted',
  held_segment_deleted: 'A segment it names was deleted',
  held_own_segment_deleted: 'Its segment was deleted',
  held_type_of_segment_deleted: 'The contact type of a segment it names was deleted',
  held_type_of_own_segment_deleted: "Its segment's contact type was deleted",
  held_rule_field_deleted: 'A rule of the segment "{segment}" names the custom field {field}, which was deleted',
  held_rule_field_changed:
    'A rule of the segment "{segment}" does not suit the custom field {field}, which is of type {type} now',
  held_restored: 'Restored from a backup, which does not show who got mail after it was made',
  held_clock:
    'The clock of this machine is {days} days ahead of when the service last ran: nothing is sent until you resume sending or set the clock right',
  held_settings: 'The public address is not set, so unsubscribe links would lead to this machine only',
  mail_sender_deleted: 'its sender was deleted',
  mail_sender_unverified: 'its sender is not verified yet',
  mail_sender_address: 'its sender has no valid address',
  content_none: 'The e-mail has no content: the blank template needs template code',
  content_broken: 'The content has an error: {problem}',

  // Errors of a field.
  field_required: 'The {field} field is required.',
  field_selected: 'The selected {field} is invalid.',
  field_gone: 'The selected {field} is invalid.',
  field_email: 'The {field} must be a valid email address.',
  field_integer: 'The {field} must be an integer.',
  field_number: 'The {field} must be a number, such as 1234.56.',
  field_date: 'The {field} must be a date, such as 1990-12-31.',
  field_yearly_date: 'The {field} must be a month and a day, such as 12-24.',
  field_string: 'The {field} must be a string.',
  field_json: 'Send the {field} as JSON: a form cannot contain nested objects.',
  field_array: 'The {field} must be an array.',
  field_minimum: 'The {field} must be at least {count} characters.',
  field_maximum: 'The {field} may not be greater than {count} characters.',
  field_least: 'The {field} must be at least {count}.',
  field_most: 'The {field} may not be greater than {count}.',
  field_items: 'The {field} may not have more than {count} items.',
  field_taken: 'The {field} has already been taken.',
  field_erased: 'The {field} belongs to a person who was erased, and is not accepted again.',
  fields_most: 'An account may not have more than {count} custom fields.',
  event_names_most: 'An account may not have more than {count} names of events and properties.',
  field_one_line: 'The {field} may not contain line breaks or control characters.',
  local_time_canary:
    'A campaign in each contact’s own time zone cannot start with a first batch: the rest would wait past their time.',
  local_time_ab:
    'A campaign in each contact’s own time zone cannot have an A/B test: the groups could not be compared.',
  best_hour_canary:
    'A campaign at each contact’s best hour cannot start with a first batch: the rest would wait past their hour.',
  best_hour_ab: 'A campaign at each contact’s best hour cannot have an A/B test: the groups could not be compared.',
  best_hour_local: 'A campaign is sent either in each contact’s own time zone or at their best hour.',
  schedule_date_wrong: 'The schedule date is not a valid date.',
  schedule_time_wrong: 'The schedule time is not a valid time.',
  schedule_past: 'The schedule date must be in the future.',
  local_time_schedule: 'Sending in each contact’s own time zone needs a day and a time.',
  window_days: 'Weekdays are given as 1 (Monday) to 7 (Sunday).',
  window_hours: 'Give two times of a day such as 09:00 and 18:00, the second after the first.',
  cap_wrong: '"{given}" is no limit: give e-mails/days, such as 3/7, with up to {mails} e-mails and {days} days.',
  file_no_rows: 'The file has no valid row.',
  file_not_csv: 'The file must be a file of type: csv.',
  file_too_large: 'The file may not be greater than {count} bytes.',
  file_empty: 'The file is empty.',
  file_zip: 'The file is a ZIP archive or an Excel workbook (.xlsx), not a CSV file.',
  file_zip_empty: 'The file is an empty ZIP archive, not a CSV file.',
  file_gzip: 'The file is a gzip archive, not a CSV file.',
  file_xls: 'The file is an Excel workbook (.xls), not a CSV file.',
  file_nul: 'The file contains NUL characters: it is not a CSV file, or UTF-16 without a byte order mark.',
  file_separator: 'The line sep= must name one character that is not a letter, digit or quote.',
  file_header_text: 'Text follows a closing quote in the header row.',
  file_header_long: 'The header row does not end within {count} characters.',
  file_quote: 'A quote is opened but never closed.',
  file_row_long: 'The row is longer than {count} characters.',
  file_columns: 'The row has more than {count} columns.',
  file_cell_long: 'A cell is longer than {count} characters.',
  file_cell_unclosed: 'A cell is longer than {count} characters, or a closing quote is missing.',
  row_text: 'Text follows a closing quote.',
  file_line: 'Line {line}: {text}',
  file_windows: 'The file is not valid UTF-8, so it was read as Windows-1252.',
  file_titles: 'Rows above the header row, which were not imported: {count}.',
  file_imported: 'The file has been imported',
  picture_kind: 'The file must be an image: PNG, JPEG, GIF or WebP.',
  picture_svg:
    'The file is an SVG, which most e-mail programs do not show and which can contain scripts. Save it as a PNG.',
  picture_heic:
    'The file is a HEIC or AVIF image, such as the photos of many phones, which most e-mail programs do not show. Save it as a JPEG.',
  picture_cut_off: 'The image is cut off: its end is missing.',
  picture_more: 'The file has other data after the end of the image. Save the image again and upload the new file.',
  picture_damaged: 'The image is damaged.',
  picture_pixels: 'The image has {width} × {height} pixels, which is too large for an e-mail.',
  column_folded: 'Address cells of several lines, joined into one: {count}',
  column_zones:
    'Values of {name} that are not an IANA time zone such as Europe/Berlin: {count} ({values}). For these contacts, campaigns in each contact’s own time zone use country and state.',
  column_unknown: 'Column not known: {name}',
  column_email: 'One column must be the email.',

  // Results of the checks of the installation, and what to do.
  files_private: 'only the owner of the files can read them',
  files_open_one: 'others can read a file with personal data, keys and secrets',
  files_open: 'others can read {count} files with personal data, keys and secrets',
  files_cure: "Make the file private: chmod 600 '{file}'",
  settings_complete: 'complete',
  settings_remarks: 'valid, with warnings',
  settings_address:
    'Set the public address, under Settings › SMTP servers or as PUBLIC_URL; sending is held until then.',
  settings_no_relay: 'There is no SMTP server: mail stays in the test outbox.',
  settings_no_address: 'The public address is not set: links in e-mails lead to this machine only.',
  settings_no_https: 'The public address is not https: one-click unsubscribe (RFC 8058) needs https.',
  settings_no_proxy: 'The public address is https and TRUST_PROXY is off: name the reverse proxy that ends TLS.',
  disk_free: '{size} GB free on the disk of the database',
  disk_cure: 'Make room: with a full disk nothing is sent until there is space again.',
  clock_before_release: '{time}, before this release was made',
  clock_behind: '{time}, a day or more before the service last ran',
  clock_cure: 'Set the clock and keep it right, with systemd-timesyncd or chrony.',
  sending_on: 'not held',
  sending_held: 'held. {reason}',
  sending_cure: 'Resume sending with the button in the dashboard, or with sendlark release.',
  background_running: 'running',
  background_stalled: 'stalled: nothing is sent, and segments are not brought up to date',
  background_cure: 'Read the log, then restart the service. Nothing is lost: what is due is in the database.',
  relay_none: 'none: mail stays in the test outbox',
  relay_none_nodes: 'none here: campaigns are sent by the sender nodes, transactional e-mail is refused',
  relay_none_cure: 'Add an SMTP server under Settings › SMTP servers.',
  relay_well: 'no failure in the last 10 minutes',
  relay_failed: 'failed {when}: {reply}',
  when_seconds: 'less than a minute ago',
  when_minute: 'a minute ago',
  when_minutes: '{count} minutes ago',
  relay_cure: 'Mail waits, and Sendlark tries again by itself. The test under Settings › SMTP servers finds the cause.',

  // Results of the DNS checks of a sender's domain, and what to do.
  dns_silent: 'DNS gives no answer ({code})',
  dns_silent_cure: 'Try again.',
  dns_no_record: 'no record',
  spf_cure: 'or what the provider of your SMTP server tells you.',
  spf_many: '{count} records, so none counts',
  spf_many_cure: 'Join the records into one.',
  spf_open: 'The record allows everybody: end it with ~all or -all.',
  spf_closed: 'The record allows nobody: put {mechanisms} before all.',
  spf_neutral: 'The record says nothing about other servers: end it with ~all or -all.',
  dkim_none: 'no key: Sendlark does not sign this e-mail',
  dkim_none_cure: 'Unless your SMTP server signs: sendlark dkim create {domain}',
  dkim_make: 'sendlark dkim create {domain}',
  dkim_missing: 'no record at {name}',
  dkim_other: 'another key at {name}',
  dkim_next: 'the next key waits for its record at {name}',
  dkim_published: 'published, and the same as here: {names}',
  dmarc_none: 'no record: large mail providers require one',
  dmarc_found: '{record} at {name}',
  dmarc_many: '{count} records at {name}',
  dmarc_many_cure: 'Keep one of the records.',
  dmarc_policy: 'The record needs p=none, quarantine or reject.',
  alignment_dkim: 'DKIM (d={domain})',
  alignment_spf: 'SPF (return path {domain})',
  alignment_both: '{one} and {other}',
  alignment_fails: 'no check that counts for the domain passes: {ways}',
  alignment_fails_cure: 'Fix what is reported about these checks above.',
  alignment_none: 'SPF counts for the return path {domain} only, and Sendlark does not sign',
  alignment_none_strict: 'SPF counts for the return path {domain} only (aspf=s), and Sendlark does not sign',
  alignment_none_cure: 'or make BOUNCE_DOMAIN a subdomain of {domain}.',

  ...CHECK_SENTENCES,
  ...FEATURE_SENTENCES,
  ...REFUSAL_SENTENCES,
  ...RELAY_SENTENCES,

  // The actor and subject of entries of the audit log.
  actor_command_line: 'command line',
  actor_operator: 'operator',
  subject_first_owner: 'first owner',
  subject_codes_left: 'codes left: {count}',
} as const;

export type SentenceCode = keyof typeof SENTENCES;
type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type ValuesOf<Code extends SentenceCode> = Record<NamesIn<(typeof SENTENCES)[Code]>, Value>;
type Values<Code extends SentenceCode> = [NamesIn<(typeof SENTENCES)[Code]>] extends [never] ? [] : [ValuesOf<Code>];
/** The codes of sentences without placeholders. */
export type PlainCode = {
  [Code in SentenceCode]: [NamesIn<(typeof SENTENCES)[Code]>] extends [never] ? Code : never;
}[SentenceCode];

/** Returns true if a text is the code of a sentence. */
export function isSentenceCode(text: string): text is SentenceCode {
  return Object.hasOwn(SENTENCES, text);
}

/** The value of a placeholder: a name, a number, or another sentence. */
export type Value = string | number | Sentence;

/** A message of the service: a code and the values of its placeholders. Converted to a string or JSON, it is the English sentence. */
export class Sentence {
  readonly code: SentenceCode;
  readonly values: Readonly<Record<string, Value>>;

  constructor(code: SentenceCode, values: Readonly<Record<string, Value>>) {
    this.code = code;
    this.values = values;
  }

  toString(): string {
    return fillPlaceholders(SENTENCES[this.code], this.values);
  }

  toJSON(): string {
    return this.toString();
  }
}

/** A sentence of the service, or a text written by others. */
export type Said = string | Sentence;

/** An error with an explanation for the owner. Its message is the explanation in English. */
export class SaidError extends Error {
  readonly said: Said;

  constructor(said: Said, options?: ErrorOptions) {
    super(String(said), options);
    this.said = said;
  }
}

/** The explanation in an error, for display. */
export function saidBy(error: unknown): Said {
  return error instanceof SaidError ? error.said : error instanceof Error ? error.message : String(error);
}

/** The sentence with this code and these values. */
export function sentence<Code extends SentenceCode>(code: Code, ...[values]: Values<Code>): Sentence {
  return new Sentence(code, values ?? {});
}

/** Replaces the placeholders in a text by values; a placeholder without a value is kept. */
export function fillPlaceholders(text: string, values: Readonly<Record<string, Value>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}
