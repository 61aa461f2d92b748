import { Worker } from 'node:worker_threads';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import t from 'tap';
import { STREAM } from '../../src/nodes/streams.ts';
import { png } from '../support/pictures.ts';
import { until } from '../support/service-campaign.ts';
import { skipWithout } from '../support/tools.ts';
import { NodeProcess } from './rig.ts';
import { open, startPages, startWorld, type World } from './world.ts';

const skip = skipWithout('nats');
const ENTRIES =
  'SELECT email_address AS email, unsubscribe_groups_id AS list FROM unsubscribers ORDER BY email_address, unsubscribe_groups_id';
const EVENTS = 'SELECT kind, link_number AS link FROM events ORDER BY kind, link_number';

let world: Promise<World> | undefined;
/** The world of the tests whose readers are their own. The first of them counts all events, and the last one ends its controller. */
function sharedWorld(): Promise<World> {
  world ??= startWorld(t);
  return world;
}

t.test(
  'an unsubscribe on a node is in the list of the controller, and opens and clicks are counted',
  { skip },
  async (t) => {
    const world = await sharedWorld();
    const node = await startPages(t, world);
    const { token, read } = world;
    t.match(await open(`${node}/u/${token(3, 'unsubscribe')}`, { 'List-Unsubscribe': 'One-Click' }), { status: 200 });
    t.match(await open(`${node}/u/${token(4, 'unsubscribe', false)}`, { form: 'none' }), { status: 200 });
    for (let times = 0; times < 3; times++) {
      await open(`${node}/o/${token(3, 'open')}.gif`);
      await open(`${node}/c/${token(4, 'click')}/1`);
    }
    t.strictSame(
      await until(
        () => read(ENTRIES),
        ({ length }) => length === 2,
      ),
      [
        { email: 'reader3@example.org', list: 1 },
        { email: 'reader4@example.org', list: null },
      ],
    );
    const events = await until(
      () => read<{ kind: string }>(EVENTS),
      ({ length }) => length >= 8,
    );
    t.strictSame(
      events.map(({ kind }) => kind),
      ['click', 'click', 'click', 'open', 'open', 'open', 'unsubscribe', 'unsubscribe'],
    );
  },
);

t.test('every page of a node is the same as the one of the controller', { skip }, async (t) => {
  const world = await sharedWorld();
  const node = await startPages(t, world);
  const { brain, token } = world;
  const paths = [true, false].flatMap((isSealed) => {
    const of = (purpose: 'open' | 'click' | 'unsubscribe' | 'web') => token(0, purpose, isSealed);
    return [
      ...[`/u/${of('unsubscribe')}`, `/w/${of('web')}`, `/o/${of('open')}.gif`],
      ...[`/c/${of('click')}/0`, `/c/${of('click')}/1`, `/c/${of('click')}/99`],
      ...[`/u/${of('open')}`, `/u/${of('unsubscribe').slice(0, -1)}`, `/w/x.y`],
    ];
  });
  const short = token(0, 'click', 'short');
  const ofService = [
    `/c/${short}/0`,
    `/c/${short}/1`,
    `/c/${short}/99`,
    `/c/${short.slice(0, -1)}-/0`,
    `/c/0${short}/0`,
  ];
  for (const path of [...paths, ...ofService, '/u/shared', '/u/', '/pictures/none/x.png', '/nothing']) {
    t.strictSame(await open(node + path), await open(brain.origin + path), path);
  }
  t.equal((await open(`${node}/c/${short}/0`)).status, 302, 'a short address of the service leads on from a node');
  for (const form of [
    {},
    { form: 'groups', shown: '1', on: '1' },
    { form: 'none' },
    { form: 'back' },
    { form: 'groups', shown: 'abc' },
    { form: 'x' },
  ]) {
    const at = (origin: string, reader: number) => open(`${origin}/u/${token(reader, 'unsubscribe')}`, { ...form });
    const [ours, theirs] = [await at(node, 1), await at(brain.origin, 2)];
    t.strictSame(ours.text.replaceAll('reader1', 'reader2'), theirs.text, JSON.stringify(form));
    t.equal(ours.status, theirs.status);
  }
});

