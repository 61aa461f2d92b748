/**
 * Reads SparkPost's webhooks: a list of events, each inside `msys` (developers.sparkpost.com/api/webhooks). SparkPost does not sign them.
 */
import {
  diagnosticOf,
  type Effect,
  type Fields,
  fieldsAt,
  listedFields,
  numberAt,
  type ProviderEvent,
  type ReceivedRequest,
  textAt,
} from './provider-event.ts';

/** Bounce classes that SparkPost documents as hard: invalid recipient, no such recipient. */
const HARD_BOUNCES = new Set(['10', '30']);
/** Classes of replies that are not bounces: automatic replies, subscription requests, challenges. */
const REPLIES = new Set(['60', '80', '100']);
/** The class of unsubscribe requests sent by e-mail. */
const UNSUBSCRIBE = '90';
/** Classes of rejections caused by the mail or its sender: policies, blocks, spam, attachments, relaying. */
const REJECTIONS = new Set(['25', '50', '51', '52', '53', '54']);
/** The names under which an event can stand in `msys`. */
const KINDS = ['message_event', 'unsubscribe_event', 'gen_event', 'track_event'];

/** Yields the events in a request. Throws a Refusal if the request is not a list of events. */
export function* readSparkpost({ body }: ReceivedRequest): Generator<ProviderEvent> {
  for (const fields of listedFields(body)) {
    const msys = fieldsAt(fields, 'msys');
    const kind = KINDS.find((name) => Object.hasOwn(msys, name));
    // SparkPost's test request contains no event.
    if (kind !== undefined) yield readEvent(fieldsAt(msys, kind));
  }
}

function readEvent(event: Fields): ProviderEvent {
  const type = textAt(event, 'type');
  const bounceClass = textAt(event, 'bounce_class');
  const seconds = numberAt(event, 'timestamp');
  return {
    key: textAt(event, 'event_id') || JSON.stringify(event),
    name: [type, bounceClass].filter((part) => part !== '').join('/'),
    effect: effectOf(type, bounceClass),
    recipient: textAt(event, 'raw_rcpt_to') || textAt(event, 'rcpt_to') || null,
    // `message_id` is SparkPost's own id, not our Message-ID.
    messageId: null,
    returnPath: textAt(event, 'msg_from') || null,
    happenedAt: seconds === null ? null : seconds * 1000,
    diagnostic: diagnosticOf(textAt(event, 'raw_reason'), textAt(event, 'reason')),
  };
}

function effectOf(type: string, bounceClass: string): Effect | null {
  switch (type) {
    case 'bounce':
    case 'out_of_band':
      if (HARD_BOUNCES.has(bounceClass)) return 'permanent';
      if (bounceClass === UNSUBSCRIBE) return 'unsubscribe';
      if (REPLIES.has(bounceClass)) return null;
      return REJECTIONS.has(bounceClass) ? 'returned' : 'temporary';
    case 'delay':
      return 'temporary';
    case 'policy_rejection':
    case 'generation_failure':
    case 'generation_rejection':
      return 'returned';
    case 'spam_complaint':
      return 'complaint';
    case 'list_unsubscribe':
    case 'link_unsubscribe':
      return 'unsubscribe';
    default:
      return null;
  }
}
