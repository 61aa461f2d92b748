/** The people who wait for one mail of an automation. */
import type { Database } from 'better-sqlite3';
import { isoTimestamp } from '../clock.ts';
import { PLACE } from '../delivery/queue/automation-waits.ts';
import type { Schedule } from './automations.ts';

/** Enrolments looked at for a page, some milliseconds: a page of people who wait for a late mail of many is shorter than its limit. */
const MAX_EXAMINED = 20_000;

interface Waiting {
  /** Of their address. */
  id: number;
  email: string;
  contact_id: number | null;
  waiting_since: string;
  due_at: string;
  is_queued: 0 | 1;
}

interface Row extends Omit<Waiting, 'waiting_since' | 'due_at'> {
  since: number;
  due: number;
}

/** A page of the people whose next mail this is, and where the next page goes on; null at the end. */
export function listWaiting(
  client: Database,
  { automation_id, position }: Schedule,
  { after, limit }: { after: number; limit: number },
): { people: Waiting[]; next_after_id: number | null } {
  const before = client
    .prepare<[number, number], number | null>(
      'SELECT max(position) FROM automation_schedules WHERE automation_id = ? AND position < ?',
    )
    .pluck()
    .get(automation_id, position);
  const rows = client
    .prepare<Record<string, number>, { id: number; is_theirs: 0 | 1 }>(`
      SELECT address_id AS id, state = 'active' AND ${PLACE} >= @low AND ${PLACE} < @high AS is_theirs
      FROM enrolments e WHERE automation_id = @automation AND address_id > @after ORDER BY address_id LIMIT ${MAX_EXAMINED}`)
    .all({ automation: automation_id, low: before ?? 0, high: position, after });
  const theirs = rows.filter(({ is_theirs }) => is_theirs === 1);
  const page = theirs.slice(0, limit);
  const people = client
    .prepare<Record<string, string | number>, Row>(`
      SELECT e.address_id AS id, ifnull(c.email, a.normalized_email) AS email, c.id AS contact_id, e.waiting_since AS since, e.due_at AS due, e.delivery_id IS NOT NULL AS is_queued
      FROM json_each(@ids) j CROSS JOIN enrolments e ON e.automation_id = @automation AND e.address_id = j.value CROSS JOIN addresses a ON a.id = e.address_id
        LEFT JOIN contacts c ON c.id = e.contact_id AND c.deleted_at IS NULL
      ORDER BY e.address_id`)
    .all({ automation: automation_id, ids: JSON.stringify(page.map(({ id }) => id)) })
    .map(({ id, email, contact_id, since, due, is_queued }) => ({
      id,
      email,
      contact_id,
      waiting_since: isoTimestamp(new Date(since)),
      due_at: isoTimestamp(new Date(due)),
      is_queued,
    }));
  const end = theirs.length > limit ? page.at(-1) : rows.length === MAX_EXAMINED ? rows.at(-1) : undefined;
  return { people, next_after_id: end?.id ?? null };
}
