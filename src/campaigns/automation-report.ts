/** How an automation stands: its people by state and reason, its mails by their counters (decisions §5). */
import type { Db } from '../database/open.ts';
import { heldReason } from '../delivery/hold.ts';
import type { Automation } from './automations.ts';

export interface AutomationReport {
  status: number;
  /** Why it went back to draft by itself, or why the relay holds one of its mails. */
  held_reason: string | null;
  people: { state: string; reason: string | null; count: number }[];
  mails: {
    /** Null: deleted; what it sent still counts. */
    utr: string | null;
    subject: string;
    triggered: number;
    delivered: number;
    unique_opens: number;
    total_opens: number;
    bounces: number;
    unsubscribes: number;
    /** Null: deleted. */
    tracking: number | null;
  }[];
}

/** How many people are where, why people left, and the counters of each mail that is or was in it, over all its revisions. */
export function reportOf(db: Db, automation: Automation): AutomationReport {
  const people = db.$client
    .prepare<[number], AutomationReport['people'][number]>(`
      SELECT iif(state = 'active', 'waiting', state) AS state, reason, count(*) AS count FROM enrolments
      WHERE automation_id = ? GROUP BY 1, 2 ORDER BY 1, 2`)
    .all(automation.id);
  const mails = db.$client
    .prepare<Record<string, number>, AutomationReport['mails'][number]>(`
      SELECT s.utr, ifnull(s.subject, (SELECT content ->> '$.content.subject' FROM mailings
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
  const sendingHeld = automation.status === 1 ? heldReason(db.$client) : null;
  return { status: automation.status, held_reason: automation.held_reason ?? held ?? sendingHeld, people, mails };
}
