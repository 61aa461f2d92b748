/** Example values for the OpenAPI document, by parameter name. All describe the same small business. */

const EXAMPLES: Record<string, unknown> = {
  address: 'zoe@example.com',
  address_line1: '4 Linden St',
  address_line2: 'Back door',
  after: '1042 zoe@example.com',
  after_id: 0,
  alt_email: 'zoe.mueller@example.org',
  automation_for: 'contacts_1',
  automation_name: 'Welcome series',
  before: '3f2b8c1e-5a74-4d0c-9f5e-2f6f5f2b7c11',
  caps: ['1/1', '3/7'],
  city: 'Munich',
  city_id: 0,
  closes: '18:00',
  company_address: '1 Harbour St',
  company_address2: 'First floor',
  contact_id: '1',
  contact_type_id: 1,
  country: 1,
  country_id: 1,
  custom_field: { company_name: 'Lark Books' },
  days: ['1', '2', '3', '4', '5'],
  description: 'News once a month',
  diagnostic: '550 5.1.1 No such user',
  domain: 'example.com',
  email: 'zoe@example.com',
  email_address: 'zoe@example.com, ann@example.org',
  event_id: '1',
  events: ['contact.created', 'contact.unsubscribed'],
  exclude_specific_recipient_id: ['contacts_2'],
  field: 'city',
  field_name: 'company_name',
  field_type: 'text',
  fields: ['city'],
  file: 'first_name,last_name,email,country\nZoë,Müller,zoe@example.com,Germany\n',
  first_name: 'Zoë',
  from_email: 'hello@example.com',
  from_name: 'Lark Books',
  group_name: 'Newsletter',
  groupId: '1',
  growth: 50,
  host: 'smtp.example.com',
  hours: 24,
  id: '1',
  'idempotency-key': 'order-1042',
  is_display: 1,
  is_enabled: 1,
  language: 'en',
  last_name: 'Müller',
  limit: 100,
  mails: ['3f2b8c1e-5a74-4d0c-9f5e-2f6f5f2b7c11'],
  mapping: ['first_name', 'email', ''],
  name: 'Customers',
  nickname: 'Shop',
  note: 'Customer database',
  opens: '09:00',
  operator: 'is',
  port: 587,
  postal_code: '80331',
  preheader: 'Twelve new titles',
  preheaders: ['For long evenings'],
  preview_img: 'welcome.png',
  public_url: 'https://mail.example.com',
  query_type: 'and',
  recipient_id: ['contacts_1'],
  relay_id: 0,
  reply_to_email: 'hello@example.com',
  role: 'editor',
  schedule_date: '2030-01-31',
  schedule_time: '09:30',
  schedule_type: 0,
  scopes: ['contacts'],
  search: 'zoe',
  security: 'starttls',
  segment_id: 1,
  segment_name: 'Readers in Munich',
  segment_recipient_id: '1',
  select_field: ['city'],
  select_operator: ['is'],
  sender_id: 1,
  sender_names: ['Ann of Lark Books'],
  share: 20,
  single_send_name: 'Autumn list',
  slug: 'lark-books',
  starts_on: '2026-03-01',
  state: 'Bavaria',
  state_id: 0,
  state_province_region: 'Upper Bavaria',
  strIds: ['1', '2'],
  subject: 'Autumn books for ((first_name|you))',
  subjects: ['New books for autumn'],
  template_html: '<p>Dear ((first_name|reader)), <a href="((unsubscribe_preferences))">leave</a></p>',
  template_id: 2,
  template_ids: [''],
  template_json: '{"tagName":"mjml","children":[]}',
  text: 'Your parcel is on its way.',
  unsubscribe_group_id: 1,
  unsubscribe_groups_id: 1,
  until_volume: 5000,
  upload_id: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  url: 'https://hooks.example.com/sendlark',
  username: 'shop',
  utr: '3f2b8c1e-5a74-4d0c-9f5e-2f6f5f2b7c11',
  value: ['Munich'],
  variant: 1,
  volume: 50,
  waiting_period: 1,
  waiting_type: 'days',
  zip_code: '20457',
};

