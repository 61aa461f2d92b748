/** A sender node that a test speaks for. */
import { setTimeout as pause } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Beat, BeatReply, Command, Page, Report } from '../../src/nodes/protocol.ts';

/** A node that speaks for itself: it takes pages, and reports nothing by itself. */
export class RawNode {
  readonly pages: Page[] = [];
  readonly run: string;
  readonly #connection: NatsConnection;
  readonly #name: string;
  brain = '';

  constructor(connection: NatsConnection, name: string) {
    this.#connection = connection;
    this.#name = name;
    this.run = `${name}.raw`;
    connection.subscribe(`sendlark.node.${this.run}`, {
      callback: (_, message) => {
        const { page } = message.json<Command>();
        if (page !== undefined) this.pages.push(page);
        message.respond(JSON.stringify({ isTaken: true }));
      },
    });
  }

  async beat(says: Partial<Beat> = {}): Promise<BeatReply> {
    const beat: Beat = {
      protocol: 1,
      version: '1.0.0',
      run: this.run,
      name: this.#name,
      brain: this.brain,
      capacity: 50,
      rate: 0,
      refusal: '',
      withdrawn: [],
      ...says,
    };
    // Right after its start the service does not listen yet.
    for (;;) {
      const asked = this.#connection.request(`sendlark.brain.beat.${this.#name}`, JSON.stringify(beat));
      const answer = await asked.catch(() => null);
      if (answer !== null) return answer.json<BeatReply>();
      await pause(50);
    }
  }

  /** Says good morning, and that it has nothing. */
  async greet(): Promise<void> {
    this.brain = (await this.beat()).brain;
    await this.report({ ended: [], has: [] });
  }

  async report(says: Partial<Report>, name = this.#name): Promise<void> {
    const report = JSON.stringify({ protocol: 1, run: this.run, brain: this.brain, ended: [], ...says });
    // The service can answer the first beat before it has made the stream.
    for (;;) {
      const published = jetstream(this.#connection).publish(`sendlark.results.${name}`, report);
      const missing = await published.then(
        () => null,
        (error: Error) => error,
      );
      if (missing === null) return;
      if (missing.name !== 'JetStreamNotEnabled') throw missing;
      await pause(50);
    }
  }
}
