/** A node's courier: sends over the node's own SMTP relays, or over those that the controller names, which may change at runtime. */

import type { Config } from '../../config.ts';
import type { Courier, Handoff, Outcome } from '../../delivery/transport/courier.ts';
import { FailingRelays, RELAY_FAILS, RELAY_WORKS } from '../../delivery/transport/relays/failing-relays.ts';
import { heloName } from '../../delivery/transport/smtp/helo.ts';
import { SmtpPool } from '../../delivery/transport/smtp/pool.ts';
import { parseRelays, type Relay } from '../../delivery/transport/smtp/relay-urls.ts';
import type { Log } from '../../log.ts';
import type { NodeSettings } from '../protocol.ts';

export class NodeRelays implements Courier {
  readonly #config: Config;
  readonly #log: Log;
  /** The replaced pools that are closing. */
  readonly #ending = new Set<Promise<void>>();
  #pool: SmtpPool | null = null;
  #failing = new FailingRelays();
  /** The settings received from the controller, as JSON; empty before any have come. */
  #received = '';
  #helo = '';

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
    if (config.SMTP_URL !== '') this.#pool = this.#open(parseRelays(config.SMTP_URL), config.SMTP_CONNECTIONS);
    void heloName(config.SMTP_HELO, '').then((name) => {
      this.#helo = name;
    });
  }

  /** True if the controller names the relays, because this node has none of its own. */
  get areFromController(): boolean {
    return this.#config.SMTP_URL === '';
  }

  /** True if the node has relays of its own or has received the controller's. Until then, the lack of a relay is not an error. */
  get areKnown(): boolean {
    return !this.areFromController || this.#received !== '';
  }

  /** True if the node has a relay. */
  get isOpen(): boolean {
    return this.#pool !== null;
  }

  /**
   * Applies the relays that the controller names. Returns false if nothing has changed. Mails whose text is being written finish on the old
   * relays.
   */
  replace(settings: NodeSettings): boolean {
    const json = JSON.stringify(settings);
    if (json === this.#received) return false;
    this.#received = json;
    const { relays, connections } = settings;
    const before = this.#pool;
    this.#pool = relays.length === 0 ? null : this.#open(relays, connections);
    if (before !== null) {
      const ending = before.close(this.#config.SHUTDOWN_SECONDS * 1000).finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
    }
    return true;
  }

  /** True if a relay in use failed and has taken no mail since. */
  get isFailing(): boolean {
    return this.#failing.isAny;
  }

  room(relayId: number | null): number {
    return this.#pool?.room(relayId) ?? 0;
  }

  send(handoff: Handoff): Promise<Outcome | 'withdrawn'> {
    return this.#pool?.send(handoff) ?? Promise.resolve('withdrawn');
  }

  async close(graceMs: number): Promise<void> {
    await Promise.all([this.#pool?.close(graceMs), ...this.#ending]);
  }

  #open(relays: readonly Relay[], connections: number): SmtpPool {
    const failing = new FailingRelays();
    this.#failing = failing;
    return new SmtpPool(relays, {
      connections,
      name: () => this.#helo,
      onRelayFailure: (relay, { stage, reply }, id) => {
        if (failing.add(relay, id)) this.#log({ relay, stage, reply }, RELAY_FAILS, 'warn');
      },
      onRelayAcceptance: (relay, id) => {
        if (failing.delete(relay, id)) this.#log({ relay }, RELAY_WORKS);
      },
    });
  }
}
