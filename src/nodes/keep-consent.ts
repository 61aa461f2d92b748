/** Makes a choice durable in JetStream. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { JetStreamClient } from '@nats-io/jetstream';
import { type ChosenLists, personKey } from '../delivery/feedback/choice.ts';
import type { LinkTokens, RecipientIds } from '../delivery/links/tokens.ts';
import { unavailable } from '../errors/failure.ts';
import { type Consent, consentSubject } from './feedback-messages.ts';

/** A person waits: after this time the page says that it could not be saved. */
const MAX_MS = 8000;
const ATTEMPT_MS = 2000;
const PAUSE_MS = 100;

/** Who chose, by which link, and when; epoch milliseconds. */
interface Chooser {
  ids: RecipientIds;
  token: string;
  at: number;
}

/**
 * Publishes what a choice changes and gives the last sequence in the stream once all of it is acknowledged, in a cluster by most of its
 * servers; 0 when it changes nothing. Throws 503 when that takes too long; it may be kept nevertheless, which is what the person wanted.
 */
export async function keepChosen(
  client: JetStreamClient,
  tokens: LinkTokens,
  { ids, token, at }: Chooser,
  { form, text, left, joined }: ChosenLists,
): Promise<number> {
  const person = personKey(tokens, ids.user, ids.email);
  const keep = (list: number, isLeft: boolean) => {
    const consent: Consent = { token, email: ids.email, list, isLeft, at, form, text };
    return publish(client, consentSubject(ids.user, person, list), JSON.stringify(consent));
  };
  const kept = await Promise.all([...left.map((list) => keep(list, true)), ...joined.map((list) => keep(list, false))]);
  return Math.max(0, ...kept);
}

async function publish(client: JetStreamClient, subject: string, text: string): Promise<number> {
  // The same for every attempt, so that the stream has the choice once.
  const msgID = randomUUID();
  for (const until = performance.now() + MAX_MS; performance.now() < until; ) {
    try {
      const { seq } = await client.publish(subject, text, { msgID, timeout: ATTEMPT_MS });
      return seq;
    } catch {
      await setTimeout(PAUSE_MS);
    }
  }
  throw unavailable();
}
