/** Commands and replies one at a time, as promises: for the handshake, where speed does not matter. */

import type { ConnectionListener, SmtpConnection } from './connection.ts';
import type { Reply } from './reply.ts';

export class Dialogue implements ConnectionListener {
  readonly #connection: SmtpConnection;
  readonly #totalMs: number;
  #waiting: { for: 'reply' | 'event'; resolve: (reply: Reply) => void; reject: (error: Error) => void } | null = null;
  #lost: Error | null = null;

  /** `totalMs`: the most time from the start of the connection to the end of the dialogue. */
  constructor(connection: SmtpConnection, totalMs: number) {
    this.#connection = connection;
    this.#totalMs = totalMs;
    connection.listener = this;
  }

  /** Waits at most `ms` until `start` calls back; rejects if the connection is lost or too slow. */
  async event(ms: number, start: (done: () => void) => void): Promise<void> {
    const answer = this.#wait('event', ms);
    start(() => this.#resolve({ code: 0, text: '' }));
    await answer;
  }

  /** Writes `command` (null: none) and returns the reply; rejects if the connection is lost or too slow. */
  ask(ms: number, command: string | null): Promise<Reply> {
    const answer = this.#wait('reply', ms);
    if (command !== null && this.#lost === null) this.#connection.write(`${command}\r\n`);
    return answer;
  }

  reply(reply: Reply): void {
    if (this.#waiting?.for === 'reply') this.#resolve(reply);
    else this.#connection.fail(new Error(`unexpected reply: ${reply.code} ${reply.text}`));
  }

  expired(): void {
    this.#connection.fail(new Error(`no reply within ${Math.round(this.#connection.waited / 100) / 10} s`));
  }

  lost(error: Error): void {
    this.#lost = error;
    this.#waiting?.reject(error);
    this.#waiting = null;
  }

  #wait(what: 'reply' | 'event', ms: number): Promise<Reply> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    this.#connection.within(Math.max(0, Math.min(ms, this.#totalMs - this.#connection.age)));
    return new Promise((resolve, reject) => {
      this.#waiting = { for: what, resolve, reject };
    });
  }

  #resolve(reply: Reply): void {
    this.#waiting?.resolve(reply);
    this.#waiting = null;
  }
}
