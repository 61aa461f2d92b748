/** Parts of pictures in memory, so that everybody who opens a new mail does not read the same bytes from disk. */

/** What is kept; the parts asked for longest ago give way. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024;

/** Keeps the parts of pictures, up to a number of bytes. */
export class PartsCache {
  readonly #maxBytes: number;
  readonly #read: (picture: string, number: number) => Buffer | undefined;
  /** In the order of their last use. */
  readonly #kept = new Map<string, Buffer>();
  #bytes = 0;

  /** `read` gives a part that is not kept. */
  constructor(read: (picture: string, number: number) => Buffer | undefined, maxBytes = MAX_CACHED_BYTES) {
    this.#read = read;
    this.#maxBytes = maxBytes;
  }

  /** A part of a picture, or undefined where it has none of this number. */
  get(picture: string, number: number): Buffer | undefined {
    const key = `${picture}/${number}`;
    const kept = this.#kept.get(key);
    const bytes = kept ?? this.#read(picture, number);
    if (bytes === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, bytes);
    if (kept === undefined) this.#makeRoom(bytes.length);
    return bytes;
  }

  /** Counts a part that was added. */
  #makeRoom(added: number): void {
    this.#bytes += added;
    for (const [oldest, { length }] of this.#kept) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#kept.delete(oldest);
      this.#bytes -= length;
    }
  }
}
