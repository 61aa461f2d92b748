/** What the benches share: a run in a process of its own, a service to measure, a database of so many contacts, the machine's line. */
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
import { connect, type Db, migrateAndSeed } from '../../src/database/open.ts';
import { isoTimestamp, systemClock } from '../../src/time/clock.ts';

export const KEYS = { PUBLIC_KEY: 'pk_bench_of_sendlark', SECRET_KEY: 'sk_bench_of_sendlark' };

/** What a run of `units` rows or requests took. */
export interface Taken {
  units: number;
  seconds: number;
  cpuSeconds: number;
  maxRssKb: number;
}

/** Times `work` in this process. */
export async function taken(units: number, work: () => Promise<unknown> | unknown): Promise<Taken> {
  const before = process.cpuUsage();
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { units, seconds, cpuSeconds: (user + system) / 1e6, maxRssKb: process.resourceUsage().maxRSS };
}

/** Runs a bench file of this folder as a process of its own and gives what it prints as JSON. */
export async function ranApart(file: string, args: readonly string[]) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}`);
  return JSON.parse(printed);
}

/** A line of the table all benches print; `floor` is what the ratio of CPU per unit is taken against. */
export function row({ units, seconds, cpuSeconds, maxRssKb }: Taken, unit: string, floor: Taken) {
  const perUnit = (cpuSeconds / units) * 1e6;
  return {
    [unit]: units,
    [`${unit}/s`]: Math.round(units / seconds),
    'CPU µs each': Math.round(perUnit * 100) / 100,
    'CPU ratio': Math.round((perUnit / ((floor.cpuSeconds / floor.units) * 1e6)) * 100) / 100,
    'peak RSS MB': Math.round(maxRssKb / 1024),
  };
}

/** Which machine and versions a table was made with. */
export function machine(): string {
  const sqlite = new Database(':memory:').prepare('SELECT sqlite_version()').pluck().get();
  const load = loadavg()[0]?.toFixed(1);
  return `Node ${process.version}, SQLite ${sqlite}, ${cpus().length} × ${cpus()[0]?.model}, load ${load} at the end`;
}

/** Gives a folder to `work` and removes it afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-bench-'));
  return work(folder).finally(() => rmSync(folder, { recursive: true, force: true }));
}

/** A database with account 1, contact type 1, a custom field `company_name` and so many contacts. */
export function madeDatabase(path: string, contacts: number): Db {
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

export interface Served {
  origin: string;
  /** CPU seconds and peak memory of the process so far; from /proc, zero elsewhere. */
  used(): { cpuSeconds: number; maxRssKb: number; rssKb: number };
  /**
   * The longest time in milliseconds, since this was last called, in which the HTTP thread answered nobody: work at a stretch, and waiting
   * for a core where others use them. Rounded up to the next bound of the buckets of `/metrics`.
   */
  longestStretch(): Promise<number>;
  close(): Promise<void>;
}

/** Starts the built service on a database. */
export async function served(path: string, settings: Record<string, string> = {}): Promise<Served> {
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
  /** The buckets of delays as last read: how many were within each bound, in milliseconds. */
  let stretches = new Map<number, number>();
  for await (const line of createInterface({ input: child.stdout })) {
    const origin = /serves (\S+)\/api/.exec(line)?.[1];
    if (origin === undefined) continue;
    child.stdout.resume();
    return {
      origin,
      used: () => usedBy(child.pid ?? 0),
      async longestStretch() {
        const metrics = await (await fetch(`${origin}/metrics`)).text();
        const buckets = metrics.matchAll(/^sendlark_event_loop_delay_seconds_bucket\{le="([\d.]+)"\} (\d+)/gm);
        const counts = new Map([...buckets].map(([, bound, count]) => [Number(bound) * 1000, Number(count)]));
        const grown = [...counts].map(([bound, count]) => ({ bound, by: count - (stretches.get(bound) ?? 0) }));
        stretches = counts;
        const most = Math.max(...grown.map(({ by }) => by));
        return grown.find(({ by }) => by === most)?.bound ?? Number.POSITIVE_INFINITY;
      },
      async close() {
        child.kill('SIGTERM');
        await once(child, 'exit');
      },
    };
  }
  throw new Error('the service did not start: npm run build first');
}

/** A relay in a process of its own that takes and forgets everything. */
export async function startedSink(file: 'sink.ts' | 'smtp-sink.ts' = 'sink.ts', options: readonly string[] = []) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [path, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  endsWithUs(child);
  const [line]: string[] = await once(createInterface({ input: child.stdout }), 'line');
  const ports: { smtp: number; control: number } = JSON.parse(line ?? '');
  const ask = async (method: string): Promise<SinkTotals> =>
    JSON.parse(await (await fetch(`http://127.0.0.1:${ports.control}/`, { method })).text());
  return {
    url: `smtp://127.0.0.1:${ports.smtp}`,
    totals: () => ask('GET'),
    /** Every mail that the sink took, with its time of beginning in epoch milliseconds, if the sink was started with `--record`. */
    taken: async (): Promise<{ to: string; begunAt: number }[]> =>
      JSON.parse(await (await fetch(`http://127.0.0.1:${ports.control}/taken`)).text()),
    /** Starts to count from zero. */
    reset: () => ask('POST'),
    close: () => child.kill(),
  };
}

/** The mails that a sink has taken, and the CPU time and memory of the sink. */
export interface SinkTotals {
  messages: number;
  bytes: number;
  cpuSeconds: number;
}

/** Ends a helper process with this process, so that a bench that fails leaves none running. */
function endsWithUs(child: ChildProcess): void {
  process.once('exit', () => child.kill('SIGKILL'));
}

/** Times work that a service does. */
export async function takenBy({ used }: Pick<Served, 'used'>, work: () => Promise<number>): Promise<Taken> {
  const before = used();
  const started = performance.now();
  const units = await work();
  const seconds = (performance.now() - started) / 1000;
  const after = used();
  return { units, seconds, cpuSeconds: after.cpuSeconds - before.cpuSeconds, maxRssKb: after.maxRssKb };
}

/** What a process has used; proc(5). */
export function usedBy(pid: number): ReturnType<Served['used']> {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
      .map(Number);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
    // utime and stime in ticks of 10 ms.
    const cpuSeconds = ((fields[11] ?? 0) + (fields[12] ?? 0)) / 100;
    return { cpuSeconds, maxRssKb: kilobytes('VmHWM'), rssKb: kilobytes('VmRSS') };
  } catch {
    return { cpuSeconds: 0, maxRssKb: 0, rssKb: 0 };
  }
}
