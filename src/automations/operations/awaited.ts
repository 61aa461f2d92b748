/** What one contact waits for at a step, until when, and what would change it. */
import { listCustomFields } from '../../audience/fields/custom-fields.ts';
import type { Db } from '../../database/open.ts';
import { waitMs } from '../../delivery/queue/enrolment-state.ts';
import { minuteOf } from '../../delivery/reporting/why.ts';
import { findZone } from '../../delivery/timing/local-times.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { wallClock } from '../../time/zones.ts';
import type { ListedSchedule } from '../automations.ts';
import { CONTACT, WITH_PERSON } from '../enrolled-person.ts';
import { goesOnAt, type WaitingContact, waitColumns } from '../waits.ts';

const HOUR_MS = 3_600_000;

/** What a contact waits for. */
export interface Awaited {
  /** What it is, and until when. */
  awaits: Said;
  /** What would change when the contact goes on, or by which path; null: nothing while the automation is not live. */
  change: Said | null;
  /** When the contact goes on at the latest, epoch milliseconds. */
  due: number;
}

/**
 * Returns what the contact of an enrolment waits for at a step; null if it is no such step, or at `now`, epoch milliseconds, the contact has
 * not come to it or what it waits for has come. `zone`: of contacts without one. `isLive`: whether contacts go on at all.
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
      `SELECT e.id, e.address_id, ${CONTACT} AS contact_id, ${waitColumns(db, step)}
      FROM enrolments e JOIN automations au ON au.id = e.automation_id ${WITH_PERSON} WHERE e.id = ?`,
    )
    .get(enrolment);
  if (contact === undefined) return null;
  const began = contact.waiting_since + waitMs(step);
  if (began > now) return null;
  const due = goesOnAt(step, contact, { now, zone });
  if (due <= now) return null;
  const ifLive = (change: Said) => (isLive ? change : null);
  const time = (moment: number) => minuteOf(isoTimestamp(new Date(moment)));
  const end = time(began + (step.timeout_hours ?? 0) * HOUR_MS);
  const theirs = findZone(contact) ?? zone;
  const event = step.event ?? '';
  switch (step.until) {
    case 'event':
      return {
        awaits: step.event_filter
          ? sentence('awaits_filtered_until', { event, filter: step.event_filter, time: end })
          : sentence('awaits_event_until', { event, time: end }),
        change: ifLive(sentence('awaits_event_change')),
        due,
      };
    case 'date': {
      const field = listCustomFields(db, step.user_id).find(({ id }) => id === step.field_id)?.field_name ?? '–';
      const date = contact.date || '–';
      return {
        awaits: sentence('awaits_date_until', { field, date, zone: theirs, time: end }),
        change: ifLive(sentence('awaits_date_change', { field })),
        due,
      };
    }
    default: {
      const there = wallClock(new Date(due), theirs);
      return {
        awaits: sentence('awaits_hour_until', { time: `${there.date} ${there.time.slice(0, 5)}`, zone: theirs }),
        change: ifLive(sentence('awaits_hour_change')),
        due,
      };
    }
  }
}
