/**
 * `npm run demo` shows the main job of the product: it starts a throw-away installation, imports a list, sends a campaign and reads the
 * campaign's numbers. `npm run demo -- 5000` imports 5 000 contacts; `npm run demo -- --keep` leaves the service running and prints where to
 * look.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { writeToString } from 'fast-csv';
import { FormData, fetch } from 'undici';
import { FIRST_NAMES, LAST_NAMES } from '../fixtures/names.ts';
import { type Api, call, post } from './api-client.ts';

/** The API of the demo, and the link with which a person signs in to the dashboard. */
type DemoApi = Api & { signIn: string };

const COUNTRIES = [
  'Germany',
  'Poland',
  'Spain',
  'Ireland',
  'Viet Nam',
  'Sweden',
  'France',
  'Italy',
  'Croatia',
  'India',
];

/** How long the demo waits before it opens a mail: an open right after a mail is handed over counts as a machine's. */
const OPEN_AFTER_MS = 3000;
const MAIL_PROGRAM = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.0';

const { values: options, positionals } = parseArgs({ options: { keep: { type: 'boolean' } }, allowPositionals: true });
const size = Number(positionals[0] ?? 3000);
if (!Number.isSafeInteger(size) || size < 8) throw new Error('the size is a whole number of at least 8 contacts');
const folder = mkdtempSync(join(tmpdir(), 'sendlark-demo-'));
// The service runs in a new folder and without the caller's environment, so that neither a .env file nor a setting changes what happens.
const service = spawn(process.execPath, [resolve('dist/cli.js')], {
  cwd: folder,
  env: { PATH: process.env.PATH, PORT: '0', DATABASE_PATH: 'demo.db', RECALL_SECONDS: '0', LOG_LEVEL: 'error' },
  stdio: ['ignore', 'pipe', 'inherit'],
});

