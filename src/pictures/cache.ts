/** Pictures in memory, so that everybody who opens a new mail does not read the same bytes from disk. */

/** What is kept; the pictures asked for longest ago give way. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024;

/** Keeps bytes by key, up to a number of bytes. */
export class BytesCache {
  readonly #maxBytes: number;
  readonly #read: (key: string) => Promise<Buffer>;
  /** In the order of their last use. */
  readonly #kept = new Map<string, Buffer>();
  readonly #reading = new Map<string, Promise<Buffer>>();
  #bytes = 0;

  /** `read` gives the bytes of a key that is not kept; several who wait for the same key read it once. */
  constructor(read: (key: string) => Promise<Buffer>, maxBytes = MAX_CACHED_BYTES) {
    this.#read = read;
    this.#maxBytes = maxBytes;
  }

  /** The bytes of a key; at once where they are kept. */
  get(key: string): Buffer | Promise<Buffer> {
    const kept = this.#kept.get(key);
    if (kept === undefined) return this.#reading.get(key) ?? this.#readAndKeep(key);
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept;
  }

  async #readAndKeep(key: string): Promise<Buffer> {
    const reading = this.#read(key);
    this.#reading.set(key, reading);
    try {
      const bytes = await reading;
      this.#keep(key, bytes);
      return bytes;
    } finally {
      this.#reading.delete(key);
    }
  }

  #keep(key: string, bytes: Buffer): void {
    this.#kept.set(key, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, { length }] of this.#kept) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#kept.delete(oldest);
      this.#bytes -= length;
    }
  }
}
