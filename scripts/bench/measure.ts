/**
 * What the benches share: measuring work here, in another process or in a running service, and making the database, service and sink that
 * they measure.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { createAccount } from '../../src/database/accounts.ts';
import { connect, type Db } from '../../src/database/open.ts';
import { migrateAndSeed } from '../../src/database/upgrade.ts';
import { isoTimestamp, systemClock } from '../../src/time/clock.ts';

export const KEYS = { PUBLIC_KEY: 'pk_bench_of_sendlark', SECRET_KEY: 'sk_bench_of_sendlark' };

/** The time and memory that work took. */
export interface Measurement {
  /** How many rows, requests or mails the work consisted of. */
  units: number;
  /** Wall-clock time. */
  seconds: number;
  cpuSeconds: number;
  /** The peak memory of the process since its start, in kilobytes. */
  maxRssKb: number;
}

/** Measures `work` of so many units in this process. */
export async function measureWork(units: number, work: () => Promise<unknown> | unknown): Promise<Measurement> {
  const before = process.cpuUsage();
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { units, seconds, cpuSeconds: (user + system) / 1e6, maxRssKb: process.resourceUsage().maxRSS };
}

/** Runs a bench file of this folder in another process. Returns the JSON that the file prints. */
export async function runApart(file: string, args: readonly string[]) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}`);
  return JSON.parse(printed);
}

/** A row of a bench's table. The column `CPU ratio` says how many times more CPU time a unit needed than a unit of `floor`. */
export function row({ units, seconds, cpuSeconds, maxRssKb }: Measurement, unit: string, floor: Measurement) {
  const perUnit = (cpuSeconds / units) * 1e6;
  return {
    [unit]: units,
    [`${unit}/s`]: Math.round(units / seconds),
    'CPU µs each': Math.round(perUnit * 100) / 100,
    'CPU ratio': Math.round((perUnit / ((floor.cpuSeconds / floor.units) * 1e6)) * 100) / 100,
    'peak RSS MB': Math.round(maxRssKb / 1024),
  };
}

/** The line that says on which machine and with which versions a table was made. */
export function machine(): string {
  const sqlite = new Database(':memory:').prepare('SELECT sqlite_version()').pluck().get();
  const load = loadavg()[0]?.toFixed(1);
  return `Node ${process.version}, SQLite ${sqlite}, ${cpus().length} × ${cpus()[0]?.model}, load ${load} at the end`;
}

/** Runs `work` with a temporary folder, which is removed afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-bench-'));
  return work(folder).finally(() => rmSync(folder, { recursive: true, force: true }));
}

/** Makes a database with account 1, contact type 1, a custom field `company_name` and this number of contacts. */
export function makeDatabase(path: string, contacts: number): Db {
  const db = connect(path);
  migrateAndSeed(db);
  const client = db.$client;
  createAccount(db, systemClock, 'Bench');
  const now = isoTimestamp(systemClock.now());
  client
    .prepare("INSERT INTO contact_types (id, user_id, name, created_at, updated_at) VALUES (1, 1, 'Bench', ?, ?)")
    .run(now, now);
  client
    .prepare(
      "INSERT INTO custom_fields (user_id, field_name, field_type, created_at, updated_at) VALUES (1, 'company_name', 'text', ?, ?)",
    )
    .run(now, now);
  const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < @contacts)';
  if (contacts === 0) return db;
  const email = `printf('person%07d@example.com', i)`;
  client
    .prepare(`${numbers} INSERT INTO addresses (user_id, normalized_email) SELECT 1, ${email} FROM n`)
    .run({ contacts });
  client
    .prepare(`
      INSERT INTO contacts (user_id, contact_type_id, address_id, first_name, last_name, email, country_id, city, custom_values, created_at, updated_at)
      SELECT 1, 1, id, 'John', 'Smith' || id, normalized_email, 1, 'Berlin', json_object('1', 'Company ' || id), @now, @now
      FROM addresses`)
    .run({ now });
  return db;
}

/** The built service, running in another process. */
export interface RunningService {
  /** The URL of the service without a path. */
  origin: string;
  /** The CPU time, peak memory and present memory of the process so far, from /proc; all are 0 on systems without /proc. */
  usage(): { cpuSeconds: number; maxRssKb: number; rssKb: number };
  /**
   * Returns the longest time in milliseconds in which the HTTP thread answered nobody since the last call. Such a stretch is
   * uninterrupted work, or waiting for a core that other processes use. It is rounded up to the next bound of the buckets of `/metrics`.
   */
  longestStretch(): Promise<number>;
  close(): Promise<void>;
}

/** Starts the built service on a database. `settings` are environment variables. */
export async function startService(path: string, settings: Record<string, string> = {}): Promise<RunningService> {
  const env = {
    PATH: process.env.PATH,
    ...KEYS,
    PORT: '0',
    DATABASE_PATH: path,
    RECALL_SECONDS: '0',
    LOG_LEVEL: 'error',
    ...settings,
  };
  const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
  const child = spawn(process.execPath, [cli, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  endsWithUs(child);
  /** The counts of the last call of longestStretch: how many delays were within each bound, which is in milliseconds. */
  let lastCounts = new Map<number, number>();
  for await (const line of createInterface({ input: child.stdout })) {
    const origin = /serves (\S+)\/api/.exec(line)?.[1];
    if (origin === undefined) continue;
    child.stdout.resume();
    return {
      origin,
      usage: () => usageOf(child.pid ?? 0),
      async longestStretch() {
        const metrics = await (await fetch(`${origin}/metrics`)).text();
        const buckets = metrics.matchAll(/^sendlark_event_loop_delay_seconds_bucket\{le="([\d.]+)"\} (\d+)/gm);
        const counts = new Map([...buckets].map(([, bound, count]) => [Number(bound) * 1000, Number(count)]));
        const newCounts = [...counts].map(([bound, count]) => ({ bound, count: count - (lastCounts.get(bound) ?? 0) }));
        lastCounts = counts;
        // Each bucket also counts all shorter delays, so the first bucket with the largest count holds the longest delay.
        const all = Math.max(...newCounts.map(({ count }) => count));
        return newCounts.find(({ count }) => count === all)?.bound ?? Number.POSITIVE_INFINITY;
      },
      async close() {
        child.kill('SIGTERM');
        await once(child, 'exit');
      },
    };
  }
  throw new Error('The service did not start. Run npm run build first');
}

/** Starts a sink in another process: an SMTP server that accepts every mail and keeps none. */
export async function startSink(file: 'sink.ts' | 'smtp-sink.ts' = 'sink.ts', options: readonly string[] = []) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [path, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  endsWithUs(child);
  const [line]: string[] = await once(createInterface({ input: child.stdout }), 'line');
  const ports: { smtp: number; control: number } = JSON.parse(line ?? '');
  const ask = async (path: string, method = 'GET') =>
    JSON.parse(await (await fetch(`http://127.0.0.1:${ports.control}${path}`, { method })).text());
  return {
    url: `smtp://127.0.0.1:${ports.smtp}`,
    totals: (): Promise<SinkTotals> => ask('/'),
    /** How many mails each recipient got, by e-mail address. Only sink.ts counts them. */
    recipients: (): Promise<Record<string, number>> => ask('/recipients'),
    /** Every mail that the sink accepted, and when the mail began, in epoch milliseconds. The sink needs the option `--record`. */
    taken: (): Promise<{ to: string; begunAt: number }[]> => ask('/taken'),
    /** Sets the totals to zero. */
    reset: (): Promise<SinkTotals> => ask('/', 'POST'),
    close: () => child.kill(),
  };
}

