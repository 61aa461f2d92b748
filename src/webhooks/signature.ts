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
 * Returns the key in a secret from `newSecret`, as an object, because creating it for each signature would take six times as
 * long as signing.
 */
export function secretKey(secret: string): KeyObject {
  return createSecretKey(secret.slice(PREFIX.length), 'base64');
}

/** Returns the header `webhook-signature`: one HMAC-SHA256 of id, timestamp (epoch seconds) and body for each key. */
export function signature(keys: readonly KeyObject[], id: string, timestamp: string, body: string): string {
  const content = `${id}.${timestamp}.${body}`;
  return keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`).join(' ');
}
