/** Which steps of the work beside HTTP fail again and again, kept for `/readyz`: what is logged once a second is easily overlooked. */
import type { Database } from 'better-sqlite3';
import { findNamedValue, removeNamedValue, writeNamedValue } from '../../database/named-values.ts';

/** A step that has failed for this long, every time, is told. */
const TOLD_AFTER_MS = 10_000;
/** One that was not tried again for this long is no longer under way. */
const FORGOTTEN_AFTER_MS = 60_000;

/** Who keeps a list of its own: the background, what it does with sender nodes, and the thread of their pages. */
const KEEPERS = ['background', 'nodes', 'node_pages'] as const;
type Keeper = (typeof KEEPERS)[number];

const nameOf = (keeper: Keeper) => `failing_steps_${keeper}`;

export class FailingSteps {
  readonly #client: Database;
  readonly #name: string;
  readonly #monotonic: () => number;
  /** When each step failed for the first time since it worked, and for the last time; monotonic milliseconds. */
  readonly #failed = new Map<string, { since: number; last: number }>();

  constructor(client: Database, keeper: Keeper, monotonic: () => number) {
    this.#client = client;
    this.#name = nameOf(keeper);
    this.#monotonic = monotonic;
  }

  /** Does a step and notes whether it worked. Throws what it throws. */
  watch<T>(step: string, work: () => T): T {
    try {
      const done = work();
      if (done instanceof Promise)
        done.then(
          () => this.worked(step),
          () => this.failed(step),
        );
      else this.worked(step);
      return done;
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

  /** Whether a step failed when it was last tried. */
  get isAny(): boolean {
    return this.#failed.size > 0;
  }

  /** Writes what has changed. To be called every second or so. */
  write(): void {
    const now = this.#monotonic();
    for (const [step, { last }] of this.#failed) if (now - last >= FORGOTTEN_AFTER_MS) this.#failed.delete(step);
    const told = [...this.#failed].flatMap(([step, { since, last }]) => (last - since >= TOLD_AFTER_MS ? [step] : []));
    const text = JSON.stringify(told.sort());
    if (text !== (findNamedValue(this.#client, this.#name) ?? '[]')) writeNamedValue(this.#client, this.#name, text);
  }
}

/** The steps that keep failing now. */
export function failingSteps(client: Database): string[] {
  return KEEPERS.flatMap((keeper): string[] => JSON.parse(findNamedValue(client, nameOf(keeper)) ?? '[]'));
}

/** Forgets what an earlier run wrote. */
export function forgetFailingSteps(client: Database): void {
  for (const keeper of KEEPERS) removeNamedValue(client, nameOf(keeper));
}
