/** What one contact waits for at a step, how long at most, and what would change the wait. */
import { listCustomFields } from '../../audience/fields/custom-fields.ts';
import type { Db } from '../../database/open.ts';
import { waitMs } from '../../delivery/queue/enrolment-state.ts';
import { minuteOf } from '../../delivery/reporting/why.ts';
import { findZone } from '../../delivery/timing/place-zones.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { wallClock } from '../../time/zones.ts';
import { HOUR_MS } from '../../units.ts';
import type { ListedSchedule } from '../automations.ts';
import { CONTACT_ID, CONTACT_JOINS } from '../enrolled-contact.ts';
import { goesOnAt, type WaitingContact, waitColumns } from '../waits.ts';

/** What a contact waits for. */
export interface Awaited {
  /** A sentence that says what the contact waits for, and until when. */
  awaits: Said;
  /** What would let the contact go on at another time or on another path; null while the automation is not live. */
  change: Said | null;
  /** The latest time at which the contact goes on, in epoch milliseconds. */
  due: number;
}

/**
 * Returns what the contact of an enrolment waits for at a step at `now` (epoch milliseconds). Null if contacts do not wait at such a step,
 * if the contact has not reached the step, or if the wait is over.
 * @param zone The time zone of contacts whose own time zone is unknown.
 * @param isLive Whether the automation is live, so that contacts go on when their wait is over.
 */
export function findAwaited(
  db: Db,
  enrolment: number,
  step: ListedSchedule,
  { now, zone, isLive }: { now: number; zone: string; isLive: boolean },
): Awaited | null {
  if (step.kind !== 'wait_until') return null;
  const contact = db.$client
    .prepare<[number], WaitingContact>(
      `SELECT e.id, e.address_id, ${CONTACT_ID} AS contact_id, ${waitColumns(db, step)}
      FROM enrolments e JOIN automations au ON au.id = e.automation_id ${CONTACT_JOINS} WHERE e.id = ?`,
    )
    .get(enrolment);
  if (contact === undefined) return null;
  const began = contact.waiting_since + waitMs(step);
  if (began > now) return null;
  const due = goesOnAt(step, contact, { now, zone });
  if (due <= now) return null;
  const ifLive = (change: Said) => (isLive ? change : null);
  const timeout = minuteOf(isoTimestamp(new Date(began + (step.timeout_hours ?? 0) * HOUR_MS)));
  const contactZone = findZone(contact) ?? zone;
  const event = step.event ?? '';
  switch (step.until) {
    case 'event':
      return {
        awaits: step.event_filter
          ? sentence('awaits_filtered_until', { event, filter: step.event_filter, time: timeout })
          : sentence('awaits_event_until', { event, time: timeout }),
        change: ifLive(sentence('awaits_event_change')),
        due,
      };
    case 'date': {
      const field = listCustomFields(db, step.user_id).find(({ id }) => id === step.field_id)?.field_name ?? '–';
      const date = contact.date || '–';
      return {
        awaits: sentence('awaits_date_until', { field, date, zone: contactZone, time: timeout }),
        change: ifLive(sentence('awaits_date_change', { field })),
        due,
      };
    }
    default: {
      const { date, time } = wallClock(new Date(due), contactZone);
      return {
        awaits: sentence('awaits_hour_until', { time: `${date} ${time.slice(0, 'HH:MM'.length)}`, zone: contactZone }),
        change: ifLive(sentence('awaits_hour_change')),
        due,
      };
    }
  }
}
