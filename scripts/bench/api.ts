/**
 * Measures what requests cost: an authenticated read, a pixel hit, and a write that is on disk when it is answered. Beside them are servers
 * that only answer with bytes they have: node:http alone, also with some work for each request, and Fastify alone. Then the three requests are
 * measured again while a campaign of large mails is sent as fast as possible. The same client drives each for three seconds.
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
  type Measurement,
  makeDatabase,
  measureService,
  type RunningService,
  row,
  runApart,
  startService,
  startSink,
  usageOf,
} from './measure.ts';
import { report, type Table } from './report.ts';

const SECONDS = 3;
const CONNECTIONS = 32;
const KINDS = ['read', 'pixel', 'write'];
const MAIL_BYTES = 37_000;
const STRETCH = 'longest stretch on the HTTP thread, ms';
const [contactsText = '100000', people = '1000000', part, ...partArguments] = process.argv.slice(2);
const contacts = Number(contactsText);

/** The client, which runs in a process of its own. Its arguments: the origin, the kind of request, and a token for the pixel. */
async function drive(): Promise<Latencies> {
  const [origin = '', kind = '', token = ''] = partArguments;
  const requests: Record<string, (number: number) => Request> = {
    read: (number) => ({ method: 'GET', path: `/api/contacts/details?contact_id=${1 + (number % contacts)}` }),
    pixel: () => ({ method: 'GET', path: `/o/${token}.gif` }),
    write: (number) => ({ method: 'POST', path: '/api/contacts-type/add', form: `name=Type${number}` }),
  };
  const request = requests[kind];
  if (request === undefined) throw new Error(`there is no kind of request ${kind}`);
  return load({ origin, connections: CONNECTIONS, seconds: SECONDS, request });
}

/** Measures a server under requests of one kind. The client runs twice, first to warm the server up. */
async function measure(
  service: Pick<RunningService, 'usage' | 'origin'> & Partial<Pick<RunningService, 'longestStretch'>>,
  kind: string,
  token: string,
) {
  let latencies: Latencies | undefined;
  const args = [contactsText, people, 'drive', service.origin, kind, token];
  await runApart('api.ts', args);
  await service.longestStretch?.();
  const result: Measurement = await measureService(service, async () => {
    latencies = await runApart('api.ts', args);
    return latencies?.requests ?? 0;
  });
  if (latencies === undefined || latencies.failed > 0) throw new Error(`${latencies?.failed} of ${kind} failed`);
  // The time in which the client starts does not count.
  const waits = { 'p99 ms': latencies.p99, [STRETCH]: (await service.longestStretch?.()) ?? 0 };
  return { result: { ...result, seconds: SECONDS }, waits };
}

const BODY = 'x'.repeat(600);

/** Measures node:http alone: a server that answers everything with 600 bytes, after `workUs` microseconds of work. */
async function measureBareServer(workUs: number): Promise<void> {
  const server = createServer((_request, response) => {
    for (const end = performance.now() + workUs / 1000; performance.now() < end; );
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': BODY.length }).end(BODY);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { result } = await measure({ origin, usage: () => usageOf(process.pid) }, 'read', '');
  server.close();
  console.log(JSON.stringify(result));
}

/** Measures Fastify alone, with the same answers and without a hook. */
async function measureFramework(): Promise<void> {
  const app = Fastify();
  app.get('/api/contacts/details', (_request, reply) => reply.type('application/json; charset=utf-8').send(BODY));
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  const { result } = await measure({ origin, usage: () => usageOf(process.pid) }, 'read', '');
  await app.close();
  console.log(JSON.stringify(result));
}

/** Returns the token in the pixel of the first recipient's mail. */
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
  const sink = await startSink();
  const service = await startService(file, { SMTP_URL: sink.url, PUBLIC_URL: 'https://mail.example.com' });
  while ((await sink.totals()).messages === 0) await setTimeout(100);
  const rows: Table = {};
  for (const kind of KINDS) {
    const started = performance.now();
    const before = (await sink.totals()).messages;
    const { result, waits } = await measure(service, kind, token);
    const sent = (await sink.totals()).messages - before;
    const seconds = (performance.now() - started) / 1000;
    if (before + sent >= Number(people)) throw new Error('the campaign was over too soon: give it more recipients');
    rows[`${kind}, while sending`] = {
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
    makeDatabase(file, contacts).$client.close();
    const bareServer = (workUs: number): Promise<Measurement> =>
      runApart('api.ts', [contactsText, people, 'bare', String(workUs)]);
    const floor = await bareServer(0);
    const table: Table = {
      'node:http alone': row(floor, 'requests', floor),
      'node:http, 20 µs of work each': row(await bareServer(20), 'requests', floor),
      'node:http, 60 µs of work each': row(await bareServer(60), 'requests', floor),
      'Fastify alone': row(await runApart('api.ts', [contactsText, people, 'framework']), 'requests', floor),
    };
    const token = openToken(file);
    const service = await startService(file);
    for (const kind of KINDS) {
      const { result, waits } = await measure(service, kind, token);
      table[kind] = { ...row(result, 'requests', floor), ...waits };
    }
    await service.close();
    Object.assign(table, await whileSending(folder));
    report(table);
  });
}

if (part === 'drive') console.log(JSON.stringify(await drive()));
else if (part === 'bare') await measureBareServer(Number(partArguments[0]));
else if (part === 'framework') await measureFramework();
else await compare();
