/**
 * The replays of the service: one at a time for each account, each in a thread of its own, which keeps the result for
 * some minutes so that the paths of contacts can be looked for. A running replay ends when no page asks for it any more,
 * for example because the page was closed. No request ends it, so that an account cannot start one thread after another.
 */
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Config } from '../../config.ts';
import type { Db } from '../../database/open.ts';
import { conflict, type Failure, invalid, unavailable } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { threadFile } from '../../thread-files.ts';
import type { ReplayPlan } from './engine.ts';
import type { PathQuery, ReplayFigures, ReplayPath } from './result.ts';

/** How many replays run at once. The replays of further accounts wait. */
const MOST_RUNNING = 2;
/** How many results are kept. */
const MOST_KEPT = 4;
/** The time without a request after which a running replay ends, in milliseconds. */
const LEFT_ALONE_MS = 20_000;
/** How long the answer waits, if the request allows it, that another replay has to end first. */
const WAITING_MS = 1000;
/** How long a result is kept, and how long the failure of a replay is answered, in milliseconds. */
const KEPT_MS = { result: 300_000, failure: 20_000 };
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
  | { state: 'waiting' | 'running'; share: number }
  | { state: 'done'; share: 1; figures: ReplayFigures; paths: ReplayPath[] };

/** One replay and its thread. */
class RunningReplay {
  readonly key: string;
  figures: ReplayFigures | null = null;
  /** Why it ended without a result. */
  failure: Error | null = null;
  share = 0;
  /** Whether it has nothing to answer any more. */
  isOver = false;
  readonly #thread: Worker;
  readonly #ended = Promise.withResolvers<void>();
  /** How many requests wait for the result. */
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #asked = 0;
  readonly #askedPaths = new Map<number, (paths: ReplayPath[] | null) => void>();

  constructor(key: string, data: ReplayThreadData) {
    this.key = key;
    this.#thread = new Worker(threadFile('replay-thread'), { workerData: data, resourceLimits: LIMITS });
    this.#thread.unref();
    this.#thread.on('message', (message: ReplayMessage) => {
      if ('share' in message) this.share = message.share;
      else if ('figures' in message) {
        this.figures = message.figures;
        this.#endAfter(KEPT_MS.result);
        this.#ended.resolve();
      } else this.#askedPaths.get(message.id)?.(message.paths);
    });
    // An error is followed by the exit.
    this.#thread.on('error', (error) => {
      this.failure = error;
    });
    this.#thread.on('exit', () => {
      if (this.isRunning) this.failure = new Error('the thread of a replay ended without a result');
      if (this.failure !== null && this.figures === null) this.#endAfter(KEPT_MS.failure);
      else this.isOver = true;
      this.#ended.resolve();
      for (const give of this.#askedPaths.values()) give(null);
    });
  }

  get isRunning(): boolean {
    return this.figures === null && this.failure === null && !this.isOver;
  }

  /** Waits up to so many milliseconds for the result or the failure. */
  async ends(ms: number): Promise<void> {
    if (!this.isRunning) return;
    this.#waiting++;
    clearTimeout(this.#timer);
    const waits = new AbortController();
    await Promise.race([
      this.#ended.promise,
      setTimeout(ms, undefined, { signal: waits.signal, ref: false }).catch(() => undefined),
    ]);
    waits.abort();
    if (--this.#waiting === 0 && this.isRunning) this.#endAfter(LEFT_ALONE_MS);
  }

  /** Returns the paths of contacts; null if the thread has ended. */
  async paths(query: PathQuery): Promise<ReplayPath[] | null> {
    if (this.isOver) return null;
    const id = ++this.#asked;
    const { promise, resolve } = Promise.withResolvers<ReplayPath[] | null>();
    this.#askedPaths.set(id, resolve);
    this.#thread.postMessage({ id, query } satisfies PathsAsked);
    return promise.finally(() => this.#askedPaths.delete(id));
  }

  async end(): Promise<void> {
    this.isOver = true;
    clearTimeout(this.#timer);
    await this.#thread.terminate();
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = globalThis.setTimeout(() => void this.end(), ms).unref();
  }
}

/** The replays of a service, by account. The oldest comes first. */
class Replays {
  readonly #byAccount = new Map<number, RunningReplay>();

  /**
   * Starts a replay, unless the account has that one already, and waits up to `waitMs` milliseconds for its result.
   * Throws 409 if the result is given up meanwhile, 422 if the replay takes too much memory, and 503 if its thread fails.
   */
  async ask(key: string, data: ReplayThreadData, query: PathQuery, waitMs: number): Promise<ReplayAnswer> {
    const run = this.#find(key, data);
    if (run === null) {
      // A program that asks again at once does not ask without a pause.
      await setTimeout(Math.min(waitMs, WAITING_MS));
      return { state: 'waiting', share: 0 };
    }
    await run.ends(waitMs);
    const { figures, failure, share } = run;
    if (run.isRunning) return { state: 'running', share };
    if (failure !== null && figures === null) throw answerTo(failure);
    const paths = await run.paths(query);
    if (figures === null || paths === null) throw conflict(sentence('replay_replaced'));
    return { state: 'done', share: 1, figures, paths };
  }

  /** Ends all of them. */
  async end(): Promise<void> {
    const all = [...this.#byAccount.values()];
    this.#byAccount.clear();
    await Promise.all(all.map((run) => run.end()));
  }

  /** Finds or starts a replay. Returns null if it has to wait for another one. */
  #find(key: string, data: ReplayThreadData): RunningReplay | null {
    for (const [account, { isOver }] of this.#byAccount) if (isOver) this.#byAccount.delete(account);
    const known = this.#byAccount.get(data.account);
    if (known?.key === key) return known;
    const running = [...this.#byAccount.values()].filter(({ isRunning }) => isRunning);
    if (known?.isRunning || running.length >= MOST_RUNNING) return null;
    this.#remove(data.account);
    const [oldest] = [...this.#byAccount].filter(([, { figures }]) => figures !== null);
    if (this.#byAccount.size >= MOST_KEPT && oldest !== undefined) this.#remove(oldest[0]);
    const started = new RunningReplay(key, data);
    this.#byAccount.set(data.account, started);
    return started;
  }

  #remove(account: number): void {
    void this.#byAccount.get(account)?.end();
    this.#byAccount.delete(account);
  }
}

/** Returns what is answered if the thread of a replay fails: 422 if it ran out of memory, otherwise 503. */
export function answerTo(error: Error): Failure {
  const isOutOfMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isOutOfMemory ? invalid('days', sentence('replay_too_large')) : unavailable(error);
}

const services = new WeakMap<Db, Replays>();

/** Returns the replays of the service with this database. */
export function replaysOf(db: Db): Replays {
  const replays = services.get(db) ?? new Replays();
  services.set(db, replays);
  return replays;
}