/** The mails that a sink has accepted since its start or the last reset. */
export interface SinkTotals {
  messages: number;
  bytes: number;
  /** The CPU time of the sink since its start. */
  cpuSeconds: number;
}

/** Kills a child process when this process ends, so that a bench that fails leaves no process running. */
function endsWithUs(child: ChildProcess): void {
  process.once('exit', () => child.kill('SIGKILL'));
}

/** Measures work that a service does. `work` returns the number of units that were done. */
export async function measureService(
  { usage }: Pick<RunningService, 'usage'>,
  work: () => Promise<number>,
): Promise<Measurement> {
  const before = usage();
  const started = performance.now();
  const units = await work();
  const seconds = (performance.now() - started) / 1000;
  const after = usage();
  return { units, seconds, cpuSeconds: after.cpuSeconds - before.cpuSeconds, maxRssKb: after.maxRssKb };
}

/** The CPU time and memory of a process, read from /proc (proc(5)); all are 0 if the process or /proc does not exist. */
export function usageOf(pid: number): ReturnType<RunningService['usage']> {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
      .map(Number);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
    // These fields are utime and stime, in ticks of 10 ms.
    const cpuSeconds = ((fields[11] ?? 0) + (fields[12] ?? 0)) / 100;
    return { cpuSeconds, maxRssKb: kilobytes('VmHWM'), rssKb: kilobytes('VmRSS') };
  } catch {
    return { cpuSeconds: 0, maxRssKb: 0, rssKb: 0 };
  }
}
