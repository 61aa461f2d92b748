/** Starts and stops the thread that supports the public pages of sender nodes, and passes recipients' choices to it. */
import { setTimeout } from 'node:timers/promises';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import type { Config } from '../config.ts';
import type { Choice } from '../delivery/feedback/preference-choice.ts';
import type { RecipientIds } from '../delivery/links/tokens.ts';
import { unavailable } from '../errors/failure.ts';
import type { Log, LogLevel } from '../log.ts';
import type { Deps } from '../operations/deps.ts';
import { threadFile } from '../thread-files.ts';
import { endThread } from './end-thread.ts';

/** How long to wait before the thread starts again after it has ended, in milliseconds. */
const RESTART_MS = 1000;
/** The maximum number of choices that wait for a reply. A choice waits for seconds only while NATS does not reply. */
const MAX_WAITING = 10_000;

/** A recipient's choice for the thread to store. The reply has the same number. */
export interface ChoiceMessage {
  number: number;
  token: string;
  ids: RecipientIds;
  choice: Choice;
}

/** A message from the thread: a line for the log, or whether a choice has been stored and applied. */
export type FeedbackMessage =
  | { fields: object; text: string; level?: LogLevel | undefined }
  | { number: number; isKept: boolean };

interface FeedbackThreadDeps {
  config: Config;
  /** The origin on which the service listens. */
  origin(): string;
  resourceLimits: ResourceLimits;
  log: Log;
}

export class FeedbackThread {
  readonly #deps: FeedbackThreadDeps;
  readonly #waiting = new Map<number, (isKept: boolean) => void>();
  #number = 0;
  #thread: Worker | null = null;
  #isClosing = false;

  constructor(deps: FeedbackThreadDeps) {
    this.#deps = deps;
  }

  /** Starts the thread, and restarts it if it fails. Call it once the service listens. */
  start(): void {
    const { config, origin, resourceLimits, log } = this.#deps;
    const thread = new Worker(threadFile('feedback-thread'), {
      workerData: { config, origin: origin() },
      resourceLimits,
    });
    this.#thread = thread;
    thread.on('message', (message: FeedbackMessage) => {
      if ('text' in message) log(message.fields, message.text, message.level);
      else this.#answer(message.number, message.isKept);
    });
    thread.on('error', (error) =>
      log({ err: String(error) }, 'the thread of the sender nodes’ pages failed and starts again', 'error'),
    );
    thread.on('exit', () => {
      this.#thread = null;
      for (const number of [...this.#waiting.keys()]) this.#answer(number, false);
      void setTimeout(RESTART_MS, null, { ref: false }).then(() => {
        if (!this.#isClosing) this.start();
      });
    });
  }

  readonly keepChoice: NonNullable<Deps['keepChoice']> = async (token, ids, choice) => {
    const thread = this.#thread;
    if (thread === null || this.#waiting.size >= MAX_WAITING) throw unavailable();
    const number = ++this.#number;
    const isKept = await new Promise<boolean>((resolve) => {
      this.#waiting.set(number, resolve);
      thread.postMessage({ number, token, ids, choice } satisfies ChoiceMessage);
    });
    if (!isKept) throw unavailable();
  };

  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    await endThread(this.#thread, graceMs);
  }

  #answer(number: number, isKept: boolean): void {
    this.#waiting.get(number)?.(isKept);
    this.#waiting.delete(number);
  }
}
