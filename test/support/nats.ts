/** Real NATS servers with JetStream, one or a cluster of three, each on ports and in a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { toolPath } from './tools.ts';

/** How long servers may take to answer, on a machine that is busy. */
const START_MS = 30_000;
const POLL_MS = 50;

export interface NatsServer {
  url: string;
  pid(): number;
  /** Ends it; resolves when it is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** SIGSTOP and SIGCONT. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Starts it again on the same port and folder; resolves when it listens. */
  start(): Promise<void>;
}

export interface NatsCluster {
  /** The text of NATS_URL. */
  urls: string;
  servers: NatsServer[];
}

/** Starts servers that are ended by their process id with the test; `extra` is added to the configuration of each. */
export async function startNats(
  t: { teardown(end: () => Promise<void>): void },
  count: 1 | 3 = 1,
  extra = '',
): Promise<NatsCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-nats-'));
  const ports = await freePorts(count * 2);
  const routes = ports.slice(count).map((port) => `nats://127.0.0.1:${port}`);
  const servers = ports.slice(0, count).map((port, at) => {
    const own = join(folder, String(at));
    mkdirSync(own);
    const cluster =
      count === 1
        ? ''
        : `cluster { name: test, listen: "127.0.0.1:${ports[count + at]}", routes: ${JSON.stringify(routes)} }`;
    const lines = [
      `server_name: "n${at}"`,
      `listen: "127.0.0.1:${port}"`,
      `jetstream { store_dir: "${own}", max_memory_store: 64MB, max_file_store: 4GB }`,
      cluster,
      extra,
    ];
    writeFileSync(join(own, 'nats.conf'), lines.join('\n'));
    return makeServer(port, join(own, 'nats.conf'));
  });
  t.teardown(async () => {
    for (const server of servers) await server.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  await Promise.all(servers.map((server) => server.start()));
  const urls = servers.map(({ url }) => url).join(',');
  if (extra === '') await hasLeader(urls);
  return { urls, servers };
}

function makeServer(port: number, configuration: string): NatsServer {
  let child: ChildProcess | null = null;
  const running = () => {
    if (child?.pid === undefined) throw new Error('the NATS server does not run');
    return child;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    pid: () => running().pid ?? 0,
    signal: (name) => void running().kill(name),
    async end(signal) {
      const ending = child;
      child = null;
      if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return;
      ending.kill(signal);
      if (signal === 'SIGTERM') ending.kill('SIGCONT');
      await once(ending, 'exit');
    },
    async start() {
      child = spawn(toolPath('nats'), ['-c', configuration], { stdio: 'ignore' });
      await listens(port);
    },
  };
}

/** Ports that nothing listens on. All are taken before the first is given back, so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const probes = await Promise.all(
    Array.from({ length: count }, async () => {
      const probe = createServer().listen(0, '127.0.0.1');
      await once(probe, 'listening');
      return probe;
    }),
  );
  return Promise.all(
    probes.map(async (probe) => {
      const { port } = probe.address() as AddressInfo;
      probe.close();
      await once(probe, 'close');
      return port;
    }),
  );
}

async function listens(port: number): Promise<void> {
  for (const until = performance.now() + START_MS; performance.now() < until; ) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await setTimeout(POLL_MS);
  }
  throw new Error(`no NATS server listens on port ${port}`);
}

/** Resolves when JetStream answers, which in a cluster needs a leader. */
async function hasLeader(urls: string): Promise<void> {
  const connection = await connectNats({ servers: urls.split(','), waitOnFirstConnect: true });
  try {
    for (const until = performance.now() + START_MS; performance.now() < until; ) {
      const isReady = await jetstreamManager(connection).then(
        () => true,
        () => false,
      );
      if (isReady) return;
      await setTimeout(POLL_MS);
    }
    throw new Error('JetStream did not become ready');
  } finally {
    await connection.close();
  }
}
