/**
 * What a campaign costs: the whole pipeline (claim, render, hand over, record) beside the floor, raw pipelined SMTP of bytes
 * built beforehand, and nodemailer with such bytes. Each in a process of its own, all into one raw sink, in one run.
 *
 *   npm run bench:delivery -- [recipients] [smtp-sink]
 *
 * With `smtp-sink` all go into that of Postfix instead.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import nodemailer from 'nodemailer';
import { Background } from '../../src/background.ts';
import { systemClock } from '../../src/clock.ts';
import { readConfig } from '../../src/config.ts';
import { connect } from '../../src/database/open.ts';
import { layOut } from '../../src/delivery/layout.ts';
import { SmtpPool } from '../../src/delivery/smtp/pool.ts';
import { parseRelays } from '../../src/delivery/smtp/relay.ts';
import { SmtpCourier } from '../../src/delivery/smtp-courier.ts';
import { createTokens, tokenSecrets } from '../../src/delivery/tokens.ts';
import { launchMailing, sampleHtml } from './mailing.ts';

const CONNECTIONS = 20;
const BYTES = 37_000;
const [given = '10000', part, url = '', path = ''] = process.argv.slice(2);
const recipients = Number(given);

/** What a part tells when it is through. */
interface Told {
  messages: number;
  seconds: number;
  cpuSeconds: number;
  layoutSeconds: number;
}

interface Row {
  client: string;
  messages: number;
  'messages/s': number;
  'CPU µs/message': number;
  'sink CPU µs/message': number;
  'peak RSS MB': number;
}

async function timed(messages: number, layoutSeconds: number, run: () => Promise<unknown>): Promise<Told> {
  const before = process.cpuUsage();
  const start = performance.now();
  await run();
  const { user, system } = process.cpuUsage(before);
  return { messages, seconds: (performance.now() - start) / 1000, cpuSeconds: (user + system) / 1e6, layoutSeconds };
}

async function pipeline(): Promise<Told> {
  const db = connect(path);
  const background = new Background({
    db,
    config: readConfig({ DATABASE_PATH: path }),
    clock: systemClock,
    courier: new SmtpCourier(url, { connections: CONNECTIONS, onTrouble: (relay, { reply }) => fail(relay + reply) }),
    tokens: createTokens(tokenSecrets(db.$client)),
    publicUrl: 'https://mail.example.com',
    log: (fields, text) => fail(`${text} ${JSON.stringify(fields)}`),
  });
  const start = performance.now();
  await layOut(db.$client, 1);
  const layoutSeconds = (performance.now() - start) / 1000;
  const told = await timed(recipients, layoutSeconds, () => background.untilIdle());
  await background.close(1000);
  const delivered = db.$client.prepare('SELECT delivered FROM mailings').pluck().get();
  if (delivered !== recipients) fail(`only ${delivered} were delivered`);
  return told;
}

/** Calls `send` for every recipient, as many at a time as there are connections. */
async function flood(count: number, send: (to: string) => Promise<unknown>): Promise<void> {
  let next = 0;
  async function lane(): Promise<void> {
    while (next < count) await send(`reader${next++}@example.org`);
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
}

function prebuilt(): Buffer {
  const head = 'From: a@example.com\r\nTo: b@example.com\r\nSubject: bench\r\nMessage-ID: <1@example.com>\r\n\r\n';
  const line = '<td style=3D"padding:0 8px;color:#333333">Lorem ipsum dolor. sit amet, con=\r\n';
  return Buffer.from(head + line.repeat(Math.round(BYTES / line.length)));
}

async function floor(): Promise<Told> {
  const message = prebuilt();
  const pool = new SmtpPool(parseRelays(url), { connections: CONNECTIONS });
  const told = await timed(recipients, 0, () =>
    flood(recipients, async (to) => {
      const outcome = await pool.send({ from: 'a@example.com', to, start: () => message });
      if (outcome === 'withdrawn' || outcome.kind !== 'accepted') fail(JSON.stringify(outcome));
    }),
  );
  await pool.close(1000);
  return told;
}

async function library(): Promise<Told> {
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
  const told = await timed(count, 0, () =>
    flood(count, (to) => pool.sendMail({ envelope: { from: 'a@example.com', to }, raw })),
  );
  pool.close();
  return told;
}

function fail(why: string): never {
  throw new Error(why);
}

const PARTS: Record<string, () => Promise<Told>> = { pipeline, floor, library };

/** Starts this file, or the sink, and gives the first line it prints. */
async function started(file: string, args: readonly string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(new URL(file, import.meta.url)), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = once(createInterface(child.stdout), 'line');
  const ended = once(child, 'exit').then(() => fail(`${file} ${args[1] ?? ''} ended`));
  ended.catch(() => undefined);
  const [text]: string[] = await Promise.race([line, ended]);
  return { child, told: JSON.parse(text ?? '') };
}

async function compare(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-bench-'));
  const file = join(folder, 'bench.db');
  const db = connect(file);
  await launchMailing(db, recipients, sampleHtml(BYTES));
  db.$client.close();
  const sink = await started(part === 'smtp-sink' ? 'smtp-sink.ts' : 'sink.ts', []);
  const state = async (method: string): Promise<{ messages: number; bytes: number; cpuSeconds: number }> =>
    JSON.parse(await (await fetch(`http://127.0.0.1:${sink.told.control}/`, { method })).text());
  const rows: Row[] = [];
  let layoutSeconds = 0;
  let bytes = 0;
  for (const [name, client] of [
    ['pipeline', 'sendlark, ledger included'],
    ['floor', 'SmtpPool, prebuilt bytes'],
    ['library', 'nodemailer pooled, prebuilt bytes'],
  ] as const) {
    const { cpuSeconds: sinkBefore } = await state('POST');
    const { told } = await started('delivery.ts', [given, name, `smtp://127.0.0.1:${sink.told.smtp}`, file]);
    const taken = await state('GET');
    if (taken.messages !== told.messages) fail(`${client}: the sink took ${taken.messages} messages`);
    layoutSeconds ||= told.layoutSeconds;
    bytes ||= taken.bytes / taken.messages;
    rows.push({
      client,
      messages: told.messages,
      'messages/s': Math.round(told.messages / told.seconds),
      'CPU µs/message': Math.round((told.cpuSeconds / told.messages) * 1e7) / 10,
      'sink CPU µs/message': Math.round(((taken.cpuSeconds - sinkBefore) / told.messages) * 1e7) / 10,
      'peak RSS MB': Math.round(told.maxRssKb / 1024),
    });
  }
  sink.child.kill();
  rmSync(folder, { recursive: true, force: true });
  console.table(rows);
  const cpu = rows.map((row) => row['CPU µs/message']);
  const [own = 0, least = 0, other = 0] = cpu;
  console.log(`CPU: ${(own / least).toFixed(2)} × the floor; nodemailer ${(other / own).toFixed(1)} × ours`);
  console.log(`layout of ${recipients}: ${layoutSeconds.toFixed(2)} s`);
  if (bytes > 0) console.log(`${Math.round(bytes)} bytes a message`);
  const sqlite = new Database(':memory:').prepare('SELECT sqlite_version()').pluck().get();
  console.log(`Node ${process.version}, SQLite ${sqlite}, ${cpus().length} × ${cpus()[0]?.model}`);
}

const run = part === undefined ? undefined : PARTS[part];
if (run === undefined) await compare();
else console.log(JSON.stringify({ ...(await run()), maxRssKb: process.resourceUsage().maxRSS }));
