/** Content of mailings and images, fetched once from their bucket and cached in memory up to a number of bytes. */
import type { NatsConnection } from '@nats-io/transport-node';
import { findWhole, type Stored, withTimeout } from '../bucket.ts';

const MAX_BYTES = 64 * 1024 * 1024;
/** After this time a page asks the visitor to try again; the object is cached when it arrives later. */
const FETCH_MS = 5000;
/** How long a missing object is not requested again. */
const MISSING_MS = 10_000;
const MAX_MISSING = 10_000;

/** Objects of one bucket, converted to `T` when they are fetched. */
export class Objects<T> {
  readonly #load: (name: string) => Promise<Stored | null>;
  readonly #read: (object: Stored) => T;
  readonly #ask: (name: string) => Promise<boolean>;
  /** In order of last use. */
  readonly #kept = new Map<string, { value: T; bytes: number }>();
  readonly #fetching = new Map<string, Promise<T | null>>();
  readonly #missing = new Map<string, number>();
  #bytes = 0;

  /**
   * `ask` makes the controller publish an object in the bucket. It returns whether the object exists, and throws if the controller does not
   * reply.
   */
  constructor(
    connection: NatsConnection,
    bucket: string,
    read: (object: Stored) => T,
    ask: (name: string) => Promise<boolean>,
  ) {
    this.#load = (name) => findWhole(connection, bucket, name);
    this.#read = read;
    this.#ask = ask;
  }

  /** The object, or null if there is none with this name. Throws 503 if it cannot be fetched in time. */
  async get(name: string): Promise<T | null> {
    const kept = this.#kept.get(name);
    if (kept !== undefined) {
      this.#kept.delete(name);
      this.#kept.set(name, kept);
      return kept.value;
    }
    if ((this.#missing.get(name) ?? 0) > performance.now()) return null;
    const fetching = this.#fetching.get(name) ?? this.#fetch(name);
    return withTimeout(fetching, FETCH_MS);
  }

  #fetch(name: string): Promise<T | null> {
    const fetching = this.#find(name).finally(() => this.#fetching.delete(name));
    this.#fetching.set(name, fetching);
    // Waiting callers get the error; if there are none, it must not count as unhandled.
    fetching.catch(() => undefined);
    return fetching;
  }

  async #find(name: string): Promise<T | null> {
    const object = (await this.#load(name)) ?? ((await this.#ask(name)) ? await this.#load(name) : null);
    if (object === null) {
      if (this.#missing.size >= MAX_MISSING) this.#missing.clear();
      this.#missing.set(name, performance.now() + MISSING_MS);
      return null;
    }
    const value = this.#read(object);
    this.#kept.set(name, { value, bytes: object.bytes.length });
    this.#bytes += object.bytes.length;
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#kept.delete(oldest);
      this.#bytes -= bytes;
    }
    return value;
  }
}
