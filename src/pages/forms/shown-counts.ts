/** How often forms are shown: counted in memory and written now and then, since anyone can open a page any number of times. */
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../deps.ts';
import { countShown } from '../../forms/forms.ts';

const WRITE_MS = 2000;

export class ShownCounts {
  readonly #deps: Pick<Deps, 'db' | 'lock'>;
  #unwritten = new Map<number, number>();
  #isWaiting = false;

  /** Whatever is not written yet is written before `app` has closed. */
  constructor(app: FastifyInstance, deps: Pick<Deps, 'db' | 'lock'>) {
    this.#deps = deps;
    app.addHook('onClose', () => this.#write());
  }

  /** Counts that a form was shown. A kill loses the last seconds of these counts. */
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
    // While another process holds the lock for long, these counts are lost: they are not worth to wait for.
    await lock.write(() => countShown(db.$client, shown), WRITE_MS).catch(() => undefined);
  }
}
