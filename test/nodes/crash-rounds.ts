/**
 * Loses each part of a fleet at random moments of a send, and counts what the relay got against the ledger and the reports:
 *
 *   npm run crash:nodes -- [rounds] [seed]
 *
 * It prints a line for each round, and the same seed chooses the same losses. It needs Debian's package nats-server.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { randomOf } from '../../fixtures/random.ts';
import { cutNode, cutService, killNats, killNode, killService, stopNode, stopService } from './mishaps.ts';
import { FleetSend } from './rig.ts';

/** Of a stop, which is far longer than any lease. */
const STOP_MS = 40_000;
const RATE = 150;
const PEOPLE = 6000;
const NODES = 2;
/** What a node that was stopped or cut off does later is counted, too. */
const LATE_MS = 3000;

const [rounds = '20', seed = String(Math.floor(Math.random() * 2 ** 31))] = process.argv.slice(2);

/** Gives a random whole number. */
type Between = (least: number, most: number) => number;

const LOSSES: Record<string, (send: FleetSend, between: Between) => Promise<void>> = {
  'a node killed': (send, between) => killNode(send, between(0, NODES - 1)),
  'a node stopped for 40 s': (send, between) => stopNode(send, between(0, NODES - 1), STOP_MS),
  'a node cut off': (send, between) => cutNode(send, between(0, NODES - 1), 'dropped', between(1000, 25_000)),
  'a node frozen off': (send, between) => cutNode(send, between(0, NODES - 1), 'frozen', between(1000, 25_000)),
  'a NATS server killed': (send, between) =>
    killNats(send, between(0, send.nats.servers.length - 1), between(500, 8000)),
  'all of NATS killed': (send, between) => killNats(send, 'all', between(2000, 15_000)),
  'the service killed': (send) => killService(send),
  'the service stopped for 40 s': (send) => stopService(send, STOP_MS),
  'the service cut off': (send, between) => cutService(send, 'dropped', between(1000, 25_000)),
  'the service frozen off': (send, between) => cutService(send, 'frozen', between(1000, 25_000)),
};
const kinds = Object.keys(LOSSES);

/** One send with the loss of this number and, while it lasts or after it, another one. Gives what broke the promise. */
async function round(number: number): Promise<string[]> {
  const endings: (() => Promise<void>)[] = [];
  const random = randomOf(Number(seed) + number);
  const between: Between = (least, most) => Math.round(least + random() * (most - least));
  const chosen = [kinds[number % kinds.length] ?? '', kinds[between(0, kinds.length - 1)] ?? ''];
  const waits = [between(0, 2000), between(0, 12_000)];
  const started = Date.now();
  try {
    const send = await FleetSend.prepare(
      { teardown: (end) => void endings.unshift(end) },
      { people: PEOPLE, rate: RATE, nodes: NODES, servers: number % 2 === 0 ? 3 : 1 },
    );
    await send.start();
    await send.until(async () => (await send.taken()) > 100);
    await pause(waits[0]);
    const [first, second] = chosen.map((kind) => LOSSES[kind]);
    const losing = [first?.(send, between)];
    await pause(waits[1]);
    if (!send.isOver() && chosen[0] !== chosen[1]) losing.push(second?.(send, between));
    await Promise.all(losing);
    await send.until(() => send.isOver());
    await pause(LATE_MS);
    const { problems, duplicates, unreported } = await send.reckon();
    const seconds = Math.round((Date.now() - started) / 1000);
    const result =
      problems.length === 0 ? `0 lost, ${duplicates} twice of ${unreported} unreported` : problems.join('; ');
    console.log(`${number + 1}. ${losing.length === 1 ? chosen[0] : chosen.join(', ')}: ${result} (${seconds} s)`);
    return problems;
  } finally {
    for (const end of endings) await end();
  }
}

console.log(`seed ${seed}`);
let broken = 0;
for (let number = 0; number < Number(rounds); number++) {
  const problems = await round(number).catch((error: unknown) => {
    console.log(`${number + 1}. ${String(error)}`);
    return [String(error)];
  });
  if (problems.length > 0) broken++;
}
console.log(broken === 0 ? `${rounds} rounds, all kept` : `${broken} of ${rounds} rounds broke the promise`);
process.exitCode = broken === 0 ? 0 : 1;
