/** Tracks which SMTP relays failed on their last use, so that the log gets a line for each change instead of each attempt. */

/** The lines of the log. */
export const RELAY_FAILS = 'the SMTP server cannot be used; it is tried again';
export const RELAY_WORKS = 'the SMTP server works again';

/** The relays that failed on their last use. */
export class FailingRelays {
  readonly #keys = new Set<string>();

  /** Records that a relay failed. Returns true if the relay was working before. */
  add(relay: string, id: number | undefined): boolean {
    const before = this.#keys.size;
    return this.#keys.add(relayKey(relay, id)).size > before;
  }

  /** True if any relay failed on its last use. */
  get isAny(): boolean {
    return this.#keys.size > 0;
  }

  /** Records that a relay accepted a mail. Returns true if the relay was failing before. */
  delete(relay: string, id: number | undefined): boolean {
    return this.#keys.delete(relayKey(relay, id));
  }
}

/** Identifies a relay. Two stored relays may have the same host and port, with different logins. */
export function relayKey(relay: string, id: number | undefined): string {
  return `${relay} ${id ?? ''}`;
}
