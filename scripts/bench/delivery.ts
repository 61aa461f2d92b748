/**
 * Measures what a campaign costs: with the running service (enqueue, then claim, render, hand over, record) and a hundred tracked links in the
 * mail; with the same mail without tracking; with the floor, our SMTP client alone, which sends as many bytes that are built beforehand; and
 * with nodemailer, which sends such bytes. Each runs in a process of its own, and all send to one raw sink, in one run. The floor writes no
 * ledger and renders nothing.
 *
 *   npm run bench:delivery -- [recipients] [smtp-sink]
 *
 * With `smtp-sink` all send to Postfix' smtp-sink instead.
 */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import nodemailer from 'nodemailer';
import { launchMailing, sampleHtml } from '../../fixtures/mailing.ts';
import { isIndexBehind } from '../../src/audience/search/search-index.ts';
import { connect, type Db } from '../../src/database/open.ts';
import { MailData } from '../../src/delivery/mime/mail-data.ts';
import { SmtpPool } from '../../src/delivery/transport/smtp/pool.ts';
import { parseRelays } from '../../src/delivery/transport/smtp/relay-urls.ts';
import {
  inFolder,
  type Measurement,
  measureService,
  measureWork,
  row,
  runApart,
  startService,
  startSink,
} from './measure.ts';
import { report } from './report.ts';

const CONNECTIONS = 20;
/** The mail's size before its links are tracked. */
const BYTES = 37_000;
const LINKS = 100;
/** How many bytes a link has in both parts of the mail together. */
const LINK_BYTES = 80;
const POLL_MS = 5;
const [recipientsText = '10000', part, url = '', size = ''] = process.argv.slice(2);
const recipients = Number(recipientsText);

/** Waits until the mailing is in this state. */
async function untilState(db: Db, state: string): Promise<void> {
  const current = db.$client.prepare('SELECT state FROM mailings').pluck();
  while (current.get() !== state) await setTimeout(POLL_MS);
}

/** Makes the service enqueue a mailing and send it. The time of enqueueing is counted from the first delivery. */
async function campaign(
  file: string,
  relay: string,
  tracking: boolean,
): Promise<{ result: Measurement; enqueueSeconds: number }> {
  const db = connect(file);
  await launchMailing(db, recipients, sampleHtml(BYTES - LINKS * LINK_BYTES, LINKS), tracking);
  db.$client.exec("UPDATE mailings SET state = 'paused'");
  const service = await startService(file, {
    SMTP_URL: relay,
    SMTP_CONNECTIONS: String(CONNECTIONS),
    PUBLIC_URL: 'https://mail.example.com',
  });
  // Indexing new contacts for the search is a cost of adding them, so it is finished first.
  while (isIndexBehind(db.$client)) await setTimeout(POLL_MS);
  db.$client.exec("UPDATE mailings SET state = 'enqueueing'");
  const begun = db.$client.prepare('SELECT 1 FROM deliveries LIMIT 1').pluck();
  while (begun.get() === undefined) await setTimeout(POLL_MS);
  const started = performance.now();
  await untilState(db, 'sending');
  const enqueueSeconds = (performance.now() - started) / 1000;
  const result = await measureService(service, async () => {
    await untilState(db, 'done');
    return recipients;
  });
  const delivered = db.$client.prepare('SELECT delivered FROM mailings').pluck().get();
  await service.close();
  db.$client.close();
  if (delivered !== recipients) fail(`only ${delivered} were delivered`);
  return { result, enqueueSeconds };
}

