/**
 * Measures the CPU time of an event of webhooks: to write it together with the change that it is about, and to send it to two endpoints, at
 * 5 000 events a second. As a comparison, undici alone sends the same requests. The number is for how many seconds. The endpoints are
 * another process, which answers 204 and whose CPU time does not count.
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
import { connect } from '../../src/database/open.ts';
import { migrateAndSeed } from '../../src/database/upgrade.ts';
import { systemClock } from '../../src/time/clock.ts';
import { Dispatcher } from '../../src/webhooks/dispatcher.ts';
import { addEndpoint } from '../../src/webhooks/endpoints.ts';
import { MAX_CONNECTIONS } from '../../src/webhooks/requests.ts';
import { report } from './report.ts';

const PER_SECOND = 5000;
const TICK_MS = 50;
const ENDPOINTS = 2;

if (process.argv[2] === 'endpoint') runEndpoint();
else await measure(Number(process.argv[2] ?? 10));

/** Answers every request on a free port, and sends the port to the parent process. */
function runEndpoint(): void {
  const server = createServer((socket) => {
    let unread = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      unread += chunk.toString('latin1');
      for (;;) {
        const headEnd = unread.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(unread.slice(0, headEnd))?.[1] ?? 0);
        if (headEnd === -1 || unread.length < headEnd + 4 + length) return;
        unread = unread.slice(headEnd + 4 + length);
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
    /** Adds all contacts, those of a tick in one statement, and runs `afterTick` after each tick. */
    const addContacts = async (afterTick: () => Promise<void>) => {
      const perTick = (PER_SECOND * TICK_MS) / 1000;
      for (let added = 0; added < count; added += perTick) {
        insert.run(added, added + perTick);
        await afterTick();
      }
    };
    const withoutWebhooks = await cpuOf(() => addContacts(async () => undefined));
    client.exec('DELETE FROM contacts');
    for (let index = 0; index < ENDPOINTS; index++)
      addEndpoint(db, 7, { url: `http://127.0.0.1:${port}/`, note: '', events: ['contact.created'] }, now);
    const withEvents = await cpuOf(() => addContacts(async () => undefined));
    client.exec('DELETE FROM contacts; DELETE FROM webhook_events');
    const dispatcher = new Dispatcher({ client, clock: systemClock, allowPrivate: true });
    const started = performance.now();
    const withSending = await cpuOf(async () => {
      await addContacts(async () => {
        dispatcher.step();
        await setTimeout(TICK_MS);
      });
      while (
        dispatcher.step() ||
        client.prepare('SELECT 1 FROM webhook_endpoints WHERE position < (SELECT max(id) FROM webhook_events)').get()
      )
        await setTimeout(TICK_MS);
    });
    const rate = Math.round(count / ((performance.now() - started) / 1000));
    await dispatcher.close();
    const sample = client.prepare<[], { data: string }>('SELECT data FROM webhook_events LIMIT 1').get();
    const undiciAlone = await sendAlone(port, count, sample?.data ?? '{}');
    const each = (microseconds: number) => Number((microseconds / count).toFixed(1));
    report(
      {
        'a contact added without webhooks': { 'CPU µs': each(withoutWebhooks) },
        'its event, written once for all endpoints': { 'CPU µs': each(withEvents - withoutWebhooks) },
        'signing, sending and logging it, for each endpoint': {
          'CPU µs': each((withSending - withEvents) / ENDPOINTS),
        },
        'of that, the same request by undici alone': { 'CPU µs': each(undiciAlone) },
      },
      [`${rate} events a second went to each of ${ENDPOINTS} endpoints`],
    );
  } finally {
    db.$client.close();
    endpoint.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the CPU time of `work` in microseconds. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/**
 * Sends requests by undici over one pool with as many connections as the dispatcher's, all with the same body and signature. Returns their
 * CPU time in microseconds.
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
  let started = 0;
  let finished = 0;
  const sendNext = () => {
    if (started === count) return;
    started++;
    pool.dispatch(
      { path: '/', method: 'POST', headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: () => undefined,
        onResponseEnd: () => {
          if (++finished === count) resolve();
          else sendNext();
        },
        onResponseError: (_controller, error) => reject(error),
      },
    );
  };
  const cpu = await cpuOf(async () => {
    for (let connection = 0; connection < MAX_CONNECTIONS; connection++) sendNext();
    await promise;
  });
  await pool.close();
  return cpu;
}
