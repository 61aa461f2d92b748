/** Keeps the content that was last compiled from drafts, so that previews compile a draft only once while nothing in it changes. */
import type { FrozenText } from '../delivery/compiling/compile.ts';
import type { Said } from '../errors/sentences.ts';
import { MEBIBYTE } from '../units.ts';

/** The maximum length of all kept sources together: about ten large mails, or some hundred usual ones. */
const MAX_CHARACTERS = 8 * MEBIBYTE;

/** A part of a source, such as the subject, the template or the id of the sender. */
type Part = string | number | null;

interface CompiledDraft<Content> {
  source: readonly Part[];
  content: Content;
}

interface UnderWay<Content> {
  source: readonly Part[];
  promise: Promise<Content | { problem: Said }>;
}

/** Compiled content by the source from which it was compiled. */
export class CompiledDrafts<Content extends object = FrozenText> {
  /** The kept drafts in the order of their last use. Their sources are compared as they are, because hashing a large source takes longer. */
  #kept: readonly CompiledDraft<Content>[] = [];
  #underWay: readonly UnderWay<Content>[] = [];

  /**
   * Returns the content that `make` makes from `source`. Calls `make` only if the content is neither kept nor being made for another
   * caller. A problem is not kept.
   */
  async get(
    source: readonly Part[],
    make: () => Promise<Content | { problem: Said }>,
  ): Promise<Content | { problem: Said }> {
    const isSame = (other: { source: readonly Part[] }) =>
      other.source.length === source.length && other.source.every((part, at) => part === source[at]);
    const kept = this.#kept.find(isSame);
    if (kept !== undefined) {
      this.#kept = [...this.#kept.filter((other) => other !== kept), kept];
      return kept.content;
    }
    const known = this.#underWay.find(isSame);
    if (known !== undefined) return known.promise;
    const underWay = { source, promise: make() };
    this.#underWay = [...this.#underWay, underWay];
    try {
      const content = await underWay.promise;
      if (!('problem' in content)) this.#keep({ source, content });
      return content;
    } finally {
      this.#underWay = this.#underWay.filter((other) => other !== underWay);
    }
  }

  /** Keeps new content, and drops the content that was not used longest if the sources are too long. Content is about as long as its source. */
  #keep(newest: CompiledDraft<Content>): void {
    const kept = [...this.#kept, newest];
    let characters = 0;
    const lastDropped = kept.findLastIndex(({ source }) => {
      characters += source.reduce<number>((sum, part) => sum + String(part).length, 0);
      return characters > MAX_CHARACTERS;
    });
    this.#kept = kept.slice(lastDropped + 1);
  }
}
