/** Watches mailings more closely than by their counters: those with a canary, and those held because of their results. */
import type { Database } from 'better-sqlite3';
import {
  type CANARY_STAGES,
  DELIVERY_STATE,
  type HeldCode,
  RESULT_HELD_CODES,
  type ResultHeldCode,
  type watchedMailings,
} from '../../database/schema/index.ts';
import { sentence } from '../../errors/sentences.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { MINUTE_MS } from '../../units.ts';
import type { Held } from '../queue/holds.ts';
import type { DomainCount, SeenDomains } from './domain-counts.ts';
import { countResults, exceededLimit, type Results } from './limits.ts';

/**
 * The number of recipients in the queue from which a mailing is held. With fewer, a hold would prevent little and only make recipients
 * wait.
 */
const MIN_WAITING = 100;

/**
 * Makes a new mailing begin with a canary of `percent` of its recipients. The rest waits for `minutes` after the canary. Call it inside a
 * transaction.
 */
export function beginWithCanary(client: Database, mailingId: number, percent: number, minutes: number): void {
  client
    .prepare("INSERT INTO watched_mailings (mailing_id, percent, minutes, stage) VALUES (?, ?, ?, 'choosing')")
    .run(mailingId, percent, minutes);
}

/** The results of a mailing, and the columns that decide whether they hold it. */
interface WatchedResults extends Results {
  /** The codes of the limits that the mailing may exceed, separated by spaces. */
  passed: string;
  /** 1 if the results may hold the mailing: its account has turned auto-pause on, or it has a canary. */
  is_watched: 0 | 1;
}

/** Returns why to hold a mailing because of its results; null if there is no reason, or if the results may not hold the mailing. */
export function findResultHold(client: Database, mailingId: number): Held | null {
  const results = readResults(client, mailingId);
  if (results.is_watched === 0) return null;
  const code = exceededLimit(results, results.passed.split(' '));
  if (code === null) return null;
  const waiting = client.prepare<[number], { count: number }>(WAITING).get(mailingId)?.count ?? 0;
  if (waiting < MIN_WAITING) return null;
  const held_reason = sentence(`held_${code}`, { ...results, results: countResults(results) });
  return { held_code: code, held_reason };
}

/** Reads the results of a mailing so far. Throws an Error if the mailing does not exist. */
export function readResults(client: Database, mailingId: number): WatchedResults {
  const results = client.prepare<[number], WatchedResults>(RESULTS).get(mailingId);
  if (results === undefined) throw new Error(`there is no mailing ${mailingId}`);
  return results;
}

const RESULTS = `
  SELECT m.delivered, m.bounces, m.failed, ifnull(w.passed, '') AS passed, a.auto_hold = 1 OR ifnull(w.percent, 0) > 0 AS is_watched,
    (SELECT count(*) FROM events WHERE kind = 'complaint' AND mailing_id = m.id) AS complaints
  FROM mailings m CROSS JOIN accounts a ON a.id = m.user_id LEFT JOIN watched_mailings w ON w.mailing_id = m.id WHERE m.id = ?`;

const WAITING = `
  SELECT count(*) AS count FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_queue
    WHERE mailing_id = ? AND state = ${DELIVERY_STATE.queued} LIMIT ${MIN_WAITING})`;

/**
 * Releases all recipients of a mailing that is held because of its results, or whose canary is being sent or waited for: ends the canary,
 * and lets the mailing pass the limits that hold it. Returns false for any other mailing. Call it inside the transaction that resumes the
 * mailing.
 */
export function releaseAll(client: Database, mailingId: number): boolean {
  const mailing = client
    .prepare<[number], { state: string; held_code: HeldCode | null }>(
      'SELECT state, held_code FROM mailings WHERE id = ?',
    )
    .get(mailingId);
  const code = RESULT_HELD_CODES.find((heldCode) => heldCode === mailing?.held_code);
  if (mailing?.state === 'sending') return releaseCanary(client, mailingId);
  if (mailing?.state !== 'held' || code === undefined) return false;
  releaseCanary(client, mailingId);
  passLimits(client, mailingId, [code]);
  return true;
}

/** Records that the mailing is no longer held for these codes, or for the limits that it exceeds now. Call it inside a transaction. */
export function passLimits(client: Database, mailingId: number, codes: readonly ResultHeldCode[] = []): void {
  const results = readResults(client, mailingId);
  const passed = [...new Set([...results.passed.split(' ').filter(Boolean), ...codes])];
  for (let code = exceededLimit(results, passed); code !== null; code = exceededLimit(results, passed))
    passed.push(code);
  if (passed.length === 0) return;
  client
    .prepare(
      'INSERT INTO watched_mailings (mailing_id, passed) VALUES (?, ?) ON CONFLICT DO UPDATE SET passed = excluded.passed',
    )
    .run(mailingId, passed.join(' '));
}

/** Ends the canary of a mailing. Returns false if it had none, or the canary had already ended. */
export function releaseCanary(client: Database, mailingId: number): boolean {
  return (
    client
      .prepare(
        "UPDATE watched_mailings SET stage = 'released', chosen = NULL WHERE mailing_id = ? AND stage <> 'released'",
      )
      .run(mailingId).changes > 0
  );
}

type NotSeen = { counted_at: null; domains: [] };

/** The stored details of a watched mailing. */
export interface Watch {
  canary_percent: number;
  canary_minutes: number;
  /** The stage of the canary; null without a canary. */
  canary_stage: (typeof CANARY_STAGES)[number] | null;
  canary_recipients: number;
  /** When the rest is sent unless a limit is exceeded, as an ISO timestamp; null while unknown. */
  continues_at: string | null;
  /** When the domains were counted, as an ISO timestamp; null before the first count. */
  counted_at: string | null;
  domains: DomainCount[];
}

/** Returns the details of a mailing that has a canary or was held because of its results; null for all others. */
export function findWatch(client: Database, mailingId: number): Watch | null {
  const row = client
    .prepare<[number], Omit<typeof watchedMailings.$inferSelect, 'chosen'> & { state: string }>(`
      SELECT w.mailing_id, w.percent, w.minutes, w.stage, w.size, w.tried_at, w.passed, w.seen, m.state
      FROM watched_mailings w CROSS JOIN mailings m ON m.id = w.mailing_id WHERE w.mailing_id = ?`)
    .get(mailingId);
  if (row === undefined) return null;
  const { percent, minutes, stage, size, tried_at, seen, state } = row;
  const { counted_at, domains }: SeenDomains | NotSeen =
    seen === null ? { counted_at: null, domains: [] } : JSON.parse(seen);
  return {
    canary_percent: percent,
    canary_minutes: minutes,
    canary_stage: percent === 0 ? null : stage,
    canary_recipients: size,
    continues_at: stage === 'waiting' && state === 'sending' ? isoTimestamp(continuesAt({ tried_at, minutes })) : null,
    counted_at,
    // Counts of earlier releases lack `kept`.
    domains: domains.map((domain) => ({ ...domain, kept: domain.kept ?? 0 })),
  };
}

/** Returns when the wait after a canary is over. */
export function continuesAt({
  tried_at,
  minutes,
}: Pick<typeof watchedMailings.$inferSelect, 'tried_at' | 'minutes'>): Date {
  return new Date(tried_at + minutes * MINUTE_MS);
}
