/** What goes on beside HTTP: segments, launching, laying out, delivering. One step at a time, so that tests can walk it. */
import { keepSegments } from './audience/recompute.ts';
import { sendDue, takeChanges } from './campaigns/enrolment.ts';
import { completeDone, launchDue } from './campaigns/launch.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Db } from './database/open.ts';
import type { Courier } from './delivery/courier.ts';
import { Heartbeat, heldReason } from './delivery/hold.ts';
import { layOut } from './delivery/layout.ts';
import { Mailings } from './delivery/mailings.ts';
import { Rates } from './delivery/rates.ts';
import type { Tokens } from './delivery/tokens.ts';
import { DeliveryWorker } from './delivery/worker.ts';

export interface BackgroundDeps {
  db: Db;
  config: Config;
  clock: Clock;
  courier: Courier;
  tokens: Tokens;
  publicUrl: string;
  log(fields: object, text: string): void;
}

export class Background {
  readonly #deps: BackgroundDeps;
  readonly #heartbeat: Heartbeat;
  readonly #worker: DeliveryWorker;

  constructor(deps: BackgroundDeps) {
    this.#deps = deps;
    const { SEND_RATE: perSecond, SEND_RATE_PER_DOMAIN: perDomain } = deps.config;
    this.#heartbeat = new Heartbeat(deps.db.$client);
    this.#worker = new DeliveryWorker({
      ...deps,
      mailings: new Mailings(deps.db, { ...deps, bounceDomain: deps.config.BOUNCE_DOMAIN }),
      rates: new Rates(deps.clock, { perSecond, perDomain }),
    });
  }

  /** One round of everything; gives whether there is more to do right now. */
  async step(): Promise<boolean> {
    this.#heartbeat.beat(this.#deps.clock.now().getTime());
    if (heldReason(this.#deps.db.$client) !== null) {
      this.#worker.acknowledge();
      return false;
    }
    const launched = await launchDue(this.#deps);
    const recomputing = await keepSegments(this.#deps.db, this.#deps.clock);
    const changes = takeChanges(this.#deps.db.$client);
    const moved = await sendDue(this.#deps);
    for (const { id } of this.#mailingsToLayOut()) await layOut(this.#deps.db.$client, id);
    const delivering = await this.#worker.step();
    completeDone(this.#deps);
    return launched + changes + moved > 0 || recomputing || delivering;
  }

  /** Steps until nothing is due. */
  async untilIdle(): Promise<void> {
    while (await this.step());
  }

  /** Takes note of mailings that were stopped or resumed; from then on nothing they forbid starts. */
  acknowledge(): void {
    this.#worker.acknowledge();
  }

  /** Puts what has landed on disk, whatever else the step at hand is busy with. */
  record(): void {
    this.#worker.record();
  }

  /** Stops handing off, finishes what is in flight within `graceMs` and records it. */
  async close(graceMs: number): Promise<void> {
    this.#worker.stop();
    await Promise.all([this.#deps.courier.close(graceMs), this.#worker.finish()]);
    completeDone(this.#deps);
  }

  #mailingsToLayOut(): { id: number }[] {
    return this.#deps.db.$client
      .prepare<[], { id: number }>("SELECT id FROM mailings WHERE finished_at IS NULL AND state = 'layout'")
      .all();
  }
}
