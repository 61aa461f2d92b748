/**
 * Measures the rate of sender nodes and the CPU time of a mail: one mailing to a relay that takes 10 ms for each answer, sent by the service
 * itself and by 1, 2 and 4 nodes. All run on this machine, with one NATS server from Debian's package nats-server.
 *
 *   npm run bench:nodes -- [recipients]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { launchMailing, sampleHtml } from '../../fixtures/mailing.ts';
import { startNats } from '../../fixtures/nats.ts';
import { connect } from '../../src/database/open.ts';
import { commandMailing } from '../../src/delivery/queue/mailing-state.ts';
import { inFolder, type RunningService, startService, startSink, usageOf } from './measure.ts';
import { report, type Table } from './report.ts';

const CONNECTIONS = 20;
const LATENCY_MS = 10;
const POLL_MS = 20;
/** How long the bench waits after it has started nodes; by then they have their first lease. */
const JOIN_MS = 4000;
/** A service that does nothing uses less than this share of a core. */
const IDLE_SHARE = 0.06;
/** How long each run may take at most. */
const MAX_RUN_MS = 600_000;
const recipients = Number(process.argv[2] ?? 20_000);

/** Seconds for one mail: wall-clock time, and the CPU time of each part. */
interface Figures {
  seconds: number;
  service: number;
  nodes: number;
  nats: number;
}

/** Sends the mailing by this number of nodes; with 0, by the service itself. */
async function sendMailing(folder: string, nodes: number, natsUrl: string, natsPid: number): Promise<Figures> {
  const sink = await startSink('sink.ts', ['--latency', String(LATENCY_MS)]);
  const file = join(folder, 'bench.db');
  const db = connect(file);
  await launchMailing(db, recipients, sampleHtml(29_000, 100));
  const state = db.$client.prepare('SELECT state FROM mailings').pluck();
  const service = await startService(file, {
    SMTP_URL: sink.url,
    SMTP_CONNECTIONS: String(CONNECTIONS),
    PUBLIC_URL: 'https://mail.example.com',
    ...(nodes > 0 && { NATS_URL: natsUrl }),
  });
  while (state.get() === 'enqueueing') await setTimeout(POLL_MS);
  // First the service indexes the new contacts for the search, which must not count as sending.
  commandMailing(db.$client, 1, 'pause');
  await untilIdle(service);
  const running = Array.from({ length: nodes }, (_, index) => startNode(natsUrl, `bench-${index}`));
  try {
    await setTimeout(JOIN_MS);
    commandMailing(db.$client, 1, 'resume');
    return await measureSending(
      service,
      { nodes: running.map(({ pid = 0 }) => pid), nats: natsPid },
      async (isReached) => {
        while (!(await isReached(sink))) await setTimeout(POLL_MS);
      },
      () => state.get() === 'done',
    );
  } finally {
    for (const node of running) {
      node.kill('SIGTERM');
      await once(node, 'exit');
    }
    await service.close();
    db.$client.close();
    sink.close();
  }
}

type Sink = Awaited<ReturnType<typeof startSink>>;

/** Resolves once the service has used hardly any CPU time for a second. */
async function untilIdle({ usage }: RunningService): Promise<void> {
  for (let before = Number.NEGATIVE_INFINITY; ; ) {
    const { cpuSeconds } = usage();
    if (cpuSeconds - before < IDLE_SHARE) return;
    before = cpuSeconds;
    await setTimeout(1000);
  }
}

/** Measures the time from the first twentieth of the mails to the last mail, and the CPU time until all mails are recorded. */
async function measureSending(
  service: RunningService,
  pids: { nodes: readonly number[]; nats: number },
  wait: (isReached: (sink: Sink) => Promise<boolean>) => Promise<void>,
  isRecorded: () => boolean,
): Promise<Figures> {
  const deadline = performance.now() + MAX_RUN_MS;
  let arrived = 0;
  const untilArrived = (count: number) =>
    wait(async (sink) => {
      if (performance.now() > deadline) throw new Error(`only ${arrived} of ${count} mails arrived in time`);
      arrived = (await sink.totals()).messages;
      return arrived >= count;
    });
  await untilArrived(Math.ceil(recipients / 20));
  const arrivedBefore = arrived;
  const usage = () => ({
    service: service.usage().cpuSeconds,
    nodes: pids.nodes.reduce((sum, pid) => sum + usageOf(pid).cpuSeconds, 0),
    nats: usageOf(pids.nats).cpuSeconds,
  });
  const before = usage();
  const started = performance.now();
  await untilArrived(recipients);
  const seconds = (performance.now() - started) / 1000;
  await wait(async () => isRecorded());
  const after = usage();
  const units = recipients - arrivedBefore;
  return {
    seconds: seconds / units,
    service: (after.service - before.service) / units,
    nodes: (after.nodes - before.nodes) / units,
    nats: (after.nats - before.nats) / units,
  };
}

function startNode(natsUrl: string, name: string) {
  const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
  const env = { PATH: process.env.PATH, NATS_URL: natsUrl, NODE_NAME: name, PORT: '0' };
  const child = spawn(process.execPath, [cli, 'node'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  return child;
}

const teardowns: (() => Promise<void>)[] = [];
const nats = await startNats({ teardown: (stop) => void teardowns.push(stop) });
const table: Table = {};
for (const nodes of [0, 1, 2, 4]) {
  const figures = await inFolder((folder) => sendMailing(folder, nodes, nats.urls, nats.servers[0]?.pid() ?? 0));
  const microseconds = (seconds: number) => Math.round(seconds * 1e7) / 10;
  table[nodes === 0 ? 'the service itself' : `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`] = {
    'mails/s': Math.round(1 / figures.seconds),
    'CPU µs a mail, service': microseconds(figures.service),
    'CPU µs a mail, nodes': microseconds(figures.nodes),
    'CPU µs a mail, NATS': microseconds(figures.nats),
  };
}
for (const stop of teardowns) await stop();
report(table, [`${CONNECTIONS} connections a node, ${LATENCY_MS} ms for each answer of the relay`]);
