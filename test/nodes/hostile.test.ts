/** What somebody with the link of one mail can do to NATS. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import t, { type Test } from 'tap';
import { decodeHits } from '../../src/nodes/feedback-messages.ts';
import { STREAM } from '../../src/nodes/streams.ts';
import { until } from '../support/service-campaign.ts';
import { skipWithout } from '../support/tools.ts';
import { open, startPages, startWorld } from './world.ts';

const skip = skipWithout('nats');

async function watched(t: Test) {
  const world = await startWorld(t);
  const node = await startPages(t, world);
  const connection = await connect({ servers: world.nats.urls });
  t.teardown(() => connection.close());
  const manager = await jetstreamManager(connection);
  const state = async (stream: string) => (await manager.streams.info(stream)).state;
  const left = () => world.read<{ list: number | null }>('SELECT unsubscribe_groups_id AS list FROM unsubscribers');
  return { ...world, node, connection, state, left };
}

t.test('choosing the same again adds nothing to JetStream', { skip }, async (t) => {
  const { node, brain, token, state, left } = await watched(t);
  const form = { form: 'none' };
  const links = [node, brain.origin, node].map((origin) => `${origin}/u/${token(0, 'unsubscribe')}`);
  for (const link of links) {
    t.match(await open(link, form), { status: 200 });
    await until(left, ({ length }) => length === 1);
  }
  t.equal((await state(STREAM.consents)).last_seq, 1);
  const [link = ''] = links;
  await open(link, { form: 'back' });
  for (let times = 0; times < 3; times++) await open(link, { form: 'back' });
  t.equal((await state(STREAM.consents)).last_seq, 2);
  t.match(await open(link, form), { status: 200 });
  t.equal((await state(STREAM.consents)).last_seq, 3, 'a change is kept');
});

t.test('of what one person chooses about a list JetStream keeps eight, and the last holds', { skip }, async (t) => {
  const { node, brain, token, state, left } = await watched(t);
  const link = `${node}/u/${token(0, 'unsubscribe')}`;
  await brain.end('SIGKILL');
  for (let times = 0; times < 12; times++) {
    await open(link, { form: 'back' });
    t.match(await open(link, { form: 'none' }), { status: 200 });
  }
  t.match(await state(STREAM.consents), { messages: 8, last_seq: 24 });
  await brain.start();
  t.strictSame(await until(left, ({ length }) => length === 1), [{ list: null }]);
});

t.test('of one mail a node publishes a hundred opens and a hundred clicks', { skip }, async (t) => {
  const { node, token, connection, state } = await watched(t);
  const pixel = `${node}/o/${token(0, 'open')}.gif`;
  const link = `${node}/c/${token(0, 'click')}/1`;
  for (let times = 0; times < 130; times++) await Promise.all([open(pixel), open(link)]);
  await open(`${node}/o/${token(1, 'open')}.gif`);
  const hits = async () => {
    const { messages: count } = await state(STREAM.hits);
    const consumer = await jetstream(connection).consumers.get(STREAM.hits);
    const found = [];
    if (count > 0)
      for await (const message of await consumer.fetch({ max_messages: count }))
        found.push(...(decodeHits(message.string()) ?? []));
    return found;
  };
  const published = await until(hits, (found) => found.length >= 201);
  t.equal(published.length, 201);
});
