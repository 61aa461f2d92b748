/**
 * The fail-over drill of docs/failover.md: the machine of the service is lost in the middle of a send, with its file, and another one goes
 * on with a copy that is older, as Litestream or a backup has it.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { skipWithout } from '../support/tools.ts';
import { FleetSend } from './rig.ts';

t.test(
  'with a copy that is older than the loss every recipient ends once, and only what was in flight is sent twice',
  { skip: skipWithout('nats') },
  async (t) => {
    const send = await FleetSend.prepare(t, { people: 1500, rate: 50, nodes: 2, servers: 3 });
    const file = join(send.service.folder, 'test.db');
    const copy = join(send.service.folder, 'copy.db');
    const run = (...words: string[]) => {
      const env = { PATH: process.env.PATH, DATABASE_PATH: file };
      const { status, stderr } = spawnSync(process.execPath, ['dist/cli.js', ...words], { env, encoding: 'utf8' });
      t.equal(status, 0, `${words[0]}: ${stderr}`);
    };
    await send.start();
    await send.until(async () => (await send.taken()) > 100);
    run('backup', copy);
    // As Litestream leaves its mark in what it copies.
    const marked = new Database(copy);
    marked.exec('CREATE TABLE _litestream_lock (id INTEGER)');
    marked.close();
    const copied = await send.taken();
    await send.until(async () => (await send.taken()) > copied + 150);
    send.controllerLostAt = Date.now();
    await send.service.end('SIGKILL');
    const lostAt = performance.now();
    for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
    run('restore', copy, '--force');
    await send.service.start();
    const held = await send.taken();
    run('release');
    await send.until(async () => (await send.taken()) > held + 20);
    t.comment(`mail leaves again after ${((performance.now() - lostAt) / 1000).toFixed(1)} s`);
    t.notOk(send.isOver());
    await send.relay.pace(0);
    await send.until(() => send.isOver());
    const { problems, duplicates } = await send.reckon();
    t.same(problems, []);
    t.comment(`${duplicates} duplicates`);
  },
);
