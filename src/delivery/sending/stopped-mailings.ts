/** The mailings of which no hand-off may start: paused, cancelled or held. */
import type { MailingStates } from '../queue/mailing-state.ts';

export class StoppedMailings {
  readonly #states: MailingStates;
  readonly #log: (fields: object, text: string) => void;
  readonly #ids = new Set<number>();

  constructor(states: MailingStates, log: (fields: object, text: string) => void) {
    this.#states = states;
    this.#log = log;
  }

  has(mailingId: number): boolean {
    return this.#ids.has(mailingId);
  }

  /** Stops a mailing whose new state is on disk already. */
  add(mailingId: number): void {
    this.#ids.add(mailingId);
  }

  /** Lets a mailing be sent again. */
  delete(mailingId: number): void {
    this.#ids.delete(mailingId);
  }

  /** Holds a mailing because of the relay's replies, and stops it. If that cannot be written now, its next refused hand-off tries again. */
  hold(mailingId: number, reason: string): void {
    try {
      this.#states.hold(mailingId, { held_code: 'relay_refused', held_reason: reason });
      this.#ids.add(mailingId);
      this.#log({ mailing: mailingId, reason }, 'mailing held');
    } catch (error) {
      this.#log({ mailing: mailingId, err: String(error) }, 'a mailing could not be held');
    }
  }
}
