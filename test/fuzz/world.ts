/** An account with records in every state an operation asks for, and the value each parameter needs to find them. */
import { createAccount, createKeys } from '../../src/database/accounts.ts';
import { buildWorld } from '../contract/world.ts';
import { type Caller, callerWith, type TestApp } from '../helper.ts';
import type { Operation } from './operations.ts';

/** Ids and utrs by what they identify. */
export type Records = Record<string, readonly string[]>;

export interface Account {
  caller: Caller;
  records: Records;
}

const MOST_TURNS = 30;

/** What the application is started with: sends stay running for a while. */
export const SETTINGS = { SEND_RATE: '1' };

/** A new account beside those there are, filled through the interface. */
export async function newAccount(app: TestApp, name: string): Promise<Account> {
  const { publicKey, secretKey } = createKeys(app.drizzle, app.clock, createAccount(app.drizzle, app.clock, name));
  const caller = callerWith(app.fastify, '/api', { PublicKey: publicKey, SecretKey: secretKey });
  const world = await buildWorld(caller);
  const ask = async (method: string, path: string, options = {}) => {
    const { status, text, body } = await caller.call(method, path, options);
    if (status !== 200) throw new Error(`the account cannot be filled: ${method} ${path} answered ${status} ${text}`);
    return body.message;
  };
  const csv = 'first_name,email,country\nZoë,zoe@example.com,Germany\n';
  const upload = { filename: 'people.csv', content: csv };
  await ask('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', world.contactTypes[0]],
      ['file', upload],
    ],
  });
  const { imports } = await ask('GET', '/contacts/imports');
  for (const address of ['gone@example.com', 'angry@example.com'])
    await ask('POST', '/bounces', { form: { address, kind: 'bounce' } });
  const { suppressions } = await ask('GET', '/suppressions/list');
  const send = async (when: Record<string, string>): Promise<string> => {
    const form = {
      template_id: '1',
      template_html: '<p>Hello</p>',
      sender_id: world.senders[0],
      unsubscribe_group_id: world.groups[0],
      single_send_name: 'Mine',
      subject: 'Mine',
      preheader: 'Mine',
      recipient_id: [`contacts_${world.contactTypes[0]}`],
      ...when,
    };
    await ask('POST', '/single/send/create', { form });
    const { singleSends } = await ask('GET', '/single-send/list');
    return singleSends.at(-1).utr;
  };
  const scheduled = await send({ schedule_type: '1', schedule_date: '2030-01-31', schedule_time: '09:30' });
  const now = { schedule_type: '0' };
  const [pausable, paused, cancellable] = [await send(now), await send(now), await send(now)];
  let mails: { id: number }[] = [];
  // A slow relay keeps the sends running; the clock moves on until the account has had mail.
  for (let turn = 0; turn < MOST_TURNS && mails.length === 0; turn++) {
    app.clock.advance(11_000);
    await app.background();
    ({ mails } = await ask('GET', '/outbox/list'));
  }
  await ask('POST', '/single/send/pause', { query: { utr: paused } });
  const { user: _user, ...pairs } = world;
  const idsOf = (list: { id: number }[]) => list.map(({ id }) => String(id));
  return {
    caller,
    records: {
      ...pairs,
      imports: idsOf(imports),
      suppressions: idsOf(suppressions),
      mails: idsOf(mails),
      scheduled: [scheduled],
      pausable: [pausable],
      paused: [paused],
      cancellable: [cancellable],
    },
  };
}

/** Which records `utr`, `id` and `strIds` mean, by the end of the path; the first that fits. */
const NAMED_BY_PATH: [RegExp, string][] = [
  [/design-links\/revoke$/, 'schedules'],
  [/schedule\/delete$/, 'schedules'],
  [/automations\/pause$/, 'liveAutomations'],
  [/\/automations/, 'automations'],
  [/send\/update$/, 'scheduled'],
  [/send\/pause$/, 'pausable'],
  [/send\/resume$/, 'paused'],
  [/send\/cancel$/, 'cancellable'],
  [/\/single/, 'singleSends'],
  [/global-unsubscribes/, 'unsubscribers'],
  [/unsubscribes-groups\/recipients/, 'recipients'],
  [/unsubscribes-groups/, 'groups'],
  [/contacts-type/, 'contactTypes'],
  [/contacts\/imports/, 'imports'],
  [/\/contacts/, 'contacts'],
  [/custom-fields/, 'customFields'],
  [/suppressions/, 'suppressions'],
  [/outbox/, 'mails'],
];

const NAMED: Record<string, string> = {
  contact_id: 'contacts',
  contact_type_id: 'contactTypes',
  groupId: 'groups',
  segment_id: 'segments',
  segment_recipient_id: 'segmentRecipients',
  sender_id: 'senders',
  unsubscribe_group_id: 'groups',
  unsubscribe_groups_id: 'groups',
};

const UNIQUE = new Set(['email', 'field_name']);
let unique = 0;

/** A value with which the operation can succeed: a record of the account (another one for DELETE), or the document's example. */
export function goodValue({ method, path }: Operation, name: string, example: unknown, records: Records): unknown {
  const pick = (kind: string): string => records[kind]?.at(method === 'DELETE' ? -1 : 0) ?? '';
  if (name === 'recipient_id') return [`contacts_${pick('contactTypes')}`];
  if (name === 'automation_for') return `contacts_${pick('contactTypes')}`;
  if (name === 'exclude_specific_recipient_id') return [`segments_${pick('segments')}`];
  // An earlier operation's example has unsubscribed the address that the document shows.
  if (name === 'email_address' && path.endsWith('/send/test')) return 'tester@example.net';
  if (UNIQUE.has(name)) return `${unique++}${String(example)}`.replace(/^(\d+)(.*_.*)$/, '$2_$1');
  const kind = NAMED[name] ?? NAMED_BY_PATH.find(([end]) => end.test(path))?.[1] ?? '';
  if (name === 'strIds') return [pick(kind)];
  if (name === 'id' || name === 'utr') return pick(kind);
  if (!(name in NAMED)) return example;
  return typeof example === 'number' ? Number(pick(kind)) : pick(kind);
}
