/** Reads the due recipients of a mailing, each with the values for their mail and whether they may receive it now. */

import type { Database, Statement } from 'better-sqlite3';
import { isInactive, isLiveContact, refusalReason, suppressionReason } from '../../audience/eligibility.ts';
import { UNMEASURED } from '../../audience/tracking-choice.ts';
import { topicsOf } from '../../audience/unsubscribes.ts';
import { DELIVERY_STATE, type TrackingMode } from '../../database/schema/index.ts';
import { storedSql } from '../../errors/stored.ts';
import type { ContactFields } from '../content/values.ts';
import { DUE } from './due.ts';
import { EXIT_REASON, READDRESSED } from './enrolment-state.ts';
import type { OpenMailing } from './mailing-state.ts';
import { NEEDS_LOOKUP, RecipientLookup } from './recipient-lookup.ts';
import { VARIANT_OF } from './variant-groups.ts';

/** A recipient field that a mail needs: a field of the contact, or the number of the recipient's variant in an A/B test. */
export type ClaimField = keyof ContactFields | 'variant';

/** The data that claims must include: the contact fields that the mails need, and whether each recipient is measured. */
export interface ClaimNeeds {
  readonly fields: readonly ClaimField[];
  readonly tracking: TrackingMode;
}

/** A recipient claimed for sending, with the values for their mail. */
export interface Claim extends Partial<Record<ClaimField, string | null>> {
  id: number;
  mailing_id: number;
  address_id: number;
  attempt: number;
  first_tried_at: number;
  normalized_email: string;
  /** The id of the contact; null for a recipient added by hand. */
  contact_id: number | null;
  /** 1 if the recipient gets the form of the mail that does not reveal who opened it. */
  is_unmeasured: 0 | 1;
}

export interface Candidate extends Claim {
  /** Why the recipient may not get the mail; null if they may. */
  ineligible_because: string | null;
  /** 1 if the recipient must be looked up again (`NEEDS_LOOKUP`). */
  needs_lookup: 0 | 1;
  /** The reply to the last attempt, if the mail was deferred. */
  reply: string | null;
}

/** The SQL for fields that are not columns of the contact. Recipients added by hand have these fields in their segment row. */
const PERSON_COLUMNS: Partial<Record<ClaimField, string>> = {
  email: 'ifnull(c.email, r.email) AS email',
  first_name: 'ifnull(c.first_name, r.first_name) AS first_name',
  last_name: 'ifnull(c.last_name, r.last_name) AS last_name',
  country: 'co.name AS country',
  topic: `${topicsOf('m.user_id', 'd.address_id')} AS topic`,
  variant: `CAST(${VARIANT_OF} AS TEXT) AS variant`,
};

/** The parameters are the mailing, the start and end of the range of due times, and the maximum number of rows. */
type DueStatement = Statement<[number, number, number, number], Candidate>;
type ClaimedMailing = Pick<OpenMailing, 'id' | 'is_canary'>;

export class Candidates {
  readonly #client: Database;
  readonly #lookup: RecipientLookup;
  /**
   * The prepared statements by the fields that they read. A statement reads only the fields that are needed, because each field costs time.
   */
  readonly #statements = new Map<string, DueStatement>();

  constructor(client: Database) {
    this.#client = client;
    this.#lookup = new RecipientLookup(client);
  }

  /**
   * Returns up to `limit` recipients of a mailing that are due at `steady` (epoch milliseconds of the steady clock), with the data in
   * `wanted`. Recipients whose contact was deleted or changed its address are looked up again first. Call it inside the claiming transaction.
   */
  due(mailing: ClaimedMailing, wanted: ClaimNeeds, limit: number, steady: number): Candidate[] {
    const read = () => this.#read(mailing, this.#statementWith(wanted), limit, steady);
    const candidates = read();
    const changed = candidates.flatMap(({ id, needs_lookup }) => (needs_lookup === 1 ? [id] : []));
    if (changed.length === 0) return candidates;
    this.#lookup.find(mailing.id, changed);
    return read();
  }

  /**
   * Reads candidates. Of a canary, it reads only the recipients of the first batch and those being retried. The others (`DUE.atOnce`) are
   * not read.
   */
  #read({ id, is_canary }: ClaimedMailing, statement: DueStatement, limit: number, steady: number): Candidate[] {
    if (is_canary === 0) return statement.all(id, DUE.canary, steady, limit);
    const first = statement.all(id, DUE.canary, DUE.next, limit);
    return first.length === limit
      ? first
      : [...first, ...statement.all(id, DUE.atOnce + 1, steady, limit - first.length)];
  }

  #statementWith({ fields, tracking }: ClaimNeeds): DueStatement {
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

/**
 * The joins from a delivery `d` to its recipient: `c` is the contact, if it is not deleted and still has the delivery's address; `r` is the
 * row in the segment from which the delivery was enqueued.
 */
const DELIVERY_PERSON = `
  LEFT JOIN contacts c ON c.id = d.contact_id AND c.address_id = d.address_id AND ${isLiveContact('c')}
  LEFT JOIN segment_recipients r ON r.id = d.segment_recipient_id AND r.address_id = d.address_id`;

/**
 * SQL: why a form's confirmation mail is not sent, because the subscription was confirmed, expired or removed, or the address is
 * suppressed; null if it may be sent. Unsubscribed contacts may subscribe again.
 */
const FORM_REASON = `
  CASE WHEN NOT EXISTS (SELECT 1 FROM form_requests q CROSS JOIN forms f ON f.id = q.form_id
      WHERE q.id = m.owner_id AND q.state = 'asked' AND q.email <> '') THEN ${storedSql('request_closed')}
    ELSE ${suppressionReason('d')} END`;

/** SQL: why the recipient of `d` may not get the mail when it is claimed; null if they may. */
const CLAIM_REASON = `
  CASE WHEN m.owner_kind = 'form' THEN ${FORM_REASON} ELSE
  coalesce(CASE m.owner_kind WHEN 'schedule' THEN ${EXIT_REASON} END, ${refusalReason('d', 'm.unsubscribe_group_id')},
    CASE WHEN m.owner_kind IN ('single', 'schedule') AND ${isInactive('d')} THEN ${storedSql('inactive')} END,
    CASE WHEN NOT (${NEEDS_LOOKUP}) THEN NULL
      WHEN r.is_removed = 1 THEN ${storedSql('removed_from_segment')}
      WHEN EXISTS (SELECT 1 FROM contacts n
        WHERE n.id = d.contact_id AND n.address_id <> d.address_id AND ${isLiveContact('n')}) THEN ${READDRESSED}
      ELSE ${storedSql('contact_deleted')} END) END`;
