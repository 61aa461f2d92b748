/** Reads Mailgun's webhooks: one event in JSON, signed by an HMAC of a timestamp and a token (documentation.mailgun.com, Webhooks). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SentenceCode } from '../../../errors/sentences.ts';
import { classifyFinal } from '../../replies/classify.ts';
import {
  diagnosticOf,
  type Effect,
  type Fields,
  fieldsAt,
  numberAt,
  type ProviderEvent,
  parseFields,
  type ReceivedRequest,
  Refusal,
  requireRecent,
  textAt,
} from './provider-event.ts';

/** Causes that do not identify who is responsible. */
const UNCLEAR_CAUSES: readonly SentenceCode[] = ['cause_other', 'cause_route'];

/** Yields the event in a request. Throws a Refusal if the request is not signed with the webhook signing key. */
export function* readMailgun({ body, secret, now }: ReceivedRequest): Generator<ProviderEvent> {
  const fields = parseFields(body.toString('utf8'));
  const signature = fieldsAt(fields, 'signature');
  const [timestamp, token] = [textAt(signature, 'timestamp'), textAt(signature, 'token')];
  const expected = createHmac('sha256', secret ?? '')
    .update(timestamp + token)
    .digest('hex');
  const actual = textAt(signature, 'signature');
  const isSigned =
    secret !== null &&
    /^\d{9,11}$/.test(timestamp) &&
    /^[\w-]{20,200}$/.test(token) &&
    /^[0-9a-f]{64}$/.test(actual) &&
    timingSafeEqual(Buffer.from(expected), Buffer.from(actual));
  if (!isSigned) throw new Refusal('signature');
  const signedAt = Number(timestamp) * 1000;
  requireRecent(signedAt, now);

  const event = fieldsAt(fields, 'event-data');
  const name = textAt(event, 'event');
  const status = fieldsAt(event, 'delivery-status');
  const seconds = numberAt(event, 'timestamp');
  yield {
    // The signature covers only the token, so each token counts once, whatever event comes with it.
    key: token,
    signedAt,
    name: [name, textAt(event, 'severity')].filter((part) => part !== '').join('/'),
    effect: effectOf(name, event, status),
    recipient: textAt(event, 'recipient') || null,
    messageId: textAt(fieldsAt(fieldsAt(event, 'message'), 'headers'), 'message-id') || null,
    returnPath: textAt(fieldsAt(event, 'envelope'), 'sender') || null,
    happenedAt: seconds === null ? null : seconds * 1000,
    diagnostic: diagnosticOf(textAt(status, 'message'), textAt(status, 'description'), textAt(event, 'reason')),
  };
}

function effectOf(name: string, event: Fields, status: Fields): Effect | null {
  if (name === 'complained') return 'complaint';
  if (name === 'unsubscribed') return 'unsubscribe';
  if (name !== 'failed') return null;
  if (textAt(event, 'severity') !== 'permanent') return 'temporary';
  // Mailgun did not try to deliver, because the address is on one of its own suppression lists.
  const reason = textAt(event, 'reason');
  if (reason === 'suppress-bounce') return 'permanent';
  if (reason === 'suppress-complaint') return 'complaint';
  if (reason === 'suppress-unsubscribe') return 'unsubscribe';
  // Mailgun calls every mail it gave up "permanent", including those stopped by spam filters and full mailboxes; the reply tells which.
  const reply = textAt(status, 'message') || textAt(status, 'description');
  const enhanced = /^[245]\.\d{1,3}\.\d{1,3}$/.exec(textAt(status, 'enhanced-code'))?.[0];
  const quoted = /^(?:\d{3}[ -])?#?([245]\.\d{1,3}\.\d{1,3}) /.exec(reply)?.[1];
  const code = numberAt(status, 'code') ?? 0;
  const verdict = classifyFinal({ code, enhanced: enhanced ?? quoted ?? null, reply });
  const isUnclear = code >= 500 && UNCLEAR_CAUSES.includes(verdict.reason.code);
  return verdict.kind === 'bounce' || isUnclear ? 'permanent' : 'returned';
}