try {
  const api = await untilStarted();
  const mail = await tellStory(api);
  if (options.keep) await keep(api, mail);
  else console.log('Look around by yourself: npm run demo -- --keep');
} finally {
  const isRunning = service.exitCode === null && service.signalCode === null;
  const ended = isRunning && once(service, 'exit');
  service.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Waits until the service prints its address. Returns the address, and the keys and the link that the service writes to a file because its
 * output is no terminal.
 */
async function untilStarted(): Promise<DemoApi> {
  for await (const line of createInterface({ input: service.stdout })) {
    const url = /serves (http[^\s"]+)/.exec(line)?.[1];
    if (url === undefined) continue;
    const firstSignIn = readFileSync(join(folder, 'first-sign-in.txt'), 'utf8');
    const headers = [...firstSignIn.matchAll(/^(PublicKey|SecretKey): (\S+)$/gm)].map(([, name = '', key = '']) => [
      name,
      key,
    ]);
    const signIn = /^http\S+$/m.exec(firstSignIn)?.[0] ?? '';
    return { url, headers: Object.fromEntries(headers), signIn };
  }
  throw new Error('the service did not start');
}

/** Imports, sends and reads, and prints what happens. Returns the mail that one of the contacts got. */
async function tellStory(api: Api): Promise<Mail> {
  console.log(`A fresh install answers at ${api.url}`);
  await post(api, '/contacts-type/add', { name: 'Customers' });
  const importStarted = performance.now();
  const { created, failed } = await importContacts(api);
  console.log(`${created} contacts imported in ${secondsSince(importStarted)} s, ${failed} rows refused`);
  await post(api, '/unsubscribes-groups/save', {
    group_name: 'Newsletter',
    description: 'News once a month',
    is_display: '1',
  });
  await post(api, '/global-unsubscribes/save', { email_address: addressOf(7) });
  const sender = {
    from_name: 'Lark Books',
    from_email: 'hello@example.com',
    reply_to_email: 'hello@example.com',
    country_id: '1',
    company_address: '1 Harbour St',
    nickname: 'Shop',
  };
  await post(api, '/sender/save', sender);
  const { utr } = await post<{ utr: string }>(api, '/single/send/create', {
    template_id: '1',
    template_html:
      '<h1>Hello ((first_name|there))</h1><p>Our <a href="https://example.com/autumn">autumn list</a> is out.</p>',
    sender_id: '1',
    unsubscribe_group_id: '1',
    single_send_name: 'Autumn',
    subject: 'Autumn books for ((first_name|you))',
    preheader: 'Twelve new titles',
    'recipient_id[0]': 'contacts_1',
    schedule_type: '0',
  });
  const sendStarted = performance.now();
  await untilSent(api, utr, created - 1);
  console.log(`Handed to the built-in outbox in ${secondsSince(sendStarted)} s`);
  const mail = await openAndUnsubscribe(api);
  await setTimeout(300);
  const { triggered, delivered, unique_opens, unsubscribes, status } = await readCounters(api, utr);
  console.log(
    `Counters: triggered ${triggered}, delivered ${delivered}, opened ${unique_opens}, unsubscribed ${unsubscribes}, status ${status}`,
  );
  console.log('One person had left before and got nothing. Nothing has left this machine.');
  return mail;
}

/** Prints where to look, and waits for Ctrl-C or the end of the service. */
async function keep({ url, headers, signIn }: DemoApi, mail: Mail): Promise<void> {
  const origin = url.replace(/\/api$/, '');
  console.log(`
The service goes on running until Ctrl-C, then everything is removed. Look at
  the dashboard              ${signIn}
                             (choose a name and a password; the link works once, for 30 minutes)
  every endpoint             ${origin}/docs
  the mail of ${mail.to}
                             ${mail.web_copy}
  their preference page      ${mail.preferences}
  all mails                  curl ${Object.entries(headers)
    .map(([name, key]) => `-H ${name}:${key}`)
    .join(' ')} ${url}/outbox/list`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), once(service, 'exit')]);
}

async function importContacts(api: Api): Promise<{ created: number; failed: number }> {
  const rows = [['email', 'first_name', 'last_name', 'country']];
  for (let number = 0; number < size; number++) {
    rows.push([
      addressOf(number),
      FIRST_NAMES[number % FIRST_NAMES.length] ?? '',
      LAST_NAMES[number % LAST_NAMES.length] ?? '',
      COUNTRIES[number % COUNTRIES.length] ?? '',
    ]);
    if (number % 100 === 99 || number + 1 === size) showProgress('Writing a list', number + 1, size);
  }
  const form = new FormData();
  form.set('contact_type_id', '1');
  form.set('file', new File([await writeToString(rows)], 'customers.csv'));
  await call(api, '/contacts/upload-csv', { method: 'POST', body: form });
  const { imports } = await call<{ imports: [{ created: number; failed: number }] }>(api, '/contacts/imports', {});
  return imports[0];
}

interface Counters {
  triggered: number;
  delivered: number;
  unique_opens: number;
  unsubscribes: number;
  status: number;
}

async function readCounters(api: Api, utr: string): Promise<Counters> {
  const { singleSend } = await call<{ singleSend: [Counters] }>(api, `/single-send/details?utr=${utr}`, {});
  return singleSend[0];
}

/** Shows the progress of a single send until it is sent. `recipients` is how many contacts get it. */
async function untilSent(api: Api, utr: string, recipients: number): Promise<void> {
  for (;;) {
    const { delivered, status } = await readCounters(api, utr);
    showProgress('Sending', delivered, recipients);
    if (status === 3) return;
    if (status === 0) throw new Error('the send was held');
    await setTimeout(50);
  }
}

interface Mail {
  from: string;
  to: string;
  subject: string;
  /** The link to the mail as a page. */
  web_copy: string;
  /** The link to the recipient's preference page. */
  preferences: string;
}

/** Opens a mail of the outbox as its recipient would, then unsubscribes by one click. Returns the mail. */
async function openAndUnsubscribe(api: Api): Promise<Mail> {
  const { mails } = await call<{ mails: { id: number }[] }>(api, '/outbox/list', {});
  const path = `/outbox/details?id=${mails.at(-1)?.id}`;
  const { mail } = await call<{ mail: Omit<Mail, 'preferences'> & { raw: string } }>(api, path, {});
  const { raw, ...fields } = mail;
  // Long lines of the mail are broken by quoted-printable.
  const text = raw.replace(/=\r\n/g, '');
  console.log(`One of the mails: “${mail.subject}” to ${mail.to}`);
  await setTimeout(OPEN_AFTER_MS);
  await fetch(/http:\S+\/o\/[^"\s]+\.gif/.exec(text)?.[0] ?? '', { headers: { 'user-agent': MAIL_PROGRAM } });
  console.log('  they open it some seconds later (the pixel is fetched)');
  const link = /List-Unsubscribe: <(.+)>/.exec(text)?.[1] ?? '';
  await fetch(link, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  });
  console.log('  and leave by one click');
  return { ...fields, preferences: link };
}

function addressOf(number: number): string {
  return `reader${number}@example.org`;
}

/** Draws a progress bar over the last one. Without a terminal it prints only the finished bar. */
function showProgress(label: string, done: number, total: number): void {
  if (!process.stdout.isTTY && done < total) return;
  const filled = Math.round((24 * done) / Math.max(total, 1));
  process.stdout.write(
    `\r${label} ${'█'.repeat(filled)}${'░'.repeat(24 - filled)} ${done}/${total}${done >= total ? '\n' : ''}`,
  );
}

function secondsSince(start: number): string {
  return ((performance.now() - start) / 1000).toFixed(1);
}
