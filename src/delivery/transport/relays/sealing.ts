/**
 * Encrypts the passwords of SMTP relays and the keys of mail providers, so that a list, a query or a fragment of the database does not
 * reveal them. The key is derived from a secret in the same database, because nothing else survives a backup and its restore. So anybody
 * who has the whole database can send as its owner.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { addNamedValue, findNamedValue } from '../../../database/named-values.ts';

const CIPHER = 'aes-256-gcm';
const SECRET_NAME = 'sealing_secret';
const KEY_BYTES = 32;
/** The lengths of nonce and tag recommended by NIST SP 800-38D. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The server for which a password was entered. It is authenticated with the password, so that a stored password cannot be decrypted for
 * another server.
 */
export interface PasswordPlace {
  host: string;
  port: number;
}

/** Encrypts a password (AES-256-GCM). Returns base64url of nonce, tag and ciphertext. */
export function sealPassword(client: Database, password: string, place: PasswordPlace): string {
  return sealText(client, password, nameOf(place));
}

/** Decrypts a password. Returns null if it was encrypted for another server or with another secret, or was altered. */
export function openPassword(client: Database, sealed: string, place: PasswordPlace): string | null {
  return openText(client, sealed, nameOf(place));
}

/** Encrypts a text for one purpose. The text can be decrypted only for the same purpose. */
export function sealText(client: Database, text: string, purpose: string): string {
  makeSecret(client);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, sealingKey(client), nonce).setAAD(Buffer.from(purpose));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** Decrypts a text. Returns null if it was encrypted for another purpose or with another secret, or was altered. */
export function openText(client: Database, sealed: string, purpose: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url');
  const tagEnd = NONCE_BYTES + TAG_BYTES;
  try {
    const decipher = createDecipheriv(CIPHER, sealingKey(client), bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(NONCE_BYTES, tagEnd));
    return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

/** Creates the installation's secret at first use. */
function makeSecret(client: Database): void {
  addNamedValue(client, SECRET_NAME, randomBytes(KEY_BYTES).toString('base64url'));
}

/** Returns the key, which is derived from the installation's secret (RFC 5869). */
function sealingKey(client: Database): Uint8Array {
  const secret = String(findNamedValue(client, SECRET_NAME));
  return new Uint8Array(hkdfSync('sha256', secret, '', 'password of a relay', KEY_BYTES));
}

function nameOf({ host, port }: PasswordPlace): string {
  return `${host} ${port}`;
}
