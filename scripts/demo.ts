/**
 * The main job as a story: a throw-away install, a list in, a campaign out, its numbers back. `npm run demo -- 5000` takes a size,
 * `npm run demo -- --keep` leaves the service running and shows where to look.
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

/** The API of the demo, and the link with which its reader signs in. */
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

/** How long after its hand-off the demo opens a mail, because an open right after the hand-off counts as a machine's. */
const READ_AFTER_MS = 3000;
const MAIL_PROGRAM = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.0';

const { values: options, positionals } = parseArgs({ options: { keep: { type: 'boolean' } }, allowPositionals: true });
const size = Number(positionals[0] ?? 3000);
if (!Number.isSafeInteger(size) || size < 8) throw new Error('the size is a whole number of at least 8 contacts');
const folder = mkdtempSync(join(tmpdir(), 'sendlark-demo-'));
// In a folder of its own and without the caller's environment: neither a .env file nor a setting of theirs changes the story.
const service = spawn(process.execPath, [resolve('dist/cli.js')], {
  cwd: folder,
  env: { PATH: process.env.PATH, PORT: '0', DATABASE_PATH: 'demo.db', RECALL_SECONDS: '0', LOG_LEVEL: 'error' },
  stdio: ['ignore', 'pipe', 'inherit'],
});

try {
  const api = await started();
  const mail = await story(api);
  if (options.keep) await keep(api, mail);
  else say('Look around by yourself: npm run demo -- --keep');
} finally {
  const isRunning = service.exitCode === null && service.signalCode === null;
  const ended = isRunning && once(service, 'exit');
  service.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

/** Reads the address that the start prints, and the keys and the link from the file that it writes where there is no terminal. */
async function started(): Promise<DemoApi> {
  for await (const line of createInterface({ input: service.stdout })) {
    const url = /serves (http[^\s"]+)/.exec(line)?.[1];
    if (url === undefined) continue;
    const first = readFileSync(join(folder, 'first-sign-in.txt'), 'utf8');
    const headers = [...first.matchAll(/^(PublicKey|SecretKey): (\S+)$/gm)].map(([, name = '', key = '']) => [
      name,
      key,
    ]);
    const signIn = /^http\S+$/m.exec(first)?.[0] ?? '';
    return { url, headers: Object.fromEntries(headers), signIn };
  }
  throw new Error('the service did not start');
}

/** Runs the story. Returns the mail that one of the contacts got. */
async function story(api: Api): Promise<Mail> {
  say(`A fresh install answers at ${api.url}`);
  await post(api, '/contacts-type/add', { name: 'Customers' });
  const began = performance.now();
  const { created, failed } = await importContacts(api);
  say(`${created} contacts imported in ${seconds(began)} s, ${failed} rows refused`);
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
  const launched = performance.now();
  await watch(api, utr, created - 1);
  say(`Handed to the built-in outbox in ${seconds(launched)} s`);
  const mail = await readOneMail(api);
  await setTimeout(300);
  const { triggered, delivered, unique_opens, unsubscribes, status } = await details(api, utr);
  say(
    `Counters: triggered ${triggered}, delivered ${delivered}, opened ${unique_opens}, unsubscribed ${unsubscribes}, status ${status}`,
  );
  say('One person had left before and got nothing. Nothing has left this machine.');
  return mail;
}

/** Shows where to look, and waits for Ctrl-C. */
async function keep({ url, headers, signIn }: DemoApi, mail: Mail): Promise<void> {
  const origin = url.replace(/\/api$/, '');
  say(`
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
  for (let at = 0; at < size; at++) {
    rows.push([
      addressOf(at),
      FIRST_NAMES[at % FIRST_NAMES.length] ?? '',
      LAST_NAMES[at % LAST_NAMES.length] ?? '',
      COUNTRIES[at % COUNTRIES.length] ?? '',
    ]);
    if (at % 100 === 99 || at + 1 === size) progress('Writing a list', at + 1, size);
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

async function details(api: Api, utr: string): Promise<Counters> {
  const { singleSend } = await call<{ singleSend: [Counters] }>(api, `/single-send/details?utr=${utr}`, {});
  return singleSend[0];
}

async function watch(api: Api, utr: string, all: number): Promise<void> {
  for (;;) {
    const { delivered, status } = await details(api, utr);
    progress('Sending', delivered, all);
    if (status === 3) return;
    if (status === 0) throw new Error('the send was held');
    await setTimeout(50);
  }
}

interface Mail {
  from: string;
  to: string;
  subject: string;
  web_copy: string;
  preferences: string;
}

/** Opens the newest mail as its recipient would, then unsubscribes by one click. */
async function readOneMail(api: Api): Promise<Mail> {
  const { mails } = await call<{ mails: { id: number }[] }>(api, '/outbox/list', {});
  const newest = `/outbox/details?id=${mails.at(-1)?.id}`;
  const { mail } = await call<{ mail: Omit<Mail, 'preferences'> & { raw: string } }>(api, newest, {});
  const { raw, ...shown } = mail;
  const text = raw.replace(/=\r\n/g, '');
  say(`One of the mails: “${mail.subject}” to ${mail.to}`);
  await setTimeout(READ_AFTER_MS);
  await fetch(/http:\S+\/o\/[^"\s]+\.gif/.exec(text)?.[0] ?? '', { headers: { 'user-agent': MAIL_PROGRAM } });
  say('  they open it some seconds later (the pixel is fetched)');
  const link = /List-Unsubscribe: <(.+)>/.exec(text)?.[1] ?? '';
  await fetch(link, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  });
  say('  and leave by one click');
  return { ...shown, preferences: link };
}

function addressOf(at: number): string {
  return `reader${at}@example.org`;
}

function progress(what: string, done: number, all: number): void {
  if (!process.stdout.isTTY && done < all) return;
  const filled = Math.round((24 * done) / Math.max(all, 1));
  process.stdout.write(
    `\r${what} ${'█'.repeat(filled)}${'░'.repeat(24 - filled)} ${done}/${all}${done >= all ? '\n' : ''}`,
  );
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}

function say(text: string): void {
  console.log(text);
}
