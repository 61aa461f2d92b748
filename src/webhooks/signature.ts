/** Secrets and signatures of Standard Webhooks 1.0.0 (https://www.standardwebhooks.com). */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
/** The specification asks for 24 to 64 bytes. */
const SECRET_BYTES = 24;

/** Returns a new secret: `whsec_` and 24 random bytes in base64. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/**
 * Returns the key of a secret from `newSecret`. The key is an object that can be used again, because creating it for each signature
 * would take six times as long as signing.
 */
export function secretKey(secret: string): KeyObject {
  return createSecretKey(secret.slice(PREFIX.length), 'base64');
}

/**
 * Returns the headers of a request, as names and values in turn: the id of the event, the time of the attempt (`at` is epoch
 * milliseconds), and for each key a signature of both and of the body.
 */
export function signedHeaders(keys: readonly KeyObject[], id: string, at: number, body: string): string[] {
  const timestamp = String(Math.floor(at / 1000));
  const content = `${id}.${timestamp}.${body}`;
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`);
  return ['webhook-id', id, 'webhook-timestamp', timestamp, 'webhook-signature', signatures.join(' ')];
}
