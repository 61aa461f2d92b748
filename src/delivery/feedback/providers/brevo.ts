/**
 * Reads Brevo's transactional webhooks: one event or a list of events (developers.brevo.com/docs/transactional-webhooks). Brevo does not
 * sign them.
 */
import {
  diagnosticOf,
  type Effect,
  type Fields,
  listedFields,
  numberAt,
  type ProviderEvent,
  type ReceivedRequest,
  textAt,
} from './provider-event.ts';

const EFFECTS: Readonly<Record<string, Effect>> = {
  hard_bounce: 'permanent',
  invalid_email: 'permanent',
  soft_bounce: 'temporary',
  deferred: 'temporary',
  error: 'temporary',
  // Brevo did not send the mail, because it blocks the address or the sender; the event does not tell which.
  blocked: 'returned',
  spam: 'complaint',
  complaint: 'complaint',
  unsubscribed: 'unsubscribe',
  unsubscribe: 'unsubscribe',
};

/** Yields the events in a request. Throws a Refusal if the request has none. */
export function* readBrevo({ body }: ReceivedRequest): Generator<ProviderEvent> {
  for (const fields of listedFields(body)) yield readEvent(fields);
}

function readEvent(fields: Fields): ProviderEvent {
  const name = textAt(fields, 'event');
  const milliseconds = numberAt(fields, 'ts_epoch');
  const seconds = numberAt(fields, 'ts_event');
  return {
    // `id` identifies the webhook; events have no id of their own.
    key: ['event', 'message-id', 'email', 'ts_epoch', 'ts_event', 'ts', 'date']
      .map((part) => textAt(fields, part))
      .join(' '),
    name,
    effect: Object.hasOwn(EFFECTS, name) ? (EFFECTS[name] ?? null) : null,
    recipient: textAt(fields, 'email') || null,
    messageId: textAt(fields, 'message-id') || null,
    returnPath: null,
    happenedAt: milliseconds ?? (seconds === null ? null : seconds * 1000),
    diagnostic: diagnosticOf(textAt(fields, 'reason')),
  };
}
