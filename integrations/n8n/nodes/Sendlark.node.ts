/** Adds and changes contacts, asks for subscriptions, records events, sends transactional mail and lists campaigns. */
import type {
  IExecuteFunctions,
  IHttpRequestOptions,
  INodeExecutionData,
  INodeProperties,
  INodeTypeDescription,
  Json,
} from '../n8n.ts';

/** The number of contacts that one request takes. */
const MAX_CONTACTS = 1000;
const MAX_CAMPAIGNS = 100;
const CREDENTIALS = 'sendlarkApi';

type Operation = 'upsert' | 'subscribe' | 'event' | 'send' | 'campaigns';
type Field = Partial<INodeProperties> & Pick<INodeProperties, 'displayName' | 'name'>;

const show = (...operation: Operation[]) => ({ displayOptions: { show: { operation } } });
const text = (field: Field): INodeProperties => ({ type: 'string', default: '', ...field });
const id = (field: Field): INodeProperties => ({ type: 'number', default: 0, typeOptions: { minValue: 0 }, ...field });

const PROPERTIES: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    default: 'upsert',
    options: [
      { name: 'Add or Change a Contact', value: 'upsert', action: 'Add or change a contact' },
      {
        name: 'Ask for a Subscription',
        value: 'subscribe',
        action: 'Ask for a subscription with confirmation by mail',
      },
      { name: 'List Campaigns', value: 'campaigns', action: 'List campaigns' },
      { name: 'Record an Event', value: 'event', action: 'Record an event of a contact' },
      { name: 'Send a Transactional Mail', value: 'send', action: 'Send a transactional mail' },
    ],
  },
  text({
    displayName: 'E-Mail',
    name: 'email',
    required: true,
    placeholder: 'zoe@example.com',
    ...show('upsert', 'subscribe', 'event', 'send'),
  }),
  id({ displayName: 'List', name: 'list', required: true, description: 'The number of the list', ...show('upsert') }),
  id({
    displayName: 'Form',
    name: 'form',
    required: true,
    description: 'The number of the form whose mail asks for the confirmation',
    ...show('subscribe'),
  }),
  text({ displayName: 'Event', name: 'name', required: true, placeholder: 'purchase', ...show('event') }),
  text({
    displayName: 'Key',
    name: 'key',
    description:
      'Your own ID, such as that of the order: what has a key is recorded or sent once, however often this runs',
    ...show('event', 'send'),
  }),
  id({
    displayName: 'List for New Contacts',
    name: 'newTo',
    description: 'The number of the list that an unknown contact is added to; 0: their event is not recorded',
    ...show('event'),
  }),
  id({
    displayName: 'Sender',
    name: 'sender',
    required: true,
    description: 'The number of the sender',
    ...show('send'),
  }),
  text({ displayName: 'Subject', name: 'subject', required: true, ...show('send') }),
  text({ displayName: 'Text', name: 'text', typeOptions: { rows: 5 }, ...show('send') }),
  {
    displayName: 'Further Fields',
    name: 'more',
    type: 'json',
    default: '{}',
    description: 'What else the API takes for this operation, such as {"first_name": "Zoë"}',
    ...show('upsert', 'subscribe', 'event', 'send'),
  },
  id({
    displayName: 'Limit',
    name: 'limit',
    default: 50,
    typeOptions: { minValue: 1 },
    description: 'Max number of results to return',
    ...show('campaigns'),
  }),
];

export class Sendlark {
  description: INodeTypeDescription = {
    displayName: 'Sendlark',
    name: 'sendlark',
    icon: 'fa:paper-plane',
    group: ['transform'],
    version: 1,
    subtitle: '={{$parameter["operation"]}}',
    description: 'Contacts, events, transactional mail and campaigns of a Sendlark installation',
    defaults: { name: 'Sendlark' },
    inputs: ['main'],
    outputs: ['main'],
    credentials: [{ name: CREDENTIALS, required: true }],
    properties: PROPERTIES,
  };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const count = this.getInputData().length;
    const results: INodeExecutionData[] = [];
    for (let item = 0; item < count; ) {
      const contacts = contactsFrom(this, item, count);
      results.push(...(contacts > 0 ? await upsert(this, item, contacts) : await orError(this, item, perform)));
      item += Math.max(contacts, 1);
    }
    return [results];
  }
}

/** Returns how many items from this one on are contacts of the same list, at most as many as one request takes. */
function contactsFrom(context: IExecuteFunctions, first: number, count: number): number {
  const listOf = (item: number) =>
    context.getNodeParameter('operation', item) === 'upsert' ? context.getNodeParameter('list', item) : null;
  const list = listOf(first);
  let item = first;
  while (item < Math.min(first + MAX_CONTACTS, count) && list !== null && listOf(item) === list) item++;
  return item - first;
}

