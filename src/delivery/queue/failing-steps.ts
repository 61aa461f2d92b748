/** Records which background steps keep failing, for `/readyz`, because a repeated log line is easily overlooked. */
import type { Database } from 'better-sqlite3';
import { findNamedValue, removeNamedValue, writeNamedValue } from '../../database/named-values.ts';
import type { Log } from '../../log.ts';

/** How long all attempts of a step must have failed before the step is reported, in milliseconds. */
const REPORTED_AFTER_MS = 10_000;
/** How long a failed step is remembered if it is not tried again, in milliseconds. */
const FORGOTTEN_AFTER_MS = 60_000;

/**
 * Each of these has its own list of failing steps: the background thread without its work with sender nodes, this work, and the thread for
 * pages served by nodes.
 */
const STEP_OWNERS = ['background', 'nodes', 'node_pages'] as const;
type StepOwner = (typeof STEP_OWNERS)[number];

const storedName = (owner: StepOwner) => `failing_steps_${owner}`;

export class FailingSteps {
  readonly #client: Database;
  readonly #name: string;
  readonly #monotonic: () => number;
  readonly #log: Log;
  /** When each step first failed since it last worked, and when it last failed, in monotonic milliseconds. */
  readonly #failed = new Map<string, { since: number; last: number }>();

  constructor(client: Database, owner: StepOwner, monotonic: () => number, log: Log) {
    this.#client = client;
    this.#name = storedName(owner);
    this.#monotonic = monotonic;
    this.#log = log;
  }

  /** Runs a step and records whether it worked. Rethrows its errors. */
  watch<T>(step: string, work: () => T): T {
    try {
      const result = work();
      if (result instanceof Promise)
        result.then(
          () => this.worked(step),
          () => this.failed(step),
        );
      else this.worked(step);
      return result;
    } catch (error) {
      this.failed(step);
      throw error;
    }
  }

  failed(step: string): void {
    const last = this.#monotonic();
    this.#failed.set(step, { since: this.#failed.get(step)?.since ?? last, last });
  }

  worked(step: string): void {
    this.#failed.delete(step);
  }

  /** True if any step failed on its last attempt. */
  get isAnyFailing(): boolean {
    return this.#failed.size > 0;
  }

  /**
   * Writes the list of steps that keep failing, and logs the steps that were added to the list or removed from it. Call it about once a
   * second.
   */
  write(): void {
    const now = this.#monotonic();
    for (const [step, { last }] of this.#failed) if (now - last >= FORGOTTEN_AFTER_MS) this.#failed.delete(step);
    const reported = [...this.#failed].flatMap(([step, { since, last }]) =>
      last - since >= REPORTED_AFTER_MS ? [step] : [],
    );
    const text = JSON.stringify(reported.sort());
    const before = findNamedValue(this.#client, this.#name) ?? '[]';
    if (text === before) return;
    writeNamedValue(this.#client, this.#name, text);
    const known: string[] = JSON.parse(before);
    const newlyFailing = reported.filter((step) => !known.includes(step));
    const removed = known.filter((step) => !reported.includes(step));
    for (const step of newlyFailing) this.#log({ step }, 'a step keeps failing', 'error');
    for (const step of removed) this.#log({ step }, 'a step no longer keeps failing');
  }
}

/** Returns the steps that keep failing now. */
export function failingSteps(client: Database): string[] {
  return STEP_OWNERS.flatMap((owner): string[] => JSON.parse(findNamedValue(client, storedName(owner)) ?? '[]'));
}

/** Deletes the lists written by an earlier run. */
export function forgetFailingSteps(client: Database): void {
  for (const owner of STEP_OWNERS) removeNamedValue(client, storedName(owner));
}
