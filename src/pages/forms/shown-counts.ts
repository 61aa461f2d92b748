/** Counts the views of forms in memory. The counts are stored every two seconds only, because anyone can open a page very often. */
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { countShown } from '../../forms/forms.ts';
import type { Deps } from '../../operations/deps.ts';

/** How often the counts are stored, and how long storing them waits for the write lock. */
const WRITE_MS = 2000;

/** The views of forms that are not stored yet. */
export class ShownCounts {
  readonly #deps: Pick<Deps, 'db' | 'lock'>;
  /** The number of views by the id of the form. */
  #unwritten = new Map<number, number>();
  /** True if a write is planned. */
  #isWaiting = false;

  /** When `app` closes, the counts that are still in memory are stored. */
  constructor(app: FastifyInstance, deps: Pick<Deps, 'db' | 'lock'>) {
    this.#deps = deps;
    app.addHook('onClose', () => this.#write());
  }

  /** Counts a view of a form. If the process is killed, the counts of the last seconds are lost. */
  add(formId: number): void {
    this.#unwritten.set(formId, (this.#unwritten.get(formId) ?? 0) + 1);
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    void setTimeout(WRITE_MS, null, { ref: false }).then(() => this.#write());
  }

  async #write(): Promise<void> {
    const shown = this.#unwritten;
    this.#unwritten = new Map();
    this.#isWaiting = false;
    if (shown.size === 0) return;
    const { db, lock } = this.#deps;
    // If another process holds the lock for longer, these counts are lost, because they are not worth waiting for.
    await lock.write(() => countShown(db.$client, shown), WRITE_MS).catch(() => undefined);
  }
}
