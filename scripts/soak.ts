/**
 * Keeps a large database under mixed load for some minutes against the built service, and says what it cost and whether all went well:
 * imports, sends to a counting relay, an automation, list readers (one of them slow), opens, unsubscribes, reads and writes.
 * Ends with 1 when anything failed, was lost, came twice or grew without bound.
 *
 *   npm run soak -- [minutes] [contacts]
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Database } from 'better-sqlite3';
import { connect } from '../src/database/open.ts';
import { openTokens, type RecipientIds, type Tokens } from '../src/delivery/links/tokens.ts';
import { percentiles } from './bench/load.ts';
import { inFolder, machine, madeDatabase, served } from './bench/measure.ts';
import { Client, repeatedly } from './soak/client.ts';
import { isSettled, wrongs } from './soak/final-checks.ts';
import { Watch } from './soak/watch.ts';

const [givenMinutes = '10', givenContacts = '1000000'] = process.argv.slice(2);
const minutes = Number(givenMinutes);
const contacts = Number(givenContacts);
const SETTLE_MS = 30 * 60_000;
/** Of the bench database's type 1, which the sends go to; type 2 is imported into and watched by the automation. */
const IMPORT_ROWS = Math.max(1000, Math.round(contacts / 50));
const HTML = '<p>Hello ((first_name|you)), the <a href="https://shop.example/">catalogue</a> is out.</p>';

interface World {
  client: Client;
  /** A connection of the soak's own, for looking. */
  db: Database;
  tokens: Tokens;
  isOver(): boolean;
  /** Addresses whose unsubscribing was answered. */
  left: Set<number>;
}

/** Adds to the account, before the load begins, a second type with a segment and a live automation, a group and a sender. */
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
  const types = db.prepare<[], number>('SELECT max(id) FROM contact_types').pluck();
  const type = String(types.get());
  await client.must('/segment/store', {
    segment_name: 'Evens',
    contact_type_id: type,
    'select_field[0]': 'city',
    'select_operator[0]': 'is',
    'value[0]': 'Even',
  });
  const { utr } = await client.must<{ utr: string }>('/automations/create', {
    type: 'welcome',
    automation_for: `contacts_${type}`,
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

/** Sends to everybody, one after the other. */
async function send({ client, db, isOver }: World): Promise<void> {
  const running = db.prepare<[], number>('SELECT count(*) FROM single_sends WHERE status <> 3').pluck();
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
    while (!isOver() && running.get() !== 0) await setTimeout(500);
  }
}

/** Imports files of which half the addresses were in the one before. */
async function importing({ client, isOver }: World): Promise<void> {
  for (let round = 0; !isOver(); round++) {
    const lines = Array.from({ length: IMPORT_ROWS }, (_, at) => {
      const number = round * (IMPORT_ROWS / 2) + ((at * 7919) % IMPORT_ROWS);
      return `joining${number}@example.net,Joan${number % 89},${number % 2 === 0 ? 'Even' : 'Odd'}`;
    });
    await client.upload(2, `email,first_name,city\n${lines.join('\n')}\n`);
    for (let rest = 0; rest < 15 && !isOver(); rest++) await setTimeout(1000);
  }
}

/** Reads the whole list: at full speed, or as a slow line does. */
async function list({ client, isOver }: World, isSlow: boolean): Promise<void> {
  while (!isOver()) {
    if (!isSlow) {
      await client.ask('whole list', 'GET', '/api/contacts/list');
      await setTimeout(5000);
      continue;
    }
    const answer = await client.open('GET', '/api/contacts/list');
    for await (const _piece of answer) {
      if (isOver()) break;
      await setTimeout(100);
    }
    answer.destroy();
  }
}

/** The ids of a random mail that was sent; undefined if none was sent yet. */
function anyMail(db: Database): () => RecipientIds | undefined {
  const last = db.prepare<[], number | null>('SELECT max(id) FROM deliveries').pluck();
  const mail = db.prepare<[number], RecipientIds>(`
    SELECT d.id AS delivery, d.mailing_id AS mailing, d.address_id AS address, ifnull(m.unsubscribe_group_id, 0) AS "group",
      m.user_id AS user, a.normalized_email AS email
    FROM deliveries d JOIN mailings m ON m.id = d.mailing_id JOIN addresses a ON a.id = d.address_id WHERE d.id = ? AND d.state = 2`);
  return () => mail.get(1 + Math.floor(Math.random() * (last.get() ?? 0)));
}

async function run(world: World): Promise<void> {
  const { client, db, tokens, isOver, left } = world;
  const mail = anyMail(db);
  const contact = () => String(1 + Math.floor(Math.random() * contacts));
  await Promise.all([
    send(world),
    importing(world),
    list(world, false),
    list(world, true),
    repeatedly(50, isOver, () => client.ask('read a contact', 'GET', `/api/contacts/details?contact_id=${contact()}`)),
    repeatedly(10, isOver, () => {
      const id = contact();
      const email = `person${id.padStart(7, '0')}@example.com`;
      const form = { contact_id: id, contact_type_id: '1', email, country: '1', first_name: `Changed ${id}` };
      return client.ask('change a contact', 'POST', '/api/contacts/update', form);
    }),
    repeatedly(100, isOver, async () => {
      const ids = mail();
      if (ids !== undefined) await client.ask('open a mail', 'GET', `/o/${tokens.recipient(ids).open}.gif`);
    }),
    repeatedly(2, isOver, async () => {
      const ids = mail();
      if (ids === undefined) return;
      const form = { 'List-Unsubscribe': 'One-Click' };
      await client.ask('unsubscribe', 'POST', `/u/${tokens.recipient(ids).unsubscribe}`, form);
      left.add(ids.address);
    }),
  ]);
}

/** The relay, in a process of its own: its SMTP port and what it got, by address. */
async function startSink(): Promise<{ process: ChildProcess; url: string; mails(): Promise<Record<string, number>> }> {
  const path = fileURLToPath(new URL('./bench/sink.ts', import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { smtp, control } = JSON.parse(line);
  return {
    process: child,
    url: `smtp://127.0.0.1:${smtp}`,
    mails: async () => JSON.parse(await (await fetch(`http://127.0.0.1:${control}/recipients`)).text()),
  };
}

async function soak(folder: string): Promise<string[]> {
  const file = join(folder, 'soak.db');
  madeDatabase(file, contacts).$client.close();
  const sink = await startSink();
  const service = await served(file, {
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
    left: new Set(),
  };
  try {
    await prepare(world);
    const watch = new Watch(service, `${file}-wal`);
    const timer = setTimeout(minutes * 60_000).then(() => {
      isOver = true;
    });
    await Promise.all([timer, run(world)]);
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
    const grew = watch.growth();
    console.log(
      !watch.isTelling()
        ? 'The run was too short to tell growth from warming up.'
        : grew.length === 0
          ? 'Neither memory nor the write-ahead log grew without bound.'
          : grew.join('; '),
    );
    const unsettled = isSettled(db) ? [] : ['the sends did not end'];
    return [...grew, ...client.failures.slice(0, 10), ...unsettled, ...wrongs(db, await sink.mails(), world.left)];
  } finally {
    isOver = true;
    client.close();
    db.close();
    await service.close();
    sink.process.kill();
  }
}

const wrong = await inFolder(soak);
console.log(wrong.length === 0 ? 'Integrity, counters and mails are as they must be.' : wrong.join('\n'));
process.exitCode = wrong.length === 0 ? 0 : 1;
