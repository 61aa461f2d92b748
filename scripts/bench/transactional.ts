/**
 * How long a transactional mail takes from its answer to the relay while a campaign runs, and without one: the built service, a raw sink
 * that takes as much as comes, one request every few milliseconds. The numbers are for how many recipients the campaign has and how many
 * mails are sent beside it.
 *
 *   npm run bench:transactional -- [recipients] [mails]
 */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fetch } from 'undici';
import { launchMailing, sampleHtml } from '../../fixtures/mailing.ts';
import { connect } from '../../src/database/open.ts';
import { inFolder, KEYS, served, startedSink } from './measure.ts';
import { report, type Table } from './report.ts';

const EVERY_MS = 20;
const recipients = Number(process.argv[2] ?? 200_000);
const mails = Number(process.argv[3] ?? 500);
const HEADERS = {
  'content-type': 'application/json',
  PublicKey: KEYS.PUBLIC_KEY,
  SecretKey: KEYS.SECRET_KEY,
};

/** Milliseconds of one mail: from the request to its answer, and from there to the first byte of the envelope at the relay. */
interface Times {
  answered: number;
  handedOver: number;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0) * 10) / 10;
}

async function measure(withCampaign: boolean): Promise<{ times: Times[]; campaign: number }> {
  return inFolder(async (folder) => {
    const sink = await startedSink('sink.ts', ['--record']);
    const file = join(folder, 'bench.db');
    const db = connect(file);
    await launchMailing(db, recipients, sampleHtml(20_000, 10));
    if (!withCampaign) db.$client.exec("UPDATE mailings SET state = 'paused'");
    const service = await served(file, { SMTP_URL: sink.url, PUBLIC_URL: 'https://mail.example.com' });
    const delivered = db.$client.prepare<[], number>('SELECT delivered FROM mailings').pluck();
    while (withCampaign && (delivered.get() ?? 0) === 0) await setTimeout(10);
    const before = delivered.get() ?? 0;
    const sent = new Map<string, { began: number; answered: number }>();
    const requests: Promise<void>[] = [];
    for (let at = 0; at < mails; at++) {
      requests.push(sendOne(service.origin, `buyer${at}@example.net`, sent));
      await setTimeout(EVERY_MS);
    }
    await Promise.all(requests);
    const campaign = (delivered.get() ?? 0) - before;
    const open = db.$client.prepare('SELECT count(*) FROM transactional_mails WHERE state < 2').pluck();
    while (open.get() !== 0) await setTimeout(20);
    db.$client.exec("UPDATE mailings SET state = 'paused'");
    const taken = await sink.taken();
    await service.close();
    db.$client.close();
    const times = taken.flatMap(({ to, begunAt }) => {
      const one = sent.get(to);
      return one === undefined ? [] : [{ answered: one.answered - one.began, handedOver: begunAt - one.answered }];
    });
    if (times.length !== mails) throw new Error(`the sink took ${times.length} of ${mails} mails`);
    return { times, campaign };
  });
}

async function sendOne(
  origin: string,
  email: string,
  sent: Map<string, { began: number; answered: number }>,
): Promise<void> {
  const began = Date.now();
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
  sent.set(email, { began, answered: Date.now() });
}

const table: Table = {};
const notes: string[] = [];
for (const withCampaign of [false, true]) {
  const { times, campaign } = await measure(withCampaign);
  const answered = times.map((one) => one.answered);
  const handedOver = times.map((one) => Math.max(0, one.handedOver));
  table[withCampaign ? 'beside a campaign' : 'alone'] = {
    mails,
    'answer p50 ms': quantile(answered, 0.5),
    'answer p99 ms': quantile(answered, 0.99),
    'to the relay p50 ms': quantile(handedOver, 0.5),
    'to the relay p99 ms': quantile(handedOver, 0.99),
  };
  if (withCampaign) notes.push(`The campaign handed over ${campaign} mails meanwhile.`);
}
report(table, notes);
