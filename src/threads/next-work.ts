/**
 * Computes when the background thread has work next, provided that the database is not written before. It is meant to be called after a
 * step that found nothing to do, so it covers what such a step leaves: work that waits for its time, and work that waits for something
 * other than a write.
 */
import type { Database } from 'better-sqlite3';
import { isImportUnderWay } from '../audience/import/running-imports.ts';
import { isIndexBehind } from '../audience/search/search-index.ts';
import { hasNewEvents } from '../audience/segments/follow-activity.ts';
import { DATE_STEP_MS } from '../automations/date-entries.ts';
import { MAX_LEAD_MS } from '../campaigns/launch.ts';
import { AUTOMATION_STATUS, DELIVERY_STATE, RESULT_HELD_CODES, SINGLE_SEND_STATUS } from '../database/schema/index.ts';
import { firstDueAt } from '../delivery/queue/enrolment-state.ts';
import { DAY_MS, HOUR_MS } from '../units.ts';

/** The longest rest. Removals of old records that are not listed below are delayed by at most this time. */
const MAX_REST_MS = HOUR_MS;

const RESULT_HELD = RESULT_HELD_CODES.map((code) => `'${code}'`).join();

/** The rows of work in progress. If there is one, the thread must not end: for mail without a final state it knows more than is on disk. */
const UNDER_WAY = [
  `FROM deliveries INDEXED BY deliveries_sending WHERE state = ${DELIVERY_STATE.sending}`,
  `FROM mailings m INDEXED BY mailings_unfinished WHERE finished_at IS NULL AND state = 'sending' AND EXISTS (
    SELECT 1 FROM deliveries d INDEXED BY deliveries_queue WHERE d.mailing_id = m.id AND d.state = ${DELIVERY_STATE.queued})`,
  "FROM mailings INDEXED BY mailings_unfinished WHERE finished_at IS NULL AND state NOT IN ('sending', 'held')",
  `FROM mailings INDEXED BY mailings_unfinished WHERE finished_at IS NULL AND state = 'held' AND held_code IN (${RESULT_HELD})`,
  'FROM mailings INDEXED BY mailings_unacknowledged WHERE acknowledged_state <> state',
  `FROM watched_mailings w INDEXED BY watched_mailings_canary CROSS JOIN mailings m ON m.id = w.mailing_id
    WHERE w.stage <> 'released' AND m.finished_at IS NULL`,
  'FROM ab_tests WHERE is_released = 0',
  `FROM transactional_mails INDEXED BY transactional_mails_queue WHERE state = ${DELIVERY_STATE.queued}`,
  `FROM transactional_mails INDEXED BY transactional_mails_sending WHERE state = ${DELIVERY_STATE.sending}`,
  'FROM dated_fields WHERE filled_to IS NOT NULL',
  'FROM rezoned_contacts',
  'FROM segments INDEXED BY segments_recomputing WHERE recompute_after IS NOT NULL',
  "FROM unfinished_writes WHERE kind = 'empty-log'",
];

/** The times at which scheduled work is due, in epoch milliseconds; null if there is none of a kind. */
const DUE = [
  // Campaigns by the recipients' local time are launched earlier, because their day begins earlier in some zones.
  `min(starts_at - iif(local_time = 1, ${MAX_LEAD_MS}, 0)) FROM single_sends INDEXED BY single_sends_due WHERE status = ${SINGLE_SEND_STATUS.queued}`,
  `min(${firstDueAt('automations.id')}) FROM automations WHERE status = ${AUTOMATION_STATUS.live} AND deleted_at IS NULL`,
  `min(dates_checked_to / ${DATE_STEP_MS} + 1) * ${DATE_STEP_MS} FROM automations INDEXED BY automations_dates
    WHERE trigger_kind = 'date' AND status = ${AUTOMATION_STATUS.live} AND deleted_at IS NULL`,
  'min(check_at) FROM segments INDEXED BY segments_checks WHERE check_at IS NOT NULL',
  'min(iif(lift_to IS NULL, next_at, 0)) FROM sunsets WHERE lift_to IS NOT NULL OR is_on = 1',
  "min(poll_at) FROM feeds INDEXED BY feeds_poll WHERE state = 'active'",
  "min(issue_at) FROM feeds INDEXED BY feeds_issue WHERE state = 'active' AND issue_at IS NOT NULL",
  "min(expires_at) FROM form_requests INDEXED BY form_requests_expiring WHERE email <> ''",
  `min(asked_at) + ${30 * DAY_MS} FROM form_requests`,
  `min(created_at) + ${DAY_MS} FROM transactional_mails INDEXED BY transactional_mails_keyed WHERE idempotency_key IS NOT NULL`,
];

const IS_UNDER_WAY = `SELECT ${UNDER_WAY.map((rows) => `EXISTS (SELECT 1 ${rows})`).join(' OR ')}`;
const NEXT_DUE = `SELECT min(at) FROM (SELECT NULL AS at UNION ALL ${DUE.map((due) => `SELECT ${due}`).join(' UNION ALL ')})`;

/** Returns the time of the next work in epoch milliseconds, at most an hour after `now`; `now` if work is in progress or due. */
export function nextWorkAt(client: Database, now: number): number {
  const isUnderWay = client.prepare<[], number>(IS_UNDER_WAY).pluck().get() === 1;
  if (isUnderWay || isImportUnderWay() || isIndexBehind(client) || hasNewEvents(client)) return now;
  const due = client.prepare<[], number | null>(NEXT_DUE).pluck().get();
  return Math.max(now, Math.min(due ?? Number.POSITIVE_INFINITY, now + MAX_REST_MS));
}
