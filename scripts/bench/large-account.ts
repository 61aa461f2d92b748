/** An account as after years of use, made once through the program itself and kept between runs: a file for benches of pages. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { FIRST_NAMES, LAST_NAMES } from '../../fixtures/names.ts';
import { createAccount } from '../../src/database/accounts.ts';
import { connect, migrateAndSeed } from '../../src/database/open.ts';
import { systemClock } from '../../src/time/clock.ts';
import { type Api, call, post } from '../api-client.ts';
import { inFolder, KEYS, served } from './measure.ts';

const CITIES = ['Köln', 'Berlin', 'Kraków', 'Lyon', 'Zürich', 'Graz', 'Hà Nội'];
/** The people who joined last: in a contact type that an automation watches. */
const JOINED = 20_000;
/** One contact in so many has left. */
const LEFT_EVERY = 200;
const SENDS = 120;

/** The address of the contact with this number, from 0. */
export function addressOf(number: number): string {
  return `person${number}@example${number % 997}.com`;
}

/** The fields of a single send to a contact type. */
export function sendTo(type: number, name: string): Record<string, string> {
  return {
    template_id: '1',
    template_html: '<p>Hello ((first_name)), <a href="https://shop.example/new">news</a></p>',
    sender_id: '1',
    unsubscribe_group_id: '1',
    single_send_name: name,
    subject: `${name} for ((first_name|you))`,
    preheader: 'News',
    'recipient_id[0]': `contacts_${type}`,
    schedule_type: '0',
  };
}

/** The keys of the service at this origin. */
export function apiOf(origin: string): Api {
  return { url: `${origin}/api`, headers: { PublicKey: KEYS.PUBLIC_KEY, SecretKey: KEYS.SECRET_KEY } };
}

/** Returns the path of such a file with this number of contacts. Makes the file if there is none for this schema yet. */
export async function largeAccount(contacts: number): Promise<string> {
  const migrations = readdirSync(fileURLToPath(new URL('../../drizzle', import.meta.url))).filter((name) =>
    /^\d.*\.sql$/.test(name),
  );
  const schema = migrations.sort().at(-1)?.replace('.sql', '') ?? '';
  const path = join(tmpdir(), `sendlark-large-${schema}-${contacts}.db`);
  if (existsSync(path)) return path;
  console.log(`making ${path}, which later runs use again`);
  const unfinished = `${path}.unfinished`;
  for (const ending of ['', '-wal', '-shm', '-lock']) rmSync(unfinished + ending, { force: true });
  await make(unfinished, contacts);
  renameSync(unfinished, path);
  rmSync(`${unfinished}-lock`, { force: true });
  return path;
}

async function make(path: string, contacts: number): Promise<void> {
  const db = connect(path);
  migrateAndSeed(db);
  createAccount(db, systemClock, 'Bench');
  db.$client.close();
  const service = await served(path, { SENDER_VERIFICATION: 'optional' });
  const api = apiOf(service.origin);
  await setUp(api, contacts);
  await service.close();
  await inFolder(async (folder) => {
    await importPeople(path, join(folder, 'readers.csv'), 1, 0, contacts);
    await importPeople(path, join(folder, 'joined.csv'), 2, contacts, JOINED);
  });
  await live(path);
  const finished = connect(path);
  finished.$client.exec(`
    INSERT INTO suppressions (user_id, address_id, kind, diagnostic, created_at)
    SELECT 1, id, 'bounce', '550 5.1.1 user unknown', '2026-01-01T00:00:00.000000Z' FROM addresses WHERE id % 211 = 7;
    PRAGMA wal_checkpoint(TRUNCATE);
    PRAGMA journal_mode = DELETE;`);
  finished.$client.close();
}

async function setUp(api: Api, contacts: number): Promise<void> {
  await post(api, '/contacts-type/add', { name: 'Readers' });
  await post(api, '/contacts-type/add', { name: 'Joined' });
  for (const group_name of ['News', 'Offers', 'Events'])
    await post(api, '/unsubscribes-groups/save', { group_name, description: `About ${group_name}`, is_display: '1' });
  await post(api, '/sender/save', {
    from_name: 'Lark Books',
    from_email: 'hello@example.com',
    reply_to_email: 'hello@example.com',
    country_id: '84',
    company_address: '1 Harbour St',
    nickname: 'Shop',
  });
  await post(api, '/segment/store', {
    segment_name: 'In Cologne',
    contact_type_id: '1',
    'select_field[0]': 'city',
    'select_operator[0]': 'is',
    'value[0]': 'Köln',
  });
  const { utr } = await post<{ utr: string }>(api, '/automations/create', {
    type: 'welcome',
    automation_for: 'contacts_2',
    automation_name: 'Welcome',
    unsubscribe_group_id: '1',
    exit_criteria: '0',
  });
  for (const [subject, waiting_type, waiting_period] of [
    ['Welcome', 'instantly', '1'],
    ['How it works', 'days', '2'],
    ['What others read', 'days', '5'],
  ] as const)
    await post(api, '/automations/schedule/create', {
      ...{ utr, subject, waiting_type, waiting_period },
      sender_id: '1',
      template_id: '1',
      preview_img: 'blank.png',
      template_html: '<p>Hello ((first_name))</p>',
    });
  await call(api, `/automations/set-live?utr=${utr}`);
  // Done before there are contacts, because people whom the account does not know yet may unsubscribe, too.
  for (let number = 0; number < contacts; number += LEFT_EVERY) {
    const email_address = addressOf(number);
    await post(api, '/global-unsubscribes/save', { email_address });
  }
}

async function importPeople(database: string, file: string, type: number, from: number, count: number): Promise<void> {
  const out = createWriteStream(file);
  out.write('email,first_name,last_name,country,city,postal_code\n');
  for (let number = from; number < from + count; number++) {
    const cells = [
      addressOf(number),
      FIRST_NAMES[number % FIRST_NAMES.length],
      `${LAST_NAMES[number % LAST_NAMES.length]} ${number % 9973}`,
      'Germany',
      CITIES[number % CITIES.length],
      10_000 + (number % 90_000),
    ];
    if (!out.write(`${cells.join(',')}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
  sendlark(database, ['import', file, '--type', String(type)]);
}

/** Runs a command of the program on a database. */
export function sendlark(database: string, words: readonly string[]): void {
  const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
  execFileSync(process.execPath, [cli, ...words], { env: { PATH: process.env.PATH, DATABASE_PATH: database } });
}

/** Runs the service until a send and the automation's first mail have arrived and the search is indexed. */
async function live(path: string): Promise<void> {
  const service = await served(path, { SENDER_VERIFICATION: 'optional' });
  const api = apiOf(service.origin);
  await post(api, '/single/send/create', sendTo(2, 'First news'));
  for (let number = 0; number < SENDS; number++)
    await post(api, '/single/send/create', {
      ...sendTo(1, `Plan ${number}`),
      schedule_type: '1',
      schedule_date: `${new Date().getUTCFullYear() + 1}-0${1 + (number % 9)}-11`,
      schedule_time: '09:00',
    });
  const db = connect(path);
  const delivered = db.$client.prepare<[], number>('SELECT ifnull(sum(delivered), 0) FROM mailings').pluck();
  const isIndexing = async () =>
    (await call<{ is_indexing: number }>(api, '/contacts/search?search=zo')).is_indexing === 1;
  // The single send and the automation's first mail, to everybody who joined.
  while ((delivered.get() ?? 0) < 2 * JOINED || (await isIndexing())) await setTimeout(500);
  db.$client.close();
  await service.close();
}