/** Performs an operation for one item. */
async function perform(context: IExecuteFunctions, item: number): Promise<Json[]> {
  const given = (name: string) => context.getNodeParameter(name, item, '');
  const key = String(given('key'));
  switch (given('operation')) {
    case 'subscribe': {
      const body = { ...furtherFields(context, item), email: given('email'), form_id: given('form') };
      return [await ask(context, { method: 'POST', url: '/contacts/subscribe', body })];
    }
    case 'event': {
      const event = {
        ...furtherFields(context, item),
        email: given('email'),
        name: given('name'),
        ...(key && { key }),
      };
      const list = Number(given('newTo'));
      const body = { events: [event], ...(list > 0 && { contact_type_id: list }) };
      return [await ask(context, { method: 'POST', url: '/events', body })];
    }
    case 'send': {
      const plain = given('text');
      const mail = { email: given('email'), sender_id: given('sender'), subject: given('subject') };
      const body = { ...furtherFields(context, item), ...mail, ...(plain !== '' && { text: plain }) };
      const headers = key === '' ? {} : { 'Idempotency-Key': key };
      return [await ask(context, { method: 'POST', url: '/transactional/send', body, headers })];
    }
    default:
      return listCampaigns(context, Number(given('limit')));
  }
}

/** Reads the newest campaigns, page by page. */
async function listCampaigns(context: IExecuteFunctions, limit: number): Promise<Json[]> {
  const found: Json[] = [];
  let before: number | null = null;
  do {
    const qs = { limit: Math.min(limit - found.length, MAX_CAMPAIGNS), ...(before !== null && { before_id: before }) };
    const page: Json = await ask(context, { method: 'GET', url: '/single-send/summaries', qs });
    if (Array.isArray(page.summaries)) found.push(...page.summaries);
    before = typeof page.next_before_id === 'number' ? page.next_before_id : null;
  } while (before !== null && found.length < limit);
  return found;
}

/** Adds or changes the contacts of some items in one request. Each item gets its own outcome. */
async function upsert(context: IExecuteFunctions, first: number, count: number): Promise<INodeExecutionData[]> {
  const items = Array.from({ length: count }, (_, at) => first + at);
  const outcomes = await orError(context, first, async () => {
    const contacts = items.map((item) => ({
      ...furtherFields(context, item),
      email: context.getNodeParameter('email', item),
    }));
    const body = { contact_type_id: context.getNodeParameter('list', first), contacts };
    const answer = await ask(context, { method: 'POST', url: '/contacts/upsert', body });
    return Array.isArray(answer.contacts) ? answer.contacts : [];
  });
  // An error of the request is the outcome of each item.
  const results = items.map((item, at) => ({ json: (outcomes[at] ?? outcomes[0])?.json ?? {}, pairedItem: { item } }));
  const failed = results.find(({ json }) => json.outcome === 'failed');
  if (failed !== undefined && !context.continueOnFail())
    throw new Error(`Item ${failed.pairedItem.item}: ${JSON.stringify(failed.json.errors)}`);
  return results;
}

/** Runs something for an item. Gives its error as the result if the node is to go on after errors. */
async function orError(
  context: IExecuteFunctions,
  item: number,
  run: (context: IExecuteFunctions, item: number) => Promise<Json[]>,
): Promise<INodeExecutionData[]> {
  try {
    return (await run(context, item)).map((json) => ({ json, pairedItem: { item } }));
  } catch (error) {
    if (!context.continueOnFail()) throw error;
    return [{ json: { error: error instanceof Error ? error.message : String(error) }, pairedItem: { item } }];
  }
}

/** Returns the further fields of an item, which are JSON or, from an expression, an object. */
function furtherFields(context: IExecuteFunctions, item: number): Json {
  const given = context.getNodeParameter('more', item, {});
  const fields: unknown = typeof given === 'string' ? JSON.parse(given || '{}') : given;
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw new Error(`Item ${item}: the further fields must be a JSON object`);
  return { ...fields };
}

/** Asks the API with the key pair of the credentials, and returns the message of the answer. n8n throws if it is no success. */
async function ask(
  context: IExecuteFunctions,
  { url, ...options }: Omit<IHttpRequestOptions, 'baseURL' | 'json' | 'disableFollowRedirect'>,
): Promise<Json> {
  const credentials = await context.getCredentials(CREDENTIALS);
  const baseURL = `${String(credentials.url).replace(/\/+$/, '')}/api`;
  // The keys go to no other address.
  const request = { ...options, baseURL, url, json: true, disableFollowRedirect: true } as const;
  const answer = await context.helpers.httpRequestWithAuthentication.call(context, CREDENTIALS, request);
  return Object(Object(answer).message);
}
