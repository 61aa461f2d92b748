/** A conversation in which each answer is awaited: for the opening of a connection, where speed does not matter. */

import type { ConnectionListener, SmtpConnection } from './connection.ts';
import type { Reply } from './reply.ts';

export class Dialogue implements ConnectionListener {
  readonly #wire: SmtpConnection;
  readonly #patience: number;
  #waiting: { for: 'reply' | 'event'; resolve: (reply: Reply) => void; reject: (error: Error) => void } | null = null;
  #lost: Error | null = null;

  /** `patience`: milliseconds from the beginning of the connection to the end of the conversation. */
  constructor(wire: SmtpConnection, patience: number) {
    this.#wire = wire;
    this.#patience = patience;
    wire.listener = this;
  }

  /** Waits at most `ms` until `start` calls back; rejects when the connection is lost or too slow. */
  async event(ms: number, start: (done: () => void) => void): Promise<void> {
    const answer = this.#wait('event', ms);
    start(() => this.#settle({ code: 0, text: '' }));
    await answer;
  }

  /** Writes `command` (null: only listens) and gives the answer; rejects when the connection is lost or too slow. */
  ask(ms: number, command: string | null): Promise<Reply> {
    const answer = this.#wait('reply', ms);
    if (command !== null && this.#lost === null) this.#wire.write(`${command}\r\n`);
    return answer;
  }

  reply(reply: Reply): void {
    if (this.#waiting?.for === 'reply') this.#settle(reply);
    else this.#wire.fail(new Error(`the relay spoke out of turn: ${reply.code} ${reply.text}`));
  }

  expired(): void {
    this.#wire.fail(new Error(`no answer within ${Math.round(this.#wire.waited / 100) / 10} s`));
  }

  lost(error: Error): void {
    this.#lost = error;
    this.#waiting?.reject(error);
    this.#waiting = null;
  }

  #wait(what: 'reply' | 'event', ms: number): Promise<Reply> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    this.#wire.within(Math.max(0, Math.min(ms, this.#patience - this.#wire.age)));
    return new Promise((resolve, reject) => {
      this.#waiting = { for: what, resolve, reject };
    });
  }

  #settle(reply: Reply): void {
    this.#waiting?.resolve(reply);
    this.#waiting = null;
  }
}
