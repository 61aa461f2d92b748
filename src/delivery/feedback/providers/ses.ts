/** Events of Amazon SES, as it publishes them to Amazon SNS (docs.aws.amazon.com/ses, "notification contents" and "event data"). */
import {
  diagnosticOf,
  type Effect,
  type Fields,
  fieldsAt,
  isFields,
  listAt,
  type ProviderEvent,
  textAt,
  timeAt,
} from './provider-event.ts';

/** The events in the Message of a notification, one for each recipient; `id` is the notification's. A text that is no event is one without effect. */
export function* readSes(message: string, id: string): Generator<ProviderEvent> {
  const fields = parseMessage(message);
  const type = textAt(fields, 'notificationType') || textAt(fields, 'eventType');
  const mail = fieldsAt(fields, 'mail');
  const shared = { messageId: messageIdOf(mail), returnPath: textAt(mail, 'source') || null };
  const about = (detail: Fields, name: string, effect: Effect | null, recipient: string, said: string) => ({
    ...shared,
    key: `${id} ${recipient}`,
    name,
    effect,
    recipient: recipient || null,
    happenedAt: timeAt(detail, 'timestamp'),
    diagnostic: diagnosticOf(said),
  });

  if (type === 'Bounce') {
    const bounce = fieldsAt(fields, 'bounce');
    const kind = textAt(bounce, 'bounceType');
    const name = `Bounce/${kind}/${textAt(bounce, 'bounceSubType')}`;
    // SES also calls automatic replies transient, so nothing but a permanent one tells that the mail came back.
    const effect = kind === 'Permanent' ? 'permanent' : 'temporary';
    for (const recipient of listAt(bounce, 'bouncedRecipients')) {
      const said = textAt(recipient, 'diagnosticCode').replace(/^smtp; */i, '') || name;
      yield about(bounce, name, effect, textAt(recipient, 'emailAddress'), said);
    }
  } else if (type === 'Complaint') {
    const complaint = fieldsAt(fields, 'complaint');
    const kind = textAt(complaint, 'complaintFeedbackType');
    for (const recipient of listAt(complaint, 'complainedRecipients'))
      yield about(
        complaint,
        `Complaint/${kind}`,
        kind === 'not-spam' ? null : 'complaint',
        textAt(recipient, 'emailAddress'),
        kind,
      );
  } else if (type === 'DeliveryDelay') {
    const delay = fieldsAt(fields, 'deliveryDelay');
    for (const recipient of listAt(delay, 'delayedRecipients'))
      yield about(delay, type, 'temporary', textAt(recipient, 'emailAddress'), textAt(delay, 'delayType'));
  } else if (type === 'Reject' || type === 'Subscription') {
    const detail = fieldsAt(fields, type.toLowerCase());
    const hasLeft = fieldsAt(detail, 'newTopicPreferences').unsubscribeAll === true;
    const effect = type === 'Reject' ? 'returned' : hasLeft ? 'unsubscribe' : null;
    yield about(detail, type, effect, firstRecipient(mail), textAt(detail, 'reason'));
  } else yield eventWithoutEffect(type || 'text');
}

/** An event that means nothing here. */
export function eventWithoutEffect(name: string): ProviderEvent {
  const nobody = { recipient: null, messageId: null, returnPath: null };
  return { key: name, name, effect: null, ...nobody, happenedAt: null, diagnostic: '' };
}

/** SES replaces the Message-ID; the one we gave is among the header fields of the original mail, where these are included. */
function messageIdOf(mail: Fields): string | null {
  const fields = Array.isArray(mail.headers) ? mail.headers.slice(0, 200).filter(isFields) : [];
  const field = fields.find((header) => textAt(header, 'name').toLowerCase() === 'message-id');
  return field === undefined ? null : textAt(field, 'value') || null;
}

function firstRecipient(mail: Fields): string {
  const first: unknown = Array.isArray(mail.destination) ? mail.destination[0] : null;
  return typeof first === 'string' ? first : '';
}

function parseMessage(message: string): Fields {
  try {
    const value: unknown = JSON.parse(message);
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}
