/** The records of the interface, field by field. */
import {
  address,
  date,
  digits,
  exactly,
  id,
  integer,
  list,
  map,
  moment,
  nothing,
  nullable,
  oneOf,
  record,
  string,
  time,
  timestamp,
  utr,
  zeroOrOne,
} from './shapes.ts';

const stamps = { created_at: timestamp, updated_at: timestamp };
/** A record that can be seen is not deleted. */
const softStamps = { deleted_at: nothing, ...stamps };

/** An entry of the global list is one without a group. */
export const unsubscriber = record({
  id,
  user_id: id,
  unsubscribe_groups_id: nothing,
  email_address: string,
  ...stamps,
});

export const groupRecipient = record({
  id,
  user_id: id,
  unsubscribe_groups_id: id,
  email_address: string,
  ...stamps,
});

const groupFields = {
  id,
  user_id: id,
  rand_id: digits,
  group_name: string,
  description: string,
  is_display: zeroOrOne,
  ...stamps,
};
export const group = record(groupFields);
export const listedGroup = record({ ...groupFields, unsubscribe_clients_count: integer });

export const segment = record({
  id,
  user_id: id,
  contact_type_id: id,
  segment_name: string,
  select_field: list(string),
  select_operator: list(string),
  value: list(string),
  query_type: nullable(oneOf('and', 'or')),
  ...softStamps,
  segment_emails_count: integer,
});

export const segmentRecipient = record({
  id,
  user_id: id,
  segment_id: id,
  contact_id: nullable(id),
  first_name: string,
  last_name: string,
  email: string,
  country: nullable(string),
  state: nullable(string),
  city: nullable(string),
  address_line1: nullable(string),
  ...stamps,
  fullname: string,
});

const contactTypeFields = { id, user_id: id, name: string, ...softStamps };
export const contactType = record(contactTypeFields);
export const listedContactType = record({ ...contactTypeFields, contacts_count: integer });

const contactFields = {
  id,
  user_id: id,
  contact_type_id: id,
  first_name: string,
  last_name: string,
  email: string,
  alt_email: nullable(string),
  state: string,
  city: string,
  address_line1: string,
  address_line2: string,
  state_province_region: string,
  postal_code: string,
  custom_field: nullable(map(/^[A-Za-z0-9_]+$/, record({ field_name: string, field_value: nullable(string) }))),
  ...softStamps,
  fullname: string,
};
/** The details give the country as the numeric id in text, the list its name. */
export const contact = record({ ...contactFields, country: digits });
export const listedContact = record({ ...contactFields, country: string, contact_type: contactType });

const RESERVED_NAMES = [
  'first_name',
  'last_name',
  'email',
  'alt_email',
  'country',
  'state',
  'city',
  'address_line1',
  'address_line2',
  'state_province_region',
  'postal_code',
];
export const reservedFields = exactly(
  RESERVED_NAMES.map((field_name, index) => ({
    id: index + 1,
    user_id: null,
    field_name,
    field_type: 'text',
    is_reserved: 1,
    created_at: null,
    updated_at: null,
  })),
);
export const customField = record({
  id,
  user_id: id,
  field_name: string,
  field_type: oneOf('text', 'number', 'datetime-local'),
  is_reserved: exactly(0),
  ...stamps,
});

/** The header of the sample CSV begins with the reserved fields. */
export const SAMPLE_HEADER = RESERVED_NAMES;

export const DYNAMIC_NAMES = [
  'first_name',
  'last_name',
  'email',
  'alt_email',
  'country',
  'state',
  'city',
  'address_line1',
  'address_line2',
  'state_province_region',
  'postal_code',
  'full_name',
  'father_name',
  'designation',
  'age',
  'company_name',
  'birth_date',
  'join_date',
  'sender_name',
  'sender_address',
  'unsubscribe_preferences',
];

export const designTemplate = record({
  id,
  template_name: string,
  preview_image: string,
  json_code: string,
  html_code: string,
  is_blank: zeroOrOne,
  created_at: nullable(timestamp),
  updated_at: nullable(timestamp),
});

const targets = list(record({ id: digits, table: oneOf('contacts', 'segments') }));
export const singleSend = record({
  id,
  user_id: id,
  template_id: id,
  recipient_id: targets,
  exclude_specific_recipient_id: targets,
  sender_id: id,
  unsubscribe_group_id: id,
  single_send_name: string,
  from_sender: string,
  reply_to: string,
  sender_name: nullable(string),
  sender_address: nullable(string),
  subject: string,
  preheader: string,
  schedule_type: zeroOrOne,
  schedule_date: date,
  schedule_time: time,
  status: oneOf(0, 1, 2, 3),
  utr,
  template_json: nullable(string),
  template_html: nullable(string),
  triggered: integer,
  delivered: integer,
  unique_opens: integer,
  total_opens: integer,
  bounces: integer,
  unsubscribes: integer,
  unique_open_token: map(/^\d+$/, string),
  sent_at: moment,
  ...stamps,
});

const automationFields = {
  id,
  user_id: id,
  automation_for: integer,
  automation_for_table: oneOf('contacts', 'segments', ''),
  automation_name: string,
  exit_criteria: zeroOrOne,
  unsubscribe_group_id: digits,
  automation_type: oneOf(1, 2),
  utr,
  status: zeroOrOne,
  live_at: nullable(moment),
  total_triggered: integer,
  total_delivered: integer,
  total_unique_opens: integer,
  total_opens: integer,
  total_bounces: integer,
  total_unsubscribe: integer,
  ...softStamps,
};
export const automation = record(automationFields);
export const listedAutomation = record({ ...automationFields, automation_schedule_count: integer });

export const automationSchedule = record({
  id,
  user_id: id,
  automation_id: id,
  sender_id: id,
  subject: string,
  waiting_period: integer,
  waiting_type: oneOf('instantly', 'days', 'hours'),
  utr,
  template_id: id,
  preview_img: string,
  template_json: string,
  template_html: string,
  ...stamps,
  design_url: address,
  image: address,
});

export const sender = record({
  id,
  user_id: id,
  from_name: string,
  from_email: string,
  reply_to_email: string,
  country_id: id,
  state_id: integer,
  city_id: integer,
  zip_code: string,
  company_address: string,
  company_address2: string,
  nickname: string,
  is_verified: zeroOrOne,
  utr,
  send_at: moment,
  ...softStamps,
});

export const country = record({ id, name: string, iso2: string });
export const state = record({ id, country_id: id, name: string, code: string });
export const city = record({ id, country_id: id, state_id: nullable(id), name: string });
