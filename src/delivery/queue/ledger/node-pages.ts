/**
 * The pages that sender nodes have: claimed recipients of one mailing that one node hands over. They are rows, so that after a restart
 * what a living node has stays with it, and nobody gets the same mail from two nodes.
 */
import type { Database, Statement } from 'better-sqlite3';
import { isErasedRow } from '../../../audience/contacts/address-rows.ts';
import { findNamedValue, writeNamedValue } from '../../../database/named-values.ts';
import { DELIVERY_STATE } from '../../../database/schema/index.ts';
import { isTransientSqliteError } from '../../../database/write-lock.ts';
import type { Said } from '../../../errors/sentences.ts';
import { stored } from '../../../errors/stored.ts';
import type { Claim } from '../candidates.ts';
import { advanceEnrolments } from '../enrolment-state.ts';
import type { OpenMailing } from '../mailing-state.ts';
import { reasonCounter } from './reasons.ts';

/** A page that an earlier run of the service gave to a node, with the recipients of whom nothing is recorded yet. */
export interface StoredPage {
  id: number;
  run: string;
  mailing: OpenMailing;
  claims: Claim[];
}

/** An acceptance of a delivery that is no longer on the page it was reported for. */
export interface LateAcceptance {
  id: number;
  reply: Said;
}

const POSITION = 'node_results_position';

export class NodePages {
  readonly #client: Database;
  readonly #add: Statement<[string, number, string]>;
  readonly #remove: Statement<[number]>;
  readonly #accept: Statement<{ id: number; reply: string | null; now: number }>;

  constructor(client: Database) {
    this.#client = client;
    this.#add = client.prepare('INSERT INTO node_pages (run, mailing_id, deliveries) VALUES (?, ?, ?)');
    this.#remove = client.prepare('DELETE FROM node_pages WHERE id = ?');
    this.#accept = client.prepare(
      `UPDATE deliveries SET state = ${DELIVERY_STATE.accepted}, reply = @reply, attempt = max(attempt, 1), updated_at = @now WHERE id = @id`,
    );
  }

  /** Stores a page and gives its id. Call it in the transaction of the claims. */
  add(run: string, mailingId: number, deliveries: readonly number[]): number {
    return Number(this.#add.run(run, mailingId, JSON.stringify(deliveries)).lastInsertRowid);
  }

  /** Removes a page of which every recipient was reported. Call it in the transaction that records them. */
  remove(id: number): void {
    this.#remove.run(id);
  }

  /** How far the reports of nodes are recorded, as `savePosition` stored it; empty at first. */
  position(): string {
    return findNamedValue(this.#client, POSITION) ?? '';
  }

  /** Stores how far the reports are recorded. Call it in the transaction that records them. */
  savePosition(position: string): void {
    writeNamedValue(this.#client, POSITION, position);
  }

  /** The pages that nodes have, newest first. To be called at start; removes those of which everything is recorded. */
  load(): StoredPage[] {
    const rows = this.#client
      .prepare<[], Omit<Claim, 'mailing_id'> & { page: number; run: string; mailing: number }>(`
        SELECT p.id AS page, p.run, p.mailing_id AS mailing, d.id, d.address_id, d.attempt - 1 AS attempt,
          ifnull(d.first_tried_at, 0) AS first_tried_at, a.normalized_email, d.is_unmeasured, d.contact_id
        FROM node_pages p CROSS JOIN json_each(p.deliveries) j CROSS JOIN deliveries d ON d.id = j.value
          CROSS JOIN addresses a ON a.id = d.address_id
        WHERE d.state = ${DELIVERY_STATE.sending} ORDER BY p.id DESC`)
      .all();
    const mailingOf = this.#client.prepare<[number], OpenMailing>(
      `SELECT id, user_id, unsubscribe_group_id, owner_kind, NULL AS relay_id, 0 AS is_canary, 0 AS is_due FROM mailings WHERE id = ?`,
    );
    const pages = new Map<number, StoredPage>();
    const taken = new Set<number>();
    for (const { page: id, run, mailing: mailingId, ...claim } of rows) {
      const mailing = pages.get(id)?.mailing ?? mailingOf.get(mailingId);
      if (taken.has(claim.id) || mailing === undefined) continue;
      taken.add(claim.id);
      const page = pages.get(id) ?? { id, run, mailing, claims: [] };
      page.claims.push({ ...claim, mailing_id: mailingId });
      pages.set(id, page);
    }
    this.#client
      .prepare('DELETE FROM node_pages WHERE id NOT IN (SELECT value FROM json_each(?))')
      .run(JSON.stringify([...pages.keys()]));
    return [...pages.values()];
  }

  /**
   * Records acceptances that nobody waited for any more: the delivery went back to the queue because its node was silent, or is with
   * another node. It becomes accepted unless it is in a final state, so that the mail is not sent once more. Gives the ids it changed. One
   * that cannot be recorded changes nothing, and `onFault` is told, so that it keeps no others from being recorded. Throws when the disk fails.
   */
  acceptLate(late: readonly LateAcceptance[], now: number, onFault: (id: number, error: unknown) => void): number[] {
    if (late.length === 0) return [];
    const read = this.#client.prepare<
      [number],
      {
        mailing: number;
        address: number;
        state: number;
        attempt: number;
        reply: string | null;
        is_unmeasured: 0 | 1;
        in_series: 0 | 1;
      }
    >(`
      SELECT d.mailing_id AS mailing, d.address_id AS address, d.state, d.attempt, d.reply, d.is_unmeasured, m.owner_kind = 'schedule' AS in_series
      FROM deliveries d JOIN mailings m ON m.id = d.mailing_id
      WHERE d.id = ? AND d.state IN (${DELIVERY_STATE.queued}, ${DELIVERY_STATE.sending})`);
    const count = this.#client.prepare<[number, number, number]>(
      'UPDATE mailings SET delivered = delivered + 1, unmeasured = unmeasured + ?, triggered = triggered + ? WHERE id = ?',
    );
    const countReasons = reasonCounter(this.#client);
    const acceptOne = this.#client.transaction(({ id, reply }: LateAcceptance) => {
      const found = read.get(id);
      if (found === undefined) return [];
      // Of an erased person, what the server said may name them.
      this.#accept.run({ id, reply: isErasedRow(this.#client, found.address) ? null : stored(reply), now });
      count.run(found.is_unmeasured, found.attempt === 0 ? 1 : 0, found.mailing);
      countReasons([{ mailing_id: found.mailing, state: found.state, reply: found.reply, by: -1 }]);
      if (found.in_series === 1) advanceEnrolments(this.#client, found.mailing, [id], 'through', now);
      return [id];
    });
    return late.flatMap((one) => {
      try {
        return acceptOne(one);
      } catch (error) {
        if (isTransientSqliteError(error)) throw error;
        onFault(one.id, error);
        return [];
      }
    });
  }
}
