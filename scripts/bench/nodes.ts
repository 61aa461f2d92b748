/**
 * What sender nodes cost and how they add up: one mailing to a relay that takes 10 ms for each answer, sent by the service itself and by
 * 1, 2 and 4 nodes, all on this machine, with one NATS server. It needs Debian's package nats-server.
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
import { inFolder, type Served, served, startedSink, usedBy } from './measure.ts';
import { report, type Table } from './report.ts';

const CONNECTIONS = 20;
const LATENCY_MS = 10;
const LOOK_MS = 20;
/** By then nodes have their first lease. */
const JOINED_MS = 4000;
/** A service that does nothing uses less of a core than this. */
const IDLE_SHARE = 0.06;
/** How long each run may take. */
const PATIENCE_MS = 600_000;
const [given = '20000'] = process.argv.slice(2);
const recipients = Number(given);

interface Figures {
  seconds: number;
  service: number;
  nodes: number;
  nats: number;
}

/** Sends the mailing by this number of nodes; with 0, by the service itself. CPU times are in seconds. */
async function sent(folder: string, nodes: number, natsUrl: string, natsPid: number): Promise<Figures> {
  const sink = await startedSink('sink.ts', ['--latency', String(LATENCY_MS)]);
  const file = join(folder, 'bench.db');
  const db = connect(file);
  await launchMailing(db, recipients, sampleHtml(29_000, 100));
  const state = db.$client.prepare('SELECT state FROM mailings').pluck();
  const service = await served(file, {
    SMTP_URL: sink.url,
    SMTP_CONNECTIONS: String(CONNECTIONS),
    PUBLIC_URL: 'https://mail.example.com',
    ...(nodes > 0 && { NATS_URL: natsUrl }),
  });
  while (state.get() === 'enqueueing') await setTimeout(LOOK_MS);
  // The new contacts are put into the index of the search first, which would count as sending.
  commandMailing(db.$client, 1, 'pause');
  await isIdle(service);
  const running = Array.from({ length: nodes }, (_, at) => startNode(natsUrl, `bench-${at}`));
  try {
    await setTimeout(JOINED_MS);
    commandMailing(db.$client, 1, 'resume');
    return await measured(
      service,
      { nodes: running.map(({ pid = 0 }) => pid), nats: natsPid },
      async (reached) => {
        while (!(await reached(sink))) await setTimeout(LOOK_MS);
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

type Sink = Awaited<ReturnType<typeof startedSink>>;

/** Resolves once the service does next to nothing. */
async function isIdle({ used }: Served): Promise<void> {
  for (let before = Number.NEGATIVE_INFINITY; ; ) {
    const { cpuSeconds } = used();
    if (cpuSeconds - before < IDLE_SHARE) return;
    before = cpuSeconds;
    await setTimeout(1000);
  }
}

/** Measures from the first mails to the last, and the CPU until all are recorded. */
async function measured(
  service: Served,
  pids: { nodes: readonly number[]; nats: number },
  wait: (reached: (sink: Sink) => Promise<boolean>) => Promise<void>,
  isRecorded: () => boolean,
): Promise<Figures> {
  const deadline = performance.now() + PATIENCE_MS;
  let first = 0;
  const until = (count: number) =>
    wait(async (sink) => {
      if (performance.now() > deadline) throw new Error('it does not get there');
      first = (await sink.totals()).messages;
      return first >= count;
    });
  await until(Math.ceil(recipients / 20));
  const begun = first;
  const used = () => ({
    service: service.used().cpuSeconds,
    nodes: pids.nodes.reduce((sum, pid) => sum + usedBy(pid).cpuSeconds, 0),
    nats: usedBy(pids.nats).cpuSeconds,
  });
  const before = used();
  const started = performance.now();
  await until(recipients);
  const seconds = (performance.now() - started) / 1000;
  await wait(async () => isRecorded());
  const after = used();
  const units = recipients - begun;
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
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  return child;
}

const endings: (() => Promise<void>)[] = [];
const nats = await startNats({ teardown: (end) => void endings.push(end) });
const table: Table = {};
for (const nodes of [0, 1, 2, 4]) {
  const figures = await inFolder((folder) => sent(folder, nodes, nats.urls, nats.servers[0]?.pid() ?? 0));
  const { seconds, service, nodes: theirs } = figures;
  const micro = (value: number) => Math.round(value * 1e7) / 10;
  table[nodes === 0 ? 'the service itself' : `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`] = {
    'mails/s': Math.round(1 / seconds),
    'CPU µs a mail, service': micro(service),
    'CPU µs a mail, nodes': micro(theirs),
    'CPU µs a mail, NATS': micro(figures.nats),
  };
}
for (const end of endings) await end();
report(table, [`${CONNECTIONS} connections a node, ${LATENCY_MS} ms for each answer of the relay`]);
