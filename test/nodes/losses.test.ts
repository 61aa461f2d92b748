import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { until } from '../support/service-campaign.ts';
import { skipWithout } from '../support/tools.ts';
import { open, startPages, startWorld } from './world.ts';

const skip = skipWithout('nats');
const ENTRIES =
  'SELECT email_address AS email, unsubscribe_groups_id AS list FROM unsubscribers ORDER BY email_address, unsubscribe_groups_id';
const LOG = 'SELECT action FROM consent_log ORDER BY id';

t.test(
  'without the controller a node goes on: pages open, choices are kept, and the controller carries them out later',
  { skip },
  async (t) => {
    const world = await startWorld(t);
    const node = await startPages(t, world);
    const { brain, token, read } = world;
    const links = [0, 1, 2].map((reader) => `${node}/u/${token(reader, 'unsubscribe')}`);
    const [first = '', second = '', third = ''] = links;
    const web = `${node}/w/${token(3, 'web')}`;
    const click = `${node}/c/${token(3, 'click')}/0`;
    const old = `${node}/u/${token(3, 'unsubscribe', false)}`;
    t.match(await open(web), { status: 200, text: 'Hello Reader3' });
    await open(second, { form: 'groups', shown: '2' });
    await until(
      () => read(ENTRIES),
      ({ length }) => length === 1,
    );
    await brain.end('SIGKILL');

    t.match(await open(web), { status: 200, text: 'Hello you' }, 'placeholders have their defaults');
    t.match(await open(click), { status: 302, headers: { location: 'https://shop.example/new?u=none' } });
    t.match(await open(`${node}/o/${token(3, 'open')}.gif`), { status: 200 });
    t.match(await open(first), { status: 200, text: /reader0@example.org[\s\S]*Offers/ });
    t.match(await open(first, { 'List-Unsubscribe': 'One-Click' }), { status: 200, text: 'News' });
    // They left Offers before, which nobody can tell now: boxes that stay checked change nothing.
    t.match(await open(second), { status: 200, text: 'value="leave"' });
    t.match(await open(second, { form: 'leave', shown: '1', on: 'abc' }), { status: 200 });
    t.match(await open(third, { form: 'none' }), { status: 200 });
    t.match(
      await open(old),
      { status: 503, headers: { 'retry-after': '1' } },
      'only the controller can read a link without an address',
    );

    await brain.start();
    t.strictSame(
      await until(
        () => read(ENTRIES),
        ({ length }) => length === 4,
      ),
      [
        { email: 'reader0@example.org', list: 1 },
        { email: 'reader1@example.org', list: 1 },
        { email: 'reader1@example.org', list: 2 },
        { email: 'reader2@example.org', list: null },
      ],
    );
    const kinds = () => read<{ kind: string }>("SELECT kind FROM events WHERE kind <> 'unsubscribe' ORDER BY kind");
    t.strictSame(await until(kinds, ({ length }) => length === 2), [{ kind: 'click' }, { kind: 'open' }]);
  },
);

t.test('without NATS no page says that a choice is saved, on a node or on the controller', { skip }, async (t) => {
  const world = await startWorld(t);
  const node = await startPages(t, world);
  const { brain, nats, token, read } = world;
  await nats.servers[0]?.end('SIGKILL');
  await until(
    async () => (await open(`${node}/readyz`)).status,
    (status) => status === 503,
  );
  const post = (origin: string) => open(`${origin}/u/${token(0, 'unsubscribe')}`, { form: 'none' });
  const answers = await Promise.all([post(node), post(brain.origin)]);
  for (const answer of answers) t.match(answer, { status: 503, headers: { 'retry-after': '1' } });
  t.strictSame(read(ENTRIES), []);
  await nats.servers[0]?.start();
  await until(
    async () => (await open(`${node}/readyz`)).status,
    (status) => status === 200,
  );
  t.match(await post(brain.origin), { status: 200 });
  t.equal(read(ENTRIES).length, 1);
});

t.test(
  'an older file takes over every choice made since, on nodes and on the controller, in their order',
  { skip },
  async (t) => {
    const world = await startWorld(t);
    const node = await startPages(t, world);
    const { brain, token, read } = world;
    const choose = async (origin: string, reader: number, form: Record<string, string>) =>
      t.match(await open(`${origin}/u/${token(reader, 'unsubscribe')}`, form), { status: 200 });
    await choose(brain.origin, 0, { form: 'none' });
    const file = join(brain.folder, 'test.db');
    await brain.end('SIGTERM');
    cpSync(file, `${file}.old`);
    await brain.start();
    await choose(brain.origin, 1, {});
    await choose(node, 2, { form: 'none' });
    await choose(node, 0, { form: 'back' });
    await choose(brain.origin, 3, { form: 'none' });
    await choose(node, 3, { form: 'back' });
    const expected = [
      { email: 'reader1@example.org', list: 1 },
      { email: 'reader2@example.org', list: null },
    ];
    const settled = (rows: unknown[]) => JSON.stringify(rows) === JSON.stringify(expected);
    await until(() => read(ENTRIES), settled);
    const log = read(LOG);
    await brain.end('SIGKILL');
    for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
    cpSync(`${file}.old`, file);
    await brain.start();
    // Entries are as expected for a moment before the last two choices are carried out, too.
    const taken = await until(
      () => read(LOG),
      ({ length }) => length >= log.length,
    );
    t.strictSame(taken, log, 'each once');
    t.strictSame(read(ENTRIES), expected);
    await brain.end('SIGKILL');
    await brain.start();
    await choose(brain.origin, 1, { form: 'none' });
    t.equal(read(LOG).length, log.length + 1, 'and not again at the next start');
  },
);
