/**
 * What requests cost: an authenticated read, a pixel hit and a write that is on disk when answered, beside a bare node:http server
 * that answers with bytes it has, all driven by the same client for three seconds each.
 *
 *   npm run bench:api -- [contacts]
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect } from '../../src/database/open.ts';
import { createTokens, tokenSecrets } from '../../src/delivery/tokens.ts';
import { type Latencies, load, type Request } from './load.ts';
import {
  inFolder,
  machine,
  madeDatabase,
  ranApart,
  row,
  type Served,
  served,
  type Taken,
  takenBy,
  usedBy,
} from './measure.ts';

const SECONDS = 3;
const CONNECTIONS = 32;
const [given = '100000', part, ...rest] = process.argv.slice(2);
const contacts = Number(given);

/** The client, in a process of its own: origin, what to ask for, and a token where that is the pixel. */
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

async function measured(service: Pick<Served, 'used' | 'origin'>, what: string, token: string) {
  let latencies: Latencies | undefined;
  await ranApart('api.ts', [given, 'drive', service.origin, what, token]);
  const result: Taken = await takenBy(service, async () => {
    latencies = await ranApart('api.ts', [given, 'drive', service.origin, what, token]);
    return latencies?.requests ?? 0;
  });
  if (latencies === undefined || latencies.failed > 0) throw new Error(`${latencies?.failed} of ${what} failed`);
  // The client's own start does not count.
  return { result: { ...result, seconds: SECONDS }, p99: latencies.p99 };
}

/** Answers everything with 600 bytes. */
async function bare(): Promise<void> {
  const body = Buffer.alloc(600, 'x');
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { result } = await measured({ origin, used: () => usedBy(process.pid) }, 'read', '');
  server.close();
  console.log(JSON.stringify(result));
}

async function compare(): Promise<void> {
  await inFolder(async (folder) => {
    const file = join(folder, 'bench.db');
    madeDatabase(file, contacts).$client.close();
    const least: Taken = await ranApart('api.ts', [given, 'bare']);
    const table = { 'node:http alone': { ...row(least, 'requests', least), 'p99 ms': 0 } };
    const service = await served(file);
    const db = connect(file);
    const ids = { delivery: 1, mailing: 1, address: 1, group: 0, user: 1 };
    const token = createTokens(tokenSecrets(db.$client)).recipient(ids).open;
    db.$client.close();
    for (const what of ['read', 'pixel', 'write']) {
      const { result, p99 } = await measured(service, what, token);
      Object.assign(table, { [what]: { ...row(result, 'requests', least), 'p99 ms': p99 } });
    }
    await service.close();
    console.table(table);
    console.log(machine());
  });
}

if (part === 'drive') console.log(JSON.stringify(await drive()));
else if (part === 'bare') await bare();
else await compare();
