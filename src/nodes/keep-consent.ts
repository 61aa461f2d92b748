/** Makes a choice durable in JetStream. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { JetStreamClient } from '@nats-io/jetstream';
import { type ChosenLists, contactKey } from '../delivery/feedback/preference-choice.ts';
import type { LinkTokens, RecipientIds } from '../delivery/links/tokens.ts';
import { unavailable } from '../errors/failure.ts';
import { type Consent, consentSubject } from './feedback-messages.ts';

/** After this time the page reports that the choice could not be saved, because a contact is waiting. */
const MAX_MS = 8000;
const ATTEMPT_MS = 2000;
const PAUSE_MS = 100;

/** Who chose, with which link, and when (epoch milliseconds). */
interface Chooser {
  ids: RecipientIds;
  token: string;
  at: number;
}

/**
 * Publishes the changes of a choice. Returns the last sequence in the stream once NATS has acknowledged all changes (in a cluster: most of
 * the servers have); 0 if nothing changes. Throws 503 if that takes too long. The choice may be stored nevertheless, which is what the
 * contact wanted.
 */
export async function publishChoice(
  client: JetStreamClient,
  tokens: LinkTokens,
  { ids, token, at }: Chooser,
  { form, text, left, joined }: ChosenLists,
): Promise<number> {
  const key = contactKey(tokens, ids.user, ids.email);
  const publishList = (list: number, isLeft: boolean) => {
    const consent: Consent = { token, email: ids.email, list, isLeft, at, form, text };
    return publish(client, consentSubject(ids.user, key, list), JSON.stringify(consent));
  };
  const sequences = await Promise.all([
    ...left.map((list) => publishList(list, true)),
    ...joined.map((list) => publishList(list, false)),
  ]);
  return Math.max(0, ...sequences);
}

async function publish(client: JetStreamClient, subject: string, text: string): Promise<number> {
  // Every attempt has the same id, so that the stream stores the choice once.
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
