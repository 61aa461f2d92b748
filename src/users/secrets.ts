/** Random secrets that are shown once and stored as hashes. With 256 random bits, a plain SHA-256 cannot be guessed back. */
import { createHash, randomBytes } from 'node:crypto';

/** A new secret of 256 random bits, in base64url. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of a secret. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
