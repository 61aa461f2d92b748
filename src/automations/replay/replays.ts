/**
 * The replays of the service: one at a time for each account, each in a thread of its own, which keeps the result for
 * some minutes so that the paths of contacts can be looked for. A replay ends when no page asks for it any more, for
 * example because the page was closed.
 */
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Config } from '../../config.ts';
import type { Db } from '../../database/open.ts';
import { threadFile } from '../../thread-files.ts';
import type { ReplayPlan } from './engine.ts';
import type { PathQuery, ReplayFigures, ReplayPath } from './result.ts';

/** How many replays run at once. The replays of further accounts wait. */
const MOST_RUNNING = 2;
/** How many results are kept. */
const MOST_KEPT = 4;
/** The time without a request after which a running replay ends and a result is removed, in milliseconds. */
const LEFT_ALONE_MS = { running: 20_000, done: 300_000 };
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/** The data with which the thread is started. */
export interface ReplayThreadData {
  path: string;
  config: Config;
  account: number;
  plan: ReplayPlan;
}

/** What the thread is asked once it is done. */
export interface PathsAsked {
  id: number;
  query: PathQuery;
}

/** What the thread reports. */
export type ReplayMessage = { share: number } | { figures: ReplayFigures } | { id: number; paths: ReplayPath[] };

/** How far a replay is. */
export type ReplayAnswer =
  | { state: 'waiting' | 'running' | 'failed'; share: number }
  | { state: 'done'; share: 1; figures: ReplayFigures; paths: ReplayPath[] };

/** One replay and its thread. */
class RunningReplay {
  readonly key: string;
  readonly ended: Promise<void>;
  figures: ReplayFigures | null = null;
  share = 0;
  isOver = false;
  #thread: Worker;
  #asked = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting = new Map<number, (paths: ReplayPath[]) => void>();

  constructor(key: string, data: ReplayThreadData) {
    this.key = key;
    this.#thread = new Worker(threadFile('replay-thread'), { workerData: data, resourceLimits: LIMITS });
    this.#thread.unref();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#thread.on('message', (message: ReplayMessage) => {
      if ('share' in message) this.share = message.share;
      else if ('figures' in message) {
        this.figures = message.figures;
        resolve();
      } else this.#waiting.get(message.id)?.(message.paths);
    });
    // An error is followed by the exit.
    this.#thread.on('error', () => undefined);
    this.#thread.on('exit', () => {
      this.isOver = true;
      clearTimeout(this.#timer);
      resolve();
      for (const give of this.#waiting.values()) give([]);
    });
  }

  /** Keeps it from being ended for some time. */
  touch(): void {
    clearTimeout(this.#timer);
    const ms = this.figures === null ? LEFT_ALONE_MS.running : LEFT_ALONE_MS.done;
    this.#timer = globalThis.setTimeout(() => void this.end(), ms).unref();
  }

  /** Returns the paths of contacts; none if the thread has ended. */
  async paths(query: PathQuery): Promise<ReplayPath[]> {
    if (this.isOver) return [];
    const id = ++this.#asked;
    const { promise, resolve } = Promise.withResolvers<ReplayPath[]>();
    this.#waiting.set(id, resolve);
    this.#thread.postMessage({ id, query } satisfies PathsAsked);
    return promise.finally(() => this.#waiting.delete(id));
  }

  async end(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#thread.terminate();
  }
}

/** The replays of a service, by account. The oldest comes first. */
class Replays {
  readonly #byAccount = new Map<number, RunningReplay>();
  /**
   * Resolves when the last request has found or started its replay. Requests wait for each other, so that no two start
   * the same replay.
   */
  #finding: Promise<unknown> = Promise.resolve();

  /** Starts a replay, unless the account has that one already, and waits up to `waitMs` milliseconds for its result. */
  async ask(key: string, data: ReplayThreadData, query: PathQuery, waitMs: number): Promise<ReplayAnswer> {
    const finding = this.#finding.then(() => this.#find(key, data));
    this.#finding = finding.catch(() => undefined);
    const run = await finding;
    if (run === null) return { state: 'waiting', share: 0 };
    run.touch();
    const waits = new AbortController();
    await Promise.race([
      run.ended,
      setTimeout(waitMs, undefined, { signal: waits.signal, ref: false }).catch(() => undefined),
    ]);
    waits.abort();
    run.touch();
    const { figures } = run;
    if (figures !== null) return { state: 'done', share: 1, figures, paths: await run.paths(query) };
    return { state: run.isOver ? 'failed' : 'running', share: run.share };
  }

  /** Ends all of them. */
  async end(): Promise<void> {
    const all = [...this.#byAccount.values()];
    this.#byAccount.clear();
    await Promise.all(all.map((run) => run.end()));
  }

  async #find(key: string, data: ReplayThreadData): Promise<RunningReplay | null> {
    const known = this.#byAccount.get(data.account);
    if (known?.key === key && !known.isOver) return known;
    this.#byAccount.delete(data.account);
    if (known !== undefined) await known.end();
    for (const [account, { isOver }] of this.#byAccount) if (isOver) this.#byAccount.delete(account);
    const running = [...this.#byAccount.values()].filter(({ figures }) => figures === null);
    if (running.length >= MOST_RUNNING) return null;
    const [oldest] = [...this.#byAccount].filter(([, { figures }]) => figures !== null);
    if (this.#byAccount.size >= MOST_KEPT && oldest !== undefined) {
      this.#byAccount.delete(oldest[0]);
      await oldest[1].end();
    }
    const started = new RunningReplay(key, data);
    this.#byAccount.set(data.account, started);
    return started;
  }
}

const services = new WeakMap<Db, Replays>();

/** Returns the replays of the service with this database. */
export function replaysOf(db: Db): Replays {
  const present = services.get(db) ?? new Replays();
  services.set(db, present);
  return present;
}
