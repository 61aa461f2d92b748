/** The report of an automation: its people by state and reason, and its mails with their counters. */
import type { Db } from '../database/open.ts';
import { sendingHeldReason } from '../delivery/queue/hold.ts';
import type { Automation } from './automations.ts';

export interface AutomationReport {
  status: number;
  /** Why Sendlark moved it back to draft, or why one of its mails or all sending is held. */
  held_reason: string | null;
  people: { state: string; reason: string | null; count: number }[];
  mails: {
    /** Null for a deleted mail, whose counters still show what it sent. */
    utr: string | null;
    subject: string;
    triggered: number;
    delivered: number;
    unique_opens: number;
    total_opens: number;
    bounces: number;
    unsubscribes: number;
    /** People whose next mail this is, including those for whom it is queued. */
    waiting: number;
    /** Null for a deleted mail. */
    tracking: number | null;
  }[];
}

/** The report of an automation. The counters of each mail, deleted ones included, are summed over all its revisions. */
export function automationReport(db: Db, automation: Automation): AutomationReport {
  const places = db.$client
    .prepare<[number], Place>(`
      SELECT iif(state = 'active', 'waiting', state) AS state, reason, schedule_id, count(*) AS count FROM enrolments
      WHERE automation_id = ? GROUP BY 1, 2, 3 ORDER BY 1, 2`)
    .all(automation.id);
  const mails = db.$client
    .prepare<Record<string, number>, Omit<AutomationReport['mails'][number], 'waiting'> & { id: number }>(`
      SELECT l.id, s.utr, ifnull(s.subject, (SELECT content ->> '$.content.subject' FROM mailings
          WHERE owner_kind = 'schedule' AND owner_id = l.id ORDER BY revision DESC LIMIT 1)) AS subject,
        ifnull(sum(triggered), 0) AS triggered, ifnull(sum(delivered), 0) AS delivered,
        ifnull(sum(unique_opens), 0) AS unique_opens, ifnull(sum(total_opens), 0) AS total_opens,
        ifnull(sum(bounces), 0) AS bounces, ifnull(sum(unsubscribes), 0) AS unsubscribes, s.tracking
      FROM (SELECT id FROM automation_schedules WHERE automation_id = @id
          UNION SELECT owner_id FROM mailings WHERE automation_id = @id AND owner_kind = 'schedule') l
        LEFT JOIN automation_schedules s ON s.id = l.id
        LEFT JOIN mailings m ON m.owner_kind = 'schedule' AND m.owner_id = l.id
      GROUP BY l.id ORDER BY l.id`)
    .all({ id: automation.id });
  const held = db.$client
    .prepare<[number], string | null>(
      "SELECT held_reason FROM mailings WHERE automation_id = ? AND state = 'held' ORDER BY id LIMIT 1",
    )
    .pluck()
    .get(automation.id);
  const sendingHeld = automation.status === 1 ? sendingHeldReason(db.$client) : null;
  const inPlace = mails.filter(({ utr }) => utr !== null).map(({ id }) => id);
  return {
    status: automation.status,
    held_reason: automation.held_reason ?? held ?? sendingHeld,
    people: countPeople(places),
    mails: mails.map(({ id, ...mail }) => ({
      ...mail,
      waiting: mail.utr === null ? 0 : countWaiting(id, inPlace, places),
    })),
  };
}

/** How many people of the same state and reason have had the same last mail. */
interface Place {
  state: string;
  reason: string | null;
  /** The last mail they have had; 0 at entry. */
  schedule_id: number;
  count: number;
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

/** How many people wait for a mail: those who have had every mail before it, but not this one. */
function countWaiting(schedule: number, inPlace: readonly number[], places: readonly Place[]): number {
  return places
    .filter(({ state, schedule_id: had }) => state === 'waiting' && inPlace.find((id) => id > had) === schedule)
    .reduce((sum, { count }) => sum + count, 0);
}
