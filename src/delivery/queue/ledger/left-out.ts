/** Records who is not handed over when they would be claimed: who may not get the mail, and whom the limits per person allow no further one. */
import type { Database, Statement } from 'better-sqlite3';
import { DELIVERY_STATE } from '../../../database/schema/index.ts';
import type { Capped } from '../../timing/mail-caps.ts';
import type { Candidate } from '../candidates.ts';
import { advanceEnrolments } from '../enrolment-state.ts';
import { type ReasonChange, reasonCounter } from './reasons.ts';

/** A recipient and why they get no mail. */
interface LeftOutPerson {
  id: number;
  reason: string;
}

/** Its methods are to be called inside the claim's transaction, which has taken the recipients' former replies from the counts. */
export class LeftOut {
  readonly #client: Database;
  readonly #suppress: Statement<[string, number, number]>;
  readonly #count: Statement<[number, number]>;
  readonly #putOff: Statement<[number, string, number]>;
  readonly #countReasons: (changes: readonly ReasonChange[]) => void;

  constructor(client: Database) {
    this.#client = client;
    this.#suppress = client.prepare(
      `UPDATE deliveries SET state = ${DELIVERY_STATE.suppressed}, reply = ?, updated_at = ? WHERE id = ?`,
    );
    this.#count = client.prepare('UPDATE mailings SET suppressed = suppressed + ? WHERE id = ?');
    this.#putOff = client.prepare('UPDATE deliveries SET due_at = ?, reply = ? WHERE id = ?');
    this.#countReasons = reasonCounter(client);
  }

  /** Gives people who may not get their mail the final state `suppressed`. In an automation they leave. `now` is epoch milliseconds. */
  ineligible(mailingId: number, people: readonly Candidate[], now: number): void {
    const reasons = people.map(({ id, ineligible_because }) => ({ id, reason: ineligible_because ?? '' }));
    this.#suppressAll(mailingId, reasons, now, 'suppressed');
  }

  /**
   * The same for those whom the limits per person allow no further mail, who in an automation go on to the next one; or lets them wait.
   * Waits are measured by `steady`, epoch milliseconds.
   */
  capped(mailingId: number, people: readonly Capped<Candidate>[], now: number, steady: number): void {
    const out = people.filter(({ until }) => until === null);
    const reasons = out.map(({ recipient, reason }) => ({ id: recipient.id, reason }));
    this.#suppressAll(mailingId, reasons, now, 'through');
    for (const { recipient, reason, until } of people) {
      if (until === null) continue;
      this.#putOff.run(steady + until - now, reason, recipient.id);
      this.#countReasons([{ mailing_id: mailingId, state: DELIVERY_STATE.queued, reply: reason, by: 1 }]);
    }
  }

  #suppressAll(
    mailingId: number,
    people: readonly LeftOutPerson[],
    now: number,
    outcome: 'suppressed' | 'through',
  ): void {
    if (people.length === 0) return;
    for (const { id, reason } of people) this.#suppress.run(reason, now, id);
    this.#count.run(people.length, mailingId);
    const state = DELIVERY_STATE.suppressed;
    this.#countReasons(people.map(({ reason }) => ({ mailing_id: mailingId, state, reply: reason, by: 1 })));
    const ids = people.map(({ id }) => id);
    advanceEnrolments(this.#client, mailingId, ids, outcome, now);
  }
}
