/** What somebody with the link of one mail can do to NATS. */
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import t, { type Test } from 'tap';
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
  return { ...world, node, state, left };
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
