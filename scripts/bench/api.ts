/**
 * What requests cost: an authenticated read, a pixel hit and a write that is on disk when answered, beside servers that answer with
 * bytes they have, node:http alone, also with some work for each request, and Fastify alone; then the three again while a campaign of
 * large mails leaves as fast as it can. All driven by the same client for three seconds each.
 *
 *   npm run bench:api -- [contacts] [recipients of the campaign]
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Fastify from 'fastify';
import { launchMailing, sampleHtml } from '../../fixtures/mailing.ts';
import { connect } from '../../src/database/open.ts';
import { openTokens } from '../../src/delivery/links/tokens.ts';
import { type Latencies, load, type Request } from './load.ts';
import {
  inFolder,
  madeDatabase,
  ranApart,
  row,
  type Served,
  served,
  startedSink,
  type Taken,
  takenBy,
  usedBy,
} from './measure.ts';
import { report, type Table } from './report.ts';

const SECONDS = 3;
const CONNECTIONS = 32;
const KINDS = ['read', 'pixel', 'write'];
const MAIL_BYTES = 37_000;
const STRETCH = 'longest stretch on the HTTP thread, ms';
const [given = '100000', people = '1000000', part, ...rest] = process.argv.slice(2);
const contacts = Number(given);

/** Runs the client in a process of its own. Its arguments: the origin, what to request, and a token if that is the pixel. */
async function drive(): Promise<Latencies> {
  const [origin = '', what = '', token = ''] = rest;
  const requests: Record<string, (number: number) => Request> = {
    read: (number) => ({ method: 'GET', path: `/api/contacts/details?contact_id=${1 + (number % contacts)}` }),
    pixel: () => ({ method: 'GET', path: `/o/${token}.gif` }),
    write: (number) => ({ method: 'POST', path: '/api/contacts-type/add', form: `name=Type${number}` }),
  };
  const request = requests[what];
  if (request === undefined) throw new Error(`there is no ${what}`);
  return load({ origin, connections: CONNECTIONS, seconds: SECONDS, request });
}

async function measured(
  service: Pick<Served, 'used' | 'origin'> & Partial<Pick<Served, 'longestStretch'>>,
  what: string,
  token: string,
) {
  let latencies: Latencies | undefined;
  const args = [given, people, 'drive', service.origin, what, token];
  await ranApart('api.ts', args);
  await service.longestStretch?.();
  const result: Taken = await takenBy(service, async () => {
    latencies = await ranApart('api.ts', args);
    return latencies?.requests ?? 0;
  });
  if (latencies === undefined || latencies.failed > 0) throw new Error(`${latencies?.failed} of ${what} failed`);
  // The client's own start does not count.
  const waits = { 'p99 ms': latencies.p99, [STRETCH]: (await service.longestStretch?.()) ?? 0 };
  return { result: { ...result, seconds: SECONDS }, waits };
}

const BODY = 'x'.repeat(600);

/** Answers everything with 600 bytes, after so many microseconds of work. */
async function bare(workUs: number): Promise<void> {
  const server = createServer((_request, response) => {
    for (const end = performance.now() + workUs / 1000; performance.now() < end; );
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': BODY.length }).end(BODY);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { result } = await measured({ origin, used: () => usedBy(process.pid) }, 'read', '');
  server.close();
  console.log(JSON.stringify(result));
}

/** The same answers by Fastify, without a hook. */
async function framework(): Promise<void> {
  const app = Fastify();
  app.get('/api/contacts/details', (_request, reply) => reply.type('application/json; charset=utf-8').send(BODY));
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  const { result } = await measured({ origin, used: () => usedBy(process.pid) }, 'read', '');
  await app.close();
  console.log(JSON.stringify(result));
}

function openToken(file: string): string {
  const db = connect(file);
  const email = String(db.$client.prepare('SELECT normalized_email FROM addresses WHERE id = 1').pluck().get());
  const ids = { delivery: 1, mailing: 1, address: 1, group: 0, user: 1, email };
  const { open } = openTokens(db.$client).recipient(ids);
  db.$client.close();
  return open;
}

/** Measures the requests while a campaign is sent. The CPU time of a request cannot be separated from that of the campaign. */
async function whileSending(folder: string): Promise<Table> {
  const file = join(folder, 'sending.db');
  const db = connect(file);
  await launchMailing(db, Number(people), sampleHtml(MAIL_BYTES, 3));
  db.$client.close();
  const token = openToken(file);
  const sink = await startedSink();
  const service = await served(file, { SMTP_URL: sink.url, PUBLIC_URL: 'https://mail.example.com' });
  while ((await sink.totals()).messages === 0) await setTimeout(100);
  const rows: Table = {};
  for (const what of KINDS) {
    const started = performance.now();
    const before = (await sink.totals()).messages;
    const { result, waits } = await measured(service, what, token);
    const sent = (await sink.totals()).messages - before;
    const seconds = (performance.now() - started) / 1000;
    if (before + sent >= Number(people)) throw new Error('the campaign was over too soon: give it more recipients');
    rows[`${what}, while sending`] = {
      requests: result.units,
      'requests/s': Math.round(result.units / SECONDS),
      'peak RSS MB': Math.round(result.maxRssKb / 1024),
      ...waits,
      'mails/s': Math.round(sent / seconds),
    };
  }
  await service.close();
  sink.close();
  return rows;
}

async function compare(): Promise<void> {
  await inFolder(async (folder) => {
    const file = join(folder, 'bench.db');
    madeDatabase(file, contacts).$client.close();
    const bareServer = (workUs: number): Promise<Taken> => ranApart('api.ts', [given, people, 'bare', String(workUs)]);
    const least = await bareServer(0);
    const table: Table = {
      'node:http alone': row(least, 'requests', least),
      'node:http, 20 µs of work each': row(await bareServer(20), 'requests', least),
      'node:http, 60 µs of work each': row(await bareServer(60), 'requests', least),
      'Fastify alone': row(await ranApart('api.ts', [given, people, 'framework']), 'requests', least),
    };
    const token = openToken(file);
    const service = await served(file);
    for (const what of KINDS) {
      const { result, waits } = await measured(service, what, token);
      table[what] = { ...row(result, 'requests', least), ...waits };
    }
    await service.close();
    Object.assign(table, await whileSending(folder));
    report(table);
  });
}

if (part === 'drive') console.log(JSON.stringify(await drive()));
else if (part === 'bare') await bare(Number(rest[0]));
else if (part === 'framework') await framework();
else await compare();
