/** What a restored backup takes over from JetStream: every change of lists since, whoever made it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import Database from 'better-sqlite3';
import t from 'tap';
import { FormData, fetch } from 'undici';
import { derivedLinkSecrets, rootSecrets } from '../../src/delivery/links/secrets.ts';
import { STREAM } from '../../src/nodes/streams.ts';
import { BUILT } from '../support/service.ts';
import { until } from '../support/service-campaign.ts';
import { skipWithout } from '../support/tools.ts';
import { open, startPages, startWorld, type World } from './world.ts';

const skip = skipWithout('nats');
const LISTS = `
  SELECT email_address AS email, ifnull(unsubscribe_groups_id, 0) AS list FROM unsubscribers
  UNION ALL SELECT normalized_email, kind FROM suppressions s JOIN addresses a ON a.id = s.address_id ORDER BY 1, 2`;
const WAITING = `
  SELECT id FROM unpublished_choices UNION ALL SELECT id FROM unfinished_writes WHERE kind IN ('erase-choices', 'erase-again')`;

const reader = (at: number) => `reader${at}@example.org`;

/** Resolves when everything that was changed is in JetStream. */
const published = ({ read }: World) =>
  until(
    () => read(WAITING),
    ({ length }) => length === 0,
  );

/** Runs a command of the built program on the database. */
async function command({ brain }: World, ...words: string[]): Promise<void> {
  const [program, ...before] = BUILT.command;
  const env = { ...BUILT.env, DATABASE_PATH: join(brain.folder, 'test.db') };
  await promisify(execFile)(program, [...before, ...words], { env });
}

/** Puts the copy in the place of the database, which is lost, and starts the service with it. */
async function restore(world: World, copy: string): Promise<void> {
  await world.brain.end('SIGKILL');
  await command(world, 'restore', copy, '--force');
  await world.brain.start();
}

async function backup(world: World): Promise<string> {
  const copy = join(world.brain.folder, 'copy.db');
  await command(world, 'backup', copy);
  return copy;
}

/** Every message of the stream of choices, as text. */
async function messagesOf({ nats }: World): Promise<string[]> {
  const connection = await connect({ servers: nats.urls });
  try {
    const consumer = await jetstream(connection).consumers.get(STREAM.consents);
    const { num_pending: count } = await consumer.info();
    const texts: string[] = [];
    if (count > 0)
      for await (const message of await consumer.fetch({ max_messages: count })) texts.push(message.string());
    return texts;
  } finally {
    await connection.close();
  }
}

/** The id of the newest entry of a list of the API. */
const newest = ({ read }: World, table: 'unsubscribers' | 'suppressions') =>
  String(read<{ id: number }>(`SELECT max(id) AS id FROM ${table}`)[0]?.id);

async function importUnsubscribed({ brain }: World, email: string): Promise<void> {
  const form = new FormData();
  form.set('file', new File([`email\n${email}`], 'left.csv'));
  const answer = await fetch(`${brain.origin}/api/contacts/imports/look`, {
    method: 'POST',
    body: form,
    headers: brain.keys,
  });
  const { message } = Object(await answer.json());
  await brain.post('/contacts/imports/start', {
    upload_id: message.upload.id,
    contact_type_id: '1',
    'mapping[0]': 'email',
    unsubscribe: '1',
  });
}

async function providerEvent({ brain }: World, record: object): Promise<void> {
  const { message } = Object(await brain.post('/provider-events/create', { provider: 'postmark', secret: '' }));
  const url = message.intake?.url ?? message.url;
  const answer = await fetch(brain.origin + new URL(url).pathname, {
    method: 'POST',
    body: JSON.stringify(record),
    headers: { 'content-type': 'application/json' },
  });
  if (answer.status !== 200) throw new Error(await answer.text());
}

