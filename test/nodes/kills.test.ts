/**
 * Losses in the middle of a send: a node, a NATS server or the service is killed, or a node is stopped for longer than its lease. The
 * relay's count of each address is compared with the ledger. `npm run crash:nodes` gives more rounds: NODE_ROUNDS of random losses.
 */
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { skipWithout } from '../support/tools.ts';
import { FleetSend } from './rig.ts';

const skip = skipWithout('nats');
const rounds = Number(process.env.NODE_ROUNDS ?? 0);
const isLong = process.env.NODE_ROUNDS !== undefined;
/** Longer than a lease. */
const STOPPED_MS = isLong ? 40_000 : 15_000;

const LOSSES = ['node', 'service', 'nats', 'stopped'] as const;
type Loss = (typeof LOSSES)[number];

/** Brings one loss about in a send that goes on, and mends it. */
async function lose(send: FleetSend, loss: Loss, at: number): Promise<void> {
  const node = send.nodes[at % send.nodes.length];
  const server = send.nats.servers[at % send.nats.servers.length];
  if (loss === 'node') {
    await node?.end('SIGKILL');
    node?.start();
  } else if (loss === 'service') {
    await send.service.end('SIGKILL');
    await send.service.start();
  } else if (loss === 'nats') {
    await server?.end('SIGKILL');
    await pause(500);
    await server?.start();
  } else {
    node?.signal('SIGSTOP');
    await pause(STOPPED_MS);
    node?.signal('SIGCONT');
  }
}

async function reckoned(send: FleetSend, losses: number): Promise<{ problems: string[]; result: string }> {
  await send.until(() => send.isOver());
  // A node that was stopped may still have something to report, which must change nothing.
  await pause(1000);
  const bound = losses * send.boundFor(send.nodes.length);
  const { problems, duplicates } = await send.reckon(bound);
  return { problems, result: `${duplicates} duplicates, at most ${bound}` };
}

t.test(
  'a node stopped for longer than its lease, and others killed meanwhile: nobody is missing',
  { skip },
  async (t) => {
    const send = await FleetSend.prepare(t, { people: 3500, rate: 200, nodes: 2, servers: 3 });
    await send.start();
    await send.until(async () => (await send.taken()) > 100);
    const stopped = lose(send, 'stopped', 1);
    for (const loss of ['service', 'nats', 'node'] as const) await lose(send, loss, 0);
    await stopped;
    t.notOk(send.isOver(), 'the losses landed inside the send');
    const { problems, result } = await reckoned(send, 4);
    t.same(problems, [], result);
  },
);

t.test(
  'at random moments, one after the other',
  { skip: skip || (rounds === 0 && 'only with NODE_ROUNDS') },
  async (t) => {
    for (let number = 0; number < rounds; number++) {
      const first = LOSSES[number % LOSSES.length] ?? 'node';
      const second = LOSSES[Math.floor(Math.random() * LOSSES.length)] ?? 'node';
      await t.test(`${first}, then ${second}`, async (t) => {
        const send = await FleetSend.prepare(t, {
          people: 6000,
          rate: 200,
          nodes: 2,
          servers: number % 2 === 0 ? 3 : 1,
        });
        await send.start();
        await send.until(async () => (await send.taken()) > 100);
        for (const loss of [first, second]) {
          await pause(Math.random() * 500);
          if (!send.isOver()) await lose(send, loss, Math.floor(Math.random() * 3));
        }
        const { problems, result } = await reckoned(send, 2);
        t.same(problems, [], result);
        t.comment(`${first}, then ${second}: ${result}`);
      });
    }
  },
);
