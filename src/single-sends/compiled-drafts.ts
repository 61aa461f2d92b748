/** The compiled content of single sends that were not launched, kept in memory, because a page shows the same draft several times. */
import type { FrozenText } from '../delivery/content/compile-threads.ts';

/** The most that is kept of what it was made from: about ten large mails, or some hundred usual ones. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** A text, a number or nothing of what content is made from. */
type Part = string | number | null;

interface Kept<Content> {
  source: readonly Part[];
  made: Content;
}

interface UnderWay<Content> {
  source: readonly Part[];
  promise: Promise<Content | { problem: string }>;
}

export class CompiledDrafts<Content extends object = FrozenText> {
  /** The one used last at the end. Compared by their sources: a hash of a large one takes longer. */
  #kept: readonly Kept<Content>[] = [];
  #underWay: readonly UnderWay<Content>[] = [];

  /** What `make` makes from `source`: made once while it is kept, and once for all who ask at the same time. A problem is not kept. */
  async get(
    source: readonly Part[],
    make: () => Promise<Content | { problem: string }>,
  ): Promise<Content | { problem: string }> {
    const isSame = (other: { source: readonly Part[] }) =>
      other.source.length === source.length && other.source.every((part, at) => part === source[at]);
    const kept = this.#kept.find(isSame);
    if (kept !== undefined) {
      this.#kept = [...this.#kept.filter((other) => other !== kept), kept];
      return kept.made;
    }
    const known = this.#underWay.find(isSame);
    if (known !== undefined) return known.promise;
    const underWay = { source, promise: make() };
    this.#underWay = [...this.#underWay, underWay];
    try {
      const made = await underWay.promise;
      if (!('problem' in made)) this.#keep({ source, made });
      return made;
    } finally {
      this.#underWay = this.#underWay.filter((other) => other !== underWay);
    }
  }

  /** Compiled content is about as long as its source. */
  #keep(newest: Kept<Content>): void {
    const kept = [...this.#kept, newest];
    let characters = 0;
    const last = kept.findLastIndex(({ source }) => {
      characters += source.reduce<number>((sum, part) => sum + String(part).length, 0);
      return characters > MAX_CHARACTERS;
    });
    this.#kept = kept.slice(last + 1);
  }
}
