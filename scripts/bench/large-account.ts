/** A database file with an account as it is after years of use, for benches of pages. It is made once, by the program itself, and kept. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { FIRST_NAMES, LAST_NAMES } from '../../fixtures/names.ts';
import { createAccount } from '../../src/database/accounts.ts';
import { connect } from '../../src/database/open.ts';
import { migrateAndSeed } from '../../src/database/upgrade.ts';
import { systemClock } from '../../src/time/clock.ts';
import { type Api, call, post } from '../api-client.ts';
import { inFolder, KEYS, startService } from './measure.ts';

const CITIES = ['Köln', 'Berlin', 'Kraków', 'Lyon', 'Zürich', 'Graz', 'Hà Nội'];
/** How many people joined last; they are in a contact type that an automation watches. */
const JOINED = 20_000;
/** One contact in this number has unsubscribed. */
const UNSUBSCRIBED_EVERY = 200;
/** How many single sends are planned. */
const PLANNED_SENDS = 120;

/** The e-mail address of the contact with this number; numbers begin at 0. */
export function addressOf(number: number): string {
  return `person${number}@example${number % 997}.com`;
}

/** The form fields that create a single send to the contact type with this id. */
export function sendTo(contactTypeId: number, name: string): Record<string, string> {
  return {
    template_id: '1',
    template_html: '<p>Hello ((first_name)), <a href="https://shop.example/new">news</a></p>',
    sender_id: '1',
    unsubscribe_group_id: '1',
    single_send_name: name,
    subject: `${name} for ((first_name|you))`,
    preheader: 'News',
    'recipient_id[0]': `contacts_${contactTypeId}`,
    schedule_type: '0',
  };
}

/** The API of the service at this origin, with the benches' keys. */
export function apiOf(origin: string): Api {
  return { url: `${origin}/api`, headers: { PublicKey: KEYS.PUBLIC_KEY, SecretKey: KEYS.SECRET_KEY } };
}

/** Returns the path of a file with this number of contacts. Makes the file if none exists for the current schema. */
export async function largeAccount(contacts: number): Promise<string> {
  const migrations = readdirSync(fileURLToPath(new URL('../../drizzle', import.meta.url))).filter((name) =>
    /^\d.*\.sql$/.test(name),
  );
  const schema = migrations.sort().at(-1)?.replace('.sql', '') ?? '';
  const path = join(tmpdir(), `sendlark-large-${schema}-${contacts}.db`);
  if (existsSync(path)) return path;
  console.log(`making ${path}, which later runs will use again`);
  const unfinished = `${path}.unfinished`;
  for (const suffix of ['', '-wal', '-shm', '-lock']) rmSync(unfinished + suffix, { force: true });
  await makeAccount(unfinished, contacts);
  renameSync(unfinished, path);
  rmSync(`${unfinished}-lock`, { force: true });
  return path;
}

async function makeAccount(path: string, contacts: number): Promise<void> {
  const db = connect(path);
  migrateAndSeed(db);
  createAccount(db, systemClock, 'Bench');
  db.$client.close();
  const service = await startService(path, { SENDER_VERIFICATION: 'optional' });
  const api = apiOf(service.origin);
  await setUp(api, contacts);
  await service.close();
  await inFolder(async (folder) => {
    await importPeople(path, join(folder, 'readers.csv'), 1, 0, contacts);
    await importPeople(path, join(folder, 'joined.csv'), 2, contacts, JOINED);
  });
  await sendAndIndex(path);
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
  // The unsubscribes are stored before the contacts exist, as the API allows addresses that the account does not know.
  for (let number = 0; number < contacts; number += UNSUBSCRIBED_EVERY) {
    const email_address = addressOf(number);
    await post(api, '/global-unsubscribes/save', { email_address });
  }
}

/** Imports contacts into a contact type by the command line, from a CSV file that it writes. `first` is the number of the first contact. */
async function importPeople(
  database: string,
  file: string,
  contactTypeId: number,
  first: number,
  count: number,
): Promise<void> {
  const out = createWriteStream(file);
  out.write('email,first_name,last_name,country,city,postal_code\n');
  for (let number = first; number < first + count; number++) {
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
  sendlark(database, ['import', file, '--type', String(contactTypeId)]);
}

/** Runs the built program's command of these words on a database. */
export function sendlark(database: string, words: readonly string[]): void {
  const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
  execFileSync(process.execPath, [cli, ...words], { env: { PATH: process.env.PATH, DATABASE_PATH: database } });
}

/** Runs the service until a single send and the automation's first mail are delivered and the search is indexed. */
async function sendAndIndex(path: string): Promise<void> {
  const service = await startService(path, { SENDER_VERIFICATION: 'optional' });
  const api = apiOf(service.origin);
  await post(api, '/single/send/create', sendTo(2, 'First news'));
  for (let number = 0; number < PLANNED_SENDS; number++)
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
  // Everybody who joined gets the single send and the automation's first mail.
  while ((delivered.get() ?? 0) < 2 * JOINED || (await isIndexing())) await setTimeout(500);
  db.$client.close();
  await service.close();
}
