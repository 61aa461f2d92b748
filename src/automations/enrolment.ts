/**
 * People in automations: entry by joining, waiting, the next mail, leaving (decisions §5). Every step is a set of rows claimed
 * through an index, in one short transaction, so that a hundred thousand people who enter at once hold nothing up.
 */
import type { Database } from 'better-sqlite3';
import { eq, sql } from 'drizzle-orm';
import { isoTimestamp } from '../clock.ts';
import { automations } from '../database/schema/index.ts';
import { isTransientSqliteError } from '../database/sqlite-errors.ts';
import { ineligibilityReason, isLiveContact } from '../delivery/queue/eligibility.ts';
import { isMember, NEXT, WAIT } from '../delivery/queue/series.ts';
import { type AutomationDeps, freezeSchedule, holdAutomations, listSchedules } from './automations.ts';
import { createScheduleMailing, findScheduleMailing } from './schedule-mailings.ts';

const PAGE_ROWS = 250;

interface Change {
  id: number;
  automation_id: number;
  address_id: number;
  contact_id: number | null;
  change: 'joined' | 'left';
  happened_at: number;
}

/** A page of what has been recorded and not come to, oldest first. */
export const MEMBERSHIP_CHANGES_PAGE = `
  SELECT m.id, m.automation_id, m.address_id, m.contact_id, m.change, m.happened_at FROM membership_changes m ORDER BY m.id LIMIT ${PAGE_ROWS}`;

/** The address a change is about: that of the contact now, since it may have been corrected after the change. */
const CURRENT_ADDRESS =
  'ifnull((SELECT address_id FROM contacts WHERE id = @contact_id AND deleted_at IS NULL), @address_id)';

/** The end of one person's way through one automation. */
export const END_ENROLMENT = `
  UPDATE enrolments SET state = 'left', reason = 'left the target'
  WHERE automation_id = @automation_id AND address_id = ${CURRENT_ADDRESS} AND state = 'active'`;

/**
 * Enrols who joined while an automation was live and ends who left since the last call, in the order it happened; gives how many
 * changes were read. Whether an automation was live then is settled by whoever wrote the change, so a pause need not wait for this.
 */
export function applyMembershipChanges(client: Database): number {
  return client
    .transaction(() => {
      const page = client.prepare<[], Change>(MEMBERSHIP_CHANGES_PAGE).all();
      const last = page.at(-1);
      if (last === undefined) return 0;
      const leave = client.prepare(END_ENROLMENT);
      const enter = client.prepare(`
        INSERT INTO enrolments (automation_id, address_id, contact_id, state, entered_at, waiting_since, due_at)
        SELECT au.id, ${CURRENT_ADDRESS}, @contact_id, 'active', @happened_at, @happened_at,
          @happened_at + ifnull((SELECT ${WAIT} FROM automation_schedules s WHERE s.automation_id = au.id ORDER BY s.id LIMIT 1), 0)
        FROM automations au WHERE au.id = @automation_id AND au.deleted_at IS NULL
        ON CONFLICT (automation_id, address_id) DO UPDATE SET contact_id = excluded.contact_id WHERE state = 'active'`);
      for (const { id: _id, change, happened_at, ...row } of page) {
        if (change === 'joined') enter.run({ ...row, happened_at });
        else leave.run(row);
      }
      client.prepare('DELETE FROM membership_changes WHERE id <= ?').run(last.id);
      return page.length;
    })
    .immediate();
}

interface DueSchedule {
  automation_id: number;
  schedule_id: number | null;
}

/** Whom an automation has due first, and for which of its mails. */
export const FIRST_DUE = `
  SELECT e.automation_id, ${NEXT} AS schedule_id FROM enrolments e INDEXED BY enrolments_due
  WHERE e.automation_id = ? AND e.state = 'active' AND e.delivery_id IS NULL AND e.due_at <= ? ORDER BY e.due_at LIMIT 1`;

/**
 * Moves people who are due one mail on, a page of each automation; gives how many there were. An automation that fails goes to
 * draft with a reason, the others go on; throws where the disk fails.
 */
