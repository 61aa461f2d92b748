/**
 * Keeps the built service with a large database under mixed load for some minutes: imports, sends to a counting relay, an automation, list
 * readers, one of them slow, opens, unsubscribes, reads and writes. Afterwards it prints how long requests took and whether all went well. It
 * ends with exit code 1 if anything failed, was lost, happened twice or grew without bound.
 *
 *   npm run soak -- [minutes] [contacts]
 */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { connect } from '../src/database/open.ts';
import { openTokens, type RecipientIds, type Tokens } from '../src/delivery/links/tokens.ts';
import { percentiles } from './bench/load.ts';
import { inFolder, machine, makeDatabase, startService, startSink } from './bench/measure.ts';
import { Client, repeatedly } from './soak/client.ts';
import { findProblems, isSettled } from './soak/final-checks.ts';
import { Watch } from './soak/watch.ts';

/** How long the load lasts, and how many contacts are in contact type 1, which the single sends go to. */
const [minutes = 10, contacts = 1_000_000] = process.argv.slice(2).map(Number);
/** How long the service may take after the load to send what is waiting. */
const SETTLE_MS = 30 * 60_000;
/** The rows of each import. They go to contact type 2, which the automation watches. */
const IMPORT_ROWS = Math.max(1000, Math.round(contacts / 50));
const HTML = '<p>Hello ((first_name|you)), the <a href="https://shop.example/">catalogue</a> is out.</p>';

interface World {
  client: Client;
  /** The soak's own connection to the database of the service. It only reads. */
  db: Database;
  tokens: Tokens;
  /** Returns true once the load has to end. */
  isOver(): boolean;
  /** The ids of the addresses whose unsubscribe was answered. */
  unsubscribed: Set<number>;
}

