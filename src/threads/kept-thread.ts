/**
 * A thread that the service keeps: it starts again when it fails. One that has nothing to do may rest, which gives its memory back: it asks
 * to, and once that is granted and it still finds nothing to do, it says until when and ends. It is started again at that time, when it is
 * woken, and when anybody has written to the file since it was granted the rest, this process or another one.
 */
import { setTimeout } from 'node:timers/promises';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import type { Config } from '../config.ts';
import { prepared } from '../database/prepared.ts';
import type { WriteLock } from '../database/write-lock.ts';
import { Heartbeat } from '../delivery/queue/holds.ts';
import type { KnownHolds } from '../senders/list-holds.ts';
import { type ThreadName, threadFile } from '../thread-files.ts';
import { endThread } from './end-thread.ts';

const RESTART_MS = 1000;
/** How often it is looked whether there is something to do; as often as the background looks. */
const LOOK_MS = 500;
/** How long the thread waits for more before it asks to rest: after it was started without a cause, and after somebody wrote. */
const RESTS_AFTER_MS = { quiet: 5000, written: 60_000 };
/** How long the note that the service is running waits for the write lock. */
const BEAT_WAIT_MS = 400;

/** What the thread is started with. */
export interface KeptThreadData {
  config: Config;
  /** The address that the service listens on. */
  origin: string;
  restsAfterMs: number;
  /** The holds that it knew when it went to rest; undefined where it did not rest. */
  knownHolds: KnownHolds | undefined;
}

interface KeptThreadDeps {
  name: string;
  file: ThreadName;
  client: Database;
  writes: WriteLock;
  config: Config;
  resourceLimits: ResourceLimits;
  log: {
    debug(fields: object, text: string): void;
    info(fields: object, text: string): void;
    warn(fields: object, text: string): void;
    error(fields: object, text: string): void;
  };
}

/** How often others have written to the file, and rows that this connection has written. */
interface Written {
  others: number | undefined;
  own: number | undefined;
}

type Message =
  | { fields: object; text: string; level?: 'warn' }
  | { asks: 'rest' }
  | { restsUntil: number; knownHolds: KnownHolds };

export class KeptThread {
  readonly #deps: KeptThreadDeps;
  #origin = '';
  #thread: Worker | null = null;
  #isClosing = false;
  /** How the file was when the rest was granted; null once somebody woke the thread. */
  #before: Written | null = null;
  #restsUntil = 0;
  #knownHolds: KnownHolds | undefined;
  #lookedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: KeptThreadDeps) {
    this.#deps = deps;
  }

  /** Starts the thread. `origin` is the address that the service listens on. */
  start(origin: string): void {
    this.#origin = origin;
    this.#run(RESTS_AFTER_MS.quiet);
  }

  /** Has the thread look for work at once. */
  wake(): void {
    this.#before = null;
    if (this.#timer !== undefined) this.#endRest(RESTS_AFTER_MS.written);
    else this.#thread?.postMessage('wake');
  }

  /** Ends the thread: what is under way has up to `graceMs`. */
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
        this.#before = this.#findWritten();
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
    this.#lookedAt = Date.now();
    this.#timer = setInterval(() => this.#look(heartbeat), LOOK_MS).unref();
    this.#look(heartbeat);
  }

  #look(heartbeat: Heartbeat): void {
    const { writes, log } = this.#deps;
    const now = Date.now();
    const written = this.#findWritten();
    const isWritten = written === null || written.own !== this.#before?.own || written.others !== this.#before?.others;
    // The clock may have been set back, too.
    if (isWritten || now >= this.#restsUntil || now < this.#lookedAt) {
      this.#endRest(RESTS_AFTER_MS[isWritten ? 'written' : 'quiet']);
      return;
    }
    this.#lookedAt = now;
    const beat = () => {
      const before = this.#findWritten();
      heartbeat.beat(now);
      const after = this.#findWritten();
      // Only what this has written itself is no reason to start: others may have written between the two.
      if (this.#before !== null && after !== null && this.#before.own === before?.own) this.#before.own = after.own;
    };
    writes.write(beat, BEAT_WAIT_MS).catch((error) => {
      log.warn({ err: String(error) }, 'it could not be noted that the service is running');
      this.wake();
    });
  }

  #endRest(restsAfterMs: number): void {
    const { name, log } = this.#deps;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#isClosing) return;
    log.debug({}, `the ${name} thread starts again`);
    this.#run(restsAfterMs, this.#knownHolds);
  }

  /** Changes with every write to the file, whoever writes; null when it cannot be read, which the thread is to find out and tell. */
  #findWritten(): Written | null {
    const { client } = this.#deps;
    try {
      const others = prepared<[], number>(client, 'PRAGMA data_version').pluck().get();
      const own = prepared<[], number>(client, 'SELECT total_changes()').pluck().get();
      return { others, own };
    } catch {
      return null;
    }
  }
}
