/** Chooses the first recipients of a mailing evenly from each recipient domain. */

const BUCKETS = 2 ** 16;
const MAX_HASH = 2 ** 32;

/**
 * Takes every so many-th recipient of each domain, so that a domain has the same share among those taken as among all, a list sorted by
 * domain or by age included. Domains are counted in a fixed number of buckets; two that share one are counted together.
 */
export class DomainSpread {
  readonly #stride: number;
  readonly #seen = new Uint32Array(BUCKETS);

  /** One in `stride` recipients is taken; `stride` is at least 1. */
  constructor(stride: number) {
    this.#stride = stride;
  }

  /** Whether the next recipient, who is of this domain, is taken. The same recipients in the same order give the same answers. */
  takes(domain: string): boolean {
    const hash = hashOf(domain);
    const bucket = hash % BUCKETS;
    const seen = this.#seen[bucket] ?? 0;
    this.#seen[bucket] = seen + 1;
    // Each domain starts elsewhere, so that one in so many of the domains with a single recipient is taken, too.
    const start = hash / MAX_HASH;
    return Math.floor((seen + 1) / this.#stride + start) > Math.floor(seen / this.#stride + start);
  }
}

/** FNV-1a, 32 bits, with a last mixing, since the first letters of short names reach the high bits little. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
