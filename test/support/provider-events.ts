/** Requests of mail providers, made by hand after their documentation and signed with keys of the test. */
import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { Test } from 'tap';
import { type Answer, type Caller, startApp, type TestApp } from './app.ts';
import { mustSucceed, sendCampaign } from './campaign.ts';
import { sendDetails } from './single-sends.ts';
import { localhostCertificate } from './smtp/certificate.ts';

export interface Posted {
  body: string | Buffer;
  headers?: Record<string, string>;
}

const PEOPLE_NAMES = ['anna', 'ben', 'cleo', 'dora', 'emil', 'fay'];
export const PEOPLE = PEOPLE_NAMES.map((name) => ({ email: `${name}@example.org` }));

/** A single send to six people that has left, with the Message-ID of each mail and what became of it all. */
export async function sentToSix(t: Test, settings: Record<string, string> = {}) {
  const app = await startApp(t, settings);
  const { utr, mails } = await sendCampaign(t, app, { people: PEOPLE });
  const ids = mails.map(({ raw }) => /^Message-ID: (<[^>]+>)/m.exec(raw)?.[1] ?? '');
  const counters = () => sendDetails(app, utr);
  return { app, ids, counters };
}

/** The suppressed addresses of an account with the kind of each. */
export const suppressed = async (caller: Caller): Promise<string[]> =>
  (await caller.call('GET', '/suppressions/list')).body.message.suppressions.map(
    ({ email_address: email, kind }: { email_address: string; kind: string }) => `${email} ${kind}`,
  );

/** The addresses that an account mails no more because they said so. */
export const unsubscribed = async (caller: Caller): Promise<string[]> =>
  (await caller.call('GET', '/global-unsubscribes')).body.message.unSubscribers.map(
    ({ email_address: email }: { email_address: string }) => email,
  );

/** Makes an address for a provider; gives its path. */
export async function makeIntake(t: Test, caller: Caller, provider: string, secret = ''): Promise<string> {
  const made = (await mustSucceed(t, caller)('/provider-events/create', { provider, secret })) as { url: string };
  return new URL(made.url).pathname;
}

/** What the owner sees of the intakes, by provider. */
export async function intakesOf(caller: Caller) {
  const { intakes } = (await caller.call('GET', '/provider-events')).body.message;
  return Object.fromEntries(intakes.map((intake: { provider: string }) => [intake.provider, intake]));
}

/** Posts as a provider does. */
export async function post(app: TestApp, path: string, { body, headers = {} }: Posted): Promise<Answer> {
  const response = await app.fastify.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/json', ...headers },
    payload: body,
  });
  const { statusCode: status, payload: text } = response;
  const isJson = String(response.headers['content-type']).includes('json');
  return { status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

/** Mailgun's signing key of the test. */
export const MAILGUN_KEY = 'key-of-the-test-3ax6xnjp29jd6fds4gc373sgvjxteol0';

/** A webhook of Mailgun about one event. */
export function mailgun(
  app: TestApp,
  event: Record<string, unknown>,
  { key = MAILGUN_KEY, ageSeconds = 0 } = {},
): Posted {
  const timestamp = String(Math.floor(app.clock.now().getTime() / 1000) - ageSeconds);
  const token = randomBytes(25).toString('hex');
  const signature = createHmac('sha256', key)
    .update(timestamp + token)
    .digest('hex');
  return { body: JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': event }) };
}

/** SendGrid's key pair of the test; the verification key is in the form in which SendGrid shows it. */
export function sendgridKeys() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const verificationKey = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const request = (app: TestApp, body: string, ageSeconds = 0): Posted => {
    const timestamp = String(Math.floor(app.clock.now().getTime() / 1000) - ageSeconds);
    const headers = {
      'x-twilio-email-event-webhook-timestamp': timestamp,
      'x-twilio-email-event-webhook-signature': sign('sha256', Buffer.from(timestamp + body), privateKey).toString(
        'base64',
      ),
    };
    return { body, headers };
  };
  return { verificationKey, request };
}

export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:bounces';
export const CERTIFICATE_URL =
  'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem';
export const SUBSCRIBE_URL = `https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=2336412f37`;

/**
 * Amazon SNS with a certificate of the test, of which the application has the address only. Its clock is the real one,
 * as the certificate's.
 */
export function amazon(app: TestApp) {
  app.clock.jump(Date.now() - app.clock.now().getTime());
  const { key, cert } = localhostCertificate({ otherName: 'sns.amazonaws.com', isRsa: true });
  const asked: string[] = [];
  app.answerForAmazon(async (url) => {
    asked.push(url.href);
    return url.href === CERTIFICATE_URL ? cert : '<ConfirmSubscriptionResponse/>';
  });
  let sent = 0;

  /** A request of SNS; `changed` replaces fields after it was signed. */
  const request = (
    fields: Record<string, string>,
    { version = '1', changed = {}, ageSeconds = 0 }: { version?: string; changed?: object; ageSeconds?: number } = {},
  ): Posted => {
    const signed: Record<string, string> = {
      Type: 'Notification',
      MessageId: `22b80b92-fdea-4c2c-8f9d-${String(++sent).padStart(12, '0')}`,
      TopicArn: TOPIC,
      Timestamp: new Date(app.clock.now().getTime() - ageSeconds * 1000).toISOString(),
      ...fields,
    };
    const names = Object.keys(signed).sort();
    const text = names.map((name) => `${name}\n${signed[name]}\n`).join('');
    const hash = version === '1' ? 'sha1' : 'sha256';
    const body = {
      ...signed,
      SignatureVersion: version,
      Signature: sign(hash, Buffer.from(text), key).toString('base64'),
      SigningCertURL: CERTIFICATE_URL,
      ...changed,
    };
    return { body: JSON.stringify(body), headers: { 'content-type': 'text/plain; charset=UTF-8' } };
  };

  const confirmation = (topic = TOPIC) =>
    request({
      Type: 'SubscriptionConfirmation',
      TopicArn: topic,
      Token: '2336412f37',
      Message: `You have chosen to subscribe to the topic ${topic}.`,
      SubscribeURL: SUBSCRIBE_URL.replace(TOPIC, topic),
    });
  const event = (message: object, options = {}) => request({ Message: JSON.stringify(message) }, options);
  return { asked, request, confirmation, event };
}

/** A bounce as Amazon SES describes it, with the header fields of the original mail. */
export const sesBounce = (
  address: string,
  messageId: string | null,
  bounceType = 'Permanent',
  bounceSubType = 'General',
) => ({
  notificationType: 'Bounce',
  bounce: {
    bounceType,
    bounceSubType,
    reportingMTA: 'dns; email.example.com',
    bouncedRecipients: [
      { emailAddress: address, status: '5.1.1', action: 'failed', diagnosticCode: 'smtp; 550 5.1.1 user unknown' },
    ],
    timestamp: new Date().toISOString(),
    feedbackId: '00000138111222aa-33322211-cccc-cccc-cccc-ddddaaaa068a-000000',
  },
  mail: {
    timestamp: new Date().toISOString(),
    source: 'john@example.com',
    messageId: '00000138111222aa-33322211-cccc-cccc-cccc-ddddaaaa0680-000000',
    destination: [address],
    headersTruncated: false,
    headers: messageId === null ? [] : [{ name: 'Message-ID', value: messageId }],
  },
});
