/** Random secrets that are shown once and stored as hashes. A plain SHA-256 is safe, because nobody can guess 256 random bits. */
import { createHash, randomBytes } from 'node:crypto';

/** Returns a new secret of 256 random bits, in base64url. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the stored form of a secret. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
