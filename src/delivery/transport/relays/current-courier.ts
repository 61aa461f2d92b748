/**
 * The courier for the SMTP relays stored in the database, or the outbox if there are none. The courier follows changes without a restart.
 */
import type { Database } from 'better-sqlite3';
import type { Courier, Handoff, MailOwner, Outcome } from '../courier.ts';
import type { Relay } from '../smtp/relay-urls.ts';
import { relaysRevision, storedRelays } from './in-use.ts';

export interface CurrentCourierDeps {
  client: Database;
  /** Opens a courier for the relays, or the outbox if there are none. */
  open(relays: readonly Relay[]): Courier;
  /** How long a replaced courier may take to finish mails in progress, in milliseconds. */
  graceMs: number;
}

export class CurrentCourier implements Courier {
  readonly #deps: CurrentCourierDeps;
  readonly #closing = new Set<Promise<void>>();
  readonly #readRevision: () => string;
  #revision: string;
  #courier: Courier;

  constructor(deps: CurrentCourierDeps) {
    this.#deps = deps;
    this.#readRevision = relaysRevision(deps.client);
    this.#revision = this.#readRevision();
    this.#courier = deps.open(storedRelays(deps.client));
  }

  /**
   * Replaces the courier if the relays have changed. Mails that wait in the old courier are withdrawn and return to the queue; mails in
   * progress finish in the old courier.
   */
  refresh(): void {
    const revision = this.#readRevision();
    if (revision === this.#revision) return;
    const next = this.#deps.open(storedRelays(this.#deps.client));
    const ending = this.#courier.close(this.#deps.graceMs).finally(() => this.#closing.delete(ending));
    this.#closing.add(ending);
    this.#courier = next;
    this.#revision = revision;
  }

  room(relayId: number | null): number {
    return this.#courier.room(relayId);
  }

  send(handoff: Handoff, owner: MailOwner): Promise<Outcome | 'withdrawn'> {
    return this.#courier.send(handoff, owner);
  }

  async close(graceMs: number): Promise<void> {
    await Promise.all([this.#courier.close(graceMs), ...this.#closing]);
  }
}
