/** Makes a choice durable in JetStream. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { JetStreamClient } from '@nats-io/jetstream';
import { unavailable } from '../failure.ts';
import { type Consent, consentSubject } from './feedback-messages.ts';

/** A person waits: after this time the page says that it could not be saved. */
const MAX_MS = 8000;
const ATTEMPT_MS = 2000;
const PAUSE_MS = 100;

/**
 * Publishes a consent and gives its sequence in the stream once it is acknowledged, in a cluster by most of its servers. Throws 503 when that
 * takes too long; it may be kept nevertheless, which is what the person wanted.
 */
export async function keepConsent(client: JetStreamClient, consent: Consent): Promise<number> {
  // The same for every attempt, so that the stream has the choice once.
  const msgID = randomUUID();
  for (const until = performance.now() + MAX_MS; performance.now() < until; ) {
    try {
      const { seq } = await client.publish(consentSubject(consent.account, consent.address), JSON.stringify(consent), {
        msgID,
        timeout: ATTEMPT_MS,
      });
      return seq;
    } catch {
      await setTimeout(PAUSE_MS);
    }
  }
  throw unavailable();
}
