/** Keeps what was last compiled from drafts, so that a preview compiles a draft once while nothing in it changes. */
import type { FrozenText } from '../delivery/compiling/compile.ts';
import type { Said } from '../errors/sentences.ts';

/** The maximum length of the sources of kept content: about ten large mails, or some hundred usual ones. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** A text, a number or null that content is made from. */
type Part = string | number | null;

interface CompiledDraft<Content> {
  source: readonly Part[];
  content: Content;
}

interface UnderWay<Content> {
  source: readonly Part[];
  promise: Promise<Content | { problem: Said }>;
}

export class CompiledDrafts<Content extends object = FrozenText> {
  /** In the order of use, the most recent one last. Sources are compared directly, because hashing a large one takes longer. */
  #kept: readonly CompiledDraft<Content>[] = [];
  #underWay: readonly UnderWay<Content>[] = [];

  /**
   * Returns what `make` makes from `source`. It is made once while it is kept, and once for all concurrent callers. A problem is not kept.
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

  /** Keeps the newest content. Only sources are measured, because compiled content is about as long as its source. */
  #keep(newest: CompiledDraft<Content>): void {
    const kept = [...this.#kept, newest];
    let characters = 0;
    const last = kept.findLastIndex(({ source }) => {
      characters += source.reduce<number>((sum, part) => sum + String(part).length, 0);
      return characters > MAX_CHARACTERS;
    });
    this.#kept = kept.slice(last + 1);
  }
}
