/** Example values for the OpenAPI document, by parameter name: the same small business throughout. */

const EXAMPLES: Record<string, unknown> = {
  address_line1: '4 Linden St',
  automation_for: 'contacts_1',
  automation_name: 'Welcome series',
  city: 'Munich',
  company_address: '1 Harbour St',
  contact_id: '1',
  contact_type_id: 1,
  country: 1,
  country_id: 1,
  description: 'News once a month',
  email: 'zoe@example.com',
  email_address: 'zoe@example.com, ann@example.org',
  exclude_specific_recipient_id: ['contacts_2'],
  field_name: 'company_name',
  field_type: 'text',
  first_name: 'Zoë',
  from_email: 'hello@example.com',
  from_name: 'Lark Books',
  group_name: 'Newsletter',
  id: '1',
  is_display: 1,
  last_name: 'Müller',
  name: 'Customers',
  nickname: 'Shop',
  preheader: 'Twelve new titles',
  preview_img: 'welcome.png',
  query_type: 'and',
  recipient_id: ['contacts_1'],
  reply_to_email: 'hello@example.com',
  schedule_type: 0,
  segment_id: '1',
  segment_name: 'Readers in Munich',
  segment_recipient_id: '1',
  select_field: ['city'],
  select_operator: ['is'],
  sender_id: 1,
  single_send_name: 'Autumn list',
  strIds: ['1', '2'],
  subject: 'Autumn books for ((first_name|you))',
  template_id: 2,
  unsubscribe_group_id: 1,
  unsubscribe_groups_id: 1,
  utr: '3f2b8c1e-5a74-4d0c-9f5e-2f6f5f2b7c11',
  value: ['Munich'],
  waiting_period: 1,
  waiting_type: 'days',
};

/** A body with a value for each required parameter of its schema. */
export function exampleOf(schema: Record<string, unknown>): Record<string, unknown> {
  const properties: Record<string, { enum?: unknown[]; type?: string }> = Object(schema.properties);
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const entries = Object.entries(properties)
    .filter(([name]) => required.includes(name) || name === 'strIds')
    .map(([name, { enum: choices, type }]) => [
      name,
      EXAMPLES[name] ?? choices?.[0] ?? (type === 'integer' ? 1 : 'text'),
    ]);
  return Object.fromEntries(entries);
}
