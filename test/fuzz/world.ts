/** An account with records in every state an operation asks for, and the value each parameter needs to find them. */
import { addKeyPair, createAccount } from '../../src/database/accounts.ts';
import { holdSending } from '../../src/delivery/queue/holds.ts';
import { createSession } from '../../src/users/sessions.ts';
import { buildWorld } from '../support/account-records.ts';
import { type Caller, callerWith, type TestApp } from '../support/app.ts';
import type { Operation } from '../support/openapi-operations.ts';
import { addPerson, callerOf } from '../support/people.ts';
import { GIF, png } from '../support/pictures.ts';
import { NAMED, NAMED_BY_PATH } from './named.ts';
import {
  addAbTest,
  addDomains,
  addFeeds,
  addForms,
  addImport,
  addInactive,
  addIntakes,
  addPasskey,
  addRoleMail,
  addWebhooks,
  BLOCK,
  failAll,
  lookAtTwo,
  sendOne,
} from './prepared.ts';

/** Ids and utrs by what they identify. */
export type Records = Record<string, readonly string[]>;

export interface Account {
  caller: Caller;
  /** An owner of the account who is signed in: some operations are for people, not for keys. */
  person: Caller;
  /** An operator of the installation who is signed in. */
  operator: Caller;
  records: Records;
  /** The number of a name that is unique in the application, the same in each run. */
  nextName(): number;
  /** Makes anew what a request will use up. */
  renew(operation: Operation): Promise<void>;
}

const MAX_TURNS = 30;
/** How many names that are unique in an application were made there. */
const namesMade = new WeakMap<TestApp, number>();

/**
 * What the application is started with: sends stay running for a while, the public address may be saved, returned mail
 * tested, and a feed read on this machine.
 */
export const SETTINGS = {
  SEND_RATE: '1',
  SENDER_VERIFICATION: 'optional',
  PUBLIC_URL: '',
  BOUNCE_DOMAIN: 'returns.example.com',
  BOUNCE_LISTEN: '127.0.0.1:2525',
  WEBHOOK_PRIVATE_ADDRESSES: 'allow',
};

function nextName(app: TestApp): number {
  const nth = namesMade.get(app) ?? 0;
  namesMade.set(app, nth + 1);
  return nth;
}

