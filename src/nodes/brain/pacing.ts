/** When the worker begins its next round: at once while nodes take more than a round gives them, else when much was reported. */
import { setImmediate, setTimeout } from 'node:timers/promises';

/** So many recipients in a round mean that there are probably more. */
const FULL_ROUND = 400;
/** With less room a round is not worth its transaction. */
const MIN_ROOM = 400;

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
    if (this.#room() >= MIN_ROOM) this.#wake();
  }

  /** Begins the next round now. */
  wake(): void {
    this.#wake();
  }

  async wait(ms: number): Promise<void> {
    const given = this.#given;
    this.#given = 0;
    // Reads what nodes have sent meanwhile, also when rounds follow each other without a wait.
    await setImmediate();
    if (given >= FULL_ROUND && this.#room() >= MIN_ROOM) return;
    const timer = new AbortController();
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await Promise.race([woken, setTimeout(ms, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
  }
}
