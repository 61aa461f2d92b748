/** The DKIM keys of sender domains. They are read from the database for each use, so that a new key signs at once. */
import type { Database, Statement } from 'better-sqlite3';
import { createSigner, type Signer } from './dkim.ts';

/** Finds the signer for a domain and keeps it for the next mail. */
export class DkimKeys {
  readonly #newest: Statement<[string], number>;
  readonly #key: Statement<[number], { domain: string; selector: string; private_key: string }>;
  readonly #signers = new Map<number, Signer>();

  constructor(client: Database) {
    this.#newest = client
      .prepare<[string], number>('SELECT max(id) FROM dkim_keys WHERE domain = ? AND awaits_record = 0')
      .pluck();
    this.#key = client.prepare('SELECT domain, selector, private_key FROM dkim_keys WHERE id = ?');
  }

  /** The signer with the newest key of a domain that does not wait for its record; null if there is none. */
  findSigner(domain: string): Signer | null {
    const id = this.#newest.get(domain);
    if (!id) return null;
    const present = this.#signers.get(id);
    if (present !== undefined) return present;
    const row = this.#key.get(id);
    if (row === undefined) return null;
    const signer = createSigner(row.domain, row.selector, row.private_key);
    this.#signers.set(id, signer);
    return signer;
  }
}
