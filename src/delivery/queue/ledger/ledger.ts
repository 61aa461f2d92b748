/**
 * The ledger: one row per recipient of a mailing. Only the files in this folder add deliveries and change their state. Each change is one
 * short immediate transaction that also updates the mailing's counters, so the counters always agree with the rows. This file has the
 * worker's operations: claims, results and cancellations.
 */

import type { Database, Statement } from 'better-sqlite3';
import { suppressAddress } from '../../../audience/suppressions.ts';
import { DELIVERY_STATE } from '../../../database/schema/index.ts';
import { type Said, sentence } from '../../../errors/sentences.ts';
import { stored } from '../../../errors/stored.ts';
import { findCapped, findMailingCaps } from '../../timing/mail-caps.ts';
import { MAX_WAIT_MS } from '../backoff.ts';
import { Candidates, type Claim, type ClaimNeeds } from '../candidates.ts';
import { DUE } from '../due.ts';
import { advanceEnrolments } from '../enrolment-state.ts';
import { type OpenMailing, retryHeldMailings } from '../mailing-state.ts';
import { markEarlierMails } from './earlier-mails.ts';
import { Exclusions } from './exclusions.ts';
import { type ReasonChange, reasonCounter } from './reason-counts.ts';

/** The number of recipients moved to a newer revision in one transaction. */
const MOVED_ROWS = 500;

/** The results that a mailing's counters count. */
type Counter = FinalState | 'unmeasured';

