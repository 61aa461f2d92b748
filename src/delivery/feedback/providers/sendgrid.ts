/** Reads SendGrid's signed event webhook: a list of events (twilio.com/docs/sendgrid, Event Webhook Reference and Security Features). */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import {
  diagnosticOf,
  type Effect,
  type Fields,
  listedFields,
  numberAt,
  type ProviderEvent,
  type ReceivedRequest,
  Refusal,
  requireRecent,
  textAt,
} from './provider-event.ts';

/** SendGrid's reasons for not trying to deliver a mail, in the wording of its documentation. */
const DROPPED: Readonly<Record<string, Effect>> = {
  'bounced address': 'permanent',
  invalid: 'permanent',
  'unsubscribed address': 'unsubscribe',
  'spam reporting address': 'complaint',
};

/** Yields the events in a request. Throws a Refusal if the request is not signed with the verification key. */
export function* readSendgrid({ headers, body, secret, now }: ReceivedRequest): Generator<ProviderEvent> {
  const timestamp = headers['x-twilio-email-event-webhook-timestamp'];
  const signature = headers['x-twilio-email-event-webhook-signature'];
  const key = findVerificationKey(secret ?? '');
  const isSigned =
    key !== null &&
    typeof timestamp === 'string' &&
    /^\d{9,11}$/.test(timestamp) &&
    typeof signature === 'string' &&
    /^[\w+/]{60,120}={0,2}$/.test(signature) &&
    verify(
      key.asymmetricKeyType === 'ed25519' ? null : 'sha256',
      Buffer.concat([Buffer.from(timestamp), body]),
      key,
      Buffer.from(signature, 'base64'),
    );
  if (!isSigned) throw new Refusal('signature');
  requireRecent(Number(timestamp) * 1000, now);
  for (const fields of listedFields(body)) yield readEvent(fields);
}

/** Parses SendGrid's verification key, which is the base64 of the DER form. Returns null if it is not an ECDSA or Ed25519 key. */
export function findVerificationKey(text: string): KeyObject | null {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'ec' || key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}

function readEvent(fields: Fields): ProviderEvent {
  const event = textAt(fields, 'event');
  const type = textAt(fields, 'type');
  const seconds = numberAt(fields, 'timestamp');
  return {
    key: textAt(fields, 'sg_event_id') || JSON.stringify(fields),
    name: [event, type].filter((part) => part !== '').join('/'),
    effect: effectOf(event, type, fields),
    recipient: textAt(fields, 'email') || null,
    messageId: textAt(fields, 'smtp-id') || null,
    returnPath: null,
    happenedAt: seconds === null ? null : seconds * 1000,
    diagnostic: diagnosticOf(textAt(fields, 'reason'), textAt(fields, 'response')),
  };
}

function effectOf(event: string, type: string, fields: Fields): Effect | null {
  switch (event) {
    case 'bounce':
      return type === 'blocked' ? 'temporary' : 'permanent';
    case 'deferred':
      return 'temporary';
    case 'dropped': {
      const reason = textAt(fields, 'reason').toLowerCase();
      return Object.hasOwn(DROPPED, reason) ? (DROPPED[reason] ?? null) : 'returned';
    }
    case 'spamreport':
      return 'complaint';
    case 'unsubscribe':
      return 'unsubscribe';
    default:
      // `group_unsubscribe` concerns one of SendGrid's own groups, which have no counterpart here.
      return null;
  }
}
