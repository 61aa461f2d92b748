import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { nkeys } from '@nats-io/transport-node';
import t from 'tap';
import { startNats } from '../../fixtures/nats.ts';
import { readConfig } from '../../src/config.ts';
import { connectNats } from '../../src/nodes/connection.ts';
import { makeStreams, STREAM, SUBJECT } from '../../src/nodes/streams.ts';
import { skipWithout } from '../support/tools.ts';
import { until } from '../support/until.ts';

const skip = skipWithout('nats');
const never = new AbortController().signal;

function options(lines: string[] = []) {
  return { name: 'test', signal: never, log: (_: unknown, text: string) => void lines.push(text) };
}

t.test(
  'one server keeps one copy of each stream, and making them again changes only limits that differ',
  { skip },
  async (t) => {
    const { urls } = await startNats(t);
    const connection = await connectNats(readConfig({ NATS_URL: urls }), options());
    t.teardown(() => connection.close());
    await makeStreams(connection);
    await jetstream(connection).publish(`${SUBJECT.consents}.1.x`, 'kept');
    await makeStreams(connection);
    const manager = await jetstreamManager(connection);
    const { config, state } = await manager.streams.info(STREAM.consents);
    t.match({ config, state }, { config: { num_replicas: 1, max_age: 0 }, state: { messages: 1 } });
    await manager.streams.update(STREAM.consents, { max_msg_size: 1 });
    await makeStreams(connection);
    t.same((await manager.streams.info(STREAM.consents)).config, config, 'a limit that differs is corrected');
  },
);

t.test('a cluster keeps three copies and goes on when one server is killed', { skip }, async (t) => {
  const { urls, servers } = await startNats(t, 3);
  const connection = await connectNats(readConfig({ NATS_URL: urls }), options());
  t.teardown(() => connection.close());
  // A cluster that is busy may reply too late. The service then tries again, too.
  await until(() =>
    makeStreams(connection).then(
      () => true,
      () => false,
    ),
  );
  const manager = await jetstreamManager(connection);
  t.equal((await manager.streams.info(STREAM.consents)).config.num_replicas, 3);
  await servers[0]?.end('SIGKILL');
  const client = jetstream(connection);
  const publish = async (): Promise<number> => {
    // Refused while the servers agree on who leads.
    for (;;) {
      const sequence = await client.publish(`${SUBJECT.consents}.1.x`, 'kept', { timeout: 500 }).then(
        ({ seq }) => seq,
        () => 0,
      );
      if (sequence > 0) return sequence;
      await setTimeout(50);
    }
  };
  t.ok((await publish()) > 0);
});

t.test('the connection is made when a server comes up later, and again after it was gone', { skip }, async (t) => {
  const { urls, servers } = await startNats(t);
  await servers[0]?.end('SIGKILL');
  const lines: string[] = [];
  const connecting = connectNats(readConfig({ NATS_URL: urls }), options(lines));
  await servers[0]?.start();
  const connection = await connecting;
  t.teardown(() => connection.close());
  const changes = connection.status();
  await servers[0]?.end('SIGKILL');
  await servers[0]?.start();
  for await (const { type } of changes) if (type === 'reconnect') break;
  await makeStreams(connection);
  t.equal(lines[0], 'NATS cannot be reached; trying again');
});

t.test('an NKey from a file opens a server that knows it, and no log line has its seed', { skip }, async (t) => {
  const pair = nkeys.createUser();
  const seed = new TextDecoder().decode(pair.getSeed());
  const file = join(t.testdir({}), 'node.nk');
  writeFileSync(file, `${seed}\n`);
  const { urls } = await startNats(t, 1, `authorization { users: [{ nkey: "${pair.getPublicKey()}" }] }`);
  const lines: string[] = [];
  const connection = await connectNats(readConfig({ NATS_URL: urls, NATS_CREDENTIALS: file }), options(lines));
  t.teardown(() => connection.close());
  await makeStreams(connection);
  t.notMatch(lines.join('\n'), seed);
});

t.test('a file of credentials that cannot be used is refused at once, by the name of the setting', async (t) => {
  const file = join(t.testdir({ wrong: 'canary' }), 'wrong');
  const config = (path: string) => readConfig({ NATS_URL: 'nats://127.0.0.1:1', NATS_CREDENTIALS: path });
  await t.rejects(connectNats(config(file), options()), { message: /^NATS_CREDENTIALS: (?!.*canary)/ });
  await t.rejects(connectNats(config(`${file}-missing`), options()), { message: /^NATS_CREDENTIALS: .*ENOENT/ });
});
