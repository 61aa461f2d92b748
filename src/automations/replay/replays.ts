/**
 * The replays of the service: at most one for each account, each in a thread of its own. The thread keeps the result for some
 * minutes, so that the paths of contacts can be read from it. A running replay ends when no request has asked for it for some
 * time, for example because the page was closed. A request for another replay does not end it, so that an account cannot start
 * one thread after another.
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

/** The maximum number of replays that run at once. The replays of further accounts wait. */
const MAX_RUNNING = 2;
/** The maximum number of results that are kept. */
const MAX_KEPT = 4;
/** The time without a request after which a running replay ends, in milliseconds. */
const ABANDONED_AFTER_MS = 20_000;
/** How long the answer that a replay has to wait is delayed, in milliseconds, if the request allows it. */
const WAITING_MS = 1000;
/** How long the result or the failure of a replay is kept, in milliseconds. */
const KEPT_MS = { result: 300_000, failure: 20_000 };
/** The memory limits of the thread of a replay. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/** The data with which the thread is started. */
export interface ReplayThreadData {
  path: string;
  config: Config;
  account: number;
  plan: ReplayPlan;
}

/** The request for a page of paths, which the thread gets once its replay is done. */
export interface PathsAsked {
  id: number;
  query: PathQuery;
}

/** A message from the thread: the progress (a share from 0 to 1), the result, or the paths of a request. */
export type ReplayMessage = { share: number } | { figures: ReplayFigures } | { id: number; paths: ReplayPath[] };

/** The state of a replay. `share` is the progress from 0 to 1. */
export type ReplayAnswer =
  | { state: 'waiting' | 'running'; share: number }
  | { state: 'done'; share: 1; figures: ReplayFigures; paths: ReplayPath[] };

/** One replay and its thread. */
class RunningReplay {
  readonly key: string;
  figures: ReplayFigures | null = null;
  /** The error with which the thread ended without a result. */
  failure: Error | null = null;
  /** The progress, from 0 to 1. */
  share = 0;
  /** True if the thread has ended, and neither a result nor a failure is kept. */
  isOver = false;
  readonly #thread: Worker;
  readonly #ended = Promise.withResolvers<void>();
  /** The number of requests that wait for the result. */
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The id of the last request for paths. */
  #lastAsked = 0;
  /** The functions that answer the open requests for paths, by their ids. */
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
    // After an error, the thread also emits `exit`.
    this.#thread.on('error', (error) => {
      this.failure = error;
    });
    this.#thread.on('exit', () => {
      if (this.isRunning) this.failure = new Error('the thread of a replay ended without a result');
      if (this.failure !== null && this.figures === null) this.#endAfter(KEPT_MS.failure);
      else this.isOver = true;
      this.#ended.resolve();
      for (const answer of this.#askedPaths.values()) answer(null);
    });
  }

  get isRunning(): boolean {
    return this.figures === null && this.failure === null && !this.isOver;
  }

  /** Waits up to this number of milliseconds for the result or the failure. */
  async untilEnded(ms: number): Promise<void> {
    if (!this.isRunning) return;
    this.#waiting++;
    clearTimeout(this.#timer);
    const timeout = new AbortController();
    await Promise.race([
      this.#ended.promise,
      setTimeout(ms, undefined, { signal: timeout.signal, ref: false }).catch(() => undefined),
    ]);
    timeout.abort();
    if (--this.#waiting === 0 && this.isRunning) this.#endAfter(ABANDONED_AFTER_MS);
  }

  /** Returns the paths of contacts; null if the thread has ended. */
  async paths(query: PathQuery): Promise<ReplayPath[] | null> {
    if (this.isOver) return null;
    const id = ++this.#lastAsked;
    const { promise, resolve } = Promise.withResolvers<ReplayPath[] | null>();
    this.#askedPaths.set(id, resolve);
    this.#thread.postMessage({ id, query } satisfies PathsAsked);
    return promise.finally(() => this.#askedPaths.delete(id));
  }

  /** Ends the thread, whether it has a result or not. */
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

/** The replays of a service. */
class Replays {
  /** The replays by account, in the order in which they were started. */
  readonly #byAccount = new Map<number, RunningReplay>();

  /**
   * Starts a replay, unless the account already has the replay with this key, and waits up to `waitMs` milliseconds for its
   * result. Throws 409 if another replay replaced the result meanwhile, 422 if the replay takes too much memory, and 503 if its
   * thread fails.
   */
  async ask(key: string, data: ReplayThreadData, query: PathQuery, waitMs: number): Promise<ReplayAnswer> {
    const run = this.#find(key, data);
    if (run === null) {
      // Delay the answer, so that a program that asks again at once does not ask too often.
      await setTimeout(Math.min(waitMs, WAITING_MS));
      return { state: 'waiting', share: 0 };
    }
    await run.untilEnded(waitMs);
    const { figures, failure, share } = run;
    if (run.isRunning) return { state: 'running', share };
    if (failure !== null && figures === null) throw failureOf(failure);
    const paths = await run.paths(query);
    if (figures === null || paths === null) throw conflict(sentence('replay_replaced'));
    return { state: 'done', share: 1, figures, paths };
  }

  /** Ends all replays. */
  async end(): Promise<void> {
    const all = [...this.#byAccount.values()];
    this.#byAccount.clear();
    await Promise.all(all.map((run) => run.end()));
  }

  /** Finds or starts a replay. Returns null if it has to wait until another replay has ended. */
  #find(key: string, data: ReplayThreadData): RunningReplay | null {
    for (const [account, { isOver }] of this.#byAccount) if (isOver) this.#byAccount.delete(account);
    const known = this.#byAccount.get(data.account);
    if (known?.key === key) return known;
    const running = [...this.#byAccount.values()].filter(({ isRunning }) => isRunning);
    if (known?.isRunning || running.length >= MAX_RUNNING) return null;
    this.#remove(data.account);
    const [oldest] = [...this.#byAccount].filter(([, { figures }]) => figures !== null);
    if (this.#byAccount.size >= MAX_KEPT && oldest !== undefined) this.#remove(oldest[0]);
    const started = new RunningReplay(key, data);
    this.#byAccount.set(data.account, started);
    return started;
  }

  #remove(account: number): void {
    void this.#byAccount.get(account)?.end();
    this.#byAccount.delete(account);
  }
}

/** Returns the failure that answers a request if the thread of its replay failed: 422 if the thread ran out of memory, otherwise 503. */
export function failureOf(error: Error): Failure {
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
