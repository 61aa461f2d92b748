/** Counts the deliveries of a mailing by state and by the reason in their reply. */
import type { Database } from 'better-sqlite3';
import { reasonKind } from '../../../database/functions/reply-kind.ts';
import { DELIVERY_STATE } from '../../../database/schema/index.ts';
import { sentence } from '../../../errors/sentences.ts';
import { stored } from '../../../errors/stored.ts';

/** The maximum number of rows per mailing, in case an SMTP relay replies to every mail with a different text. */
const MAX_REASONS = 1000;

const OTHER = stored(sentence('other_replies'));
const KEPT = stored(sentence('kept_in_outbox'));

/** The number of a mailing's deliveries that enter a state with this reply, or leave it if `by` is negative. */
export interface ReasonChange {
  mailing_id: number;
  /** The state, a value of `DELIVERY_STATE`. */
  state: number;
  /** The reply in its stored form; null if there is none. */
  reply: string | null;
  /** The number of deliveries by which the count changes. */
  by: number;
}

interface Row {
  mailing: number;
  state: number;
  reason: string;
}

/**
 * Returns a function that counts changes of the ledger. Call it once at the end of the transaction that makes them, so that many deliveries
 * with the same reply cost one statement. A delivery counts if it has a reply and is neither being sent nor accepted by an SMTP relay.
 * Deliveries kept in the outbox count, too, because they were not sent.
 */
export function reasonCounter(client: Database): (changes: readonly ReasonChange[]) => void {
  const isRow = 'mailing_id = @mailing AND state = @state AND reason = @reason';
  const known = client.prepare<[Row], number>(`SELECT count FROM delivery_reasons WHERE ${isRow}`).pluck();
  const reasons = client
    .prepare<[number], number>('SELECT count(*) FROM delivery_reasons WHERE mailing_id = ?')
    .pluck();
  const add = client.prepare<[Row & { by: number }]>(`
    INSERT INTO delivery_reasons (mailing_id, state, reason, count) VALUES (@mailing, @state, @reason, @by)
    ON CONFLICT DO UPDATE SET count = count + excluded.count`);
  const subtract = client.prepare<[Row & { by: number }]>(
    `UPDATE delivery_reasons SET count = count + @by WHERE ${isRow}`,
  );
  const removeEmpty = client.prepare<[Row]>(`DELETE FROM delivery_reasons WHERE ${isRow} AND count <= 0`);

  function change(row: Row, by: number): void {
    const before = known.get(row);
    const other = { ...row, reason: OTHER };
    if (by > 0) {
      const isNamed = before !== undefined || (reasons.get(row.mailing) ?? 0) < MAX_REASONS;
      add.run({ ...(isNamed ? row : other), by });
      return;
    }
    // Deliveries whose reason has no row of its own, because there are too many reasons, are counted under OTHER.
    const named = Math.max(by, -(before ?? 0));
    for (const [from, count] of [
      [row, named],
      [other, by - named],
    ] as const) {
      if (count === 0) continue;
      subtract.run({ ...from, by: count });
      removeEmpty.run(from);
    }
  }

  return (changes) => {
    const sums = new Map<string, Row & { by: number }>();
    for (const { mailing_id, state, reply, by } of changes) {
      if (reply === null || state === DELIVERY_STATE.sending) continue;
      if (state === DELIVERY_STATE.accepted && reply !== KEPT) continue;
      const reason = reasonKind(reply);
      const key = `${mailing_id} ${state} ${reason}`;
      const sum = sums.get(key) ?? { mailing: mailing_id, state, reason, by: 0 };
      sum.by += by;
      sums.set(key, sum);
    }
    for (const { by, ...row } of sums.values()) if (by !== 0) change(row, by);
  };
}
