/** Starts and stops the webhook thread. */

import { setTimeout } from 'node:timers/promises';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import type { Log } from '../log.ts';
import { threadFile } from '../thread-files.ts';
import { endThread } from './end-thread.ts';

/** How long to wait before the thread starts again after it has ended, in milliseconds. */
const RESTART_MS = 1000;

export class WebhookThread {
  readonly #db: Db;
  readonly #config: Config;
  readonly #resourceLimits: ResourceLimits;
  readonly #log: Log;
  #thread: Worker | null = null;
  #isClosing = false;

  constructor(db: Db, config: Config, resourceLimits: ResourceLimits, log: Log) {
    this.#db = db;
    this.#config = config;
    this.#resourceLimits = resourceLimits;
    this.#log = log;
  }

  /** Wakes the thread. Starts it if there is an endpoint, or if events of a deleted endpoint remain. */
  wake(): void {
    if (this.#thread !== null) this.#thread.postMessage('wake');
    else if (!this.#isClosing && this.#hasWork()) this.#start();
  }

  /**
   * Ends the thread. Requests in progress get up to `graceMs` milliseconds; events whose request takes longer remain on disk and are sent
   * again after the next start.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    await endThread(this.#thread, graceMs);
  }

  #hasWork(): boolean {
    return ['webhook_endpoints', 'webhook_events'].some(
      (table) => this.#db.$client.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined,
    );
  }

  #start(): void {
    const thread = new Worker(threadFile('webhook-thread'), {
      workerData: this.#config,
      resourceLimits: this.#resourceLimits,
    });
    this.#thread = thread;
    thread.on('message', ({ fields, text, level }) => this.#log(fields, text, level));
    thread.on('error', (error) =>
      this.#log({ err: String(error) }, 'the webhook thread failed and starts again', 'error'),
    );
    thread.on('exit', () => {
      this.#thread = null;
      void setTimeout(RESTART_MS, null, { ref: false }).then(() => this.wake());
    });
  }
}
