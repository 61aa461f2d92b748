/** Which relays could not be used the last time, so that the log has a line when that changes, not one for each try. */

export const RELAY_FAILS = 'the relay cannot be used; it is tried again';
export const RELAY_WORKS = 'the relay can be used again';

export class FailingRelays {
  readonly #keys = new Set<string>();

  /** Notes that a relay could not be used; true if it could be before. */
  add(relay: string, id: number | undefined): boolean {
    const before = this.#keys.size;
    return this.#keys.add(relayKey(relay, id)).size > before;
  }

  /** Notes that a relay took a mail; true if it could not be used before. */
  delete(relay: string, id: number | undefined): boolean {
    return this.#keys.delete(relayKey(relay, id));
  }
}

/** Tells relays apart: two of the file may have the same host and port, with different logins. */
export function relayKey(relay: string, id: number | undefined): string {
  return `${relay} ${id ?? ''}`;
}
