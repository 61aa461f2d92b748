/** Reads Postmark's webhooks: one record in JSON (postmarkapp.com/developer/webhooks). Postmark does not sign them. */
import {
  diagnosticOf,
  type Effect,
  type Fields,
  type ProviderEvent,
  parseFields,
  type ReceivedRequest,
  textAt,
  timeAt,
} from './provider-event.ts';

/**
 * Bounce types and their effects (postmarkapp.com/developer/api/bounce-api#bounce-types). A type that is missing here has no
 * effect; it stands for an automatic reply, for example.
 */
const BOUNCES: Readonly<Record<string, Effect>> = {
  HardBounce: 'permanent',
  BadEmailAddress: 'permanent',
  SpamNotification: 'returned',
  VirusNotification: 'returned',
  DMARCPolicy: 'returned',
  Blocked: 'returned',
  ManuallyDeactivated: 'returned',
  SpamComplaint: 'complaint',
  Unsubscribe: 'unsubscribe',
  SoftBounce: 'temporary',
  Transient: 'temporary',
  DnsError: 'temporary',
};

/** Yields the record in a request as an event. Throws a Refusal if the request has none. */
export function* readPostmark({ body }: ReceivedRequest): Generator<ProviderEvent> {
  const record = parseFields(body.toString('utf8'));
  const type = textAt(record, 'RecordType');
  const detail = textAt(record, 'Type') || textAt(record, 'SuppressionReason');
  const id = textAt(record, 'ID');
  yield {
    key: type === 'Bounce' || type === 'SpamComplaint' ? `${type} ${id}` : JSON.stringify(record),
    name: [type, detail].filter((part) => part !== '').join('/'),
    effect: effectOf(type, detail, record),
    recipient: textAt(record, 'Email') || textAt(record, 'Recipient') || null,
    // Postmark replaces the Message-ID of each mail.
    messageId: null,
    returnPath: null,
    happenedAt: timeAt(record, 'BouncedAt') ?? timeAt(record, 'ChangedAt'),
    diagnostic: diagnosticOf(textAt(record, 'Details'), textAt(record, 'Description')),
  };
}

function effectOf(type: string, detail: string, record: Fields): Effect | null {
  if (type === 'SpamComplaint') return 'complaint';
  if (type === 'Bounce') return Object.hasOwn(BOUNCES, detail) ? (BOUNCES[detail] ?? null) : null;
  // Removal from Postmark's suppression list does not resubscribe the address here.
  if (type !== 'SubscriptionChange' || record.SuppressSending !== true) return null;
  if (detail === 'HardBounce') return 'permanent';
  if (detail === 'SpamComplaint') return 'complaint';
  return detail === 'ManualSuppression' && textAt(record, 'Origin') === 'Recipient' ? 'unsubscribe' : null;
}