export async function enqueueDueMails(
  deps: AutomationDeps & { log(fields: object, text: string): void },
): Promise<number> {
  const { db, clock, log } = deps;
  const client = db.$client;
  const now = clock.now().getTime();
  let moved = 0;
  const live = client
    .prepare<[], { id: number }>('SELECT id FROM automations WHERE status = 1 AND deleted_at IS NULL')
    .all();
  const due = client.prepare<[number, number], DueSchedule>(FIRST_DUE);
  for (const { id } of live) {
    const first = due.get(id, now);
    if (first === undefined) continue;
    try {
      if (first.schedule_id === null) moved += finish(client, id, now);
      else moved += await sendSchedule(deps, id, first.schedule_id, now);
    } catch (error) {
      if (isTransientSqliteError(error)) throw error;
      log({ automation: id, err: String(error) }, 'an automation could not go on');
      const reason = `It could not go on: ${error instanceof Error ? error.message : error}`;
      holdAutomations(db, sql`id = ${id}`, reason, isoTimestamp(clock.now()));
    }
  }
  return moved;
}

/** Ends people who have no mail before them any more. */
function finish(client: Database, automationId: number, now: number): number {
  return client
    .prepare(`
      UPDATE enrolments SET state = 'finished' WHERE id IN (
        SELECT e.id FROM enrolments e INDEXED BY enrolments_due
        WHERE e.automation_id = ? AND e.state = 'active' AND e.delivery_id IS NULL AND e.due_at <= ? AND ${NEXT} IS NULL LIMIT ${PAGE_ROWS})`)
    .run(automationId, now).changes;
}

async function sendSchedule(
  deps: AutomationDeps,
  automationId: number,
  scheduleId: number,
  now: number,
): Promise<number> {
  const { db } = deps;
  const mailing = findScheduleMailing(db, scheduleId) ?? (await createMissingMailing(deps, automationId, scheduleId));
  return mailing === null ? 0 : enqueueScheduleMail(db.$client, automationId, scheduleId, mailing.id, now);
}

/** A schedule that was added or redesigned while live gets its mailing here; one that can't go takes the automation to draft. */
async function createMissingMailing(deps: AutomationDeps, automationId: number, scheduleId: number) {
  const { db, clock } = deps;
  const schedule = listSchedules(db, automationId).find(({ id }) => id === scheduleId);
  const automation = db.select().from(automations).where(eq(automations.id, automationId)).get();
  if (schedule === undefined || automation === undefined) return null;
  const result = await freezeSchedule(deps, schedule);
  const now = isoTimestamp(clock.now());
  return db.transaction(
    () => {
      if ('problem' in result) {
        holdAutomations(
          db,
          sql`id = ${automationId}`,
          `The mail "${schedule.subject}" can not go: ${result.problem}`,
          now,
        );
        return null;
      }
      const current = listSchedules(db, automationId).find(({ id }) => id === scheduleId);
      if (current?.updated_at !== schedule.updated_at) return null;
      createScheduleMailing(db, automation, schedule, result, now);
      return findScheduleMailing(db, scheduleId);
    },
    { behavior: 'immediate' },
  );
}

/**
 * The joins that find who the person of enrolment `e` is now: `c`, the contact they entered as, wherever it was moved; `k`, their
 * contact of the contact type that is the target, imported anew for one; `r`, their row in the segment that is the target.
 */
export const PERSON = `
  LEFT JOIN contacts c ON c.id = e.contact_id AND c.address_id = e.address_id AND ${isLiveContact('c')}
  LEFT JOIN contacts k ON au.automation_for_table = 'contacts' AND k.contact_type_id = au.automation_for
    AND k.address_id = e.address_id AND ${isLiveContact('k')}
  LEFT JOIN segment_recipients r ON au.automation_for_table = 'segments' AND r.segment_id = au.automation_for
    AND r.address_id = e.address_id AND r.is_removed = 0`;

/** The contact they are written to as, with `PERSON`; null for someone who is none. */
const CONTACT = 'coalesce(c.id, k.id, r.contact_id)';

/** Why they would not get their next mail, apart from the target, with `PERSON`; null: they would. */
export const OBSTACLE = `ifnull(${ineligibilityReason('e')}, iif(${CONTACT} IS NULL AND r.id IS NULL, 'contact was deleted', NULL))`;

