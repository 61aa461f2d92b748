/** A look ahead and a look back: what one person receives from an automation and when, and what became of everybody (decisions §5). */
import type { Database } from 'better-sqlite3';
import { parseAddress } from '../audience/addresses.ts';
import { wireTime } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { leftOut } from '../delivery/ledger.ts';
import { type Automation, type Schedule, schedulesOf } from './automations.ts';

const HOUR = 3_600_000;

export interface Outlook {
  /** waiting: in it, with mails to come; finished and left: no more; outside: never entered. */
  state: 'waiting' | 'finished' | 'left' | 'outside';
  /** Why they left, would leave at the next mail, or are outside; null when nothing stands in the way. */
  reason: string | null;
  entered_at: string | null;
  /** Every mail in order: when it went, or when it is due as things are; both null when it will not go. */
  mails: { utr: string; subject: string; sent_at: string | null; due_at: string | null }[];
}

interface Enrolment {
  id: number;
  state: 'active' | 'finished' | 'left';
  reason: string | null;
  entered_at: number;
  schedule_id: number;
  due_at: number;
}

/** What the person of this address receives and when. Someone outside is told what would come if they joined at `now`. */
export function outlookOf(db: Db, automation: Automation, email: string, now: number): Outlook {
  const client = db.$client;
  const addressId = client
    .prepare<[number, string], number>('SELECT id FROM addresses WHERE user_id = ? AND compared_email = ?')
    .pluck()
    .get(automation.user_id, parseAddress(email)?.compared ?? '');
  const enrolment = client
    .prepare<[number, number], Enrolment>('SELECT * FROM enrolments WHERE automation_id = ? AND address_id = ?')
    .get(automation.id, addressId ?? 0);
  const obstacle = addressId === undefined ? null : obstacleFor(client, automation, addressId);
  const isMember = addressId !== undefined && isInTarget(client, automation, addressId);
  const schedules = schedulesOf(db, automation.id);
  if (enrolment === undefined) {
    const reason = obstacle ?? (isMember ? 'joined before it went live, or while it was paused' : 'not in the target');
    return {
      state: 'outside',
      reason,
      entered_at: null,
      mails: planned(schedules, 0, now + waitOf(schedules[0]), new Map()),
    };
  }
  const leaves = obstacle ?? (automation.exit_criteria === 1 && !isMember ? 'left the target' : null);
  const isOver = enrolment.state !== 'active' || leaves !== null;
  return {
    state: enrolment.state === 'active' ? 'waiting' : enrolment.state,
    reason: enrolment.state === 'active' ? leaves : enrolment.reason,
    entered_at: wireTime(new Date(enrolment.entered_at)),
    mails: planned(
      schedules,
      enrolment.schedule_id,
      isOver ? null : Math.max(now, enrolment.due_at),
      sentTo(client, enrolment.id),
    ),
  };
}

/** Mails up to the place passed with when they went; the others from `due` on, each waiting from the one before it. */
function planned(
  schedules: readonly Schedule[],
  passed: number,
  due: number | null,
  sent: ReadonlyMap<number, number>,
): Outlook['mails'] {
  let next = due;
  return schedules.map((schedule, at) => {
    const sentAt = sent.get(schedule.id);
    const dueAt = schedule.id > passed ? next : null;
    if (dueAt !== null) next = dueAt + waitOf(schedules[at + 1]);
    const timed = (moment: number | null | undefined) =>
      moment === null || moment === undefined ? null : wireTime(new Date(moment));
    return { utr: schedule.utr, subject: schedule.subject, sent_at: timed(sentAt), due_at: timed(dueAt) };
  });
}

function waitOf(schedule: Schedule | undefined): number {
  if (schedule === undefined || schedule.waiting_type === 'instantly') return 0;
  return schedule.waiting_period * (schedule.waiting_type === 'days' ? 24 * HOUR : HOUR);
}

function sentTo(client: Database, enrolmentId: number): Map<number, number> {
  const steps = client
    .prepare<[number], { schedule_id: number; taken_at: number }>(
      'SELECT schedule_id, taken_at FROM steps WHERE enrolment_id = ?',
    )
    .all(enrolmentId);
  return new Map(steps.map(({ schedule_id, taken_at }) => [schedule_id, taken_at]));
}

/** Why the next mail would not go to this person, apart from the target. */
function obstacleFor(client: Database, automation: Automation, addressId: number): string | null {
  const reason = client
    .prepare<Record<string, number>, string | null>(`
      SELECT ${leftOut('p')} FROM (SELECT @address AS address_id, NULL AS contact_id) p
        CROSS JOIN (SELECT @group AS unsubscribe_group_id, 'schedule' AS owner_kind) m LEFT JOIN contacts c ON c.id = p.contact_id`)
    .pluck()
    .get({ address: addressId, group: Number(automation.unsubscribe_group_id) });
  return reason ?? null;
}

function isInTarget(
  client: Database,
  { automation_for, automation_for_table }: Automation,
  addressId: number,
): boolean {
  const members =
    automation_for_table === 'segments'
      ? 'SELECT 1 FROM segment_recipients WHERE segment_id = ? AND address_id = ? AND is_removed = 0'
      : 'SELECT 1 FROM contacts WHERE contact_type_id = ? AND address_id = ? AND deleted_at IS NULL';
  return client.prepare(members).get(automation_for, addressId) !== undefined;
}

export interface AutomationReport {
  status: number;
  held_reason: string | null;
  people: { state: string; reason: string | null; count: number }[];
  mails: {
    utr: string;
    subject: string;
    triggered: number;
    delivered: number;
    unique_opens: number;
    total_opens: number;
    bounces: number;
    unsubscribes: number;
    tracking: number;
  }[];
}

/** How many people are where, why people left, and each mail's counters over all its revisions. */
export function reportOf(db: Db, automation: Automation): AutomationReport {
  const people = db.$client
    .prepare<[number], AutomationReport['people'][number]>(`
      SELECT iif(state = 'active', 'waiting', state) AS state, reason, count(*) AS count FROM enrolments
      WHERE automation_id = ? GROUP BY 1, 2 ORDER BY 1, 2`)
    .all(automation.id);
  const mails = db.$client
    .prepare<[number], AutomationReport['mails'][number]>(`
      SELECT s.utr, s.subject, ifnull(sum(triggered), 0) AS triggered, ifnull(sum(delivered), 0) AS delivered,
        ifnull(sum(unique_opens), 0) AS unique_opens, ifnull(sum(total_opens), 0) AS total_opens,
        ifnull(sum(bounces), 0) AS bounces, ifnull(sum(unsubscribes), 0) AS unsubscribes, s.tracking
      FROM automation_schedules s LEFT JOIN mailings m ON m.owner_kind = 'schedule' AND m.owner_id = s.id
      WHERE s.automation_id = ? GROUP BY s.id ORDER BY s.id`)
    .all(automation.id);
  return { status: automation.status, held_reason: automation.held_reason, people, mails };
}
