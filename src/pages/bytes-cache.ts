/** A cache of bytes that are the same for all readers. They are read or built once instead of for each reader. */
export class BytesCache {
  readonly #maxBytes: number;
  /** The entries in the order of their last use. */
  readonly #entries = new Map<string, Buffer>();
  /** The total size of the entries. */
  #bytes = 0;

  /** If the entries have more than `maxBytes` bytes in all, the least recently used entries are dropped. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the cached bytes of a key. If there are none, returns the result of `read` and caches it unless it is undefined. */
  get(key: string, read: () => Buffer | undefined): Buffer | undefined {
    const cached = this.#entries.get(key);
    const bytes = cached ?? read();
    if (bytes === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, bytes);
    if (cached === undefined) this.#makeRoom(bytes.length);
    return bytes;
  }

  /** Adds to the total size, then drops entries while the size is above the maximum. */
  #makeRoom(added: number): void {
    this.#bytes += added;
    for (const [oldest, { length }] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#entries.delete(oldest);
      this.#bytes -= length;
    }
  }
}
