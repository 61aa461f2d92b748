/** When the worker begins its next round: at once while nodes take more than a round gives them, else when much was reported. */
import { setImmediate, setTimeout } from 'node:timers/promises';

/** As many as one round claims of a mailing. With less room it waits, because each commit costs as much as some dozen recipients. */
const FULL_ROUND = 500;
/** A round begins after this time, however little was reported. */
const ROUND_MS = 300;

export class NodePacing {
  readonly #room: () => number;
  #given = 0;
  #wake: () => void = () => undefined;

  constructor(room: () => number) {
    this.#room = room;
  }

  gave(count: number): void {
    this.#given += count;
  }

  reported(): void {
    if (this.#room() >= FULL_ROUND) this.#wake();
  }

  /** Begins the next round now. */
  wake(): void {
    this.#wake();
  }

  async wait(): Promise<void> {
    const given = this.#given;
    this.#given = 0;
    // Reads what nodes have sent meanwhile, also when rounds follow each other without a wait.
    await setImmediate();
    if (given >= FULL_ROUND && this.#room() >= FULL_ROUND) return;
    const timer = new AbortController();
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await Promise.race([woken, setTimeout(ROUND_MS, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
  }
}
