/** The compiled content of single sends that were not launched, kept in memory, because a page shows the same draft several times. */
import { createHash } from 'node:crypto';
import type { Frozen } from '../delivery/content/freeze.ts';

/** The most that is kept: about ten large mails, or some hundred usual ones. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

export class CompiledDrafts<Content extends object = Frozen> {
  /** By a hash of what they were made from, the one used last at the end. */
  readonly #kept = new Map<string, { made: Content; characters: number }>();
  readonly #underWay = new Map<string, Promise<Content | { problem: string }>>();
  #characters = 0;

  /** What `make` makes from `source`: made once while it is kept, and once for all who ask at the same time. A problem is not kept. */
  async get(
    source: unknown,
    make: () => Promise<Content | { problem: string }>,
  ): Promise<Content | { problem: string }> {
    const text = JSON.stringify(source);
    const key = createHash('sha256').update(text).digest('base64');
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept.made;
    }
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    const promise = make();
    this.#underWay.set(key, promise);
    try {
      const made = await promise;
      if (!('problem' in made)) this.#keep(key, made, text.length);
      return made;
    } finally {
      this.#underWay.delete(key);
    }
  }

  /** Compiled content is about as long as its source. */
  #keep(key: string, made: Content, characters: number): void {
    this.#kept.set(key, { made, characters });
    this.#characters += characters;
    for (const [oldest, { characters: freed }] of this.#kept) {
      if (this.#characters <= MAX_CHARACTERS) break;
      this.#kept.delete(oldest);
      this.#characters -= freed;
    }
  }
}
