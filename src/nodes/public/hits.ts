/** Opens and clicks on a node: published in batches and kept in memory until JetStream has acknowledged them. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { JetStreamClient } from '@nats-io/jetstream';
import type { Hit } from '../../delivery/feedback/opens-and-clicks.ts';
import { encodeHits, MAX_HITS_PER_MESSAGE } from '../feedback-messages.ts';
import { SUBJECT } from '../streams.ts';

const FLUSH_MS = 100;
const PUBLISH_TIMEOUT_MS = 5000;
/** Hits beyond this number are dropped, which happens only if NATS is unavailable for long. */
const MAX_WAITING = 200_000;

/** The maximum number of opens, and of clicks, that are published for one mail. */
const MAX_PER_MAIL = 100;
/** The maximum number of entries in `#counted`. Then counting begins anew. */
const MAX_COUNTED = 50_000;

/** Publishes the opens and clicks that are added, until `close`. */
export class HitPublisher {
  readonly #client: JetStreamClient;
  /** The number of published opens, and of clicks, of each delivery. */
  readonly #counted = new Map<string, number>();
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;
  #waiting: Hit[] = [];
  /** True once the waiting hits are no longer published. */
  #isClosed = false;

  constructor(client: JetStreamClient) {
    this.#client = client;
    this.#running = this.#run();
  }

  /** Adds a hit, unless its mail has too many already or too many hits wait. */
  add(hit: Hit): void {
    const key = `${hit.ids.delivery} ${hit.link === null}`;
    const count = (this.#counted.get(key) ?? 0) + 1;
    if (count > MAX_PER_MAIL || this.#waiting.length >= MAX_WAITING) return;
    this.#counted.set(key, count);
    if (this.#counted.size > MAX_COUNTED) this.#counted.clear();
    this.#waiting.push(hit);
  }

  /** Publishes the waiting hits and ends. Hits that NATS does not acknowledge within `graceMs` milliseconds are lost. */
  async close(graceMs: number): Promise<void> {
    this.#ending.abort();
    await Promise.race([this.#running, setTimeout(graceMs, null, { ref: false })]);
    this.#isClosed = true;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    let msgID = randomUUID();
    while (!this.#isClosed) {
      const batch = this.#waiting.slice(0, MAX_HITS_PER_MESSAGE);
      if (batch.length === 0) {
        if (signal.aborted) return;
        await setTimeout(FLUSH_MS, null, { signal }).catch(() => undefined);
        continue;
      }
      try {
        // A repeated message has the same id, so that its hits are not counted twice if an acknowledgement was lost.
        await this.#client.publish(SUBJECT.hits, encodeHits(batch), { msgID, timeout: PUBLISH_TIMEOUT_MS });
        this.#waiting = this.#waiting.slice(batch.length);
        msgID = randomUUID();
      } catch {
        await setTimeout(FLUSH_MS);
      }
    }
  }
}
