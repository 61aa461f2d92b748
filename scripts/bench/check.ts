/**
 * Measures what it costs to check the mails of all recipients while the service sends a campaign to an SMTP server on this machine: the time
 * until the answer, the mails sent in a second with and without the check, and the longest stretches for which the HTTP thread and the sending
 * thread did nothing else.
 *
 *   npm run bench:check -- [recipients]
 *
 * The campaign has three times as many recipients as are checked, so that it is sent before, beside and after the check.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { launchMailing, sampleHtml } from '../../fixtures/mailing.ts';
import { connect, type Db } from '../../src/database/open.ts';
import { inFolder, KEYS, type RunningService, startService, startSink } from './measure.ts';
import { report, type Table } from './report.ts';
import type { Worked } from './stretches.ts';

const count = Number(process.argv[2] ?? 100_000);
/** How long mails are counted before the check, and after it. */
const ALONE_MS = 6000;
const CONDITION = '((if city = "Köln"))<p>Köln</p>((else))<p>Elsewhere</p>((end))';
const HTML = sampleHtml(29_000, 100).replace('</body>', `${CONDITION.repeat(10)}((alt_email))</body>`);
const STRETCHES = fileURLToPath(new URL('stretches.ts', import.meta.url));
const THREADS = { http: 'cli.js', sending: 'background-thread.js' };

/** The mails that were sent in a period (epoch milliseconds), and the CPU time of the service in it. */
interface Phase {
  from: number;
  to: number;
  mails: number;
  cpuSeconds: number;
}

await inFolder(async (folder) => {
  const file = join(folder, 'check.db');
  const stretches = join(folder, 'stretches');
  mkdirSync(stretches);
  const db = connect(file);
  await launchMailing(db, 3 * count, HTML);
  // The checked mails go to two other contact types: type 2 has as many contacts as are checked, type 3 has a single contact.
  for (const [type, contacts] of [
    [2, count],
    [3, 1],
  ])
    db.$client.exec(`
      INSERT INTO contact_types (id, user_id, name, created_at, updated_at)
        SELECT ${type}, user_id, 'Type ${type}', created_at, updated_at FROM contact_types WHERE id = 1;
      INSERT INTO contacts (user_id, contact_type_id, address_id, first_name, last_name, email, country_id, state, city, postal_code,
          created_at, updated_at)
        SELECT user_id, ${type}, address_id, first_name, last_name, email, country_id, state, city, postal_code, created_at, updated_at
        FROM contacts WHERE contact_type_id = 1 LIMIT ${contacts}`);
  const sink = await startSink();
  const service = await startService(file, {
    ...{ SMTP_URL: sink.url, PUBLIC_URL: 'https://mail.example.com' },
    ...{ STRETCHES_FOLDER: stretches, NODE_OPTIONS: `--import=${STRETCHES}` },
  });
  const during = async (work: () => Promise<unknown>): Promise<Phase> => {
    const [{ messages }, { cpuSeconds }, from] = [await sink.totals(), service.usage(), Date.now()];
    await work();
    const [after, usage] = [await sink.totals(), service.usage()];
    return { from, to: Date.now(), mails: after.messages - messages, cpuSeconds: usage.cpuSeconds - cpuSeconds };
  };
  await reached(db, 'sending');
  // The first request of an operation compiles its schemas, and Node compiles the code that sends mails while the first ones are sent.
  await check(service, 'contacts_3', 1);
  await setTimeout(ALONE_MS);
  const before = await during(() => setTimeout(ALONE_MS));
  const beside = await during(() => check(service, 'contacts_2', count));
  const after = await during(() => setTimeout(ALONE_MS));
  if (stateOf(db) !== 'sending') throw new Error('the campaign ended before the measurement: check more recipients');
  await setTimeout(1000);
  const worked = readdirSync(stretches).flatMap((name) => readWorked(join(stretches, name)));
  await service.close();
  sink.close();
  db.$client.close();
  const table: Table = {
    'sending, before': row(before, worked),
    'sending beside the check': row(beside, worked),
    'sending, after': row(after, worked),
  };
  const alone = (before.mails + after.mails) / (seconds(before) + seconds(after));
  report(table, [
    `the check of ${count.toLocaleString('en').replaceAll(',', ' ')} recipients took ${seconds(beside).toFixed(1)} s and ${thread(worked, 'http', beside).cpu.toFixed(1)} s of CPU of the HTTP thread`,
    `mails a second beside the check, as a share of those without: ${(beside.mails / seconds(beside) / alone).toFixed(2)}`,
    'the longest stretches are milliseconds of CPU in which the thread did nothing else; the CPU time of a mail includes that of the check',
  ]);
});

/** Makes the service check a mail for all contacts of a target. Throws unless it has checked `contacts` contacts. */
async function check({ origin }: RunningService, target: string, contacts: number): Promise<void> {
  const answer = await fetch(`${origin}/api/check`, {
    method: 'POST',
    headers: { PublicKey: KEYS.PUBLIC_KEY, SecretKey: KEYS.SECRET_KEY, 'Content-Type': 'application/json' },
    body: JSON.stringify({ subject: 'News for ((first_name|you))', template_html: HTML, recipient_id: [target] }),
  });
  // The operation promises an answer of this form.
  const { message } = (await answer.json()) as { message: { check: { recipients: { checked: number } } } };
  if (message.check.recipients.checked !== contacts) throw new Error(JSON.stringify(message));
}

function stateOf(db: Db): unknown {
  return db.$client.prepare('SELECT state FROM mailings').pluck().get();
}

async function reached(db: Db, state: string): Promise<void> {
  while (stateOf(db) !== state) await setTimeout(50);
}

function readWorked(path: string): Worked[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.filter(Boolean).map((line): Worked => JSON.parse(line));
}

function seconds({ from, to }: Phase): number {
  return (to - from) / 1000;
}

/**
 * Returns the CPU seconds of a thread in a phase, and its longest stretch in milliseconds, from the lines that the thread wrote in the phase
 * and the next line.
 */
function thread(worked: readonly Worked[], name: keyof typeof THREADS, { from, to }: Phase) {
  const ofThread = worked.filter(({ file }) => file === THREADS[name]);
  const last = ofThread.findIndex(({ at }) => at >= to);
  const lines = ofThread.slice(
    ofThread.findIndex(({ at }) => at >= from),
    last < 0 ? undefined : last + 1,
  );
  return {
    cpu: ((lines.at(-1)?.cpu ?? 0) - (lines[0]?.cpu ?? 0)) / 1000,
    longest: Math.max(0, ...lines.map(({ longest }) => longest)),
  };
}

function row(phase: Phase, worked: readonly Worked[]): Table[string] {
  const longest = (name: keyof typeof THREADS) => Math.round(thread(worked, name, phase).longest * 10) / 10;
  return {
    seconds: Number(seconds(phase).toFixed(1)),
    mails: phase.mails,
    'mails/s': Math.round(phase.mails / seconds(phase)),
    'CPU µs a mail': Math.round((phase.cpuSeconds / Math.max(1, phase.mails)) * 1e6),
    'longest stretch, HTTP ms': longest('http'),
    'longest stretch, sending ms': longest('sending'),
  };
}
