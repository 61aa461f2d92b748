/**
 * Stores the pages given to sender nodes. A page is a set of claimed recipients of one mailing that one node sends. Pages are rows in the
 * database, so that after a restart a live node keeps its pages and no recipient gets the same mail from two nodes.
 */
import type { Database, Statement } from 'better-sqlite3';
import { isErasedRow } from '../../../audience/contacts/erased-addresses.ts';
import { findNamedValue, writeNamedValue } from '../../../database/named-values.ts';
import { DELIVERY_STATE } from '../../../database/schema/index.ts';
import { isTransientSqliteError } from '../../../database/write-lock.ts';
import type { Said } from '../../../errors/sentences.ts';
import { stored } from '../../../errors/stored.ts';
import type { Claim } from '../candidates.ts';
import { advanceEnrolments } from '../enrolment-state.ts';
import type { OpenMailing } from '../mailing-state.ts';
import { reasonCounter } from './reason-counts.ts';

/** A page that an earlier run of the service gave to a node. Its claims are the recipients whose result is not recorded yet. */
export interface StoredPage {
  id: number;
  run: string;
  mailing: OpenMailing;
  claims: Claim[];
}

/** A node's report that a delivery was accepted, although the delivery is no longer on the page for which it was reported. */
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

  /** Stores a page and returns its id. Call it in the transaction that claims its recipients. */
  add(run: string, mailingId: number, deliveries: readonly number[]): number {
    return Number(this.#add.run(run, mailingId, JSON.stringify(deliveries)).lastInsertRowid);
  }

  /** Removes a page once all its recipients have been reported. Call it in the transaction that records them. */
  remove(id: number): void {
    this.#remove.run(id);
  }

  /** Returns how far the reports of nodes have been recorded, as stored by `savePosition`; empty at first. */
  position(): string {
    return findNamedValue(this.#client, POSITION) ?? '';
  }

  /** Stores how far the reports have been recorded. Call it in the transaction that records them. */
  savePosition(position: string): void {
    writeNamedValue(this.#client, POSITION, position);
  }

  /** Returns the pages that nodes have, newest first. Call it at startup, because it also removes pages whose results are all recorded. */
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
    const claimed = new Set<number>();
    for (const { page: id, run, mailing: mailingId, ...claim } of rows) {
      const mailing = pages.get(id)?.mailing ?? mailingOf.get(mailingId);
      if (claimed.has(claim.id) || mailing === undefined) continue;
      claimed.add(claim.id);
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
   * Records late acceptances, whose delivery has gone back to the queue because its node was silent, or was given to another node. The
   * delivery becomes accepted unless it is already in a final state, so that the mail is not sent again. Returns the ids of the changed
   * deliveries. An acceptance that cannot be recorded is reported to `onFault` and changes nothing, so that it does not block the others.
   * Throws if the disk fails.
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
      const row = read.get(id);
      if (row === undefined) return [];
      // For an erased contact the server's reply is dropped, because it may contain the address.
      this.#accept.run({ id, reply: isErasedRow(this.#client, row.address) ? null : stored(reply), now });
      count.run(row.is_unmeasured, row.attempt === 0 ? 1 : 0, row.mailing);
      countReasons([{ mailing_id: row.mailing, state: row.state, reply: row.reply, by: -1 }]);
      if (row.in_series === 1) advanceEnrolments(this.#client, row.mailing, [id], 'through', now);
      return [id];
    });
    return late.flatMap((acceptance) => {
      try {
        return acceptOne(acceptance);
      } catch (error) {
        if (isTransientSqliteError(error)) throw error;
        onFault(acceptance.id, error);
        return [];
      }
    });
  }
}
