/**
 * Reads the requests of Amazon SNS: checks their signatures, finds the URL that confirms a subscription (docs.aws.amazon.com/sns,
 * "verifying message signatures"), and reads the Amazon SES events in them (docs.aws.amazon.com/ses, "notification contents" and "event
 * data").
 */

import { type KeyObject, verify, X509Certificate } from 'node:crypto';
import { isObject, parseJson } from '../../../json.ts';
import {
  diagnosticOf,
  type Effect,
  type Fields,
  fieldsAt,
  listAt,
  type ProviderEvent,
  parseFields,
  type ReceivedRequest,
  Refusal,
  requireRecent,
  textAt,
  timeAt,
} from './provider-event.ts';

/** Downloads a URL of Amazon SNS. */
export type Download = (url: URL) => Promise<string>;

export interface SnsMessage {
  type: 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation';
  id: string;
  topic: string;
  message: string;
  /** The URL that confirms the subscription when it is visited; null in a notification. */
  subscribeUrl: URL | null;
}

/** The signed fields by the type of the message, in their order. Subject is signed only if it is present. */
const SIGNED_FIELDS = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
};
/** The hash algorithms by the message's SignatureVersion. */
const HASHES = new Map([
  ['1', 'sha1'],
  ['2', 'sha256'],
]);
/** Matches the host name of a region such as eu-west-1, but not `sns.s3.amazonaws.com`, because anyone can own such a storage bucket. */
const HOST = /^sns\.[a-z]{2}(?:-[a-z]{1,15}){1,3}-\d{1,2}\.amazonaws\.com$/;
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[\w-]{1,80}\.pem$/;
const TOPIC = /^arn:aws[\w-]*:sns:([a-z0-9-]{1,30}):\d{1,20}:[\w.-]{1,256}$/;

/** A cache of downloaded certificates, by URL. The content at a certificate's URL never changes. */
export class SnsCertificates {
  static readonly #MAX_KNOWN = 20;
  readonly #download: Download;
  readonly #known = new Map<string, X509Certificate>();

  constructor(download: Download) {
    this.#download = download;
  }

  /** Returns the public key of the certificate at a URL of Amazon SNS. Throws a Refusal if there is no certificate that is valid now. */
  async requireKey(address: string, now: Date): Promise<KeyObject> {
    const url = amazonUrl(address);
    if (url === null || !CERTIFICATE_PATH.test(url.pathname) || url.search !== '') throw new Refusal('signature');
    const certificate = this.#known.get(url.href) ?? parseCertificate(await this.#download(url));
    const isValid =
      Date.parse(certificate.validFrom) <= now.getTime() && now.getTime() <= Date.parse(certificate.validTo);
    if (!isValid) throw new Refusal('signature');
    this.#known.set(url.href, certificate);
    const [oldest] = this.#known.keys();
    if (this.#known.size > SnsCertificates.#MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    return certificate.publicKey;
  }
}

/** Returns the message in a request. Throws a Refusal if the message is not signed by Amazon SNS, or is old. */
export async function readSns({ body, now }: ReceivedRequest, certificates: SnsCertificates): Promise<SnsMessage> {
  const fields = parseFields(body.toString('utf8'));
  const type = textAt(fields, 'Type');
  if (type !== 'Notification' && type !== 'SubscriptionConfirmation' && type !== 'UnsubscribeConfirmation')
    throw new Refusal('signature');
  const hash = HASHES.get(textAt(fields, 'SignatureVersion'));
  const signature = Buffer.from(textAt(fields, 'Signature'), 'base64');
  if (hash === undefined || signature.length === 0) throw new Refusal('signature');
  const key = await certificates.requireKey(textAt(fields, 'SigningCertURL'), now);
  const isSigned =
    key.asymmetricKeyType === 'rsa' &&
    verify(hash, Buffer.from(signedText(fields, SIGNED_FIELDS[type])), key, signature);
  if (!isSigned) throw new Refusal('signature');
  requireRecent(timeAt(fields, 'Timestamp') ?? Number.NaN, now);
  const topic = textAt(fields, 'TopicArn');
  if (!TOPIC.test(topic)) throw new Refusal('topic');
  const subscribeUrl =
    type === 'SubscriptionConfirmation' ? confirmationUrl(textAt(fields, 'SubscribeURL'), topic) : null;
  return { type, id: textAt(fields, 'MessageId'), topic, message: textAt(fields, 'Message'), subscribeUrl };
}

function signedText(fields: Fields, names: readonly string[]): string {
  return names
    .filter((name) => Object.hasOwn(fields, name))
    .map((name) => `${name}\n${textAt(fields, name)}\n`)
    .join('');
}

/** Returns the URL that confirms a subscription to this topic, in the topic's region. Throws a Refusal for any other URL. */
function confirmationUrl(address: string, topic: string): URL {
  const url = amazonUrl(address);
  const region = TOPIC.exec(topic)?.[1];
  const isConfirmation =
    url !== null &&
    url.hostname === `sns.${region}.amazonaws.com` &&
    url.pathname === '/' &&
    url.searchParams.get('Action') === 'ConfirmSubscription' &&
    url.searchParams.get('TopicArn') === topic;
  if (!isConfirmation) throw new Refusal('topic');
  return url;
}

/** Parses a URL of Amazon SNS. Returns null for any other URL. */
function amazonUrl(text: string): URL | null {
  const url = text.length <= 2000 && URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.protocol !== 'https:' || url.port !== '' || url.username !== '' || url.password !== '')
    return null;
  return HOST.test(url.hostname) && url.hash === '' ? url : null;
}

