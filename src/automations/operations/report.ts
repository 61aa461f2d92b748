/** The report of an automation: its people by state and reason, and its mails with their counters. */
import Type, { type Static } from 'typebox';
import type { Db } from '../../database/open.ts';
import { AUTOMATION_STATUS, HELD_CODES } from '../../database/schema/index.ts';
import { COMMON_HELD_CODES, reportedHold } from '../../delivery/queue/held.ts';
import { keptMails } from '../../delivery/reporting/kept-mails.ts';
import { sentenceCode } from '../../errors/sentences.ts';
import { choice, integer, isoTimestampSchema, nullable, zeroOrOne } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { type Automation, requireAutomation } from '../automations.ts';
import { ByUtr } from './automations.ts';

const Report = Type.Object({
  status: integer({ description: '0: draft; 1: live.' }),
  held_code: nullable(choice(...HELD_CODES, ...COMMON_HELD_CODES)),
  held_reason: nullable(Type.String()),
  people: Type.Array(
    Type.Object({
      state: Type.String(),
      reason: nullable(Type.String()),
      reason_code: nullable(Type.String()),
      count: integer(),
    }),
  ),
  mails: Type.Array(
    Type.Object({
      utr: nullable(Type.String()),
      subject: Type.String(),
      triggered: integer(),
      delivered: integer(),
      kept: integer(),
      unmeasured: integer(),
      unique_opens: integer(),
      people_opens: integer(),
      total_opens: integer(),
      bounces: integer(),
      unsubscribes: integer(),
      waiting: integer({ description: 'Number of people whose next mail this is.' }),
      tracking: nullable(zeroOrOne()),
      waiting_type: nullable(choice('instantly', 'hours', 'days')),
      waiting_period: nullable(integer()),
      next_due_at: nullable(isoTimestampSchema()),
    }),
  ),
});
/**
 * The report of an automation. The hold is why Sendlark moved it back to draft, or why one of its mails or all sending is held. A deleted
 * mail has no utr, tracking and wait, but the counters of what it sent. `next_due_at` is when the first of those who wait, and for whom the
 * mail is not queued yet, gets it; null while the automation is not live.
 */
export type Report = Static<typeof Report>;
/** A mail in a report. */
export type ReportedMail = Report['mails'][number];

/** The report of an automation. The counters of each mail, deleted ones included, are summed over all its revisions. */
function automationReport(db: Db, automation: Automation): Report {
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
    .prepare<Record<string, number>, Omit<ReportedMail, 'waiting' | 'next_due_at'> & ReportedPlace>(`
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
function countPeople(places: readonly Place[]): Report['people'] {
  const people: Report['people'] = [];
  for (const { state, reason, count } of places) {
    const last = people.at(-1);
    if (last?.state === state && last.reason === reason) last.count += count;
    else people.push({ state, reason, reason_code: sentenceCode(reason), count });
  }
  return people;
}

export const readReport = operation({
  name: 'Read the report of an automation (addition)',
  role: 'viewer',
  input: ByUtr,
  output: Type.Object({ report: Report }),
  run: ({ db, accountId }, { utr }) => ({ report: automationReport(db, requireAutomation(db, accountId, utr)) }),
});
