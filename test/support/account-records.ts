/** Fills an account with two records of every kind, made as a client makes them. */
import type { Caller, CallOptions } from './app.ts';

/** Two records of each kind: the first as full as can be, the second as bare as can be. */
export type Pair = readonly [string, string];

/** The kinds of record an account has. Single sends, automations and schedules are named by utr, the others by id. */
export type Fixture =
  | 'unsubscribers'
  | 'groups'
  | 'recipients'
  | 'segments'
  | 'segmentRecipients'
  | 'contactTypes'
  | 'contacts'
  | 'customFields'
  | 'singleSends'
  | 'automations'
  | 'liveAutomations'
  | 'schedules'
  | 'senders';

/** The records of one account, from which requests are made. */
export interface World extends Record<Fixture, Pair> {
  /** The `user_id` of every record of the account. */
  user: number;
  /** E-mail addresses of `contacts`. */
  emails: Pair;
  /** Names of `customFields`. */
  customNames: Pair;
  /** The numeric ids of `singleSends` and `automations`. */
  singleSendIds: Pair;
  automationIds: Pair;
}

const HTML = '<p>Hello ((first_name|there)), <a href="((unsubscribe_preferences))">leave</a></p>';

/** The records of one account. */
export async function buildWorld(caller: Caller): Promise<World> {
  const post = (path: string, form: Record<string, unknown>) => ask(caller, 'POST', path, { form });
  const pair = (path: string, key: string, name: string, query = {}) => listed(caller, path, query, key, name);

  await post('/custom-fields/save', { field_name: 'loyalty_number', field_type: 'number' });
  await post('/custom-fields/save', { field_name: 'nick', field_type: 'text' });
  const customFields = await pair('/custom-fields', 'customFields', 'id');
  const customNames = await pair('/custom-fields', 'customFields', 'field_name');

  await post('/contacts-type/add', { name: 'Customers' });
  await post('/contacts-type/add', { name: 'Friends' });
  const contactTypes = await pair('/contacts-type', 'contactTypes', 'id');
  const contactTypeId = contactTypes[0];

  await post('/contacts/add', {
    contact_type_id: contactTypeId,
    first_name: 'Ann',
    last_name: 'Able',
    email: 'Ann@People.example',
    alt_email: 'ann@home.example',
    country: '1',
    state: 'State',
    city: 'City',
    address_line1: 'Road 1',
    address_line2: 'Door 2',
    state_province_region: 'Region',
    postal_code: '0001',
    'custom_field[loyalty_number]': '7',
  });
  await post('/contacts/add', { contact_type_id: contactTypeId, email: 'bob@people.example', country: '1' });
  const contacts = await pair('/contacts/list', 'contacts', 'id');
  const emails = await pair('/contacts/list', 'contacts', 'email');

  await post('/unsubscribes-groups/save', { group_name: 'News', description: 'All that is new', is_display: '1' });
  await post('/unsubscribes-groups/save', { group_name: 'Hidden', description: '-', is_display: '0' });
  const groups = await pair('/unsubscribes-groups', 'unsubscribesGroups', 'id');
  await post('/unsubscribes-groups/manually-add', {
    unsubscribe_groups_id: groups[0],
    email_address: 'one@leaver.example, two@leaver.example',
  });
  const recipients = await pair('/unsubscribes-groups/recipients-list', 'recipients', 'id', { groupId: groups[0] });
  await post('/global-unsubscribes/save', { email_address: 'three@leaver.example, four@leaver.example' });
  const unsubscribers = await pair('/global-unsubscribes', 'unSubscribers', 'id');

  const sender = {
    from_name: 'Lark',
    from_email: 'lark@lark.example',
    reply_to_email: 'answers@lark.example',
    country_id: '1',
    company_address: 'Lane 1',
    nickname: 'lark',
  };
  await post('/sender/save', { ...sender, state_id: '1', city_id: '1', zip_code: '0001', company_address2: 'Door 2' });
  await post('/sender/save', sender);
  const senders = await pair('/senders', 'senders', 'id');

  const send = {
    template_id: '1',
    sender_id: senders[0],
    unsubscribe_group_id: groups[0],
    single_send_name: 'Winter',
    subject: 'Winter is here',
    preheader: 'Stay warm',
    recipient_id: [`contacts_${contactTypeId}`],
    schedule_type: '0',
  };
  const exclude = [`contacts_${contactTypes[1]}`];
  await post('/single/send/create', { ...send, template_html: HTML, exclude_specific_recipient_id: exclude });
  await post('/single/send/create', send);

  return {
    user: Number((await pair('/contacts-type', 'contactTypes', 'user_id'))[0]),
    customFields,
    customNames,
    contactTypes,
    contacts,
    emails,
    groups,
    recipients,
    unsubscribers,
    senders,
    singleSends: await pair('/single-send/list', 'singleSends', 'utr'),
    singleSendIds: await pair('/single-send/list', 'singleSends', 'id'),
    ...(await addSegments(caller, contactTypeId)),
    ...(await addAutomations(caller, { contactTypeId, groupId: groups[0], senderId: senders[0] })),
  };
}

