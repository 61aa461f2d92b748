/**
 * Seals the passwords of relays and the keys of mail providers, so that nobody reads them in a list, a query or a piece of the file. The key comes from a secret in the
 * same file, because nothing else survives a backup and its restore: who has the whole file can send as the owner.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { addNamedValue, findNamedValue } from '../../../database/named-values.ts';

const CIPHER = 'aes-256-gcm';
const SECRET = 'sealing_secret';
const KEY_BYTES = 32;
/** The length of the nonce and of the tag that NIST SP 800-38D recommends. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The server a password was typed for. It is sealed too, so that a stored password opens for no other one. */
export interface PasswordPlace {
  host: string;
  port: number;
}

/** Seals a password (AES-256-GCM); gives base64url of nonce, tag and ciphertext. */
export function sealPassword(client: Database, password: string, place: PasswordPlace): string {
  return sealText(client, password, nameOf(place));
}

/** The password; null if it was sealed for another server or with another secret, or was changed. */
export function openPassword(client: Database, sealed: string, place: PasswordPlace): string | null {
  return openText(client, sealed, nameOf(place));
}

/** Seals a text for one purpose, under whose name alone it opens. */
export function sealText(client: Database, text: string, purpose: string): string {
  makeSecret(client);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, sealingKey(client), nonce).setAAD(Buffer.from(purpose));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** The text; null if it was sealed for another purpose or with another secret, or was changed. */
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

/** Makes the installation's secret at first use. */
function makeSecret(client: Database): void {
  addNamedValue(client, SECRET, randomBytes(KEY_BYTES).toString('base64url'));
}

/** The key (RFC 5869) from the installation's secret. */
function sealingKey(client: Database): Uint8Array {
  const secret = String(findNamedValue(client, SECRET));
  return new Uint8Array(hkdfSync('sha256', secret, '', 'password of a relay', KEY_BYTES));
}

function nameOf({ host, port }: PasswordPlace): string {
  return `${host} ${port}`;
}
