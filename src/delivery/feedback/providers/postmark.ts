/** Postmark's webhooks: one record in JSON (postmarkapp.com/developer/webhooks). It does not sign them. */
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

/** Types of bounces (postmarkapp.com/developer/api/bounce-api#bounce-types). Those that are missing are temporary or answers of people. */
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

/** The record of a request. Throws a Refusal when it is none. */
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
    // Postmark gives each mail a Message-ID of its own.
    messageId: null,
    returnPath: null,
    happenedAt: timeAt(record, 'BouncedAt') ?? timeAt(record, 'ChangedAt'),
    diagnostic: diagnosticOf(textAt(record, 'Details'), textAt(record, 'Description')),
  };
}

function effectOf(type: string, detail: string, record: Fields): Effect | null {
  if (type === 'SpamComplaint') return 'complaint';
  if (type === 'Bounce') return Object.hasOwn(BOUNCES, detail) ? (BOUNCES[detail] ?? null) : null;
  // Taken off Postmark's list again: that never brings anybody back here.
  if (type !== 'SubscriptionChange' || record.SuppressSending !== true) return null;
  if (detail === 'HardBounce') return 'permanent';
  if (detail === 'SpamComplaint') return 'complaint';
  return detail === 'ManualSuppression' && textAt(record, 'Origin') === 'Recipient' ? 'unsubscribe' : null;
}