/** Two segments; the recipients of the first are one by rule and one by hand. */
async function addSegments(
  caller: Caller,
  contact_type_id: string,
): Promise<Pick<World, 'segments' | 'segmentRecipients'>> {
  const byName = { select_field: ['first_name'], select_operator: ['is'], value: ['Ann'] };
  const byTime = { select_field: ['created_at'], select_operator: ['is between'], value: ['2020-01-01', '2021-01-01'] };
  const post = (path: string, form: Record<string, unknown>) => ask(caller, 'POST', path, { form });
  await post('/segment/store', { segment_name: 'Anns', contact_type_id, ...byName, query_type: 'and' });
  await post('/segment/store', { segment_name: 'Old', contact_type_id, ...byTime });
  const segments = await listed(caller, '/segment/list', {}, 'segments', 'id');
  const guest = { first_name: 'Guy', last_name: 'Guest', email: 'guy@guest.example' };
  await post('/segment/email/store', { segment_id: segments[0], ...guest });
  const query = { segment_id: segments[0] };
  return { segments, segmentRecipients: await listed(caller, '/segment/email/list', query, 'contactEmails', 'id') };
}

/** Two drafts, the first with two mails and ready to go live, the second bare; one that is live. */
async function addAutomations(
  caller: Caller,
  { contactTypeId, groupId, senderId }: { contactTypeId: string; groupId: string; senderId: string },
): Promise<Pick<World, 'automations' | 'automationIds' | 'liveAutomations' | 'schedules'>> {
  const complete = { automation_for: `contacts_${contactTypeId}`, unsubscribe_group_id: groupId };
  const create = async (form: Record<string, string>): Promise<string> => {
    const body = { type: 'custom', automation_name: 'Course', ...form };
    return (await ask(caller, 'POST', '/automations/create', { form: body })).utr;
  };
  const ready = await create(complete);
  await addSchedule(caller, ready, senderId);
  await addSchedule(caller, ready, senderId);
  const bare = await create({ unsubscribe_group_id: '0' });
  const live = await create({ ...complete, type: 'welcome' });
  await addSchedule(caller, live, senderId);
  await ask(caller, 'GET', '/automations/set-live', { query: { utr: live } });
  return {
    automations: [ready, bare],
    automationIds: await listed(caller, '/automations', {}, 'automations', 'id'),
    // One is enough: going live compiles the mails, which takes its time.
    liveAutomations: [live, live],
    schedules: await listed(caller, '/automations/schedule', { utr: ready }, 'automation_schedules', 'utr'),
  };
}

/** Adds a mail with content to an automation. */
export async function addSchedule(caller: Caller, utr: string, senderId: string): Promise<void> {
  await ask(caller, 'POST', '/automations/schedule/create', {
    form: {
      utr,
      sender_id: senderId,
      subject: 'Lesson',
      waiting_period: '1',
      waiting_type: 'days',
      template_id: '1',
      preview_img: 'blank.png',
      template_html: HTML,
    },
  });
}

/** The `message` of a call that must succeed. */
async function ask(caller: Caller, method: string, path: string, options: CallOptions) {
  const { status, text, body } = await caller.call(method, path, options);
  if (status !== 200) throw new Error(`the world cannot be built: ${method} ${path} answered ${status} ${text}`);
  return body.message;
}

/** One field of the first two records of a list, as text. */
async function listed(
  caller: Caller,
  path: string,
  query: Record<string, string>,
  key: string,
  field: string,
): Promise<Pair> {
  const message = await ask(caller, 'GET', path, { query });
  const [first, second] = message[key];
  return [String(first[field]), String(second[field])];
}
