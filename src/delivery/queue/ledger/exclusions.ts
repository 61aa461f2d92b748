/** Excludes recipients from a mailing at the claim, or lets them wait. */
import type { Database, Statement } from 'better-sqlite3';
import { DELIVERY_STATE } from '../../../database/schema/index.ts';
import type { Capped } from '../../timing/mail-caps.ts';
import type { Candidate } from '../candidates.ts';
import { advanceEnrolments } from '../enrolment-state.ts';
import { type ReasonChange, reasonCounter } from './reason-counts.ts';

interface ExcludedRecipient {
  id: number;
  reason: string;
}

/**
 * Excludes recipients at the claim. Call the methods inside the claim's transaction, after it has subtracted the recipients' former replies
 * from the counts.
 */
export class Exclusions {
  readonly #client: Database;
  readonly #suppress: Statement<[string, number, number]>;
  readonly #count: Statement<[number, number]>;
  readonly #postpone: Statement<[number, string, number]>;
  readonly #countReasons: (changes: readonly ReasonChange[]) => void;

  constructor(client: Database) {
    this.#client = client;
    this.#suppress = client.prepare(
      `UPDATE deliveries SET state = ${DELIVERY_STATE.suppressed}, reply = ?, updated_at = ? WHERE id = ?`,
    );
    this.#count = client.prepare('UPDATE mailings SET suppressed = suppressed + ? WHERE id = ?');
    this.#postpone = client.prepare('UPDATE deliveries SET due_at = ?, reply = ? WHERE id = ?');
    this.#countReasons = reasonCounter(client);
  }

  /**
   * Moves recipients who may not get their mail to the final state `suppressed`. In an automation, their enrolment ends. `now` is in epoch
   * milliseconds.
   */
  excludeIneligible(mailingId: number, people: readonly Candidate[], now: number): void {
    const reasons = people.map(({ id, ineligible_because }) => ({ id, reason: ineligible_because ?? '' }));
    this.#suppressAll(mailingId, reasons, now, 'suppressed');
  }

  /**
   * Handles recipients who have reached the frequency cap: excludes them, or lets them wait. An excluded recipient of an automation moves
   * on to its next mail. Waits are measured by `steady`, epoch milliseconds.
   */
  applyCaps(mailingId: number, people: readonly Capped<Candidate>[], now: number, steady: number): void {
    const excluded = people.filter(({ until }) => until === null);
    const reasons = excluded.map(({ recipient, reason }) => ({ id: recipient.id, reason }));
    this.#suppressAll(mailingId, reasons, now, 'through');
    for (const { recipient, reason, until } of people) {
      if (until === null) continue;
      this.#postpone.run(steady + until - now, reason, recipient.id);
      this.#countReasons([{ mailing_id: mailingId, state: DELIVERY_STATE.queued, reply: reason, by: 1 }]);
    }
  }

  #suppressAll(
    mailingId: number,
    people: readonly ExcludedRecipient[],
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