export class Ledger {
  readonly #client: Database;
  readonly #timeZone: string;
  readonly #candidates: Candidates;
  readonly #claimAll: Statement<{
    now: number;
    steady: number;
    is_unmeasured: 0 | 1;
    counts_to_caps: 0 | 1;
    ids: string;
  }>;
  readonly #addTriggered: Statement<[number, number]>;
  /** Moves recipients, and returns their new mailings and replies. */
  readonly #newest: Statement<[number, number], Pick<ReasonChange, 'mailing_id' | 'reply'>>;
  readonly #exclusions: Exclusions;
  readonly #finish: Statement<[number, string, number, number, number]>;
  readonly #counters: Statement<Record<string, number>>;
  readonly #countReasons: (changes: readonly ReasonChange[]) => void;
  readonly #requeue: Statement<[number | null, number], { reply: string | null }>;
  readonly #queued: Statement<[number, number], { id: number; reply: string | null }>;
  readonly #cancelAll: Statement<{ now: number; ids: string; reply: string }>;
  readonly #bringForward: Statement<{ mailing: number; latest: number; end: string; limit: number }>;
  readonly #progress: Statement<[number], { sending: number; delivered: number }>;

  /** `timeZone` is the zone in which the days of the frequency caps begin. */
  constructor(client: Database, timeZone: string) {
    this.#client = client;
    this.#timeZone = timeZone;
    this.#claimAll = client.prepare(`
      UPDATE deliveries SET state = ${DELIVERY_STATE.sending}, attempt = attempt + 1, first_tried_at = ifnull(first_tried_at, @steady),
        is_unmeasured = @is_unmeasured, counts_to_caps = @counts_to_caps, updated_at = @now
      WHERE id IN (SELECT value FROM json_each(@ids))`);
    this.#newest = client.prepare(`
      UPDATE OR IGNORE deliveries SET mailing_id = newest.id
      FROM (SELECT m.id AS old, n.id FROM mailings m CROSS JOIN mailings n ON n.owner_kind = 'schedule' AND n.owner_id = m.owner_id
        WHERE m.id = ? AND m.owner_kind = 'schedule' AND n.revision > m.revision AND n.finished_at IS NULL
        ORDER BY n.revision DESC LIMIT 1) newest
      WHERE deliveries.id IN (SELECT d.id FROM deliveries d INDEXED BY deliveries_queue
        WHERE d.mailing_id = newest.old AND d.state = ${DELIVERY_STATE.queued} LIMIT ?)
      RETURNING mailing_id, reply`);
    this.#addTriggered = client.prepare('UPDATE mailings SET triggered = triggered + ? WHERE id = ?');
    this.#finish = client.prepare(
      `UPDATE deliveries SET state = ?, reply = ?, due_at = ?, updated_at = ? WHERE id = ? AND state = ${DELIVERY_STATE.sending}`,
    );
    this.#counters = client.prepare(`
      UPDATE mailings SET delivered = delivered + @accepted, unmeasured = unmeasured + @unmeasured, bounces = bounces + @bounced, failed = failed + @failed,
        suppressed = suppressed + @suppressed, cancelled = cancelled + @cancelled WHERE id = @mailing`);
    this.#countReasons = reasonCounter(client);
    this.#requeue = client.prepare(
      `UPDATE deliveries SET state = ${DELIVERY_STATE.queued}, attempt = attempt - 1, due_at = ifnull(?, due_at),
        first_tried_at = iif(attempt = 1, NULL, first_tried_at) WHERE id = ? AND state = ${DELIVERY_STATE.sending} RETURNING reply`,
    );
    this.#queued = client.prepare(
      `SELECT id, reply FROM deliveries INDEXED BY deliveries_queue WHERE mailing_id = ? AND state = ${DELIVERY_STATE.queued} LIMIT ?`,
    );
    this.#cancelAll = client.prepare(`
      UPDATE deliveries SET state = ${DELIVERY_STATE.cancelled}, reply = @reply, updated_at = @now WHERE id IN (SELECT value FROM json_each(@ids))`);
    this.#candidates = new Candidates(client);
    this.#exclusions = new Exclusions(client);
    this.#bringForward = client.prepare(`
      UPDATE deliveries SET due_at = ${DUE.next} WHERE id IN (
        SELECT d.id FROM deliveries d INDEXED BY deliveries_queue CROSS JOIN addresses a ON a.id = d.address_id
        WHERE d.mailing_id = @mailing AND d.state = ${DELIVERY_STATE.queued} AND d.due_at <= @latest AND substr(a.normalized_email, -length(@end)) <> @end
        LIMIT @limit)`);
    this.#progress = client.prepare(`
      SELECT delivered, (SELECT count(*) FROM deliveries INDEXED BY deliveries_sending WHERE mailing_id = mailings.id AND state = ${DELIVERY_STATE.sending})
        AS sending FROM mailings WHERE id = ?`);
  }

  /**
   * Recovers what an earlier run left. Call it at startup. Deliveries whose sending was not finished go back to the queue and keep their
   * Message-ID, except those given to sender nodes; if there are no sender nodes any more, those go back, too. Held mailings are tried
   * again, because settings may have changed. Recipients due later than the longest retry wait, because the clock was ahead when they were
   * deferred, become due at `now` (epoch milliseconds), unless they wait for a scheduled time of their own. Returns the number of
   * deliveries that went back.
   */
  recover(now: number, hasNodes: boolean): number {
    return this.#client
      .transaction(() => {
        if (!hasNodes) this.#client.exec('DELETE FROM node_pages');
        this.#client
          .prepare(`
            UPDATE deliveries INDEXED BY deliveries_queue SET due_at = @now, first_tried_at = min(first_tried_at, @now)
            WHERE state = ${DELIVERY_STATE.queued} AND mailing_id IN (SELECT id FROM mailings WHERE finished_at IS NULL) AND due_at > @now + @longest AND due_at < ${DUE.awaitsDecision}
              AND NOT EXISTS (SELECT 1 FROM local_waits w WHERE w.mailing_id = deliveries.mailing_id AND w.due_at = deliveries.due_at)`)
          .run({ now, longest: MAX_WAIT_MS });
        retryHeldMailings(this.#client);
        const requeued = this.#client
          .prepare<[], Pick<ReasonChange, 'mailing_id' | 'state' | 'reply'>>(
            `UPDATE deliveries SET state = ${DELIVERY_STATE.queued} WHERE state = ${DELIVERY_STATE.sending}
              AND id NOT IN (SELECT value FROM node_pages, json_each(node_pages.deliveries)) RETURNING mailing_id, state, reply`,
          )
          .all();
        this.#countReasons(requeued.map((delivery) => ({ ...delivery, by: 1 })));
        return requeued.length;
      })
      .immediate();
  }

  /** Returns the number of a mailing's recipients being sent, and the number accepted. */
  progress(mailingId: number): { sending: number; delivered: number } {
    return this.#progress.get(mailingId) ?? { sending: 0, delivered: 0 };
  }

  /**
   * Moves up to `limit` due recipients of domains other than `domain` to the front of a mailing's queue. Returns their number. `steady` is
   * the time by which they are due, as in `claim`. If the mailing has a canary, only the recipients of its first batch are moved.
   */
  bringForward({ id, is_canary }: OpenMailing, domain: string, limit: number, steady: number): number {
    const latest = is_canary === 1 ? -1 : steady;
    return this.#bringForward.run({ mailing: id, latest, end: `@${domain}`, limit }).changes;
  }

  /** Runs several of the methods below in one transaction. */
  inTransaction<T>(moves: () => T): T {
    return this.#client.transaction(moves).immediate();
  }

  /**
   * Claims up to `limit` due recipients of a mailing for sending, and returns them with the data in `wanted`. Recipients who have since
   * unsubscribed, been suppressed or deleted, or reached the frequency cap become `suppressed` in the same transaction. `examined` counts
   * these too, so that a batch without eligible recipients differs from an empty queue. Waits are measured by `steady`, timestamps are
   * `now`; both are epoch milliseconds.
   */
  claim(
    mailing: Pick<OpenMailing, 'id' | 'is_canary'>,
    wanted: ClaimNeeds,
    limit: number,
    steady: number,
    now: number,
  ): { claims: Claim[]; examined: number; moved: number } {
    const mailingId = mailing.id;
    return this.#client
      .transaction(() => {
        const moved = this.#moveToNewest(mailingId);
        if (moved > 0) return { claims: [], examined: 0, moved };
        const candidates = this.#candidates.due(mailing, wanted, limit, steady);
        if (candidates.length === 0) return { claims: [], examined: 0, moved };
        this.#countReasons(
          candidates.map(({ reply }) => ({ mailing_id: mailingId, state: DELIVERY_STATE.queued, reply, by: -1 })),
        );
        const eligible = candidates.filter((candidate) => candidate.ineligible_because === null);
        const untried = eligible.filter(({ first_tried_at }) => first_tried_at === 0);
        const caps = findMailingCaps(this.#client, mailingId);
        if (caps?.is_incomplete)
          markEarlierMails(
            this.#client,
            caps.account,
            untried.map(({ address_id }) => address_id),
            now,
          );
        const capped = caps === null ? [] : findCapped(this.#client, caps, untried, now, this.#timeZone);
        const isCapped = new Set(capped.map(({ recipient }) => recipient));
        const claims = eligible.filter((candidate) => !isCapped.has(candidate));
        if (claims.length > 0) {
          const counts_to_caps = caps === null ? 0 : 1;
          for (const is_unmeasured of [0, 1] as const) {
            const ids = claims.flatMap((claim) => (claim.is_unmeasured === is_unmeasured ? claim.id : []));
            if (ids.length > 0)
              this.#claimAll.run({ now, steady, is_unmeasured, counts_to_caps, ids: JSON.stringify(ids) });
          }
          this.#addTriggered.run(claims.filter((claim) => claim.attempt === 0).length, mailingId);
        }
        const ineligible = candidates.filter((candidate) => candidate.ineligible_because !== null);
        this.#exclusions.excludeIneligible(mailingId, ineligible, now);
        this.#exclusions.applyCaps(mailingId, capped, now, steady);
        return { claims, examined: candidates.length, moved };
      })
      .immediate();
  }

  /**
   * Moves queued recipients of an automation's mail to its newest revision, so that they get the new design. Returns the number of moved
   * recipients, which is at most 500. Call it inside a transaction.
   */
  #moveToNewest(mailingId: number): number {
    const moved = this.#newest.all(mailingId, MOVED_ROWS);
    this.#countReasons(
      moved.flatMap(({ mailing_id, reply }) => [
        { mailing_id: mailingId, state: DELIVERY_STATE.queued, reply, by: -1 },
        { mailing_id, state: DELIVERY_STATE.queued, reply, by: 1 },
      ]),
    );
    return moved.length;
  }

  /**
   * Writes results in one transaction. `now` is in epoch milliseconds; `timestamp` is the creation time of suppressions caused by bounces.
   */
  record(results: readonly Result[], now: number, timestamp: string): void {
    if (results.length === 0) return;
    this.#client
      .transaction(() => {
        const counts = new Map<number, Partial<Record<Counter, number>>>();
        const series = new Map<number, number[]>();
        const reasons: ReasonChange[] = [];
        const ended: number[] = [];
        for (const result of results) {
          const reply = stored(result.reply);
          const { changes } = this.#finish.run(DELIVERY_STATE[result.state], reply, result.due_at, now, result.id);
          if (result.suppress) {
            const { user_id, address_id, reply: diagnostic } = result;
            suppressAddress(this.#client, { user_id, address_id, kind: 'bounce', diagnostic, created_at: timestamp });
          }
          if (changes === 0) continue;
          reasons.push({ mailing_id: result.mailing_id, state: DELIVERY_STATE[result.state], reply, by: 1 });
          if (result.state === 'queued') continue;
          ended.push(result.id);
          if (result.in_series) {
            const ofMailing = series.get(result.mailing_id) ?? [];
            ofMailing.push(result.id);
            series.set(result.mailing_id, ofMailing);
          }
          const count = counts.get(result.mailing_id) ?? {};
          count[result.state] = (count[result.state] ?? 0) + 1;
          if (result.state === 'accepted') count.unmeasured = (count.unmeasured ?? 0) + result.is_unmeasured;
          counts.set(result.mailing_id, count);
        }
        for (const [mailingId, count] of counts) this.#count(mailingId, count);
        this.#countReasons(reasons);
        writeMailEvents(this.#client, ended);
        for (const [mailingId, ids] of series) advanceEnrolments(this.#client, mailingId, ids, 'through', now);
      })
      .immediate();
  }

  /**
   * Puts claims whose sending never started back into the queue, as if they had not been claimed. They keep their due time, or become due
   * at `due_at`.
   */
  requeue(claims: readonly { claim: Claim; due_at: number | null }[]): void {
    if (claims.length === 0) return;
    this.#client
      .transaction(() => {
        const reasons: ReasonChange[] = [];
        for (const { claim, due_at } of claims) {
          const { id, mailing_id, attempt } = claim;
          const requeued = this.#requeue.get(due_at, id);
          if (requeued === undefined) continue;
          reasons.push({ mailing_id, state: DELIVERY_STATE.queued, reply: requeued.reply, by: 1 });
          if (attempt === 0) this.#addTriggered.run(-1, mailing_id);
        }
        this.#countReasons(reasons);
      })
      .immediate();
  }

  /** Cancels up to `limit` queued recipients of a cancelled mailing. Returns their number. */
  cancelQueued(mailingId: number, limit: number, now: number): number {
    return this.#client
      .transaction(() => {
        const queued = this.#queued.all(mailingId, limit);
        if (queued.length === 0) return 0;
        const ids = queued.map(({ id }) => id);
        const cancelled = stored(sentence('mailing_cancelled'));
        this.#cancelAll.run({ now, ids: JSON.stringify(ids), reply: cancelled });
        this.#count(mailingId, { cancelled: ids.length });
        const change = { mailing_id: mailingId };
        this.#countReasons([
          ...queued.map(({ reply }) => ({ ...change, state: DELIVERY_STATE.queued, reply, by: -1 })),
          { ...change, state: DELIVERY_STATE.cancelled, reply: cancelled, by: ids.length },
        ]);
        advanceEnrolments(this.#client, mailingId, ids, 'cancelled', now);
        return ids.length;
      })
      .immediate();
  }

  #count(mailingId: number, count: Partial<Record<Counter, number>>): void {
    this.#counters.run({
      accepted: 0,
      unmeasured: 0,
      bounced: 0,
      failed: 0,
      suppressed: 0,
      cancelled: 0,
      ...count,
      mailing: mailingId,
    });
  }
}

/**
 * Writes the events `mail.accepted` and `mail.bounced` for deliveries that have just reached that state, if a webhook endpoint of the
 * account subscribes to them. A single statement writes all of them, because a trigger would cost time for every mail. Call it inside the
 * transaction that records the state.
 */
function writeMailEvents(client: Database, deliveryIds: readonly number[]): void {
  if (deliveryIds.length === 0) return;
  const isWanted = "SELECT 1 FROM webhook_wants WHERE event IN ('mail.accepted', 'mail.bounced') LIMIT 1";
  if (client.prepare(isWanted).get() === undefined) return;
  client.prepare(WRITE_MAIL_EVENTS).run({ ids: JSON.stringify(deliveryIds) });
}

const WRITE_MAIL_EVENTS = `
  INSERT INTO webhook_events (user_id, type, lane, data)
  SELECT m.user_id, w.event, d.address_id,
    json_object('email', a.normalized_email, 'contact_id', d.contact_id, 'delivery_id', d.id, 'mailing_id', m.id,
      'single_send_utr', s.utr, 'automation_utr', au.utr, 'by', NULL, 'url', NULL, 'reply', d.reply)
  FROM json_each(@ids) ids CROSS JOIN deliveries d ON d.id = ids.value CROSS JOIN mailings m ON m.id = d.mailing_id
    CROSS JOIN webhook_wants w ON w.user_id = m.user_id
      AND w.event = CASE d.state WHEN ${DELIVERY_STATE.accepted} THEN 'mail.accepted' WHEN ${DELIVERY_STATE.bounced} THEN 'mail.bounced' END
    CROSS JOIN addresses a ON a.id = d.address_id
    LEFT JOIN single_sends s ON m.owner_kind = 'single' AND s.id = m.owner_id LEFT JOIN automations au ON au.id = m.automation_id
  WHERE m.owner_kind IN ('single', 'schedule') ORDER BY ids.key`;

export const FINAL_STATES = ['accepted', 'bounced', 'failed', 'suppressed', 'cancelled'] as const;
export type FinalState = (typeof FINAL_STATES)[number];

/**
 * The result of sending to one recipient: a final state, or `queued` if the recipient waits until `due_at` (epoch milliseconds of the
 * steady clock).
 */
export interface Result {
  id: number;
  mailing_id: number;
  address_id: number;
  user_id: number;
  state: FinalState | 'queued';
  reply: Said;
  due_at: number;
  /** True if the address does not exist, so that no later mailing may be sent to it. */
  suppress: boolean;
  /** 1 if the mail does not reveal whether it was opened. */
  is_unmeasured: 0 | 1;
  /** True if the mail belongs to an automation, whose next mail waits for this one. */
  in_series: boolean;
}
