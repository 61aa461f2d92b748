/**
 * Measures the CPU time of listing contacts: first pages of JSON that SQLite builds, as the service reads them, compared with rows as
 * objects and JSON.stringify; then the whole list over HTTP, plain and compressed, with the memory that the service needs for it.
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
import {
  inFolder,
  KEYS,
  type Measurement,
  makeDatabase,
  measureService,
  measureWork,
  row,
  runApart,
  startService,
} from './measure.ts';
import { report, type Table } from './report.ts';

const [contactsText = '100000', part, path = ''] = process.argv.slice(2);
const count = Number(contactsText);
const PAGE_SIZE = 1000;
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

async function measurePages(): Promise<Measurement> {
  const db = connect(path);
  const schema = Type.Object(Object.fromEntries(COLUMNS.map((name) => [name, Type.Any()])));
  const where = sql`user_id = 1 AND deleted_at IS NULL`;
  const source = { record: recordObject(schema, contacts), from: sql`${contacts}`, where, id: contacts.id };
  const readPage = pageReader(db, source);
  return measureWork(count, () => {
    let after = 0;
    for (let read = 0; read < count; read += PAGE_SIZE) after = readPage(after, PAGE_SIZE).last;
  });
}

async function measureObjects(): Promise<Measurement> {
  const { $client } = connect(path);
  const page = $client.prepare<[number], { id: number }>(
    `SELECT ${COLUMNS.join(', ')} FROM contacts WHERE user_id = 1 AND deleted_at IS NULL AND id > ? ORDER BY id LIMIT ${PAGE_SIZE}`,
  );
  return measureWork(count, () => {
    let after = 0;
    for (let read = 0; read < count; read += PAGE_SIZE) {
      const rows = page.all(after);
      after = rows.at(-1)?.id ?? after;
      Buffer.from(JSON.stringify(rows));
    }
  });
}

/** Requests a path and discards the answer. Returns the bytes of its body as they were sent, compressed if `coding` says so. */
function download(origin: string, path: string, coding: string): Promise<number> {
  const headers = { PublicKey: KEYS.PUBLIC_KEY, SecretKey: KEYS.SECRET_KEY, 'accept-encoding': coding };
  return new Promise((resolve, reject) => {
    request(`${origin}${path}`, { headers }, (answer) => {
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

/** The measurements that run in a process of their own, by the word that asks for them. */
const PARTS: Record<string, () => Promise<Measurement>> = { pages: measurePages, objects: measureObjects };

async function compareAll(): Promise<void> {
  await inFolder(async (folder) => {
    const file = join(folder, 'bench.db');
    const { $client } = makeDatabase(file, count);
    while (await continueIndexing($client));
    $client.close();
    const floor = await runApart('lists.ts', [contactsText, 'pages', file]);
    const table: Table = {
      'pages out of SQLite': row(floor, 'rows', floor),
      'objects and JSON.stringify': row(await runApart('lists.ts', [contactsText, 'objects', file]), 'rows', floor),
    };
    for (const [name, path, coding] of [
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
      const service = await startService(file);
      await download(service.origin, '/api/contacts/list?limit=1', 'identity');
      await service.longestStretch();
      const before = service.usage().maxRssKb;
      let bytes = 0;
      const result = await measureService(service, async () => {
        bytes = await download(service.origin, path, coding);
        return count;
      });
      const stretch = await service.longestStretch();
      await service.close();
      const memory = Math.round((result.maxRssKb - before) / 1024);
      const label = `${name}: ${Math.round(bytes / 1e6)} MB, ${memory} MB more memory, longest stretch ${stretch} ms`;
      table[label] = row(result, 'rows', floor);
    }
    report(table);
  });
}

const measurePart = part === undefined ? undefined : PARTS[part];
if (measurePart === undefined) await compareAll();
else console.log(JSON.stringify(await measurePart()));