/** A new account beside those there are, filled through the interface. */
export async function newAccount(app: TestApp, name: string): Promise<Account> {
  const { publicKey, secretKey } = addKeyPair(app.drizzle, app.clock, createAccount(app.drizzle, app.clock, name));
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
  const { contacts } = await ask('GET', '/contacts/list');
  const { imports } = await ask('GET', '/contacts/imports');
  const looked = await lookAtTwo(caller, upload);
  for (const [name, bytes] of [
    ['plain', png(4, 3)],
    ['spare', png(5, 3)],
  ] as const)
    await ask('POST', '/pictures/upload', { multipart: [['file', { filename: `${name}.png`, content: bytes }]] });
  const { pictures } = await ask('GET', '/pictures');
  for (const address of ['gone@example.com', 'angry@example.com'])
    await ask('POST', '/bounces', { form: { address, kind: 'bounce' } });
  const { suppressions } = await ask('GET', '/suppressions/list');
  for (const template_name of ['Plain', 'Spare']) await ask('POST', '/templates/create', { form: { template_name } });
  const { templates } = await ask('GET', '/templates/list');
  for (const block_name of ['Plain', 'Spare'])
    await ask('POST', '/blocks/create', { form: { block_name, json_code: BLOCK } });
  const { blocks } = await ask('GET', '/blocks');
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
  const translated = await send({ schedule_type: '1', schedule_date: '2030-01-31', schedule_time: '09:30' });
  await ask('POST', '/single/send/languages', { form: { utr: translated, language: 'en', subject: 'Hello' } });
  const attached = { utr: translated, name: 'a.txt', content: 'SGVsbG8=' };
  const attachment = await ask('POST', '/single/send/attachments', { form: attached });
  const now = { schedule_type: '0' };
  const startJob = async (contactTypeId: string | undefined, more = {}): Promise<string> => {
    const form = { action: 'move', strIds: [contacts[1].id], to_contact_type_id: contactTypeId, ...more };
    return String((await ask('POST', '/contacts/jobs/start', { form })).job.id);
  };
  await ask('POST', '/single/send/save', { form: { utr: scheduled, template_html: '<p>Hello again</p>' } });
  const { versions } = await ask('GET', '/versions/list', { query: { mail_utr: scheduled } });
  app.db.prepare('UPDATE accounts SET keeps_sent_mails = 1 WHERE id = ?').run(world.user);
  const keptTransactional = await sendOne(caller, world.senders[0]);
  const [failed, completed] = [await send(now), await send(now)];
  const statusOf = async (utr: string) =>
    (await ask('GET', '/single-send/details', { query: { utr } })).singleSend.status;
  // The relay is slow, so that the later sends keep running; the clock moves on until these are done.
  let isDone = false;
  for (let turn = 0; turn < MAX_TURNS && !isDone; turn++) {
    app.clock.advance(11_000);
    await app.background();
    isDone = (await statusOf(failed)) === 3 && (await statusOf(completed)) === 3;
  }
  const { mails } = await ask('GET', '/outbox/list');
  const sentMails = app.db
    .prepare<[number], { id: number }>(
      'SELECT delivery_id AS id FROM sent_mails s JOIN sent_facts f ON f.id = s.facts_id JOIN mailings m ON m.id = f.mailing_id WHERE m.user_id = ?',
    )
    .all(world.user);
  failAll(app, failed);
  // Not beside the campaigns, because it is open which comes first, and one contact is moved away.
  const doneJob = await startJob(world.contactTypes[1]);
  const readyJob = await startJob(world.contactTypes[1], { needs_confirmation: 1 });
  await app.background();
  const [pausable, paused, cancellable] = [await send(now), await send(now), await send(now)];
  app.clock.advance(11_000);
  await app.background();
  await ask('POST', '/single/send/pause', { query: { utr: paused } });
  const owner = addPerson(app, 'owner', { accountId: world.user, email: `owner${nextName(app)}@example.org` });
  const invited: number[] = [];
  for (const email of ['left', 'middle', 'right']) {
    const given = { accountId: world.user, email: `${email}${nextName(app)}@example.org` };
    const { id } = addPerson(app, 'viewer', given);
    invited.push(id);
    createSession(app.drizzle, id, { address: '192.0.2.1', userAgent: 'Test' }, app.clock.now());
  }
  const { sessions } = await ask('GET', '/sessions/list');
  addKeyPair(app.drizzle, app.clock, world.user);
  const { keys } = await ask('GET', '/keys/list');
  const operator = callerOf(app, addPerson(app, 'owner', { email: `operator${nextName(app)}@example.org` }));
  const relay = { name: 'Relay', host: '127.0.0.1', port: 1, security: 'none' };
  const addRelay = async () => (await operator.call('POST', '/relays/save', { form: relay })).body.message.id;
  const waitingJob = await startJob(world.contactTypes[0]);
  const signs = addDomains(app, world.user, nextName(app));
  const backup = await app.fastify.inject({ url: '/api/backups/download', headers: operator.headers });
  const { user: _user, ...pairs } = world;
  const idsOf = (list: { id: number }[]) => list.map(({ id }) => String(id));
  const account: Account = {
    caller,
    person: callerOf(app, owner),
    operator,
    records: {
      passkeys: [addPasskey(app, owner), addPasskey(app, owner)],
      undoable: [addImport(app, world.user, world.contactTypes[0])],
      ...addWebhooks(app, world.user),
      keptTransactional,
      transactional: await sendOne(caller, world.senders[0]),
      inactive: addInactive(app, world.user),
      ...addFeeds(app, world.user, world.contactTypes[0], world.senders[0]),
      forms: addForms(app, world.user, world.contactTypes[0], world.senders[0]),
      ...pairs,
      ...signs,
      contacts: idsOf(contacts),
      imports: idsOf(imports),
      ...looked,
      doneJobs: [doneJob],
      readyJobs: [readyJob],
      waitingJobs: [waitingJob],
      suppressions: idsOf(suppressions),
      mails: idsOf(mails),
      sentMails: idsOf(sentMails),
      pictures: idsOf(pictures),
      templates: idsOf(templates),
      versions: idsOf(versions),
      blocks: idsOf(blocks),
      users: invited.map(String),
      // Not those of the last user, who is removed before the sessions are.
      sessions: idsOf(sessions).slice(0, -1),
      // The last one is not in use.
      keys: idsOf(keys),
      intakes: addIntakes(app, world.user),
      scheduled: [scheduled],
      attachments: [attachment.id],
      translated: [translated],
      pausable: [pausable],
      paused: [paused],
      tested: [addAbTest(app, paused)],
      cancellable: [cancellable],
      failed: [failed],
      completed: [completed],
      backupFiles: [backup.rawPayload.toString('latin1')],
    },
    nextName: () => nextName(app),
    async renew({ path }) {
      // Not earlier: with a relay nobody reaches, the sends of no other account are completed. The last one cannot be
      // deleted while mail waits.
      if (path.includes('/relays')) account.records.relays ??= [String(await addRelay()), String(await addRelay())];
      if (path.includes('/role-mails')) account.records.roleMails ??= [addRoleMail(app)];
      if (path.endsWith('/release')) holdSending(app.db, 'Held');
      // An earlier operation has added a mail to the automation, or has deleted the automation with its last mail.
      if (path.endsWith('/schedule/reorder')) {
        const { status, body } = await caller.call('GET', '/automations/schedule', {
          query: { utr: world.automations[0] },
        });
        const mails: { utr: string }[] = status === 200 ? body.message.automation_schedules : [];
        account.records.ordered = mails.map(({ utr }) => utr);
      }
      // An earlier operation has paused it.
      if (/\/automations\/enter(-all)?$/.test(path))
        for (const utr of account.records.liveAutomations ?? [])
          await caller.call('GET', '/automations/set-live', { query: { utr } });
      if (/\/step\/(remove|update)$/.test(path)) {
        const form = { utr: world.automations[0], kind: 'exit', waiting_type: 'instantly', waiting_period: 1 };
        const { status, body } = await caller.call('POST', '/automations/step/add', { form });
        if (status === 200) account.records.steps = [body.message.utr];
      }
      const [, kind] = /\/(templates|blocks|forms)\/undelete$/.exec(path) ?? [];
      if (kind !== undefined)
        await caller.call(kind === 'forms' ? 'DELETE' : 'POST', `/${kind}/delete`, {
          [kind === 'forms' ? 'query' : 'form']: { id: account.records[kind]?.[0] },
        });
      if (path.endsWith('/segment/undelete')) {
        const rule = { select_field: ['email'], select_operator: ['is not blank'] };
        const form = { segment_name: 'Deleted', contact_type_id: world.contactTypes[0], ...rule };
        const { headers } = await caller.call('POST', '/segment/store', { form });
        const id = /segment_id=(\d+)/.exec(String(headers.location))?.[1] ?? '';
        await caller.call('DELETE', '/segment/delete', { query: { segment_id: id } });
        account.records.deletedSegments = [id];
      }
      // The version that is to be removed.
      const [, owner, name] = /\/(automations\/schedule|feeds|templates)(\/languages)\/remove$/.exec(path) ?? [];
      if (owner !== undefined) {
        const { feeds = [], schedules = [], templates = [] } = account.records;
        const records = owner === 'feeds' ? feeds : owner === 'templates' ? templates : schedules;
        for (const record of records)
          await caller.call('POST', `/${owner}${name}`, {
            form: { id: record, utr: record, language: 'en', subject: 'a' },
          });
      }
      if (!USING_BACKUP.test(path)) return;
      const file = { filename: 'backup.db', content: backup.rawPayload };
      const { body } = await operator.call('POST', '/backups/upload', { multipart: [['file', file]] });
      account.records.backups = [body.message.restore.upload_id];
    },
  };
  return account;
}