t.test('sendlark node serves the pages, from the start until it is told to stop', { skip }, async (t) => {
  const world = await sharedWorld();
  const { brain, nats, token, read } = world;
  // Without a number of arenas the node starts again in place.
  const node = new NodeProcess(t, 'one', { NATS_URL: nats.urls, MALLOC_ARENA_MAX: undefined });
  node.start();
  const line = await until(() => node.lines.find((text) => text.includes('origin')), Boolean);
  const { origin }: { origin: string } = JSON.parse(line ?? '');
  await until(
    async () => (await open(`${origin}/readyz`)).status,
    (status) => status === 200,
  );
  const path = `/u/${token(5, 'unsubscribe')}`;
  t.strictSame(await open(origin + path), await open(brain.origin + path));
  t.match(await open(origin + path, { form: 'none' }), { status: 200 });
  await until(
    () => read<{ email: string }>(ENTRIES),
    (rows) => rows.some(({ email }) => email === 'reader5@example.org'),
  );
  t.equal(await node.end('SIGTERM'), 0);
});

t.test('pictures of mails are the same from a node, also while the controller is away', { skip }, async (t) => {
  const world = await sharedWorld();
  const node = await startPages(t, world);
  const { brain } = world;
  const form = new FormData();
  form.set('file', new File([new Uint8Array(png())], 'Summer sale.png'));
  const answer = await fetch(`${brain.origin}/api/pictures/upload`, {
    method: 'POST',
    body: form,
    headers: brain.keys,
  });
  const { message } = Object(await answer.json());
  const path = new URL(message.picture.url).pathname;
  const theirs = await open(brain.origin + path);
  t.equal(theirs.status, 200);
  t.strictSame(await open(node + path), theirs);
  await brain.end('SIGKILL');
  t.strictSame(await open(node + path), theirs);
  const later = await startPages(t, world);
  t.strictSame(await open(later + path), theirs, 'from another node, which never asked the controller');
  t.match(await open(`${later}/pictures/unknown/x.png`), { status: 503 }, 'nobody can tell whether there is one');
});

t.test(
  'a node shows large mails in another thread, to so many readers of an account at a time, and to ten of one link',
  { skip },
  async (t) => {
    const world = await startWorld(
      t,
      '<p>Hello ((first_name)), <a href="https://example.com/">more</a></p>'.repeat(3000),
    );
    const node = await startPages(t, world);
    const { brain, token } = world;
    const path = `/w/${token(0, 'web')}`;
    const first = await open(node + path);
    t.strictSame(first, await open(brain.origin + path));
    const { postMessage } = Worker.prototype;
    let copies = 0;
    Worker.prototype.postMessage = function (message) {
      if (message.name === 'copy') copies++;
      return postMessage.call(this, message);
    };
    t.teardown(() => {
      Worker.prototype.postMessage = postMessage;
    });
    const ofReaders = Array.from({ length: 12 }, (_, reader) => `${node}/w/${token(reader, 'web')}`);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ofReaders.map((address) => open(address))).flat(),
    );
    const shown = answers.filter(({ status }) => status === 200);
    t.equal(copies, shown.length);
    t.ok(shown.length >= 100 && shown.length < 240, `${shown.length}`);
    t.ok(answers.every(({ status }) => status === 200 || status === 503));
    const ofOne = await Promise.all(Array.from({ length: 60 }, () => open(node + path)));
    const same = ofOne.filter(({ text }) => text === first.text);
    t.ok(same.length >= 10 && same.length < 60, `${same.length}`);
  },
);

