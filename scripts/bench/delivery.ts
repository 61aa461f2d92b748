/**
 * What a campaign costs: the running service (enqueue, then claim, render, hand over, record) with a hundred tracked links in the
 * mail, the same mail without tracking, the floor, which is raw pipelined SMTP of as many bytes built beforehand, and nodemailer with
 * such bytes. Each in a process of its own, all into one raw sink, in one run. The floor writes no ledger and renders nothing.
 *
 *   npm run bench:delivery -- [recipients] [smtp-sink]
 *
 * With `smtp-sink` all go into that of Postfix instead.
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
import { inFolder, ranApart, row, served, startedSink, type Taken, taken, takenBy } from './measure.ts';
import { report } from './report.ts';

const CONNECTIONS = 20;
/** The mail's size before its links are tracked. */
const BYTES = 37_000;
const LINKS = 100;
/** What a link takes in both parts of the mail. */
const LINK_BYTES = 80;
const LOOK_MS = 5;
const [given = '10000', part, url = '', size = ''] = process.argv.slice(2);
const recipients = Number(given);

/** Waits until the mailing is in this state; looks every few milliseconds. */
async function reached(db: Db, state: string): Promise<void> {
  const look = db.$client.prepare('SELECT state FROM mailings').pluck();
  while (look.get() !== state) await setTimeout(LOOK_MS);
}

/** Makes the service enqueue a mailing and send it. The time of enqueueing is counted from the first row. */
async function campaign(
  file: string,
  relay: string,
  tracking: boolean,
): Promise<{ result: Taken; enqueueSeconds: number }> {
  const db = connect(file);
  await launchMailing(db, recipients, sampleHtml(BYTES - LINKS * LINK_BYTES, LINKS), tracking);
  db.$client.exec("UPDATE mailings SET state = 'paused'");
  const service = await served(file, {
    SMTP_URL: relay,
    SMTP_CONNECTIONS: String(CONNECTIONS),
    PUBLIC_URL: 'https://mail.example.com',
  });
  // Indexing new contacts for the search is a cost of adding them.
  while (isIndexBehind(db.$client)) await setTimeout(LOOK_MS);
  db.$client.exec("UPDATE mailings SET state = 'enqueueing'");
  const begun = db.$client.prepare('SELECT 1 FROM deliveries LIMIT 1').pluck();
  while (begun.get() === undefined) await setTimeout(LOOK_MS);
  const started = performance.now();
  await reached(db, 'sending');
  const enqueueSeconds = (performance.now() - started) / 1000;
  const result = await takenBy(service, async () => {
    await reached(db, 'done');
    return recipients;
  });
  const delivered = db.$client.prepare('SELECT delivered FROM mailings').pluck().get();
  await service.close();
  db.$client.close();
  if (delivered !== recipients) fail(`only ${delivered} were delivered`);
  return { result, enqueueSeconds };
}

/** Calls `send` for every recipient, as many at a time as there are connections. */
async function flood(count: number, send: (to: string) => Promise<unknown>): Promise<void> {
  let next = 0;
  async function lane(): Promise<void> {
    while (next < count) await send(`reader${next++}@example.org`);
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
}

function prebuilt(): string {
  const head = 'From: a@example.com\r\nTo: b@example.com\r\nSubject: bench\r\nMessage-ID: <1@example.com>\r\n\r\n';
  const line = '<td style=3D"padding:0 8px;color:#333333">Lorem ipsum dolor. sit amet, con=\r\n';
  return head + line.repeat(Math.round(Number(size) / line.length));
}

async function floor(): Promise<Taken> {
  const message = MailData.of(prebuilt());
  const pool = new SmtpPool(parseRelays(url), { connections: CONNECTIONS });
  const result = await taken(recipients, () =>
    flood(recipients, async (to) => {
      const outcome = await pool.send({ from: 'a@example.com', to, start: () => message, dotless: true });
      if (outcome === 'withdrawn' || outcome.kind !== 'accepted') fail(JSON.stringify(outcome));
    }),
  );
  await pool.close(1000);
  return result;
}

async function library(): Promise<Taken> {
  const raw = prebuilt();
  const { hostname: host, port } = new URL(url);
  const pool = nodemailer.createTransport({
    host,
    port: Number(port),
    pool: true,
    maxConnections: CONNECTIONS,
    maxMessages: Number.POSITIVE_INFINITY,
  });
  const count = Math.min(recipients, 20_000);
  const result = await taken(count, () =>
    flood(count, (to) => pool.sendMail({ envelope: { from: 'a@example.com', to }, raw })),
  );
  pool.close();
  return result;
}

function fail(why: string): never {
  throw new Error(why);
}

const PARTS: Record<string, () => Promise<Taken>> = {
  campaign: async () => (await inFolder((folder) => campaign(join(folder, 'bench.db'), url, true))).result,
  floor,
  library,
};

async function compare(): Promise<void> {
  const sink = await startedSink(part === 'smtp-sink' ? 'smtp-sink.ts' : 'sink.ts');
  const sinkMicroseconds: number[] = [];
  const sizes: number[] = [];
  /** Runs one client against an empty sink, and checks that everything arrived. */
  async function into<T extends { result: Taken }>(client: () => Promise<T>): Promise<T> {
    const { cpuSeconds: before } = await sink.reset();
    const told = await client();
    const got = await sink.totals();
    if (got.messages !== told.result.units) fail(`the sink took ${got.messages} of ${told.result.units} messages`);
    sinkMicroseconds.push(Math.round(((got.cpuSeconds - before) / got.messages) * 1e6));
    sizes.push(Math.round(got.bytes / got.messages));
    return told;
  }
  const sent = (tracking: boolean) =>
    inFolder((folder) => into(() => campaign(join(folder, 'bench.db'), sink.url, tracking)));
  const apart = (name: string) =>
    into(async () => ({ result: await ranApart('delivery.ts', [given, name, sink.url, String(sizes[0] || BYTES)]) }));

  const { result: tracked, enqueueSeconds } = await sent(true);
  const { result: untracked } = await sent(false);
  const { result: least } = await apart('floor');
  const { result: other } = await apart('library');
  sink.close();
  const table = {
    [`sendlark, ledger included, ${LINKS} tracked links`]: row(tracked, 'messages', least),
    'sendlark, the same mail without tracking': row(untracked, 'messages', least),
    'floor: its SMTP client alone, prebuilt bytes': row(least, 'messages', least),
    'nodemailer pooled, prebuilt bytes': row(other, 'messages', least),
  };
  report(table, [
    `bytes a message: ${sizes.join(', ')}; the sink took ${sinkMicroseconds.join(', ')} µs of CPU for each`,
    `laying out ${recipients} recipients took ${enqueueSeconds.toFixed(2)} s`,
    'the floor writes no ledger and renders nothing',
  ]);
}

const run = part === undefined ? undefined : PARTS[part];
if (run === undefined) await compare();
else console.log(JSON.stringify(await run()));