t.test('a restored backup takes over every change of lists since, whoever made it', { skip }, async (t) => {
  const world = await startWorld(t);
  const node = await startPages(t, world);
  const { brain, token, read } = world;
  const leave = (email: string) => brain.post('/global-unsubscribes/save', { email_address: email });
  const choose = async (origin: string, at: number, form: Record<string, string>) =>
    t.match(await open(`${origin}/u/${token(at, 'unsubscribe')}`, form), { status: 200 });
  const contact = (at: number) =>
    String(read<{ id: number }>('SELECT id FROM contacts WHERE email = ?', reader(at))[0]?.id);
  await leave(reader(0));
  await brain.post('/bounces', { address: reader(1), kind: 'bounce' });
  const copy = await backup(world);
  const before = read(LISTS);

  await brain.remove(`/global-unsubscribes/delete?id=${newest(world, 'unsubscribers')}`);
  await brain.remove(`/suppressions/delete?id=${newest(world, 'suppressions')}`);
  await leave(reader(2));
  await leave('stranger@example.org');
  await brain.post('/unsubscribes-groups/manually-add', { unsubscribe_groups_id: '1', email_address: reader(3) });
  await brain.post('/contacts/jobs/start', { action: 'unsubscribe', 'strIds[0]': contact(4) });
  await importUnsubscribed(world, reader(5));
  await providerEvent(world, {
    RecordType: 'SubscriptionChange',
    SuppressSending: true,
    SuppressionReason: 'ManualSuppression',
    Origin: 'Recipient',
    Recipient: reader(6),
  });
  await providerEvent(world, { RecordType: 'SpamComplaint', ID: 1, Email: reader(7) });
  await brain.post('/bounces', { address: reader(8), kind: 'bounce', diagnostic: '550 no such user' });
  await leave(reader(9));
  await brain.post('/contacts/person/erase', { contact_id: contact(9) });
  await choose(node, 10, { form: 'none' });
  await until(
    () => read<{ email: string }>(LISTS),
    (rows) => [4, 5, 10].every((at) => rows.some(({ email }) => email === reader(at))),
  );
  // The job and the import end at moments of their own, so the newest entry may be theirs.
  const [entry] = read<{ id: number }>('SELECT id FROM unsubscribers WHERE email_address = ?', reader(10));
  await brain.remove(`/global-unsubscribes/delete?id=${entry?.id}`);
  await leave(reader(11));
  await choose(node, 11, { form: 'back' });
  await choose(brain.origin, 11, {});
  const expected = [
    { email: reader(11), list: 1 },
    { email: reader(2), list: 0 },
    { email: reader(3), list: 1 },
    { email: reader(4), list: 0 },
    { email: reader(5), list: 0 },
    { email: reader(6), list: 0 },
    { email: reader(7), list: 'complaint' },
    { email: reader(8), list: 'bounce' },
    { email: 'stranger@example.org', list: 0 },
  ];
  const isExpected = (rows: unknown[]) => JSON.stringify(rows) === JSON.stringify(expected);
  t.strictSame(await until(() => read(LISTS), isExpected), expected);
  await published(world);
  t.notMatch((await messagesOf(world)).join('\n'), /reader9@/, 'nothing names who was erased');

  await restore(world, copy);
  t.strictSame(await until(() => read(LISTS), isExpected), expected);
  await until(
    () => read('SELECT id FROM addresses WHERE normalized_email = ?', reader(9)),
    ({ length }) => length === 0,
  );
  t.strictSame(
    read('SELECT id FROM contacts WHERE email = ?', reader(9)),
    [],
    'who was erased is erased in the backup, too',
  );
  await published(world);
  t.notMatch((await messagesOf(world)).join('\n'), /reader9@/);
  t.not(JSON.stringify(before), JSON.stringify(expected));

  await restore(world, copy);
  t.strictSame(await until(() => read(LISTS), isExpected), expected, 'a second time, too');
});

t.test(
  'a backup of before the root secret takes over who was unsubscribed or suppressed since',
  { skip },
  async (t) => {
    const world = await startWorld(t);
    const { brain, read } = world;
    await brain.post('/global-unsubscribes/save', { email_address: reader(0) });
    // As of a release that signed everything with the secret that nodes have.
    inFile(join(brain.folder, 'test.db'), (client) =>
      client
        .prepare("INSERT INTO installation (name, value) VALUES ('link_secrets', ?)")
        .run(JSON.stringify(derivedLinkSecrets(rootSecrets(client)))),
    );
    const copy = await backup(world);
    inFile(copy, (client) => client.exec("DELETE FROM installation WHERE name = 'token_secrets'"));
    await brain.remove(`/global-unsubscribes/delete?id=${newest(world, 'unsubscribers')}`);
    await brain.post('/global-unsubscribes/save', { email_address: reader(1) });
    await brain.post('/bounces', { address: reader(2), kind: 'bounce' });
    await published(world);

    await restore(world, copy);
    const expected = [
      { email: reader(0), list: 0 },
      { email: reader(1), list: 0 },
      { email: reader(2), list: 'bounce' },
    ];
    const lists = await until(
      () => read(LISTS),
      ({ length }) => length === expected.length,
    );
    t.strictSame(lists, expected, 'that somebody came back is not proven to this file');
  },
);

function inFile(path: string, change: (client: Database.Database) => void): void {
  const client = new Database(path);
  change(client);
  client.close();
}