/** Texts that occur only in responses. */
const ANSWERS: Record<string, string> = {
  actor: 'ann@example.org',
  design_url: 'http://127.0.0.1:3000/design/…',
  envelope_from: 'hello@example.com',
  envelope_to: 'zoe@example.com',
  errors: 'Deleted Successfully',
  from: 'Lark Books <hello@example.com>',
  fullname: 'Zoë Müller',
  hour: '2026-01-15 09:00:00',
  image: 'http://127.0.0.1:3000/images/templates/welcome.png',
  link: 'http://127.0.0.1:3000/welcome#…',
  live_at: '2026-01-15 09:00:00',
  message: 'Saved Successfully',
  preview_image: 'welcome.png',
  public_key: 'pk_…',
  rand_id: '4815162342',
  reply: '250 2.0.0 Ok',
  secret_key: 'sk_…',
  send_at: '2026-01-15 09:00:00',
  sent_at: '2026-01-15 09:00:00',
  to: 'Zoë Müller <zoe@example.com>',
  url: 'https://example.com/autumn',
  user_agent: 'Mozilla/5.0',
  web_copy: 'http://127.0.0.1:3000/w/…',
};

/** Parameters that an example body has although no schema requires them, because the request would make no sense without them. */
const ALSO_IN_BODIES = new Set(['strIds', 'text', 'value']);

/** Returns the example of this name; undefined if there is none. Names such as `single_send_utr` have the example of `utr`. */
function knownExample(name: string): unknown {
  return EXAMPLES[name] ?? (name.endsWith('_utr') ? EXAMPLES.utr : undefined);
}

/** Returns an example value for a parameter with this name and schema. */
export function exampleValue(
  name: string,
  { enum: choices, type, items }: { enum?: unknown[]; type?: unknown; items?: { type?: unknown } },
): unknown {
  const example = knownExample(name);
  if (Array.isArray(example) && items?.type === 'integer') return example.map(Number);
  const value = type === 'string' && typeof example === 'number' ? String(example) : example;
  if (type === 'integer' && typeof value === 'string') return Number(value);
  if (value !== undefined && (choices === undefined || choices.includes(value))) return value;
  return choices?.[0] ?? (type === 'integer' ? 1 : 'text');
}

/** Returns an example body with a value for each required parameter, and for those that state an example. */
export function exampleBody(schema: Record<string, unknown>): Record<string, unknown> {
  const properties: Record<string, object> = Object(schema.properties);
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const entries = Object.entries(properties)
    .filter(([name, property]) => required.includes(name) || ALSO_IN_BODIES.has(name) || 'examples' in property)
    .map(([name, property]) => [name, ownExample(property) ?? exampleValue(name, property)]);
  return Object.fromEntries(entries);
}

/** Returns the example in a parameter's own schema, which differs from that of other parameters of this name; undefined if the schema has none. */
function ownExample(property: object): unknown {
  return 'examples' in property && Array.isArray(property.examples) ? property.examples[0] : undefined;
}

/** Returns an example value that fits the schema of a response field. */
export function exampleForSchema(name: string, schema: Record<string, unknown>): unknown {
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.anyOf)) return exampleForSchema(name, Object(schema.anyOf[0]));
  if (Array.isArray(schema.enum)) return schema.enum.includes(EXAMPLES[name]) ? EXAMPLES[name] : schema.enum[0];
  if (schema.type === 'array') return [exampleForSchema(name, Object(schema.items))];
  if (schema.type === 'object') {
    const properties = Object.entries(Object(schema.properties) as Record<string, Record<string, unknown>>);
    return Object.fromEntries(properties.map(([field, property]) => [field, exampleForSchema(field, property)]));
  }
  if (schema.type === 'integer') return typeof EXAMPLES[name] === 'number' ? EXAMPLES[name] : 1;
  if (schema.type === 'number') return 0.2;
  if (schema.type === 'null') return null;
  if (schema.type === 'boolean') return true;
  if (schema.pattern !== undefined || schema.format === 'date-time') return '2026-01-15T09:00:00.000000Z';
  return exampleText(knownExample(name) ?? ANSWERS[name]);
}

function exampleText(value: unknown): string {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' || typeof first === 'number' ? String(first) : 'text';
}