/** Calls `send` for `count` recipients, as many at a time as there are connections. */
async function sendAll(count: number, send: (to: string) => Promise<unknown>): Promise<void> {
  let next = 0;
  async function lane(): Promise<void> {
    while (next < count) await send(`reader${next++}@example.org`);
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
}

/** Returns a message of `size` bytes. */
function prebuiltMessage(): string {
  const head = 'From: a@example.com\r\nTo: b@example.com\r\nSubject: bench\r\nMessage-ID: <1@example.com>\r\n\r\n';
  const line = '<td style=3D"padding:0 8px;color:#333333">Lorem ipsum dolor. sit amet, con=\r\n';
  return head + line.repeat(Math.round(Number(size) / line.length));
}

async function floor(): Promise<Measurement> {
  const message = MailData.of(prebuiltMessage());
  const pool = new SmtpPool(parseRelays(url), { connections: CONNECTIONS });
  const result = await measureWork(recipients, () =>
    sendAll(recipients, async (to) => {
      const outcome = await pool.send({ from: 'a@example.com', to, start: () => message, dotless: true });
      if (outcome === 'withdrawn' || outcome.kind !== 'accepted') fail(JSON.stringify(outcome));
    }),
  );
  await pool.close(1000);
  return result;
}

async function library(): Promise<Measurement> {
  const raw = prebuiltMessage();
  const { hostname: host, port } = new URL(url);
  const pool = nodemailer.createTransport({
    host,
    port: Number(port),
    pool: true,
    maxConnections: CONNECTIONS,
    maxMessages: Number.POSITIVE_INFINITY,
  });
  const count = Math.min(recipients, 20_000);
  const result = await measureWork(count, () =>
    sendAll(count, (to) => pool.sendMail({ envelope: { from: 'a@example.com', to }, raw })),
  );
  pool.close();
  return result;
}

function fail(reason: string): never {
  throw new Error(reason);
}

const PARTS: Record<string, () => Promise<Measurement>> = {
  campaign: async () => (await inFolder((folder) => campaign(join(folder, 'bench.db'), url, true))).result,
  floor,
  library,
};

async function compareAll(): Promise<void> {
  const sink = await startSink(part === 'smtp-sink' ? 'smtp-sink.ts' : 'sink.ts');
  const sinkMicroseconds: number[] = [];
  const sizes: number[] = [];
  /** Runs one client against an empty sink, and checks that all its messages arrived. */
  async function intoSink<T extends { result: Measurement }>(client: () => Promise<T>): Promise<T> {
    const { cpuSeconds: before } = await sink.reset();
    const sent = await client();
    const arrived = await sink.totals();
    if (arrived.messages !== sent.result.units)
      fail(`the sink took ${arrived.messages} of ${sent.result.units} messages`);
    sinkMicroseconds.push(Math.round(((arrived.cpuSeconds - before) / arrived.messages) * 1e6));
    sizes.push(Math.round(arrived.bytes / arrived.messages));
    return sent;
  }
  const runCampaign = (tracking: boolean) =>
    inFolder((folder) => intoSink(() => campaign(join(folder, 'bench.db'), sink.url, tracking)));
  const runPart = (name: string) =>
    intoSink(async () => ({
      result: await runApart('delivery.ts', [recipientsText, name, sink.url, String(sizes[0] || BYTES)]),
    }));

  const { result: tracked, enqueueSeconds } = await runCampaign(true);
  const { result: untracked } = await runCampaign(false);
  const { result: ofFloor } = await runPart('floor');
  const { result: ofLibrary } = await runPart('library');
  sink.close();
  const table = {
    [`sendlark, ledger included, ${LINKS} tracked links`]: row(tracked, 'messages', ofFloor),
    'sendlark, the same mail without tracking': row(untracked, 'messages', ofFloor),
    'floor: its SMTP client alone, prebuilt bytes': row(ofFloor, 'messages', ofFloor),
    'nodemailer pooled, prebuilt bytes': row(ofLibrary, 'messages', ofFloor),
  };
  report(table, [
    `bytes a message: ${sizes.join(', ')}; the sink took ${sinkMicroseconds.join(', ')} µs of CPU for each`,
    `enqueueing ${recipients} recipients took ${enqueueSeconds.toFixed(2)} s`,
    'the floor writes no ledger and renders nothing',
  ]);
}

const run = part === undefined ? undefined : PARTS[part];
if (run === undefined) await compareAll();
else console.log(JSON.stringify(await run()));
