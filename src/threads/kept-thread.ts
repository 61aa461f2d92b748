/**
 * Keeps a thread running: restarts it if it fails. An idle thread may rest, which frees its memory: it asks to rest; once that is granted
 * and it still finds no work, it reports when its next work is due and ends. It is started again at that time, or when it is woken, or when
 * this or another process has written to the database since the rest was granted.
 */
import { setTimeout } from 'node:timers/promises';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import type { Config } from '../config.ts';
import type { WriteLock } from '../database/write-lock.ts';
import { Heartbeat } from '../delivery/queue/holds.ts';
import type { KnownHolds } from '../installation/list-holds.ts';
import type { LogLevel } from '../log.ts';
import { type ThreadName, threadFile } from '../thread-files.ts';
import { endThread } from './end-thread.ts';

/** How long to wait before the thread starts again after it has ended, in milliseconds. */
const RESTART_MS = 1000;
/** How often to check for work, in milliseconds; as often as the background thread does. */
const CHECK_MS = 500;
/** How long storing the heartbeat waits for the write lock, in milliseconds. */
const BEAT_WAIT_MS = 400;

/** The data with which the thread is started. */
export interface KeptThreadData {
  config: Config;
  /** The origin on which the service listens. */
  origin: string;
  restsAfterMs: number;
  /** The holds that the thread had logged before its rest; undefined if it did not rest. */
  knownHolds: KnownHolds | undefined;
}

interface KeptThreadDeps {
  name: string;
  file: ThreadName;
  client: Database;
  writes: WriteLock;
  config: Config;
  resourceLimits: ResourceLimits;
  /**
   * How long the thread stays idle before it asks to rest, in milliseconds. `quiet` applies if the thread was started without a write to
   * the database, `written` after a write.
   */
  restsAfterMs: Record<'quiet' | 'written', number>;
  log: {
    debug(fields: object, text: string): void;
    info(fields: object, text: string): void;
    warn(fields: object, text: string): void;
    error(fields: object, text: string): void;
  };
}

/** The number of times that other connections have written to the database, and the number of rows that this connection has written. */
interface WriteCounts {
  others: number | undefined;
  own: number | undefined;
}

type Message =
  | { fields: object; text: string; level?: LogLevel | undefined }
  | { asks: 'rest' }
  | { restsUntil: number; knownHolds: KnownHolds };

export class KeptThread {
  readonly #deps: KeptThreadDeps;
  #origin = '';
  #thread: Worker | null = null;
  #isClosing = false;
  /** The write counts at the time when the rest was granted; null if the thread was woken since. */
  #countsBefore: WriteCounts | null = null;
  #restsUntil = 0;
  #knownHolds: KnownHolds | undefined;
  #checkedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: KeptThreadDeps) {
    this.#deps = deps;
  }

  /** Starts the thread. `origin` is the origin on which the service listens. */
  start(origin: string): void {
    this.#origin = origin;
    this.#run(this.#deps.restsAfterMs.quiet);
  }

  /** Makes the thread check for work at once. */
  wake(): void {
    this.#countsBefore = null;
    if (this.#timer !== undefined) this.#endRest('written');
    else this.#thread?.postMessage('wake');
  }

  /** Ends the thread; work in progress gets up to `graceMs` milliseconds. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    await endThread(this.#thread, graceMs);
  }

  #run(restsAfterMs: number, knownHolds?: KnownHolds): void {
    const { name, file, config, resourceLimits, log } = this.#deps;
    const workerData: KeptThreadData = { config, origin: this.#origin, restsAfterMs, knownHolds };
    const thread = new Worker(threadFile(file), { workerData, resourceLimits });
    this.#thread = thread;
    let rests = false;
    thread.on('message', (message: Message) => {
      if ('text' in message) return log[message.level ?? 'info'](message.fields, message.text);
      if ('asks' in message) {
        this.#countsBefore = this.#readWriteCounts();
        thread.postMessage('rest');
      } else {
        rests = true;
        this.#restsUntil = message.restsUntil;
        this.#knownHolds = message.knownHolds;
      }
    });
    thread.on('error', (error) => {
      rests = false;
      log.error({ err: error }, `the ${name} thread failed and starts again`);
    });
    thread.on('exit', () => {
      this.#thread = null;
      if (this.#isClosing) return;
      if (rests) return this.#rest();
      void setTimeout(RESTART_MS, null, { ref: false }).then(() => {
        if (!this.#isClosing) this.#run(restsAfterMs);
      });
    });
  }

  #rest(): void {
    const { name, log } = this.#deps;
    log.debug({ until: new Date(this.#restsUntil) }, `the ${name} thread has nothing to do and rests`);
    const heartbeat = new Heartbeat(this.#deps.client);
    this.#checkedAt = Date.now();
    this.#timer = setInterval(() => this.#checkForWork(heartbeat), CHECK_MS).unref();
    this.#checkForWork(heartbeat);
  }

  #checkForWork(heartbeat: Heartbeat): void {
    const { writes, log } = this.#deps;
    const now = Date.now();
    const written = this.#readWriteCounts();
    const isWritten =
      written === null || written.own !== this.#countsBefore?.own || written.others !== this.#countsBefore?.others;
    // The thread also starts again if the clock was set back.
    if (isWritten || now >= this.#restsUntil || now < this.#checkedAt) {
      this.#endRest(isWritten ? 'written' : 'quiet');
      return;
    }
    this.#checkedAt = now;
    const beat = () => {
      const before = this.#readWriteCounts();
      heartbeat.beat(now);
      const after = this.#readWriteCounts();
      // The heartbeat just stored is no reason to start the thread, so it is added to the count, unless other rows were written since the
      // rest began.
      if (this.#countsBefore !== null && after !== null && this.#countsBefore.own === before?.own)
        this.#countsBefore.own = after.own;
    };
    writes.write(beat, BEAT_WAIT_MS).catch((error) => {
      log.warn({ err: String(error) }, 'it could not be noted that the service is running');
      this.wake();
    });
  }

  #endRest(cause: 'quiet' | 'written'): void {
    const { name, log, restsAfterMs } = this.#deps;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#isClosing) return;
    log.debug({}, `the ${name} thread starts again`);
    this.#run(restsAfterMs[cause], this.#knownHolds);
  }

  /**
   * Returns counts that change with every write to the database by any process; null if they cannot be read, which the thread then finds
   * out and reports.
   */
  #readWriteCounts(): WriteCounts | null {
    const { client } = this.#deps;
    try {
      const others = client.prepare<[], number>('PRAGMA data_version').pluck().get();
      const own = client.prepare<[], number>('SELECT total_changes()').pluck().get();
      return { others, own };
    } catch {
      return null;
    }
  }
}