t.test(
  'what an erased person chose is removed from JetStream, and their old links bring nothing back',
  { skip },
  async (t) => {
    const world = await startWorld(t);
    const node = await startPages(t, world);
    const { brain, nats, token, read } = world;
    for (const reader of [0, 1]) await open(`${node}/u/${token(reader, 'unsubscribe')}`, { form: 'none' });
    await until(
      () => read(ENTRIES),
      ({ length }) => length === 2,
    );
    const connection = await connect({ servers: nats.urls });
    t.teardown(() => connection.close());
    const manager = await jetstreamManager(connection);
    const kept = async () => {
      const { state } = await manager.streams.info(STREAM.consents, { subjects_filter: '>' });
      return Object.keys(state.subjects ?? {}).map((subject) => subject.slice(subject.lastIndexOf('.') + 1));
    };
    t.strictSame(await kept(), ['0', '0']);
    const links = [node, brain.origin].map((origin) => `${origin}/u/${token(0, 'unsubscribe')}`);
    const [link = '', onBrain = ''] = links;
    await brain.post('/contacts/person/erase', { contact_id: '1' });
    t.strictSame(
      (await until(kept, (lists) => lists.length === 2 && lists.includes('erased'))).toSorted(),
      ['0', 'erased'],
      'a mark is left',
    );
    t.match(await open(link), { status: 404 });
    t.strictSame(await open(link, { form: 'none' }), await open(onBrain, { form: 'none' }), 'as on the controller');
    await brain.end('SIGKILL');
    t.match(await open(link, { form: 'none' }), { status: 404 }, 'also while the controller is away');
    t.match(await open(`${node}/u/${token(2, 'unsubscribe')}`, { form: 'none' }), { status: 200 });
    await brain.start();
    const entries = await until(
      () => read<{ email: string }>(ENTRIES),
      (rows) => rows.some(({ email }) => email.startsWith('reader2')),
    );
    t.strictSame(
      entries.map(({ email }) => email),
      ['reader1@example.org', 'reader2@example.org'],
      'and they are added to nothing',
    );
    t.strictSame((await kept()).toSorted(), ['0', '0', 'erased']);
  },
);

t.test('a node serves from the start: alive and not ready until it has NATS, ready then', { skip }, async (t) => {
  const world = await startWorld(t);
  const { nats, token } = world;
  const [server] = nats.servers;
  await server?.end('SIGKILL');
  const node = new NodeProcess(t, 'early', { NATS_URL: nats.urls });
  node.start();
  const line = await until(() => node.lines.find((text) => text.includes('origin')), Boolean);
  const { origin }: { origin: string } = JSON.parse(line ?? '');
  const path = `/u/${token(0, 'unsubscribe')}`;
  t.match(await open(`${origin}/healthz`), { status: 200 });
  t.match(await open(`${origin}/readyz`), { status: 503, text: '{"ready":false}' });
  t.match(await open(origin + path), { status: 503 });
  const metric = async (name: string) =>
    new RegExp(`^sendlark_${name} (\\d)$`, 'm').exec((await open(`${origin}/metrics`)).text)?.[1];
  t.equal(await metric('nats_connected'), '0');
  await server?.start();
  await until(
    async () => (await open(`${origin}/readyz`)).status,
    (status) => status === 200,
  );
  t.match(await open(origin + path), { status: 200 });
  t.equal(await metric('nats_connected'), '1');
  await server?.end('SIGKILL');
  await until(
    () => metric('nats_connected'),
    (value) => value === '0',
  );
  t.match(await open(`${origin}/readyz`), { status: 503 });
  t.equal(await node.end('SIGTERM'), 0);
});

t.test('a node that never had NATS stops at once', { skip }, async (t) => {
  const node = new NodeProcess(t, 'alone', { NATS_URL: 'nats://127.0.0.1:1' });
  node.start();
  await until(() => node.lines.find((text) => text.includes('origin')), Boolean);
  t.equal(await node.end('SIGTERM'), 0);
});
