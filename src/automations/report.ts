/** The report of an automation: its people by state and reason, and its mails with their counters. */
import { isoTimestamp } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { AUTOMATION_STATUS } from '../database/schema/index.ts';
import { type ReportedHold, reportedHold } from '../delivery/queue/held.ts';
import { keptMails } from '../delivery/reporting/kept-mails.ts';
import type { Automation, Schedule } from './automations.ts';

/** The hold is why Sendlark moved it back to draft, or why one of its mails or all sending is held. */
export type AutomationReport = ReportedHold & {
  status: number;
  people: { state: string; reason: string | null; count: number }[];
  mails: {
    /** Null for a deleted mail, whose counters still show what it sent. */
    utr: string | null;
    subject: string;
    triggered: number;
    delivered: number;
    /** Those of them that the outbox took, so that they never left. */
    kept: number;
    unmeasured: number;
    unique_opens: number;
    people_opens: number;
    total_opens: number;
    bounces: number;
    unsubscribes: number;
    /** People whose next mail this is, including those for whom it is queued. */
    waiting: number;
    /** Null for a deleted mail, as the next three. */
    tracking: number | null;
    waiting_type: Schedule['waiting_type'] | null;
    waiting_period: number | null;
    /** When the first of the people for whom it is not queued yet gets it; null where there is nobody or the automation is not live. */
    next_due_at: string | null;
  }[];
};

/** The report of an automation. The counters of each mail, deleted ones included, are summed over all its revisions. */
export function automationReport(db: Db, automation: Automation): AutomationReport {
  const places = db.$client
    .prepare<[number], Place>(`
      SELECT iif(state = 'active', 'waiting', state) AS state, nullif(reason, '') AS reason,
        ifnull((SELECT m.landing FROM moved_mails m WHERE m.automation_id = c.automation_id AND m.position > c.position
          ORDER BY m.position LIMIT 1), c.position) AS position, sum(people) AS count,
        (SELECT min(e.due_at) FROM enrolments e INDEXED BY enrolments_place WHERE e.automation_id = c.automation_id
          AND e.position = c.position AND e.state = 'active' AND e.delivery_id IS NULL AND c.state = 'active') AS due
      FROM enrolment_counts c WHERE automation_id = ? AND people > 0 GROUP BY 1, 2, 3 ORDER BY 1, 2`)
    .all(automation.id);
  const mails = db.$client
    .prepare<
      Record<string, number>,
      Omit<AutomationReport['mails'][number], 'waiting' | 'next_due_at'> & ReportedPlace
    >(`
      SELECT l.id, s.utr, s.position, ifnull(s.subject, (SELECT content ->> '$.content.subject' FROM mailings
          WHERE owner_kind = 'schedule' AND owner_id = l.id ORDER BY revision DESC LIMIT 1)) AS subject,
        ifnull(sum(triggered), 0) AS triggered, ifnull(sum(delivered), 0) AS delivered, sum(${keptMails('m')}) AS kept,
        ifnull(sum(unmeasured), 0) AS unmeasured,
        ifnull(sum(unique_opens), 0) AS unique_opens, ifnull(sum(total_opens), 0) AS total_opens,
        ifnull(sum(people_opens), 0) AS people_opens,
        ifnull(sum(bounces), 0) AS bounces, ifnull(sum(unsubscribes), 0) AS unsubscribes, s.tracking, s.waiting_type, s.waiting_period
      FROM (SELECT id FROM automation_schedules WHERE automation_id = @id
          UNION SELECT owner_id FROM mailings INDEXED BY mailings_automation WHERE automation_id = @id AND owner_kind = 'schedule') l
        LEFT JOIN automation_schedules s ON s.id = l.id
        LEFT JOIN mailings m ON m.owner_kind = 'schedule' AND m.owner_id = l.id
      GROUP BY l.id ORDER BY ifnull(s.position, l.id), l.id`)
    .all({ id: automation.id });
  const mailing = db.$client
    .prepare<[number], Pick<Automation, 'held_code' | 'held_reason'>>(
      "SELECT held_code, held_reason FROM mailings WHERE automation_id = ? AND state = 'held' ORDER BY id LIMIT 1",
    )
    .get(automation.id);
  const inPlace = mails.flatMap(({ position }) => position ?? []);
  return {
    status: automation.status,
    ...reportedHold(db.$client, [automation, mailing], automation.status === AUTOMATION_STATUS.live),
    people: countPeople(places),
    mails: mails.map(({ id: _, position, ...mail }) => ({ ...mail, ...waitingFor(position) })),
  };

  function waitingFor(position: number | null) {
    const before = places.filter(
      ({ state, position: at }) =>
        state === 'waiting' && position !== null && inPlace.find((place) => place > at) === position,
    );
    const due = before.flatMap((place) => place.due ?? []);
    const isDue = automation.status === AUTOMATION_STATUS.live && due.length > 0;
    return {
      waiting: before.reduce((sum, { count }) => sum + count, 0),
      next_due_at: isDue ? isoTimestamp(new Date(Math.min(...due))) : null,
    };
  }
}

interface ReportedPlace {
  id: number;
  /** Null for a deleted mail. */
  position: number | null;
}

/** How many people of the same state and reason are at the same place. */
interface Place {
  state: string;
  reason: string | null;
  /** Mails with a higher position are ahead of them. */
  position: number;
  count: number;
  /** When the first of those who wait there is due, epoch milliseconds; null where nobody waits, or for all of them a mail is queued. */
  due: number | null;
}

/** The people by state and reason, whichever mail they had last. */
function countPeople(places: readonly Place[]): AutomationReport['people'] {
  const people: AutomationReport['people'] = [];
  for (const { state, reason, count } of places) {
    const last = people.at(-1);
    if (last?.state === state && last.reason === reason) last.count += count;
    else people.push({ state, reason, count });
  }
  return people;
}