function parseCertificate(text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw new Refusal('signature');
  }
}

/**
 * Yields the events in a notification's Message, one for each recipient. `id` is the notification's id. A text that is not an event yields
 * one event without effect.
 */
export function* readSes(message: string, id: string): Generator<ProviderEvent> {
  const fields = parseMessage(message);
  const type = textAt(fields, 'notificationType') || textAt(fields, 'eventType');
  const mail = fieldsAt(fields, 'mail');
  const shared = { messageId: messageIdOf(mail), returnPath: textAt(mail, 'source') || null };
  const eventOf = (detail: Fields, name: string, effect: Effect | null, recipient: string, diagnostic: string) => ({
    ...shared,
    key: `${id} ${recipient}`,
    name,
    effect,
    recipient: recipient || null,
    happenedAt: timeAt(detail, 'timestamp'),
    diagnostic: diagnosticOf(diagnostic),
  });

  if (type === 'Bounce') {
    const bounce = fieldsAt(fields, 'bounce');
    const kind = textAt(bounce, 'bounceType');
    const name = `Bounce/${kind}/${textAt(bounce, 'bounceSubType')}`;
    // SES also calls automatic replies transient, so only a permanent one proves that the mail bounced.
    const effect = kind === 'Permanent' ? 'permanent' : 'temporary';
    for (const recipient of listAt(bounce, 'bouncedRecipients')) {
      const diagnostic = textAt(recipient, 'diagnosticCode').replace(/^smtp; */i, '') || name;
      yield eventOf(bounce, name, effect, textAt(recipient, 'emailAddress'), diagnostic);
    }
  } else if (type === 'Complaint') {
    const complaint = fieldsAt(fields, 'complaint');
    const kind = textAt(complaint, 'complaintFeedbackType');
    for (const recipient of listAt(complaint, 'complainedRecipients'))
      yield eventOf(
        complaint,
        `Complaint/${kind}`,
        kind === 'not-spam' ? null : 'complaint',
        textAt(recipient, 'emailAddress'),
        kind,
      );
  } else if (type === 'DeliveryDelay') {
    const delay = fieldsAt(fields, 'deliveryDelay');
    for (const recipient of listAt(delay, 'delayedRecipients'))
      yield eventOf(delay, type, 'temporary', textAt(recipient, 'emailAddress'), textAt(delay, 'delayType'));
  } else if (type === 'Reject') {
    const reject = fieldsAt(fields, 'reject');
    yield eventOf(reject, type, 'returned', firstRecipient(mail), textAt(reject, 'reason'));
  } else if (type === 'Subscription') {
    const subscription = fieldsAt(fields, 'subscription');
    const isUnsubscribed = fieldsAt(subscription, 'newTopicPreferences').unsubscribeAll === true;
    const effect = isUnsubscribed ? 'unsubscribe' : null;
    yield eventOf(subscription, type, effect, firstRecipient(mail), textAt(subscription, 'reason'));
  } else yield eventWithoutEffect(type || 'text');
}

/** Returns an event that has no meaning here. */
export function eventWithoutEffect(name: string): ProviderEvent {
  const noRecipient = { recipient: null, messageId: null, returnPath: null };
  return { key: name, name, effect: null, ...noRecipient, happenedAt: null, diagnostic: '' };
}

/** Returns the Message-ID that we gave a mail, if the event includes its headers, because SES replaces it; otherwise null. */
function messageIdOf(mail: Fields): string | null {
  const headers = Array.isArray(mail.headers) ? mail.headers.slice(0, 200).filter(isObject) : [];
  const messageId = headers.find((header) => textAt(header, 'name').toLowerCase() === 'message-id');
  return messageId === undefined ? null : textAt(messageId, 'value') || null;
}

function firstRecipient(mail: Fields): string {
  const first: unknown = Array.isArray(mail.destination) ? mail.destination[0] : null;
  return typeof first === 'string' ? first : '';
}

function parseMessage(message: string): Fields {
  const value = parseJson(message);
  return isObject(value) ? value : {};
}
