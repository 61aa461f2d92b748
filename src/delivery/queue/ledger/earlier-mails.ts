/**
 * Marks the mails that contacts received before their account set a frequency cap as counted, because these mails count, too. The
 * background thread marks them, newest mailing first. Until it has finished, each claim marks them for its recipients.
 */
import type { Database } from 'better-sqlite3';
import { inChunks } from '../../../database/bulk.ts';
import { type CapProgress, isReceivedOrUnderway, MAILING_ENDED } from '../../../database/schema/index.ts';
import { isBusy } from '../../../database/write-lock.ts';
import { isoTimestamp } from '../../../time/clock.ts';
import { DAY_MS } from '../../../units.ts';
import { MAX_CAP_DAYS } from '../../timing/mail-caps.ts';

/** How long one call works in the background thread, in milliseconds. */
const BACKGROUND_MS = 20;
/** How long one call works in a request, in milliseconds. */
const REQUEST_MS = 200;

const IS_CAPPED = "owner_kind IN ('single', 'schedule')";

/**
 * Returns the time before which no mail counts. This is the longest period and one more day ago, because the day may have begun earlier in
 * the time zone of schedules. `now` is in epoch milliseconds.
 */
function countedSince(now: number): string {
  return isoTimestamp(new Date(now - (MAX_CAP_DAYS + 1) * DAY_MS));
}

/**
 * Marks the earlier mails of the contacts with these address ids. Call it inside the transaction that claims them. `now` is in epoch
 * milliseconds.
 */
export function markEarlierMails(client: Database, account: number, people: readonly number[], now: number): void {
  client.prepare(MARK_OF_PEOPLE).run({ account, since: countedSince(now), people: JSON.stringify(people) });
}

const MARK_OF_PEOPLE = `
  UPDATE deliveries SET counts_to_caps = 1 WHERE counts_to_caps = 0 AND ${isReceivedOrUnderway()} AND id IN (
    SELECT d.id FROM mailings INDEXED BY mailings_recent CROSS JOIN json_each(@people) p
      CROSS JOIN deliveries d INDEXED BY deliveries_person ON d.mailing_id = mailings.id AND d.address_id = p.value
    WHERE user_id = @account AND ${IS_CAPPED} AND ${MAILING_ENDED} >= @since)`;

/** Marks earlier mails of accounts for a short time. Returns true if there are more. `now` is in epoch milliseconds. */
export function continueEarlierMails(client: Database, now: number): Promise<boolean> {
  return mark(client, now, BACKGROUND_MS);
}

/**
 * Marks earlier mails of accounts in a request that changed a frequency cap, so that the mails of a small account are marked before the
 * reply.
 */
export async function markEarlierMailsSoon(client: Database, now: number): Promise<void> {
  try {
    await mark(client, now, REQUEST_MS);
  } catch (error) {
    // Another process holds the write lock, so the background thread will mark the mails.
    if (!isBusy(error)) throw error;
  }
}

async function mark(client: Database, now: number, forMs: number): Promise<boolean> {
  if (findUnfinished(client) === undefined) return false;
  const until = performance.now() + forMs;
  let hasMore = true;
  await inChunks(
    client,
    (rows) => {
      hasMore = markSome(client, rows, countedSince(now));
      return hasMore && performance.now() < until;
    },
    forMs,
  );
  return hasMore;
}

interface Unfinished {
  account: number;
  progress: string;
}

function findUnfinished(client: Database): Unfinished | undefined {
  const text = `SELECT id AS account, mail_caps_progress AS progress FROM accounts INDEXED BY accounts_mail_caps_progress
    WHERE mail_caps_progress IS NOT NULL LIMIT 1`;
  return client.prepare<[], Unfinished>(text).get();
}

/** Marks the mails among the next `rows` deliveries of one account. Returns false if the mails of all accounts are marked. */
function markSome(client: Database, rows: number, since: string): boolean {
  const unfinished = findUnfinished(client);
  if (unfinished === undefined) return false;
  const { account } = unfinished;
  const progress: CapProgress = JSON.parse(unfinished.progress);
  const last = client
    .prepare<[object], number | null>(`SELECT max(id) FROM (SELECT id FROM deliveries INDEXED BY deliveries_mailing
      WHERE mailing_id = @mailing AND id > @delivery ORDER BY id LIMIT @rows)`)
    .pluck()
    .get({ ...progress, rows });
  if (last != null) client.prepare(MARK_OF_MAILING).run({ ...progress, last });
  const next = last == null ? findNextMailing(client, account, progress, since) : { ...progress, delivery: last };
  client
    .prepare('UPDATE accounts SET mail_caps_progress = ? WHERE id = ?')
    .run(next === null ? null : JSON.stringify(next), account);
  return true;
}

const MARK_OF_MAILING = `
  UPDATE deliveries SET counts_to_caps = 1 WHERE counts_to_caps = 0 AND ${isReceivedOrUnderway()} AND id IN (
    SELECT id FROM deliveries INDEXED BY deliveries_mailing WHERE mailing_id = @mailing AND id > @delivery AND id <= @last)`;

/**
 * Returns the next mailing in the order of their end, latest first; null if there are no more. Unfinished mailings come first. A mailing
 * that ends during the search gets a later place, so it may be returned twice.
 */
function findNextMailing(client: Database, account: number, before: CapProgress, since: string): CapProgress | null {
  const next = client
    .prepare<[object], CapProgress>(`
    SELECT id AS mailing, ${MAILING_ENDED} AS ended, 0 AS delivery FROM mailings INDEXED BY mailings_recent
    WHERE user_id = @account AND ${IS_CAPPED} AND ${MAILING_ENDED} BETWEEN @since AND @ended AND (${MAILING_ENDED}, id) < (@ended, @mailing)
    ORDER BY ${MAILING_ENDED} DESC, id DESC LIMIT 1`)
    .get({ ...before, account, since });
  return next ?? null;
}
