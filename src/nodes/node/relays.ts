/** A node's courier: sends over its own SMTP relays, or over those that the controller names, which may change at runtime. */

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
  readonly #ending = new Set<Promise<void>>();
  #pool: SmtpPool | null = null;
  #failing = new FailingRelays();
  /** The pool settings received from the controller, as JSON. */
  #given = '';
  #helo = '';

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
    if (config.SMTP_URL !== '') this.#pool = this.#open(parseRelays(config.SMTP_URL), config.SMTP_CONNECTIONS);
    void heloName(config.SMTP_HELO, '').then((name) => {
      this.#helo = name;
    });
  }

  /** Whether the controller names the relays. */
  get areGiven(): boolean {
    return this.#config.SMTP_URL === '';
  }

  /** Whether the relays are known: the controller has named them, or need not. Until then, the lack of a relay is not an error. */
  get areKnown(): boolean {
    return !this.areGiven || this.#given !== '';
  }

  /** Whether there is a relay. */
  get isOpen(): boolean {
    return this.#pool !== null;
  }

  /** Applies the relays that the controller names. Returns false if they are unchanged. Mails in progress finish on the old relays. */
  replace(settings: NodeSettings): boolean {
    const json = JSON.stringify(settings);
    if (json === this.#given) return false;
    this.#given = json;
    const { relays, connections } = settings;
    const before = this.#pool;
    this.#pool = relays.length === 0 ? null : this.#open(relays, connections);
    if (before !== null) {
      const ending = before.close(this.#config.SHUTDOWN_SECONDS * 1000).finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
    }
    return true;
  }

  /** Whether a relay in use failed and has taken no mail since. */
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
