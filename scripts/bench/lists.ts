/**
 * What listing contacts costs: pages of JSON out of SQLite as the service reads them, beside rows as objects and JSON.stringify;
 * then the whole list over HTTP, plain and compressed, with the memory the service needs for it.
 *
 *   npm run bench:lists -- [contacts]
 */
import { request } from 'node:http';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import Type from 'typebox';
import { continueIndexing } from '../../src/audience/search/search-index.ts';
import { connect } from '../../src/database/open.ts';
import { pageReader, recordObject } from '../../src/database/record-json.ts';
import { contacts } from '../../src/database/schema/index.ts';
import { inFolder, KEYS, madeDatabase, ranApart, row, served, type Taken, taken, takenBy } from './measure.ts';
import { report, type Table } from './report.ts';

const [given = '100000', part, path = ''] = process.argv.slice(2);
const count = Number(given);
const PAGE = 1000;
const COLUMNS = [
  'id',
  'contact_type_id',
  'first_name',
  'last_name',
  'email',
  'state',
  'city',
  'postal_code',
  'created_at',
] as const;

async function pages(): Promise<Taken> {
  const db = connect(path);
  const schema = Type.Object(Object.fromEntries(COLUMNS.map((name) => [name, Type.Any()])));
  const where = sql`user_id = 1 AND deleted_at IS NULL`;
  const source = { record: recordObject(schema, contacts), from: sql`${contacts}`, where, id: contacts.id };
  const readPage = pageReader(db, source);
  return taken(count, () => {
    let after = 0;
    for (let sent = 0; sent < count; sent += PAGE) after = readPage(after, PAGE).last;
  });
}

async function objects(): Promise<Taken> {
  const { $client } = connect(path);
  const page = $client.prepare<[number], { id: number }>(
    `SELECT ${COLUMNS.join(', ')} FROM contacts WHERE user_id = 1 AND deleted_at IS NULL AND id > ? ORDER BY id LIMIT ${PAGE}`,
  );
  return taken(count, () => {
    let after = 0;
    for (let sent = 0; sent < count; sent += PAGE) {
      const rows = page.all(after);
      after = rows.at(-1)?.id ?? after;
      Buffer.from(JSON.stringify(rows));
    }
  });
}

/** Reads the list and throws it away; gives the bytes of the answer. */
function read(origin: string, url: string, coding: string): Promise<number> {
  const headers = { PublicKey: KEYS.PUBLIC_KEY, SecretKey: KEYS.SECRET_KEY, 'accept-encoding': coding };
  return new Promise((resolve, reject) => {
    request(`${origin}${url}`, { headers }, (answer) => {
      let bytes = 0;
      answer.on('data', (piece: Buffer) => {
        bytes += piece.length;
      });
      answer.on('end', () => resolve(bytes));
      answer.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}

const PARTS: Record<string, () => Promise<Taken>> = { pages, objects };

async function compare(): Promise<void> {
  await inFolder(async (folder) => {
    const file = join(folder, 'bench.db');
    const { $client } = madeDatabase(file, count);
    while (await continueIndexing($client));
    $client.close();
    const least = await ranApart('lists.ts', [given, 'pages', file]);
    const table: Table = {
      'pages out of SQLite': row(least, 'rows', least),
      'objects and JSON.stringify': row(await ranApart('lists.ts', [given, 'objects', file]), 'rows', least),
    };
    for (const [name, url, coding] of [
      ['GET /contacts/list', '/api/contacts/list', 'identity'],
      ['GET /contacts/list, gzip', '/api/contacts/list', 'gzip'],
      ['GET /contacts/list, brotli', '/api/contacts/list', 'br'],
      ['GET /contacts/list?search= nobody', '/api/contacts/list?search=nobody', 'identity'],
      [
        'GET /contacts/list?search= one',
        `/api/contacts/list?search=person${String(count / 2).padStart(7, '0')}`,
        'identity',
      ],
      ['GET /contacts/list?search= two characters', '/api/contacts/list?search=zq', 'identity'],
      ['GET /contacts/list?search= everybody', '/api/contacts/list?search=john', 'identity'],
      ['GET /contacts/export', '/api/contacts/export?contact_type_id=1', 'identity'],
    ] as const) {
      const service = await served(file);
      await read(service.origin, '/api/contacts/list?limit=1', 'identity');
      await service.longestStretch();
      const before = service.used().maxRssKb;
      let bytes = 0;
      const result = await takenBy(service, async () => {
        bytes = await read(service.origin, url, coding);
        return count;
      });
      const stretch = await service.longestStretch();
      await service.close();
      const memory = Math.round((result.maxRssKb - before) / 1024);
      const label = `${name}: ${Math.round(bytes / 1e6)} MB, ${memory} MB more memory, longest stretch ${stretch} ms`;
      Object.assign(table, { [label]: row(result, 'rows', least) });
    }
    report(table);
  });
}

const run = part === undefined ? undefined : PARTS[part];
if (run === undefined) await compare();
else console.log(JSON.stringify(await run()));
