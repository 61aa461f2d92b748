/** Content of mailings and pictures, fetched from the object store once and kept in memory up to a number of bytes. */
import { type ObjectStore, Objm } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { unavailable } from '../../failure.ts';

const MAX_BYTES = 64 * 1024 * 1024;
/** After this time a page says to try again; the object is kept when it comes later. */
const FETCH_MS = 5000;
/** How long an object that nobody has is not asked for again. */
const MISSING_MS = 10_000;
const MAX_MISSING = 10_000;

export interface Fetched {
  bytes: Uint8Array;
  metadata: Record<string, string>;
}

/** Objects of one store, turned into `T` when they are fetched. */
export class Objects<T> {
  readonly #open: () => Promise<ObjectStore>;
  #store: Promise<ObjectStore> | null = null;
  readonly #read: (object: Fetched) => T;
  readonly #ask: (name: string) => Promise<boolean>;
  /** In the order of their last use. */
  readonly #kept = new Map<string, { value: T; bytes: number }>();
  readonly #fetching = new Map<string, Promise<T | null>>();
  readonly #missing = new Map<string, number>();
  #bytes = 0;

  /** `ask` has the brain put an object into the store; it gives whether there is one and throws where the brain does not answer. */
  constructor(
    connection: NatsConnection,
    store: string,
    read: (object: Fetched) => T,
    ask: (name: string) => Promise<boolean>,
  ) {
    // Nodes have no right to make one, and to look whether it exists would fail while NATS is away.
    this.#open = () => new Objm(connection).open(store, false);
    this.#read = read;
    this.#ask = ask;
  }

  /** The object, or null when nobody has one of this name. Throws 503 when it cannot be fetched in time. */
  async get(name: string): Promise<T | null> {
    const kept = this.#kept.get(name);
    if (kept !== undefined) {
      this.#kept.delete(name);
      this.#kept.set(name, kept);
      return kept.value;
    }
    if ((this.#missing.get(name) ?? 0) > performance.now()) return null;
    const fetching = this.#fetching.get(name) ?? this.#fetch(name);
    return within(fetching, FETCH_MS);
  }

  #fetch(name: string): Promise<T | null> {
    const fetching = this.#find(name).finally(() => this.#fetching.delete(name));
    this.#fetching.set(name, fetching);
    // Whoever waits hears of it; nobody may wait any more.
    fetching.catch(() => undefined);
    return fetching;
  }

  async #find(name: string): Promise<T | null> {
    const found = (await this.#load(name)) ?? ((await this.#ask(name)) ? await this.#load(name) : null);
    if (found === null) {
      if (this.#missing.size >= MAX_MISSING) this.#missing.clear();
      this.#missing.set(name, performance.now() + MISSING_MS);
      return null;
    }
    const value = this.#read(found);
    this.#kept.set(name, { value, bytes: found.bytes.length });
    this.#bytes += found.bytes.length;
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#kept.delete(oldest);
      this.#bytes -= bytes;
    }
    return value;
  }

  /** The store, opened when it is first needed. Where NATS does not answer, the next call tries again. */
  #opened(): Promise<ObjectStore> {
    const opening = this.#store ?? this.#open();
    this.#store = opening;
    opening.catch(() => {
      if (this.#store === opening) this.#store = null;
    });
    return opening;
  }

  async #load(name: string): Promise<Fetched | null> {
    const store = await this.#opened();
    const info = await store.info(name);
    if (info === null || info.deleted) return null;
    const bytes = await store.getBlob(name);
    return bytes === null ? null : { bytes, metadata: info.metadata ?? {} };
  }
}

/** What a promise gives, or 503 when it fails or takes longer. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(unavailable()), ms);
  try {
    return await Promise.race([promise, late]);
  } catch {
    throw unavailable();
  } finally {
    clearTimeout(timer);
  }
}
