/** The NATS configuration that docs/nodes.md gives, as it stands there, with keys, certificate and places of the test. */
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, nkeys } from '@nats-io/transport-node';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { startNatsFrom } from '../../fixtures/nats.ts';
import { readConfig } from '../../src/config.ts';
import { deriveKey } from '../../src/delivery/links/secrets.ts';
import { openTokens } from '../../src/delivery/links/tokens.ts';
import { connectNats } from '../../src/nodes/connection.ts';
import { BUCKET, STREAM } from '../../src/nodes/streams.ts';
import { SHOP_FORM } from '../support/sender.ts';
import { Service, startSink } from '../support/service.ts';
import { until } from '../support/service-campaign.ts';
import { localhostCertificate } from '../support/smtp/certificate.ts';
import { skipWithout } from '../support/tools.ts';
import { NodeProcess } from './rig.ts';
import { open } from './world.ts';

const CONFIGURATION = /```conf\n([^`]+)```/.exec(readFileSync('docs/nodes.md', 'utf8'))?.[1] ?? '';

interface Place {
  NATS_URL: string;
  NATS_CA: string;
  /** The file with the seed of each user. */
  keys: Record<'brain' | 'north' | 'south', string>;
}

/** Starts a server with the documented configuration. */
async function startDocumented(t: Test): Promise<Place> {
  const folder = t.testdir({});
  const { key, cert } = localhostCertificate();
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const pairs = { brain: nkeys.createUser(), north: nkeys.createUser(), south: nkeys.createUser() };
  const seed = (name: keyof typeof pairs) => file(`${name}.nk`, new TextDecoder().decode(pairs[name].getSeed()));
  const NATS_CA = file('server.pem', cert);
  const server = await startNatsFrom(t, ({ port, folder: own }) => {
    const places = {
      '0.0.0.0:4222': `127.0.0.1:${port}`,
      '/var/lib/nats': own,
      '/etc/nats/server.pem': NATS_CA,
      '/etc/nats/server.key': file('server.key', key),
      PUBLIC_NKEY_OF_THE_BRAIN: pairs.brain.getPublicKey(),
      PUBLIC_NKEY_OF_NORTH: pairs.north.getPublicKey(),
      PUBLIC_NKEY_OF_SOUTH: pairs.south.getPublicKey(),
    };
    return Object.entries(places).reduce((text, [documented, ours]) => {
      t.equal(text.split(documented).length, 2, `${documented} is documented once`);
      return text.replace(documented, ours);
    }, CONFIGURATION);
  });
  return {
    NATS_URL: server.url.replace('nats:', 'tls:'),
    NATS_CA,
    keys: { brain: seed('brain'), north: seed('north'), south: seed('south') },
  };
}

/** Whatever a node must not do, by what it would be. */
function forbidden(connection: NatsConnection): Record<string, () => Promise<unknown>> {
  const client = jetstream(connection);
  const manager = () => jetstreamManager(connection, { checkAPI: false });
  const publish = (subject: string) => client.publish(subject, '{}', { timeout: 2000 });
  const read = async (subject: string) => {
    const subscription = connection.subscribe(subject);
    await connection.flush();
    for await (const _ of subscription);
  };
  const streams = [...Object.values(STREAM), ...Object.values(BUCKET).map((bucket) => `KV_${bucket}`)];
  const ofStreams = streams.flatMap((stream) => [
    [`read about ${stream}`, async () => (await manager()).streams.info(stream)],
    [`read ${stream}`, async () => (await manager()).streams.getMessage(stream, { seq: 1 })],
    [`read ${stream} by number`, async () => (await manager()).direct.getMessage(stream, { seq: 1 })],
    [`empty ${stream}`, async () => (await manager()).streams.purge(stream)],
    [`delete ${stream}`, async () => (await manager()).streams.delete(stream)],
    [`delete from ${stream}`, async () => (await manager()).streams.deleteMessage(stream, 1)],
    [`change ${stream}`, async () => (await manager()).streams.update(stream, { max_msgs: 1 })],
    [`follow ${stream}`, async () => (await manager()).consumers.add(stream, { name: 'x', durable_name: 'x' })],
  ]);
  return {
    ...Object.fromEntries(ofStreams),
    'read a choice': async () =>
      (await manager()).direct.getMessage(STREAM.consents, { last_by_subj: 'sendlark.consents.1.x.0' }),
    'make a stream': async () => (await manager()).streams.add({ name: 'MINE', subjects: ['mine'] }),
    'list streams': async () => (await manager()).streams.names().next(),
    'report for another node': () => publish('sendlark.results.south'),
    'live for another node': () => connection.request('sendlark.brain.beat.south', '{}'),
    'command another node': () => connection.request('sendlark.node.south.x', '{}'),
    'mark a person as erased': () => publish('sendlark.consents.1.x.erased'),
    'change the secrets': () => publish(`$KV.${BUCKET.secrets}.links`),
    'change content': () => publish(`$KV.${BUCKET.content}.mailing-1`),
    'change a picture': () => publish(`$KV.${BUCKET.pictures}.x`),
    'read what another node gets': () => read('sendlark.node.south.*'),
    'read the answers to the controller': () => read('_INBOX.brain.>'),
    'read the answers to another node': () => read('_INBOX.node.south.>'),
    'read all answers': () => read('_INBOX.>'),
    'answer questions of nodes': () => read('sendlark.ask.*'),
    'listen to everything': () => read('>'),
  };
}

/** The keys that somebody may make of a secret, as the service makes its own. */
function forgedKeys(secret: string): string[] {
  const purposes = ['verify-sender', 'provider-events', 'design', 'second-factor', 'links of recipients'];
  return [secret, ...purposes.map((purpose) => deriveKey(secret, purpose))];
}

function forged(key: string, purpose: string, text: string): string {
  const mac = createHmac('sha256', key).update(`${purpose}:${text}`).digest().toString('base64url', 0, 16);
  return `${Buffer.from(text).toString('base64url')}.${mac}`;
}

t.test(
  'with the configuration of this page a node sends and answers pages, and can do nothing else',
  { skip: skipWithout('nats') },
  async (t) => {
    const { keys, ...nats } = await startDocumented(t);
    const sink = await startSink(t);
    const brain = new Service(t, {
      ...nats,
      NATS_CREDENTIALS: keys.brain,
      SMTP_URL: sink.url,
      SENDER_VERIFICATION: 'optional',
    });
    await brain.start();
    const node = new NodeProcess(t, 'north', { ...nats, NATS_CREDENTIALS: keys.north, NODE_NAME: 'north' });
    node.start();
    await brain.post('/contacts-type/add', { name: 'Readers' });
    await brain.upload(1, 'email\nreader@example.org');
    await brain.post('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: '1' });
    await brain.post('/sender/save', SHOP_FORM);
    await brain.post('/single/send/create', {
      template_id: '1',
      template_html: '<p>Hello <a href="https://shop.example/">new</a> <a href="((web_copy))">copy</a></p>',
      sender_id: '1',
      unsubscribe_group_id: '1',
      single_send_name: 'News',
      subject: 'News',
      preheader: 'News',
      'recipient_id[0]': 'contacts_1',
      schedule_type: '0',
    });
    const [mail] = await until(
      () => sink.mails.filter(({ to }) => to === 'reader@example.org'),
      ({ length }) => length === 1,
    );
    const raw = String(mail?.raw).replaceAll(/\r\n\s/g, '');
    const path = (kind: string) => new RegExp(`/${kind}/[\\w.~-]+`).exec(raw.replaceAll('=\r\n', ''))?.[0] ?? '';
    const line = await until(() => node.lines.find((text) => text.includes('origin')), Boolean);
    const { origin }: { origin: string } = JSON.parse(line ?? '');
    t.match(await open(origin + path('w')), { status: 200, text: 'Hello' });
    t.match(await open(origin + path('u')), { status: 200, text: 'reader@example.org' });
    t.match(await open(origin + path('u'), { form: 'none' }), { status: 200 });
    const client = new Database(join(brain.folder, 'test.db'), { readonly: true });
    t.teardown(async () => void client.close());
    const left = client.prepare('SELECT email_address FROM unsubscribers').pluck();
    await until(
      () => left.all(),
      ({ length }) => length === 1,
    );
    t.notMatch(node.lines.join('\n'), /violation|refused something/i);

    const never = new AbortController().signal;
    const as = async (who: keyof Place['keys'], name: string) => {
      const config = readConfig({ ...nats, NATS_CREDENTIALS: keys[who] });
      const connection = await connectNats(config, { name, signal: never, log: () => undefined });
      t.teardown(() => connection.close());
      return connection;
    };
    const manager = await jetstreamManager(await as('brain', 'brain'));
    const all = async () => {
      const found = await manager.streams.list().next();
      return found.map(({ config, state }) => [config.name, state.messages]);
    };
    const before = await all();
    const connection = await as('north', 'node north');
    for (const [what, attempt] of Object.entries(forbidden(connection)))
      await t.rejects(attempt(), /permission/i, `a node cannot ${what}`);
    t.strictSame(await all(), before);
    const south = await as('south', 'node south');
    await t.rejects(south.request('sendlark.brain.settings'), /permission/i, 'the passwords of relays');

    // What it can read is the links' secret, with which nothing else can be signed, however a key is made of it.
    const found = await (await jetstreamManager(connection, { checkAPI: false })).direct.getMessage(
      `KV_${BUCKET.secrets}`,
      { last_by_subj: `$KV.${BUCKET.secrets}.links` },
    );
    const { secrets }: { secrets: string[] } = JSON.parse(found?.string() ?? '');
    t.equal(secrets.length, 1);
    await brain.post('/sender/save', {
      from_name: 'Bank',
      from_email: 'hello@bank.example',
      reply_to_email: 'hello@bank.example',
      country_id: '1',
      company_address: '1 Harbour St',
      nickname: 'Bank',
    });
    const intake = await brain.post('/provider-events/create', { provider: 'postmark' });
    const [, known = ''] = /\/hooks\/in\/postmark\/([^"]+)/.exec(JSON.stringify(intake)) ?? [];
    const hook = (token: string) => open(`${brain.origin}/hooks/in/postmark/${token}`, {});
    t.not((await hook(known)).status, 404, 'the address of the service');
    const id = Buffer.from(known.split('.')[0] ?? '', 'base64url').toString();
    const verified = client.prepare("SELECT is_verified FROM senders WHERE from_email = 'hello@bank.example'").pluck();
    const claim = JSON.stringify([2, 'hello@bank.example', Date.now() + 3_600_000]);
    for (const key of secrets.flatMap((secret) => forgedKeys(secret))) {
      t.equal((await open(`${brain.origin}/verify/${forged(key, 'verify-sender', claim)}`, {})).status, 404);
      t.equal((await hook(forged(key, 'provider-events', id))).status, 404);
      const design = forged(key, 'design', `single:x:${Date.now() + 3_600_000}`);
      t.equal((await open(`${brain.origin}/design/${design}`)).status, 404);
      t.equal(openTokens(client).read('second-factor', forged(key, 'second-factor', '1:1:1')), null);
    }
    t.equal(verified.get(), 0);
  },
);
