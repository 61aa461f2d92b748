/**
 * Measures how long a transactional mail takes from the request to its answer, and from there to the relay, first alone and then while a
 * campaign runs. The built service gets a request every few milliseconds and sends to a raw sink. The numbers are for how many recipients
 * the campaign has and how many transactional mails are sent.
 *
 *   npm run bench:transactional -- [recipients] [mails]
 */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fetch } from 'undici';
import { launchMailing, sampleHtml } from '../../fixtures/mailing.ts';
import { connect } from '../../src/database/open.ts';
import { inFolder, KEYS, startService, startSink } from './measure.ts';
import { report, type Table } from './report.ts';

/** The time between two requests. */
const INTERVAL_MS = 20;
const recipients = Number(process.argv[2] ?? 200_000);
const mails = Number(process.argv[3] ?? 500);
const HEADERS = {
  'content-type': 'application/json',
  PublicKey: KEYS.PUBLIC_KEY,
  SecretKey: KEYS.SECRET_KEY,
};

/** How long one mail took, in milliseconds. */
interface Times {
  /** From the request to its answer. */
  answer: number;
  /** From the answer to the envelope at the relay. */
  relay: number;
}

/** When a mail was requested and answered, in epoch milliseconds. */
interface Request {
  startedAt: number;
  answeredAt: number;
}

/** Returns the value below which this share of the values lies, rounded to tenths. */
function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10;
}

/** Sends the transactional mails. Returns their times, and how many mails of the campaign were handed over meanwhile. */
async function measure(withCampaign: boolean): Promise<{ times: Times[]; campaignMails: number }> {
  return inFolder(async (folder) => {
    const sink = await startSink('sink.ts', ['--record']);
    const file = join(folder, 'bench.db');
    const db = connect(file);
    await launchMailing(db, recipients, sampleHtml(20_000, 10));
    if (!withCampaign) db.$client.exec("UPDATE mailings SET state = 'paused'");
    const service = await startService(file, { SMTP_URL: sink.url, PUBLIC_URL: 'https://mail.example.com' });
    const delivered = db.$client.prepare<[], number>('SELECT delivered FROM mailings').pluck();
    while (withCampaign && (delivered.get() ?? 0) === 0) await setTimeout(10);
    const before = delivered.get() ?? 0;
    const requests = new Map<string, Request>();
    const sending: Promise<void>[] = [];
    for (let number = 0; number < mails; number++) {
      sending.push(sendOne(service.origin, `buyer${number}@example.net`, requests));
      await setTimeout(INTERVAL_MS);
    }
    await Promise.all(sending);
    const campaignMails = (delivered.get() ?? 0) - before;
    const unsent = db.$client.prepare('SELECT count(*) FROM transactional_mails WHERE state < 2').pluck();
    while (unsent.get() !== 0) await setTimeout(20);
    db.$client.exec("UPDATE mailings SET state = 'paused'");
    const arrivals = await sink.taken();
    await service.close();
    sink.close();
    db.$client.close();
    const times = arrivals.flatMap(({ to, begunAt }) => {
      const request = requests.get(to);
      if (request === undefined) return [];
      const { startedAt, answeredAt } = request;
      return [{ answer: answeredAt - startedAt, relay: begunAt - answeredAt }];
    });
    if (times.length !== mails) throw new Error(`only ${times.length} of ${mails} mails arrived at the sink`);
    return { times, campaignMails };
  });
}

/** Sends one transactional mail and records its request under the e-mail address. */
async function sendOne(origin: string, email: string, requests: Map<string, Request>): Promise<void> {
  const startedAt = Date.now();
  const body = JSON.stringify({
    sender_id: 1,
    email,
    subject: 'Order ((order))',
    template_html: sampleHtml(10_000, 3).replaceAll(/\(\(\w+(?:\|\w+)?\)\)/g, '((order))'),
    data: { order: '4711' },
  });
  const response = await fetch(`${origin}/api/transactional/send`, { method: 'POST', headers: HEADERS, body });
  if (response.status !== 200) throw new Error(await response.text());
  await response.arrayBuffer();
  requests.set(email, { startedAt, answeredAt: Date.now() });
}

const table: Table = {};
const notes: string[] = [];
for (const withCampaign of [false, true]) {
  const { times, campaignMails } = await measure(withCampaign);
  const toAnswer = times.map(({ answer }) => answer);
  const toRelay = times.map(({ relay }) => Math.max(0, relay));
  table[withCampaign ? 'beside a campaign' : 'alone'] = {
    mails,
    'answer p50 ms': quantile(toAnswer, 0.5),
    'answer p99 ms': quantile(toAnswer, 0.99),
    'to the relay p50 ms': quantile(toRelay, 0.5),
    'to the relay p99 ms': quantile(toRelay, 0.99),
  };
  if (withCampaign) notes.push(`The campaign handed over ${campaignMails} mails meanwhile.`);
}
report(table, notes);
