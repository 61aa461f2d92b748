/** Bytes that are the same for everybody, in memory, so that not every reader of a new mail has them read or made again. */
export class BytesCache {
  readonly #maxBytes: number;
  /** In the order of their last use. */
  readonly #kept = new Map<string, Buffer>();
  #bytes = 0;

  /** Keeps up to so many bytes; what was asked for longest ago gives way. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What is kept under the key, or what `read` gives, which is kept unless it is undefined. */
  get(key: string, read: () => Buffer | undefined): Buffer | undefined {
    const kept = this.#kept.get(key);
    const bytes = kept ?? read();
    if (bytes === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, bytes);
    if (kept === undefined) this.#makeRoom(bytes.length);
    return bytes;
  }

  /** Counts what was added. */
  #makeRoom(added: number): void {
    this.#bytes += added;
    for (const [oldest, { length }] of this.#kept) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#kept.delete(oldest);
      this.#bytes -= length;
    }
  }
}