const UNIQUE = new Set(['email', 'field_name']);

/** Operations on who calls and who has access: a pair of keys is nobody, and gives nobody access. */
export const FOR_PEOPLE = /^\/api\/(me|passkeys|users|sessions|keys)\//;

const USING_BACKUP = /^\/api\/backups\/(restore|upload\/drop)$/;

/** A value with which the operation can succeed: a record of the account (another one for DELETE), or the document's example. */
export function goodValue({ method, path }: Operation, name: string, example: unknown, account: Account): unknown {
  const { records } = account;
  if (name === 'file' && path.endsWith('/pictures/upload')) return GIF.toString('latin1');
  if (name === 'file' && path.endsWith('/backups/upload')) return Buffer.from(records.backupFiles?.[0] ?? '', 'latin1');
  if (name === 'upload_id' && USING_BACKUP.test(path)) return records.backups?.[0];
  if (name === 'upload_id' && /\/preview(ed)?$/.test(path)) return records.previewable?.[0];
  const pick = (kind: string): string =>
    records[kind]?.at(method === 'DELETE' || /(relays|webhooks|feeds)\/delete$/.test(path) ? -1 : 0) ?? '';
  // Deleting takes the last contact and bulk deletion the first one.
  if (path.endsWith('/person/erase') && name === 'contact_id') return Number(records.contacts?.[1]);
  // The action of the example on many contacts does not look at it.
  if (name === 'to_segment_id' && path.includes('/imports/')) return pick('segments');
  if (path.endsWith('/segment/undelete')) return pick('deletedSegments');
  if (name === 'domain') return records[path.endsWith('/rotate') ? 'signed' : 'unsigned']?.[0];
  if (name === 'recipient_id') return [`contacts_${pick('contactTypes')}`];
  if (name === 'automation_for') return `contacts_${pick('contactTypes')}`;
  // Amazon SES, the first of the providers, has none.
  if (name === 'secret' && path.endsWith('/provider-events/create')) return '';
  if (name === 'json_code') return BLOCK;
  if (name === 'mails') return records.ordered;
  if (name === 'mail' && path.endsWith('/automations/check')) return pick('schedules');
  if (name === 'before') return pick('schedules');
  if (name === 'exclude_specific_recipient_id') return [`segments_${pick('segments')}`];
  // An earlier operation's example has unsubscribed the address that the document shows.
  if (name === 'email_address' && /(send|schedule)\/test$/.test(path)) return 'tester@example.net';
  if (UNIQUE.has(name)) return `${account.nextName()}${String(example)}`.replace(/^(\d+)(.*_.*)$/, '$2_$1');
  const kind = NAMED[name] ?? NAMED_BY_PATH.find(([end]) => end.test(path))?.[1] ?? '';
  // Without it, the test asks about the operator, whose account has no senders.
  if (name === 'sender_id' && path.endsWith('/relays/test')) return '';
  // Nobody answers there, so that reading a feed and the test of a relay end at once and ask no DNS.
  if (name === 'url') return 'http://127.0.0.1:1/feed';
  if (name === 'host') return '127.0.0.1';
  if (name === 'port') return '1';
  if (name === 'strIds') return [pick(kind)];
  if (name === 'id' || name === 'utr') return pick(kind);
  if (!(name in NAMED)) return example;
  return typeof example === 'number' ? Number(pick(kind)) : pick(kind);
}
