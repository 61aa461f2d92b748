/** The files for machines with sender nodes: units that systemd takes, and a compose file whose servers form a cluster. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import t from 'tap';
import { freePorts } from '../../fixtures/free-ports.ts';
import { NATS_SERVER } from '../../fixtures/nats.ts';
import { SETTINGS } from '../../src/config.ts';
import { makeStreams, STREAM } from '../../src/nodes/streams.ts';
import { ROOT } from '../support/documents.ts';
import { skipWithout } from '../support/tools.ts';
import { pairsOf } from './files.ts';

const ANALYZE = '/usr/bin/systemd-analyze';
const UNITS = join(ROOT, 'deploy/systemd');
const compose = readFileSync(join(ROOT, 'compose.nodes.yaml'), 'utf8');

t.test('systemd takes the units, and gives each longer to stop than it needs', async (t) => {
  for (const name of readdirSync(UNITS)) {
    const unit = readFileSync(join(UNITS, name), 'utf8');
    const values = new Map(pairsOf(unit, /^(\w+)=(.*)$/gm));
    const [, own] = /^Environment=SHUTDOWN_SECONDS=(\d+)$/m.exec(unit) ?? [];
    const needed = Number(own ?? SETTINGS.SHUTDOWN_SECONDS.fallback) + 1;
    t.ok(Number(values.get('TimeoutStopSec')) > needed, `${name} may finish`);
    t.equal(values.get('NoNewPrivileges'), 'true', name);
    if (!existsSync(ANALYZE)) continue;
    const path = join(t.testdir(), name);
    // The programs and users exist on the operator's machine only.
    writeFileSync(
      path,
      unit.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true').replace(/^(User|Group)=.*/gm, '$1=root'),
    );
    const { status, stderr } = spawnSync(ANALYZE, ['verify', path], { encoding: 'utf8' });
    t.equal(status, 0, stderr);
    t.notMatch(stderr, new RegExp(`${name}.*(Unknown|Failed)`));
  }
});

t.test('the compose file has known settings, and gives each container longer to stop than it needs', async (t) => {
  for (const [name] of pairsOf(compose, /^ {6}([A-Z_]+): "?([^"\n]*)"?$/gm)) t.ok(Object.hasOwn(SETTINGS, name), name);
  for (const [, port] of pairsOf(compose, /^ {6}- (127\.0\.0\.1):(\d+):3000$/gm)) t.match(port, /^300\d$/);
  t.notMatch(compose, /^ {6}- \d+:/m, 'no port is open to other machines');
  for (const [, seconds] of pairsOf(compose, /^ {2}(stop_grace_period): (\d+)s$/gm)) t.ok(Number(seconds) >= 30);
  const [, grace] = /x-node:.*?stop_grace_period: (\d+)s/s.exec(compose) ?? [];
  for (const [, drain] of pairsOf(compose, /^ {6}(SHUTDOWN_SECONDS): "(\d+)"$/gm))
    t.ok(Number(grace) > Number(drain) + 1);
});

t.test(
  'the NATS servers of the compose file form a cluster that keeps three copies',
  { skip: skipWithout('nats') },
  async (t) => {
    const commands = pairsOf(compose, /^ {4}(command): (-js .*)$/gm).map(([, command]) => command.split(' '));
    t.equal(commands.length, 3);
    const ports = await freePorts(6);
    // Made once: each call empties the folder.
    const folder = t.testdir();
    const servers: ChildProcess[] = [];
    t.teardown(() => {
      for (const server of servers) server.kill('SIGKILL');
    });
    for (const [at, words] of commands.entries()) {
      const here = words.map((word) =>
        word
          .replace('/data', folder)
          .replace('0.0.0.0:6222', `127.0.0.1:${ports[at + 3]}`)
          .replaceAll(/nats-(\d):6222/g, (_, number) => `127.0.0.1:${ports[Number(number) + 2]}`),
      );
      const args = [...here, '-a', '127.0.0.1', '-p', String(ports[at])];
      servers.push(
        spawn(
          NATS_SERVER,
          args.map((word) => (word === folder ? join(word, String(at)) : word)),
          { stdio: 'ignore' },
        ),
      );
    }
    const urls = ports.slice(0, 3).map((port) => `127.0.0.1:${port}`);
    const connection = await connect({ servers: urls, waitOnFirstConnect: true, maxReconnectAttempts: -1 });
    t.teardown(() => connection.close());
    const manager = await untilMade(async () => {
      await makeStreams(connection);
      return jetstreamManager(connection);
    });
    const { config, cluster } = await manager.streams.info(STREAM.consents);
    t.equal(config.num_replicas, 3);
    t.equal(cluster?.replicas?.length, 2, 'beside the leader');
  },
);

/** What `make` gives once it no longer fails, since a cluster needs a moment to choose a leader. */
async function untilMade<T>(make: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await make();
    } catch (error) {
      if (tries > 250) throw error;
      await pause(200);
    }
  }
}