/** Gives one page of due people their mail, or ends those who left, in one transaction. */
function enqueueScheduleMail(
  client: Database,
  automationId: number,
  scheduleId: number,
  mailingId: number,
  now: number,
): number {
  const bounds = { automation: automationId, schedule: scheduleId, mailing: mailingId, now };
  return client
    .transaction(() => {
      // A mailing that a newer revision has just taken the place of may be finished: nobody would come to those added to it.
      const isLive = client
        .prepare(`
          SELECT 1 FROM automations WHERE id = @automation AND status = 1 AND deleted_at IS NULL
            AND EXISTS (SELECT 1 FROM mailings WHERE id = @mailing AND finished_at IS NULL)`)
        .get({ automation: automationId, mailing: mailingId });
      if (isLive === undefined) return 0;
      const page = client
        .prepare<
          Record<string, number>,
          {
            id: number;
            address_id: number;
            contact_id: number | null;
            segment_recipient_id: number | null;
            reason: string | null;
          }
        >(`
          SELECT e.id, e.address_id, ${CONTACT} AS contact_id, r.id AS segment_recipient_id,
            iif(au.exit_criteria = 1 AND NOT (${isMember('e')}), 'left the target', ${OBSTACLE}) AS reason
          FROM enrolments e INDEXED BY enrolments_due JOIN automations au ON au.id = e.automation_id
            JOIN mailings m ON m.id = @mailing ${PERSON}
          WHERE e.automation_id = @automation AND e.state = 'active' AND e.delivery_id IS NULL AND e.due_at <= @now
            AND ${NEXT} = @schedule
          ORDER BY e.due_at, e.id LIMIT ${PAGE_ROWS}`)
        .all(bounds);
      const leave = client.prepare("UPDATE enrolments SET state = 'left', reason = ? WHERE id = ?");
      const step = client.prepare(
        'INSERT INTO steps (enrolment_id, schedule_id, taken_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      );
      const deliver = client.prepare(
        'INSERT INTO deliveries (mailing_id, address_id, contact_id, segment_recipient_id) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
      );
      const link = client.prepare('UPDATE steps SET delivery_id = ? WHERE enrolment_id = ? AND schedule_id = ?');
      const send = client.prepare('UPDATE enrolments SET delivery_id = ?, contact_id = ? WHERE id = ?');
      const wait = client
        .prepare<[number, number], number>(
          `SELECT ${WAIT} FROM automation_schedules s WHERE s.automation_id = ? AND s.id > ? ORDER BY s.id LIMIT 1`,
        )
        .pluck()
        .get(automationId, scheduleId);
      const skip = client.prepare('UPDATE enrolments SET schedule_id = ?, waiting_since = ?, due_at = ? WHERE id = ?');
      for (const { id, address_id, contact_id, segment_recipient_id, reason } of page) {
        if (reason !== null) {
          leave.run(reason, id);
          continue;
        }
        const isNew = step.run(id, scheduleId, now).changes > 0;
        const made = isNew ? deliver.run(mailingId, address_id, contact_id, segment_recipient_id) : null;
        if (made === null || made.changes === 0) {
          // This person has had it already, at another address for one.
          skip.run(scheduleId, now, now + (wait ?? 0), id);
          continue;
        }
        link.run(made.lastInsertRowid, id, scheduleId);
        send.run(made.lastInsertRowid, contact_id, id);
      }
      return page.length;
    })
    .immediate();
}

/**
 * After a schedule is added: who has passed every other mail, and has not finished, waits for it from the mail before. Call inside
 * the transaction of the change.
 */
export function rescheduleAfterAddition(client: Database, automationId: number, scheduleId: number): void {
  updateDueTimes(client, automationId, `${NEXT} = @schedule`, scheduleId);
}

/**
 * After a schedule is deleted: who waited for it waits for the one behind it, from the mail before. Who has none left has had their
 * last mail, but keeps their place while the automation is paused (decisions §5). Call inside the transaction of the change.
 */
export function rescheduleAfterDeletion(client: Database, automationId: number, scheduleId: number): void {
  const waited = `e.schedule_id < @schedule AND NOT EXISTS (SELECT 1 FROM automation_schedules s
    WHERE s.automation_id = @automation AND s.id > e.schedule_id AND s.id < @schedule)`;
  client
    .prepare(`
      UPDATE enrolments AS e SET state = 'finished'
      WHERE e.automation_id = @automation AND e.state = 'active' AND e.delivery_id IS NULL AND ${waited}
        AND ${NEXT} IS NULL AND EXISTS (SELECT 1 FROM automations WHERE id = @automation AND status = 1)`)
    .run({ automation: automationId, schedule: scheduleId });
  updateDueTimes(client, automationId, waited, scheduleId);
}

function updateDueTimes(client: Database, automationId: number, who: string, scheduleId: number): void {
  client
    .prepare(`
      UPDATE enrolments AS e SET
        due_at = e.waiting_since + ifnull((SELECT ${WAIT} FROM automation_schedules s WHERE s.id = ${NEXT}), 0)
      WHERE e.automation_id = @automation AND e.state = 'active' AND e.delivery_id IS NULL AND ${who}`)
    .run({ automation: automationId, schedule: scheduleId });
}