/** Adds a contact type with a segment and a live automation, a group and a sender, before the load begins. */
async function prepare({ client, db }: World): Promise<void> {
  await client.must('/contacts-type/add', { name: 'Joining' });
  await client.must('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: '1' });
  await client.must('/sender/save', {
    from_name: 'Soak',
    from_email: 'soak@example.com',
    reply_to_email: 'soak@example.com',
    country_id: '1',
    company_address: '1 Harbour St',
    nickname: 'Soak',
  });
  const lastType = db.prepare<[], number>('SELECT max(id) FROM contact_types').pluck();
  const typeId = String(lastType.get());
  await client.must('/segment/store', {
    segment_name: 'Evens',
    contact_type_id: typeId,
    'select_field[0]': 'city',
    'select_operator[0]': 'is',
    'value[0]': 'Even',
  });
  const { utr } = await client.must<{ utr: string }>('/automations/create', {
    type: 'welcome',
    automation_for: `contacts_${typeId}`,
    automation_name: 'Welcome',
    unsubscribe_group_id: '1',
    exit_criteria: '0',
  });
  await client.must('/automations/schedule/create', {
    utr,
    sender_id: '1',
    subject: 'Welcome',
    waiting_period: '1',
    waiting_type: 'instantly',
    template_id: '1',
    preview_img: 'blank.png',
    template_html: HTML,
  });
  await client.ask('set-up', 'GET', `/api/automations/set-live?utr=${utr}`);
}

/** Creates single sends to all of contact type 1, each after the one before is sent. */
async function sendRepeatedly({ client, db, isOver }: World): Promise<void> {
  const unsent = db.prepare<[], number>('SELECT count(*) FROM single_sends WHERE status <> 3').pluck();
  for (let number = 1; !isOver(); number++) {
    await client.ask('create a send', 'POST', '/api/single/send/create', {
      template_id: '1',
      template_html: HTML,
      sender_id: '1',
      unsubscribe_group_id: '1',
      single_send_name: `Soak ${number}`,
      subject: `News ${number}`,
      preheader: 'News',
      'recipient_id[0]': 'contacts_1',
      schedule_type: '0',
    });
    while (!isOver() && unsent.get() !== 0) await setTimeout(500);
  }
}

/** Imports files one after the other. Half the addresses of each file were in the file before. */
async function importRepeatedly({ client, isOver }: World): Promise<void> {
  for (let round = 0; !isOver(); round++) {
    const lines = Array.from({ length: IMPORT_ROWS }, (_, index) => {
      const number = round * (IMPORT_ROWS / 2) + ((index * 7919) % IMPORT_ROWS);
      return `joining${number}@example.net,Joan${number % 89},${number % 2 === 0 ? 'Even' : 'Odd'}`;
    });
    await client.upload(2, `email,first_name,city\n${lines.join('\n')}\n`);
    for (let second = 0; second < 15 && !isOver(); second++) await setTimeout(1000);
  }
}

/** Reads the whole list at full speed, every five seconds. */
async function readList({ client, isOver }: World): Promise<void> {
  while (!isOver()) {
    await client.ask('whole list', 'GET', '/api/contacts/list');
    await setTimeout(5000);
  }
}

/** Reads the whole list again and again, as a client with a slow connection does. */
async function readListSlowly({ client, isOver }: World): Promise<void> {
  while (!isOver()) {
    const answer = await client.open('GET', '/api/contacts/list');
    for await (const _piece of answer) {
      if (isOver()) break;
      await setTimeout(100);
    }
    answer.destroy();
  }
}

/** Returns a function that picks a random mail; the function returns undefined if it hits upon a mail that is not sent. */
function mailPicker(db: Database): () => RecipientIds | undefined {
  const lastId = db.prepare<[], number | null>('SELECT max(id) FROM deliveries').pluck();
  const sentMail = db.prepare<[number], RecipientIds>(`
    SELECT d.id AS delivery, d.mailing_id AS mailing, d.address_id AS address, ifnull(m.unsubscribe_group_id, 0) AS "group",
      m.user_id AS user, a.normalized_email AS email
    FROM deliveries d JOIN mailings m ON m.id = d.mailing_id JOIN addresses a ON a.id = d.address_id WHERE d.id = ? AND d.state = 2`);
  return () => sentMail.get(1 + Math.floor(Math.random() * (lastId.get() ?? 0)));
}

/** Loads the service until the time is over. */
async function loadService(world: World): Promise<void> {
  const { client, db, tokens, isOver, unsubscribed } = world;
  const pickMail = mailPicker(db);
  const pickContactId = () => String(1 + Math.floor(Math.random() * contacts));
  await Promise.all([
    sendRepeatedly(world),
    importRepeatedly(world),
    readList(world),
    readListSlowly(world),
    repeatedly(50, isOver, () =>
      client.ask('read a contact', 'GET', `/api/contacts/details?contact_id=${pickContactId()}`),
    ),
    repeatedly(10, isOver, () => {
      const id = pickContactId();
      const email = `person${id.padStart(7, '0')}@example.com`;
      const form = { contact_id: id, contact_type_id: '1', email, country: '1', first_name: `Changed ${id}` };
      return client.ask('change a contact', 'POST', '/api/contacts/update', form);
    }),
    repeatedly(100, isOver, async () => {
      const ids = pickMail();
      if (ids !== undefined) await client.ask('open a mail', 'GET', `/o/${tokens.recipient(ids).open}.gif`);
    }),
    repeatedly(2, isOver, async () => {
      const ids = pickMail();
      if (ids === undefined) return;
      const form = { 'List-Unsubscribe': 'One-Click' };
      await client.ask('unsubscribe', 'POST', `/u/${tokens.recipient(ids).unsubscribe}`, form);
      unsubscribed.add(ids.address);
    }),
  ]);
}

/** Runs the service under load, and prints what it measured. Returns what went wrong, in words. */
async function soak(folder: string): Promise<string[]> {
  const file = join(folder, 'soak.db');
  makeDatabase(file, contacts).$client.close();
  const sink = await startSink();
  const service = await startService(file, {
    SMTP_URL: sink.url,
    PUBLIC_URL: 'https://mail.example.com',
    SENDER_VERIFICATION: 'optional',
    RECALL_SECONDS: '1',
    MAX_UPLOAD_BYTES: String(1e9),
  });
  const db = connect(file).$client;
  const client = new Client(service.origin);
  let isOver = false;
  const world: World = {
    client,
    db,
    tokens: openTokens(db),
    isOver: () => isOver,
    unsubscribed: new Set(),
  };
  try {
    await prepare(world);
    const watch = new Watch(service, `${file}-wal`);
    const timer = setTimeout(minutes * 60_000).then(() => {
      isOver = true;
    });
    await Promise.all([timer, loadService(world)]);
    watch.stop();
    const until = performance.now() + SETTLE_MS;
    while (!isSettled(db) && performance.now() < until) await setTimeout(500);
    await setTimeout(1000);

    console.table(Object.fromEntries([...client.times].map(([name, times]) => [name, percentiles(times)])));
    console.table(watch.minutes());
    const count = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
    console.log(
      `${count('deliveries')} mails in ${count('mailings')} mailings, ${count('contacts')} contacts, ${count('events')} events`,
    );
    console.log(machine());
    const growth = watch.growth();
    if (!watch.isLongEnough()) console.log('The run was too short to tell growth from warming up.');
    else if (growth.length === 0) console.log('Neither memory nor the write-ahead log grew without bound.');
    else console.log(growth.join('; '));
    const unsettled = isSettled(db) ? [] : ['the sends did not end'];
    const problems = findProblems(db, await sink.recipients(), world.unsubscribed);
    return [...growth, ...client.failures.slice(0, 10), ...unsettled, ...problems];
  } finally {
    isOver = true;
    client.close();
    db.close();
    await service.close();
    sink.close();
  }
}

const problems = await inFolder(soak);
console.log(problems.length === 0 ? 'Integrity, counters and mails are as they must be.' : problems.join('\n'));
process.exitCode = problems.length === 0 ? 0 : 1;
