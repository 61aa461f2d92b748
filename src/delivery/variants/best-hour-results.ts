/** Compares the recipients who got a mailing at their best hour with those who got it at the start. */
import type { Database } from 'better-sqlite3';
import { BY_PERSON, DELIVERY_STATE } from '../../database/schema/index.ts';
import { HOUR_MS } from '../../units.ts';
import { differenceInterval, type Interval } from './statistics.ts';

/**
 * The time after the start of a mailing from which the groups are compared, in milliseconds. The last best hour comes within 24 hours, and
 * its contacts then have 72 hours to read.
 */
const COMPARED_AFTER_MS = (24 + 72) * HOUR_MS;

/** The results of the measured recipients of a group. */
export interface HourGroup {
  delivered: number;
  opened: number;
  clicked: number;
}

/** The results of the two groups. Differences are rates at the best hour minus rates at the start, as 95 % confidence intervals. */
export interface BestHourResults {
  at_best_hour: HourGroup;
  at_start: HourGroup;
  /**
   * When the groups can be compared, in epoch milliseconds. Before that, the recipients who got the mail at the start have had more time to
   * read it.
   */
  compared_at: number;
  /** The difference of the open rates; null before `compared_at`. */
  opened_more: Interval | null;
  /** The difference of the click rates; null before `compared_at`. */
  clicked_more: Interval | null;
}

/** Reads the results of a mailing; null if the mailing does not exist. At most 10 000 recipients got it at the start. */
export function bestHourResults(client: Database, mailingId: number, now: number): BestHourResults | null {
  const mailing = client
    .prepare<[number], HourGroup & { created_at: string }>(
      `SELECT delivered - unmeasured AS delivered, people_opens AS opened, people_clicks AS clicked, created_at FROM mailings WHERE id = ?`,
    )
    .get(mailingId);
  const at_start = client
    .prepare<[number], HourGroup>(`
      SELECT count(*) AS delivered, ifnull(sum(d.by_person & ${BY_PERSON.opened} > 0), 0) AS opened,
        ifnull(sum(d.by_person & ${BY_PERSON.clicked} > 0), 0) AS clicked
      FROM best_hour_holdouts h CROSS JOIN deliveries d ON d.id = h.delivery_id
      WHERE h.mailing_id = ? AND d.state = ${DELIVERY_STATE.accepted} AND d.is_unmeasured = 0`)
    .get(mailingId);
  if (mailing === undefined || at_start === undefined) return null;
  const rest = (of: keyof HourGroup) => Math.max(0, mailing[of] - at_start[of]);
  const at_best_hour = { delivered: rest('delivered'), opened: rest('opened'), clicked: rest('clicked') };
  const compared_at = Date.parse(mailing.created_at) + COMPARED_AFTER_MS;
  const more = (of: 'opened' | 'clicked') =>
    now < compared_at
      ? null
      : differenceInterval(
          { people: at_best_hour.delivered, successes: at_best_hour[of] },
          { people: at_start.delivered, successes: at_start[of] },
        );
  return { at_best_hour, at_start, compared_at, opened_more: more('opened'), clicked_more: more('clicked') };
}
