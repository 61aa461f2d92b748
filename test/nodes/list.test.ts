/** The list of nodes of a running service: who is there, what each did, who went, and why mail waits. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { mailWaitsReason } from '../../src/delivery/queue/holds.ts';
import { listSenderNodes } from '../../src/delivery/reporting/sender-nodes.ts';
import { SENTENCES } from '../../src/errors/sentences.ts';
import { skipWithout } from '../support/tools.ts';
import { FleetSend } from './rig.ts';

t.test(
  'sendlark nodes says that mail waits without a node, lists those that come, and tells an end from a loss',
  { skip: skipWithout('nats') },
  async (t) => {
    const send = await FleetSend.prepare(t, { people: 400, rate: 0, nodes: 2 });
    const env = { PATH: process.env.PATH, DATABASE_PATH: join(send.service.folder, 'test.db') };
    const run = (...words: string[]) =>
      spawnSync(process.execPath, ['dist/cli.js', 'nodes', ...words], { env, encoding: 'utf8' }).stdout;
    const list = () => {
      const client = new Database(env.DATABASE_PATH, { readonly: true });
      try {
        return {
          nodes: listSenderNodes(client, Date.now()),
          waits_reason: mailWaitsReason(client)?.toString() ?? null,
        };
      } finally {
        client.close();
      }
    };
    await send.service.start();
    await send.until(() => list().waits_reason !== null);
    t.equal(list().waits_reason, SENTENCES.waits_no_node);
    t.match(JSON.parse(run('--json')), { nodes: [], waits_reason: SENTENCES.waits_no_node });
    t.equal(await send.taken(), 0);
    for (const node of send.nodes) node.start();
    await send.until(() => send.isOver());
    const taken = () => list().nodes.reduce((sum, { accepted }) => sum + accepted, 0);
    await send.until(() => list().nodes.length === 2 && taken() === 400);
    await send.until(() => list().nodes.every(({ state }) => state === 'sending'));
    t.equal(list().waits_reason, null);
    t.match(run(), /^NAME +STATE .*\nnode-0\S* +sending .*\nnode-1\S* +sending .*\n$/);
    t.equal(await send.nodes[0]?.end('SIGTERM'), 0);
    await send.until(() => list().nodes.length === 1);
    t.match(list().nodes, [{ name: /^node-1/ }], 'one that said good-bye is gone');
    await send.nodes[1]?.end('SIGKILL');
    await send.until(() => list().nodes[0]?.state === 'silent');
    await send.until(() => list().waits_reason === SENTENCES.waits_no_node);
    send.nodes[1]?.start();
    await send.until(() => list().nodes.some(({ state }) => state === 'sending'));
    t.equal(list().waits_reason, null);
    t.match(list().nodes, [{ state: 'silent' }, { state: 'sending' }], 'the lost one stays in the list');
  },
);
