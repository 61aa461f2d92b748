/**
 * The results of recipients who got a mailing at their best hour, beside the results of recipients who got it at the
 * start.
 */
import type { Database } from 'better-sqlite3';
import { BY_PERSON, DELIVERY_STATE } from '../../database/schema/index.ts';
import { differenceInterval, type Interval } from './statistics.ts';

const HOUR_MS = 3_600_000;
/** After the last of the best hours, contacts have this long to read before the groups are compared. */
const COMPARED_AFTER_MS = (24 + 72) * HOUR_MS;

/** What the recipients of a group did with the mail, without those who are unmeasured. */
export interface HourGroup {
  delivered: number;
  opened: number;
  clicked: number;
}

/** The comparison. Differences are rates at the best hour minus rates at the start, as 95 % confidence intervals. */
export interface BestHourResults {
  at_best_hour: HourGroup;
  at_start: HourGroup;
  /**
   * When the groups can be compared, epoch milliseconds. Earlier, the recipients who got the mail at the start had more
   * time to read it.
   */
  compared_at: number;
  /** Null before `compared_at`. */
  opened_more: Interval | null;
  clicked_more: Interval | null;
}

/** Reads the results of a mailing, of which at most 10 000 recipients got it at the start. Null for an unknown mailing. */
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
