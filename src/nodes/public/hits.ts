/** Opens and clicks on a node: published in batches and kept in memory until JetStream has acknowledged them. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { JetStreamClient } from '@nats-io/jetstream';
import type { Hit } from '../../delivery/feedback/opens-and-clicks.ts';
import { encodeHits, MAX_HITS_PER_MESSAGE } from '../feedback-messages.ts';
import { SUBJECT } from '../streams.ts';

const FLUSH_MS = 100;
const ATTEMPT_MS = 5000;
/** Hits beyond this number are dropped; so many gather only while NATS is away for long. */
const MAX_WAITING = 200_000;

export class PublishedHits {
  readonly #client: JetStreamClient;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;
  #waiting: Hit[] = [];

  constructor(client: JetStreamClient) {
    this.#client = client;
    this.#running = this.#run();
  }

  add(hit: Hit): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(hit);
  }

  /** Publishes what waits and ends; what is not acknowledged after `graceMs` is lost. */
  async close(graceMs: number): Promise<void> {
    this.#ending.abort();
    await Promise.race([this.#running, setTimeout(graceMs, null, { ref: false })]);
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    let msgID = randomUUID();
    for (;;) {
      const batch = this.#waiting.slice(0, MAX_HITS_PER_MESSAGE);
      if (batch.length === 0) {
        if (signal.aborted) return;
        await setTimeout(FLUSH_MS, null, { signal }).catch(() => undefined);
        continue;
      }
      try {
        // Repeated under the same id, so that a lost acknowledgement counts nothing twice.
        await this.#client.publish(SUBJECT.hits, encodeHits(batch), { msgID, timeout: ATTEMPT_MS });
        this.#waiting = this.#waiting.slice(batch.length);
        msgID = randomUUID();
      } catch {
        await setTimeout(FLUSH_MS);
      }
    }
  }
}
