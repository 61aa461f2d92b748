/** The DKIM keys of sender domains. They are read from the database for each use, so that a new key signs at once. */
import type { Database, Statement } from 'better-sqlite3';
import { createSigner, type Signer } from './dkim.ts';

/** A key that signs mails. */
export interface DkimKey {
  domain: string;
  selector: string;
  /** In PEM. */
  privateKey: string;
  signer: Signer;
}

/** Finds the key for a domain and keeps it for the next mail. */
export class DkimKeys {
  readonly #newest: Statement<[string], number>;
  readonly #key: Statement<[number], { domain: string; selector: string; private_key: string }>;
  readonly #keys = new Map<number, DkimKey>();

  constructor(client: Database) {
    this.#newest = client
      .prepare<[string], number>('SELECT max(id) FROM dkim_keys WHERE domain = ? AND awaits_record = 0')
      .pluck();
    this.#key = client.prepare('SELECT domain, selector, private_key FROM dkim_keys WHERE id = ?');
  }

  /** The newest key of a domain that does not wait for its record; null if there is none. */
  findKey(domain: string): DkimKey | null {
    const id = this.#newest.get(domain);
    if (!id) return null;
    const present = this.#keys.get(id);
    if (present !== undefined) return present;
    const row = this.#key.get(id);
    if (row === undefined) return null;
    const key = dkimKey(row.domain, row.selector, row.private_key);
    this.#keys.set(id, key);
    return key;
  }
}

/** A key with its signer. Throws as `createSigner` does. */
export function dkimKey(domain: string, selector: string, privateKey: string): DkimKey {
  return { domain, selector, privateKey, signer: createSigner(domain, selector, privateKey) };
}
