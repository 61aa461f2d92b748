/** Reads the due recipients of a mailing, each with the values for their mail and whether they may get it now. */
import type { Database, Statement } from 'better-sqlite3';
import { UNMEASURED } from '../../audience/tracking-choice.ts';
import { DELIVERY_STATE, type TrackingMode } from '../../database/schema/index.ts';
import type { Person } from '../content/values.ts';
import { CLAIM_REASON, DELIVERY_PERSON, NEEDS_LOOKUP, RecipientLookup } from './claim-eligibility.ts';
import { DUE } from './due.ts';
import type { OpenMailing } from './mailing-state.ts';
import { VARIANT_OF } from './variant-groups.ts';

/** How many recipients go over to a newer revision in one transaction. */
const MOVED_ROWS = 500;

/** What a mail needs to know of its recipient: fields of the person, and in an A/B test the number of their variant. */
export type ClaimField = keyof Person | 'variant';

/** What claims are to have: what their mails need to know of the person, and whom of them their account measures. */
export interface WantedClaim {
  readonly fields: readonly ClaimField[];
  readonly tracking: TrackingMode;
}

/** A recipient claimed for hand-off, with the values for their mail. */
export interface Claim extends Partial<Record<ClaimField, string | null>> {
  id: number;
  mailing_id: number;
  address_id: number;
  attempt: number;
  first_tried_at: number;
  normalized_email: string;
  /** Null for someone added by hand. */
  contact_id: number | null;
  /** 1: their mail has the form of which it is not known who opened it. */
  is_unmeasured: 0 | 1;
}

export interface Candidate extends Claim {
  /** Why the person may not get the mail; null when they may. */
  ineligible_because: string | null;
  needs_lookup: 0 | 1;
  /** The reply of the last try, if it was put off. */
  reply: string | null;
}

/** A recipient who went over to a newer revision of their mail. */
interface MovedDelivery {
  /** The mailing of the newer revision. */
  mailing_id: number;
  reply: string | null;
}

/** The SQL of fields that are not simply columns of the contact. People added by hand have theirs in the segment's row. */
const PERSON_COLUMNS: Partial<Record<ClaimField, string>> = {
  email: 'ifnull(c.email, r.email) AS email',
  first_name: 'ifnull(c.first_name, r.first_name) AS first_name',
  last_name: 'ifnull(c.last_name, r.last_name) AS last_name',
  country: 'co.name AS country',
  variant: `CAST(${VARIANT_OF} AS TEXT) AS variant`,
};

/** With the mailing, the moments between which a recipient is due, and how many are read at most. */
type DueStatement = Statement<[number, number, number, number], Candidate>;
type ClaimedMailing = Pick<OpenMailing, 'id' | 'is_canary'>;

export class Candidates {
  readonly #client: Database;
  readonly #lookup: RecipientLookup;
  readonly #moveToNewest: Statement<[number, number], MovedDelivery>;
  /** By what they read, because each field costs time. */
  readonly #statements = new Map<string, DueStatement>();

  constructor(client: Database) {
    this.#client = client;
    this.#lookup = new RecipientLookup(client);
    this.#moveToNewest = client.prepare(`
      UPDATE OR IGNORE deliveries SET mailing_id = newest.id
      FROM (SELECT m.id AS old, n.id FROM mailings m CROSS JOIN mailings n ON n.owner_kind = 'schedule' AND n.owner_id = m.owner_id
        WHERE m.id = ? AND m.owner_kind = 'schedule' AND n.revision > m.revision AND n.finished_at IS NULL
        ORDER BY n.revision DESC LIMIT 1) newest
      WHERE deliveries.id IN (SELECT d.id FROM deliveries d INDEXED BY deliveries_queue
        WHERE d.mailing_id = newest.old AND d.state = ${DELIVERY_STATE.queued} LIMIT ?)
      RETURNING mailing_id, reply`);
  }

  /**
   * Up to `limit` recipients of a mailing who are due at `steady` (epoch milliseconds), with what is wanted. Recipients whose contact was
   * deleted or got another address since are looked up again first. Call inside the claim's transaction.
   */
  due(mailing: ClaimedMailing, wanted: WantedClaim, limit: number, steady: number): Candidate[] {
    const read = () => this.#read(mailing, this.#statementWith(wanted), limit, steady);
    const candidates = read();
    const changed = candidates.flatMap(({ id, needs_lookup }) => (needs_lookup === 1 ? [id] : []));
    if (changed.length === 0) return candidates;
    this.#lookup.find(mailing.id, changed);
    return read();
  }

  /** Of a canary, those who are due before everybody else, and those who are tried again. The others, due at 0, are not read at all. */
  #read({ id, is_canary }: ClaimedMailing, statement: DueStatement, limit: number, steady: number): Candidate[] {
    if (is_canary === 0) return statement.all(id, DUE.canary, steady, limit);
    const first = statement.all(id, DUE.canary, DUE.next, limit);
    return first.length === limit ? first : [...first, ...statement.all(id, 1, steady, limit - first.length)];
  }

  /**
   * Moves queued recipients of a mail of an automation that was redesigned to its newest revision, so that they get the new design;
   * gives them, a page at most. Call inside a transaction.
   */
  moveToNewest(mailingId: number): MovedDelivery[] {
    return this.#moveToNewest.all(mailingId, MOVED_ROWS);
  }

  #statementWith({ fields, tracking }: WantedClaim): DueStatement {
    const key = [tracking, ...fields].join();
    const cached = this.#statements.get(key);
    if (cached !== undefined) return cached;
    const statement = this.#client.prepare<[number, number, number, number], Candidate>(`
      SELECT d.id, d.mailing_id, d.address_id, d.attempt, d.reply, ifnull(d.first_tried_at, 0) AS first_tried_at, a.normalized_email,
        ${UNMEASURED[tracking]} AS is_unmeasured, d.contact_id, ${fields.map((field) => PERSON_COLUMNS[field] ?? `c.${field}`).join(', ')}, ${CLAIM_REASON} AS ineligible_because, ${NEEDS_LOOKUP} AS needs_lookup
      FROM deliveries d INDEXED BY deliveries_queue
        CROSS JOIN mailings m ON m.id = d.mailing_id
        CROSS JOIN addresses a ON a.id = d.address_id
        ${DELIVERY_PERSON}
        LEFT JOIN countries co ON co.id = c.country_id
      WHERE d.mailing_id = ? AND d.state = ${DELIVERY_STATE.queued} AND d.due_at BETWEEN ? AND ? AND m.state = 'sending'
      ORDER BY d.due_at, d.id LIMIT ?`);
    this.#statements.set(key, statement);
    return statement;
  }
}
