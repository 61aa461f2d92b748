/** Takes a sample of recipients in which each domain has the share that it has of all recipients. */

const BUCKETS = 2 ** 16;
const MAX_HASH = 2 ** 32;

/**
 * Takes every nth recipient of each domain, so that a domain has the same share of the sample as of the audience, even if the list is
 * sorted by domain or by age. Domains are counted in a fixed number of buckets; two domains that share a bucket are counted together.
 */
export class DomainSpread {
  readonly #stride: number;
  readonly #counts = new Uint32Array(BUCKETS);

  /** `stride` is the number of recipients of whom one is taken, at least 1. */
  constructor(stride: number) {
    this.#stride = stride;
  }

  /**
   * Returns true if the next recipient, whose domain is `domain`, is taken. The same recipients in the same order give the same answers.
   */
  takes(domain: string): boolean {
    const hash = hashOf(domain);
    const bucket = hash % BUCKETS;
    const count = this.#counts[bucket] ?? 0;
    this.#counts[bucket] = count + 1;
    // The count of each domain starts at its own offset. Otherwise domains with a single recipient would all be taken, or none of them.
    const start = hash / MAX_HASH;
    return Math.floor((count + 1) / this.#stride + start) > Math.floor(count / this.#stride + start);
  }
}

/**
 * Returns the 32-bit FNV-1a hash of a text, with a final mixing step, because the first letters of a short text hardly affect the high
 * bits.
 */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
