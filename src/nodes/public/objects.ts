/** Contents of mailings, and images, fetched once from their bucket and cached in memory up to a number of bytes. */
import type { NatsConnection } from '@nats-io/transport-node';
import { MEBIBYTE } from '../../units.ts';
import { findObject, type StoredObject, withTimeout } from '../bucket.ts';

const MAX_BYTES = 64 * MEBIBYTE;
/** After this time a page asks the visitor to try again. The object is cached if it arrives later. */
const FETCH_MS = 5000;
/** How long a missing object is not requested again. */
const MISSING_MS = 10_000;
const MAX_MISSING = 10_000;

/** Objects of one bucket, converted to `T` when they are fetched. */
export class Objects<T> {
  readonly #load: (name: string) => Promise<StoredObject | null>;
  readonly #read: (object: StoredObject) => T;
  readonly #requestPublishing: (name: string) => Promise<boolean>;
  /** The objects by name, those used last at the end. */
  readonly #cached = new Map<string, { value: T; bytes: number }>();
  readonly #fetching = new Map<string, Promise<T | null>>();
  /** The time until which each missing object is not requested again, by `performance.now`. */
  readonly #missing = new Map<string, number>();
  #bytes = 0;

  /**
   * `requestPublishing` makes the controller publish an object in the bucket. It returns whether the object exists, and throws if the
   * controller does not reply.
   */
  constructor(
    connection: NatsConnection,
    bucket: string,
    read: (object: StoredObject) => T,
    requestPublishing: (name: string) => Promise<boolean>,
  ) {
    this.#load = (name) => findObject(connection, bucket, name);
    this.#read = read;
    this.#requestPublishing = requestPublishing;
  }

  /** Returns the object with this name; null if it does not exist. Throws 503 if it cannot be fetched in time. */
  async get(name: string): Promise<T | null> {
    const cached = this.#cached.get(name);
    if (cached !== undefined) {
      this.#cached.delete(name);
      this.#cached.set(name, cached);
      return cached.value;
    }
    if ((this.#missing.get(name) ?? 0) > performance.now()) return null;
    const fetching = this.#fetching.get(name) ?? this.#fetch(name);
    return withTimeout(fetching, FETCH_MS);
  }

  #fetch(name: string): Promise<T | null> {
    const fetching = this.#find(name).finally(() => this.#fetching.delete(name));
    this.#fetching.set(name, fetching);
    // Waiting callers get the error. If no caller waits, it must not count as unhandled.
    fetching.catch(() => undefined);
    return fetching;
  }

  async #find(name: string): Promise<T | null> {
    let object = await this.#load(name);
    if (object === null && (await this.#requestPublishing(name))) object = await this.#load(name);
    if (object === null) {
      if (this.#missing.size >= MAX_MISSING) this.#missing.clear();
      this.#missing.set(name, performance.now() + MISSING_MS);
      return null;
    }
    const value = this.#read(object);
    this.#cached.set(name, { value, bytes: object.bytes.length });
    this.#bytes += object.bytes.length;
    for (const [oldest, { bytes }] of this.#cached) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#cached.delete(oldest);
      this.#bytes -= bytes;
    }
    return value;
  }
}
