/**
 * Records that contacts enter the automations that an event starts, and wakes contacts who wait for the event at a
 * step.
 */
import type { Database } from 'better-sqlite3';
import { AUTOMATION_STATUS, type automations, barsEntry } from '../../database/schema/index.ts';
import { DAY_MS } from '../../units.ts';
import { filterClause } from './event-sql.ts';

/**
 * The maximum age of an event that starts an automation. A shop that reports its orders of the last years does not want to send mails
 * for them.
 */
const MAX_AGE_MS = DAY_MS;

/** Events that are recorded in one transaction. */
interface NewEvents {
  /** The id after which the events are new. */
  after: number;
  /** The ids of the names of the events. */
  nameIds: ReadonlyMap<string, number>;
  /** The present time, epoch milliseconds. */
  now: number;
}

type EventAutomation = Pick<
  typeof automations.$inferSelect,
  'id' | 'automation_for' | 'automation_for_table' | 'trigger_event' | 'trigger_filter'
>;

/** SQL: the live automations of an account that an event starts. */
const LIVE = `
  SELECT id, automation_for, automation_for_table, trigger_event, trigger_filter FROM automations INDEXED BY automations_user
  WHERE user_id = ? AND trigger_kind = 'event' AND status = ${AUTOMATION_STATUS.live} AND deleted_at IS NULL`;

/** SQL: true if no earlier run keeps the contact of event `v` from entering. Enrolment checks this again; here it only saves records. */
const MAY_ENTER = `NOT EXISTS (SELECT 1 FROM automations au CROSS JOIN enrolments n ON n.automation_id = au.id AND n.address_id = v.address_id
  WHERE au.id = @automation AND ${barsEntry('v.event_key')})`;

/** SQL: the contact `k` of event `v` in the target, by the table of the target. */
const MEMBERS: Readonly<Record<string, { from: string; contact: string }>> = {
  contacts: {
    from: 'contacts k ON k.contact_type_id = @target AND k.address_id = v.address_id AND k.deleted_at IS NULL',
    contact: 'k.id',
  },
  segments: {
    from: 'segment_recipients k ON k.segment_id = @target AND k.address_id = v.address_id AND k.is_removed = 0',
    contact: 'k.contact_id',
  },
};

/**
 * Records which contacts enter the account's live automations by new events: contacts who are in the target now and whom
 * no earlier run keeps from entering. Enrolment applies them like joins. Call it in the transaction that records the events.
 */
export function startAutomations(client: Database, account: number, { after, nameIds, now }: NewEvents): void {
  for (const automation of client.prepare<[number], EventAutomation>(LIVE).all(account)) {
    const name = nameIds.get(automation.trigger_event);
    const members = MEMBERS[automation.automation_for_table];
    if (name === undefined || members === undefined) continue;
    const { passes, values } = filterClause(automation.trigger_filter, account);
    client
      .prepare<[object]>(`
      INSERT INTO membership_changes (user_id, automation_id, address_id, contact_id, change, event_key, happened_at)
      SELECT @account, @automation, address_id, contact_id, 'joined', event_key, @at FROM (
      SELECT v.address_id, ${members.contact} AS contact_id, v.event_key, min(v.id)
      FROM contact_events v CROSS JOIN ${members.from}
      WHERE v.id > @after AND v.name_id = @name AND v.happened_at >= @since ${passes} AND ${MAY_ENTER}
      GROUP BY v.address_id)`)
      .run({
        ...values,
        account,
        automation: automation.id,
        target: automation.automation_for,
        after,
        name,
        at: now,
        since: now - MAX_AGE_MS,
      });
  }
}

interface AwaitingStep {
  id: number;
  automation: number;
  event: string;
  event_filter: string;
}

/** SQL: the steps of an account's automations at which contacts wait for an event. */
const AWAITING = `
  SELECT s.id, s.automation_id AS automation, s.event, s.event_filter FROM automation_schedules s INDEXED BY automation_schedules_until
    CROSS JOIN automations a ON a.id = s.automation_id AND a.deleted_at IS NULL
  WHERE s.user_id = ? AND s.until = 'event'`;

/**
 * Records the new events that contacts may wait for at a step: contacts who are in the automation, or whose entry is
 * recorded and not applied yet. Enrolment wakes the contacts who are at the step, in the order of the records. Call it
 * after `startAutomations`.
 */
export function wakeWaiting(client: Database, account: number, { after, nameIds, now }: NewEvents): void {
  const steps = client.prepare<[number], AwaitingStep>(AWAITING).all(account);
  if (steps.length === 0) return;
  const hasPendingEntries =
    client.prepare<[number]>('SELECT 1 FROM membership_changes WHERE user_id = ? LIMIT 1').get(account) !== undefined;
  const isEnrolled = `AND EXISTS (SELECT 1 FROM enrolments e INDEXED BY enrolments_active
    WHERE e.automation_id = @automation AND e.address_id = v.address_id AND e.state = 'active')`;
  for (const { id: step, automation, event, event_filter } of steps) {
    const name = nameIds.get(event);
    if (name === undefined) continue;
    const { passes, values } = filterClause(event_filter, account);
    client
      .prepare<[object]>(`
      INSERT INTO membership_changes (user_id, automation_id, address_id, change, step_id, happened_at)
      SELECT @account, @automation, v.address_id, 'arrived', @step, min(max(v.happened_at), @now) FROM contact_events v
      WHERE v.id > @after AND v.name_id = @name ${passes} ${hasPendingEntries ? '' : isEnrolled} GROUP BY v.address_id`)
      .run({ ...values, account, automation, step, after, name, now });
  }
}
