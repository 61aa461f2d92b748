/**
 * What an event of a webhook costs: writing it with the change that it is about, and handing it to two endpoints, 5 000 events a
 * second; and what the same requests cost with undici alone. The number is for how many seconds. The endpoints are a process that answers
 * 204 and is not counted.
 *
 *   npm run bench:webhooks -- [seconds]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Pool } from 'undici';
import { connect, migrateAndSeed } from '../../src/database/open.ts';
import { systemClock } from '../../src/time/clock.ts';
import { Dispatcher } from '../../src/webhooks/dispatcher.ts';
import { addEndpoint } from '../../src/webhooks/endpoints.ts';
import { MAX_CONNECTIONS } from '../../src/webhooks/requests.ts';
import { report } from './report.ts';

const PER_SECOND = 5000;
const TICK_MS = 50;
const ENDPOINTS = 2;

if (process.argv[2] === 'endpoint') answerAll();
else await measure(Number(process.argv[2] ?? 10));

/** Answers every request on a free port, whose number it tells. */
function answerAll(): void {
  const server = createServer((socket) => {
    let rest = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      rest += chunk.toString('latin1');
      for (;;) {
        const end = rest.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(rest.slice(0, end))?.[1] ?? 0);
        if (end === -1 || rest.length < end + 4 + length) return;
        rest = rest.slice(end + 4 + length);
        socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      }
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
}

async function measure(seconds: number): Promise<void> {
  const endpoint = fork(import.meta.filename, ['endpoint']);
  const [{ port }] = await once(endpoint, 'message');
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-bench-'));
  const db = connect(join(folder, 'bench.db'));
  try {
    migrateAndSeed(db);
    const { $client: client } = db;
    const now = systemClock.now();
    client.exec("INSERT INTO accounts (id, name, created_at) VALUES (7, 'Bench', '')");
    client.exec(
      "INSERT INTO contact_types (id, user_id, name, created_at, updated_at) VALUES (1, 7, 'Readers', '', '')",
    );
    const count = PER_SECOND * seconds;
    client.exec(`
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      INSERT INTO addresses (id, user_id, normalized_email) SELECT i, 7, 'reader' || i || '@example.org' FROM n`);
    const insert = client.prepare(`
      INSERT INTO contacts (user_id, contact_type_id, address_id, email, created_at, updated_at)
      SELECT 7, 1, id, normalized_email, '', '' FROM addresses WHERE id > ? AND id <= ?`);
    /** CPU in microseconds of adding all contacts, a tick's worth in a transaction, and of what goes on meanwhile. */
    const addAll = async (between: () => Promise<unknown>) => {
      const batch = (PER_SECOND * TICK_MS) / 1000;
      const before = process.cpuUsage();
      for (let done = 0; done < count; done += batch) {
        insert.run(done, done + batch);
        await between();
      }
      return { before };
    };
    const spent = (before: NodeJS.CpuUsage) => {
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const without = spent((await addAll(async () => undefined)).before);
    client.exec('DELETE FROM contacts');
    for (let at = 0; at < ENDPOINTS; at++)
      addEndpoint(db, 7, { url: `http://127.0.0.1:${port}/`, note: '', events: ['contact.created'] }, now);
    const withEvents = spent((await addAll(async () => undefined)).before);
    client.exec('DELETE FROM contacts; DELETE FROM webhook_events');
    const dispatcher = new Dispatcher({ client, clock: systemClock, allowPrivate: true });
    const started = performance.now();
    const { before } = await addAll(async () => {
      dispatcher.step();
      await setTimeout(TICK_MS);
    });
    while (
      dispatcher.step() ||
      client.prepare('SELECT 1 FROM webhook_endpoints WHERE position < (SELECT max(id) FROM webhook_events)').get()
    )
      await setTimeout(TICK_MS);
    const sent = spent(before);
    const rate = Math.round(count / ((performance.now() - started) / 1000));
    await dispatcher.close();
    const sample = client.prepare<[], { data: string }>('SELECT data FROM webhook_events LIMIT 1').get();
    const alone = await sendAlone(port, count, sample?.data ?? '{}');
    const each = (microseconds: number) => Number((microseconds / count).toFixed(1));
    report(
      {
        'a contact added without webhooks': { 'CPU µs': each(without) },
        'its event, written once for all endpoints': { 'CPU µs': each(withEvents - without) },
        'signing, sending and logging it, for each endpoint': { 'CPU µs': each((sent - withEvents) / ENDPOINTS) },
        'of that, the same request by undici alone': { 'CPU µs': each(alone) },
      },
      [`${rate} events a second went to each of ${ENDPOINTS} endpoints`],
    );
  } finally {
    db.$client.close();
    endpoint.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}
/**
 * CPU in microseconds of so many requests that undici sends over one pool as the dispatcher has it, with one body and
 * one signature for all.
 */
async function sendAlone(port: number, count: number, data: string): Promise<number> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: MAX_CONNECTIONS });
  const body = `{"type":"contact.created","timestamp":"${new Date().toISOString()}","data":${data}}`;
  const headers = Object.entries({
    'content-type': 'application/json',
    'user-agent': 'Sendlark-Webhooks',
    accept: '*/*',
    'webhook-id': 'evt_0123456789abcdef_1000000',
    'webhook-timestamp': '1795356830',
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
  }).flat();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let begun = 0;
  let ended = 0;
  const next = () => {
    if (begun === count) return;
    begun++;
    pool.dispatch(
      { path: '/', method: 'POST', headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: () => undefined,
        onResponseEnd: () => {
          if (++ended === count) resolve();
          else next();
        },
        onResponseError: (_controller, error) => reject(error),
      },
    );
  };
  const before = process.cpuUsage();
  for (let at = 0; at < MAX_CONNECTIONS; at++) next();
  await promise;
  const { user, system } = process.cpuUsage(before);
  await pool.close();
  return user + system;
}
