/**
 * `npm run dev` runs the service from its sources and restarts it when a file below src/ changes. Its database is thrown away at the end and
 * holds a little of everything. Of the developer's settings it takes only PORT (by default 3000) and LOG_LEVEL (by default info): with a
 * relay from a .env file, an experiment could send mail to real people.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { FormData } from 'undici';
import { type Api, call, post } from './api-client.ts';

const ROOT = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'sendlark-dev-'));
const headers = { PublicKey: `pk_dev_${randomUUID()}`, SecretKey: `sk_dev_${randomUUID()}` };
const watcher = spawn(
  process.execPath,
  [
    '--import',
    join(ROOT, 'scripts/dev-start.js'),
    '--watch',
    '--watch-preserve-output',
    `--watch-path=${join(ROOT, 'src')}`,
    join(ROOT, 'src/cli.ts'),
    'serve',
  ],
  {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      // Only in development the dashboard has the gallery of components.
      NODE_ENV: 'development',
      PORT: process.env.PORT ?? '3000',
      LOG_LEVEL: process.env.LOG_LEVEL ?? 'info',
      DATABASE_PATH: join(folder, 'dev.db'),
      PUBLIC_KEY: headers.PublicKey,
      SECRET_KEY: headers.SecretKey,
      RECALL_SECONDS: '0',
      SHUTDOWN_SECONDS: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    // The watcher gets a process group of its own. Ctrl-C then reaches the service only through the watcher, not also from the terminal.
    detached: true,
  },
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => watcher.kill('SIGTERM'));
const ended = once(watcher, 'exit');

let isSeeded = false;
for await (const line of createInterface({ input: watcher.stdout })) {
  console.log(line);
  const url = /Sendlark serves ([^\s"]+)/.exec(line)?.[1];
  if (url === undefined || isSeeded) continue;
  isSeeded = true;
  seed({ url, headers }).then(
    () => introduce({ url, headers }),
    (error: unknown) => console.error('The database could not be filled:', error),
  );
}
await ended;
rmSync(folder, { recursive: true, force: true });

/** Adds a contact type with readers, a group, a sender and a single send, whose mails land in the outbox. */
async function seed(api: Api): Promise<void> {
  await post(api, '/contacts-type/add', { name: 'Readers' });
  const form = new FormData();
  form.set('contact_type_id', '1');
  form.set('file', new File([readFileSync(join(ROOT, 'docs/readers.csv'))], 'readers.csv'));
  await call(api, '/contacts/upload-csv', { method: 'POST', body: form });
  await post(api, '/unsubscribes-groups/save', { group_name: 'News', description: 'Once a month', is_display: '1' });
  await post(api, '/sender/save', {
    from_name: 'Lark Books',
    from_email: 'hello@example.com',
    reply_to_email: 'hello@example.com',
    country_id: '84',
    company_address: '1 Harbour St',
    nickname: 'Shop',
  });
  await post(api, '/single/send/create', {
    template_id: '2',
    sender_id: '1',
    unsubscribe_group_id: '1',
    single_send_name: 'Autumn',
    subject: 'Autumn books for ((first_name|you))',
    preheader: 'Twelve new titles',
    'recipient_id[0]': 'contacts_1',
    schedule_type: '0',
  });
}

/** Prints what the database holds, its keys, and where to look. */
function introduce({ url, headers }: Api): void {
  const keys = Object.entries(headers);
  console.log(`
The database holds a contact type with readers, a group, a sender and a single send, until Ctrl-C. The keys:
${keys.map(([name, key]) => `${name}: ${key}`).join('\n')}
For example: curl ${keys.map(([name, key]) => `-H ${name}:${key}`).join(' ')} ${url}/outbox/list
Every component: ${new URL('/settings/gallery', url)}
Every endpoint: ${new URL('/docs', url)}
`);
}
