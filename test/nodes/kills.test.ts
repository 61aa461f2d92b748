/**
 * Losses in the middle of a send: a part is killed, stopped for longer than a lease or cut off. The relay's count of each address is
 * compared with the ledger and the reports. `npm run crash:nodes` does this with each part, at random moments and one after the other.
 */
import t from 'tap';
import { skipWithout } from '../support/tools.ts';
import { cutNode, cutService, killNats, killNode, killService, stopNode } from './mishaps.ts';
import { FleetSend } from './rig.ts';

const skip = skipWithout('nats');
/** Longer than a lease. */
const LONG_MS = 15_000;

async function beginning(t: Parameters<typeof FleetSend.prepare>[0], nodes: number): Promise<FleetSend> {
  // At this rate a send lasts twice as long as the losses.
  const send = await FleetSend.prepare(t, { people: 2100, rate: 60, nodes, servers: 3 });
  await send.start();
  await send.until(async () => (await send.taken()) > 60);
  return send;
}

t.test(
  'a node stopped for longer than its lease, and others killed meanwhile: nobody is missing, and nothing is sent twice that was reported',
  { skip },
  async (t) => {
    const send = await beginning(t, 2);
    const stopped = stopNode(send, 1, LONG_MS);
    await killService(send);
    await killNats(send, 0, 500);
    await killNode(send, 0);
    await stopped;
    t.notOk(send.isOver(), 'the losses landed inside the send');
    await send.relay.pace(0);
    await send.until(() => send.isOver());
    const { problems, duplicates, unreported } = await send.reckon();
    t.same(problems, [], `${duplicates} duplicates, at most ${unreported}`);
  },
);

t.test(
  'without NATS, and without the network between it and the service or a node, nothing reported is sent twice',
  { skip },
  async (t) => {
    const send = await beginning(t, 3);
    const frozen = cutNode(send, 2, 'frozen', LONG_MS);
    await cutService(send, 'dropped', 2000);
    await killNats(send, 'all', 2000);
    await frozen;
    t.notOk(send.isOver(), 'the losses landed inside the send');
    await send.relay.pace(0);
    await send.until(() => send.isOver());
    const { problems, duplicates, unreported } = await send.reckon();
    t.same(problems, [], `${duplicates} duplicates, at most ${unreported}`);
  },
);
