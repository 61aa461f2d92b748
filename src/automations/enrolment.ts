/**
 * Lets enrolled contacts take the steps of their automations. A step is taken for one page of rows, found through an index, in one short
 * transaction, so that a hundred thousand contacts who entered at once delay nothing else.
 */
import type { Database } from 'better-sqlite3';
import { eq, sql } from 'drizzle-orm';
import { ineligibilityReason } from '../audience/eligibility.ts';
import { listCustomFields } from '../audience/fields/custom-fields.ts';
import { countRules } from '../audience/segments/segments.ts';
import { Preparations } from '../campaigns/preparations.ts';
import type { Db } from '../database/open.ts';
import {
  AUTOMATION_STATUS,
  automationSchedules,
  automations,
  type SegmentRule,
  segments,
} from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { isTransientSqliteError } from '../database/write-lock.ts';
import {
  DUE_AT_PLACE,
  type DuePlace,
  endReason,
  endReasonOf,
  enrolmentEnd,
  exitByStep,
  finishDueEnrolments,
  lastStep,
  logSteps,
  NEXT_SCHEDULE,
  passStep,
  passStepTo,
  passTaken,
  waitMs,
  withFirsts,
} from '../delivery/queue/enrolment-state.ts';
import { deliveryQueue } from '../delivery/queue/ledger/enqueue.ts';
import { fractionFor } from '../delivery/queue/variant-groups.ts';
import { findZone } from '../delivery/timing/place-zones.ts';
import { sentence } from '../errors/sentences.ts';
import { stored, storedSql } from '../errors/stored.ts';
import type { Log } from '../log.ts';
import { isoTimestamp } from '../time/clock.ts';
import type { Automation, Schedule } from './automations.ts';
import { CONTACT_ID, CONTACT_JOINS, TARGET_SEGMENT_JOIN } from './enrolled-contact.ts';
import { stepAfter } from './path.ts';
import { type AutomationDeps, createScheduleMailing, freezeSchedule, problemOf } from './schedule-mailings.ts';
import { holdAutomations, holdFailedAutomation } from './status.ts';
import { type Acting, type AtStep, act, CHANGES_CONTACTS, setField, type Taken } from './step-actions.ts';
import { type UsedValues, usedChange, usedField, usedFields, usedValues } from './used-values.ts';
import { endWaits, type WaitingContact, type WaitStep, waitColumns } from './waits.ts';

/** The number of contacts who take a step in one transaction. */
const PAGE_ROWS = 250;
/** Larger pages for kinds of steps that write less for each contact, so that such a page still takes only a few milliseconds. */
const STEP_ROWS: Partial<Record<Schedule['kind'], number>> = { if: 2000, split: 2000, set_field: 1000 };
/** The number of segment rules that one transaction evaluates for contacts whom a step changes, which takes about 20 ms. */
const RULES_AT_ONCE = 20_000;
/** The smallest page of contacts whom a step changes, however many segment rules the account has. */
const MIN_ROWS = 10;

/**
 * SQL: true if contacts can take steps of the automation. It must be live, and no enrolment may be waiting to be moved after a change of
 * the steps, because the due times of such enrolments are out of date.
 */
const IS_GOING = `automations.status = ${AUTOMATION_STATUS.live} AND automations.deleted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM automation_moves v WHERE v.automation_id = automations.id)`;

/** A mail that was added while its automation was live. */
interface NewMail {
  automation: Automation;
  schedule: Schedule;
}

type FrozenMail = Awaited<ReturnType<typeof freezeSchedule>>;

/** Mails that were added while their automation was live and are being prepared. */
export class NewMails extends Preparations<NewMail, FrozenMail> {}

type StepDeps = AutomationDeps & { log: Log; newMails: NewMails };

/** SQL: the position in an automation at which contacts are due first, and the id of their next step; null after the last step. */
export const FIRST_DUE = `${withFirsts('@automation')}
  SELECT e.position, ${NEXT_SCHEDULE} AS schedule FROM firsts CROSS JOIN enrolments e ON e.id = firsts.id
  WHERE e.due_at <= @now ORDER BY e.due_at LIMIT 1`;

/** SQL: true if the step @schedule is still the next step after @position. */
const IS_NEXT = `@schedule = (SELECT n.id FROM automation_schedules n WHERE n.automation_id = @automation AND n.position > @position
    ORDER BY n.position LIMIT 1)`;

/**
 * Lets due enrolments take their next step, one page for each automation: enqueues the mail, decides on the path or changes the contacts.
 * Returns the number of handled enrolments. An automation that fails becomes a draft with the reason, and the others continue. Throws if
 * the disk fails. A mail that was added while its automation was live is prepared in parallel before anybody gets it.
 * @param keepsValues Whether the log keeps the values that decided at a step. False in a replay, because the values that contacts had in
 *   the past are not known.
 */
export async function takeDueSteps(deps: StepDeps, keepsValues = true): Promise<number> {
  const { db, clock, log, newMails } = deps;
  const client = db.$client;
  const now = clock.now().getTime();
  let moved = 0;
  const due = client.prepare<[object], { position: number; schedule: number | null }>(FIRST_DUE);
  const kindOf = client
    .prepare<[number], Schedule['kind']>('SELECT kind FROM automation_schedules WHERE id = ?')
    .pluck();
  const runOrHold = (id: number, work: () => void) => {
    try {
      work();
    } catch (error) {
      if (isTransientSqliteError(error)) throw error;
      log({ automation: id, err: String(error) }, 'an automation could not go on', 'error');
      holdFailedAutomation(db, id, error, clock.now());
    }
  };
  for (const { subject, take } of await newMails.ready())
    runOrHold(subject.automation.id, () => createMissingMailing(deps, subject, take()));
  const live = client.prepare<[], { id: number }>(`SELECT id FROM automations WHERE ${IS_GOING}`).all();
  for (const { id } of live) {
    const first = due.get({ automation: id, now });
    if (first === undefined) continue;
    const { position, schedule } = first;
    const place = { automation: id, position, now, rows: PAGE_ROWS };
    runOrHold(id, () => {
      if (schedule === null) moved += finishDueEnrolments(client, place);
      else if (kindOf.get(schedule) === 'mail') moved += sendSchedule(deps, place, schedule);
      else moved += takeStep(deps, place, schedule, keepsValues);
    });
  }
  return moved;
}

/** Enqueues a mail for a page of due enrolments, or begins to prepare a mail that has no mailing yet. Returns the number of handled enrolments. */
function sendSchedule(deps: StepDeps, place: DuePlace, schedule: number): number {
  const { $client: client } = deps.db;
  const mailing = newestMailing(client, schedule);
  if (mailing !== undefined) return enqueueScheduleMail(client, place, schedule, mailing);
  prepareNewMail(deps, place.automation, schedule);
  return 0;
}

/** Returns the id of the newest mailing of an automation's mail; undefined if the mail has no mailing. */
function newestMailing(client: Database, scheduleId: number): number | undefined {
  return client
    .prepare<[number], { id: number }>(
      `SELECT id FROM mailings WHERE owner_kind = 'schedule' AND owner_id = ? ORDER BY revision DESC LIMIT 1`,
    )
    .get(scheduleId)?.id;
}

/** Begins to prepare a mail that was added while its automation was live, unless another mail of the account is being prepared. */
function prepareNewMail(deps: StepDeps, automationId: number, scheduleId: number): void {
  const { db, newMails } = deps;
  const automation = db.select().from(automations).where(eq(automations.id, automationId)).get();
  if (automation === undefined || newMails.isBusy(automation.user_id)) return;
  const schedule = db.select().from(automationSchedules).where(eq(automationSchedules.id, scheduleId)).get();
  if (schedule === undefined) return;
  newMails.begin(automation.user_id, { automation, schedule }, () => freezeSchedule(deps, automation, schedule));
}

/**
 * Creates the mailing of a mail that was prepared, unless the mail or its automation was changed meanwhile. If its content cannot be sent,
 * the automation becomes a draft.
 */
function createMissingMailing({ db, clock }: StepDeps, { automation, schedule }: NewMail, content: FrozenMail): void {
  const now = isoTimestamp(clock.now());
  inTransaction(db, () => {
    const isUnchanged = db.get(sql`
      SELECT 1 FROM automations a JOIN automation_schedules s ON s.automation_id = a.id
      WHERE a.id = ${automation.id} AND a.updated_at = ${automation.updated_at} AND s.id = ${schedule.id} AND s.updated_at = ${schedule.updated_at}`);
    if (isUnchanged === undefined) return;
    if ('problem' in content) {
      const reason = { held_code: content.code, held_reason: problemOf('held_mail', schedule, content) };
      holdAutomations(db, sql`id = ${automation.id}`, reason, now);
    } else createScheduleMailing(db, automation, schedule, content, now);
  });
}

/**
 * SQL after `TARGET_SEGMENT_JOIN`: the stored reason why the recipient would not get the next mail, other than that the automation has ended
 * for them; null if nothing prevents the mail.
 */
export const OBSTACLE = `ifnull(${ineligibilityReason('e', 'm.unsubscribe_group_id')}, iif(${CONTACT_ID} IS NULL AND r.id IS NULL, ${storedSql('contact_deleted')}, NULL))`;

/** Returns SQL that reads these columns of the enrolments `e` of a `DuePlace`, in the order of their due times. */
const duePage = (columns: string, joins: string) => `
  SELECT ${columns} FROM enrolments e INDEXED BY enrolments_place JOIN automations au ON au.id = e.automation_id ${joins} WHERE ${DUE_AT_PLACE}`;

/**
 * SQL: a page of due enrolments for the mail @schedule. `reason` is null if the recipient gets the mail. `is_taken`: 1 if the step was
 * taken before.
 */
const DUE_FOR_MAIL = duePage(
  `e.id, e.address_id, ${CONTACT_ID} AS contact_id, r.id AS segment_recipient_id, e.run, ifnull(${endReason('e')}, ${OBSTACLE}) AS reason,
    EXISTS (SELECT 1 FROM steps t WHERE t.enrolment_id = e.id AND t.schedule_id = @schedule) AS is_taken`,
  `JOIN mailings m ON m.id = @mailing ${TARGET_SEGMENT_JOIN}`,
);
/** SQL: true if the contact of enrolment `e` is in the segment @segment. */
const IN_SEGMENT = `EXISTS (SELECT 1 FROM segment_recipients x JOIN segments g ON g.id = x.segment_id AND g.deleted_at IS NULL
  WHERE x.segment_id = @segment AND x.address_id = e.address_id AND x.is_removed = 0)`;

/**
 * Enqueues a mail for a page of due enrolments, and ends the enrolments of recipients who may not get the mail, in one transaction.
 * Returns the number of handled enrolments.
 */
function enqueueScheduleMail(client: Database, place: DuePlace, schedule: number, mailing: number): number {
  const parameters = { ...place, schedule, mailing };
  return client
    .transaction(() => {
      // A newer revision may have replaced this mailing. Deliveries added to a finished mailing would never be sent.
      const canSend = client
        .prepare(`
          SELECT 1 FROM automations WHERE id = @automation AND ${IS_GOING} AND ${IS_NEXT}
            AND EXISTS (SELECT 1 FROM mailings WHERE id = @mailing AND finished_at IS NULL)`)
        .get(parameters);
      if (canSend === undefined) return 0;
      const page = client
        .prepare<
          [object],
          AtStep & { segment_recipient_id: number | null; run: number; is_taken: 0 | 1; reason: string | null }
        >(DUE_FOR_MAIL)
        .all(parameters);
      const after = lastStep(client);
      const endEnrolment = enrolmentEnd(client, place.now);
      const insertStep = client.prepare(
        'INSERT INTO steps (enrolment_id, schedule_id, delivery_id, outcome, taken_at) VALUES (?, ?, ?, ?, ?)',
      );
      const deliver = deliveryQueue(client);
      const setDelivery = client.prepare('UPDATE enrolments SET delivery_id = ?, contact_id = ? WHERE id = ?');
      for (const { id, address_id, contact_id, segment_recipient_id, run, is_taken, reason } of page) {
        if (reason !== null) {
          endEnrolment(id, reason);
          continue;
        }
        const delivery =
          is_taken === 1 ? null : deliver({ mailing_id: mailing, address_id, contact_id, segment_recipient_id, run });
        if (is_taken === 0) insertStep.run(id, schedule, delivery, delivery === null ? 'skipped' : 'mail', place.now);
        // Without a delivery the contact has got the mail already, for example at another address.
        if (delivery === null) passStep(client, [id], place.now);
        else setDelivery.run(delivery, contact_id, id);
      }
      logSteps(client, { after });
      return page.length;
    })
    .immediate();
}

/** A step other than a mail, with the rules that end its automation for a contact. */
type OtherStep = Pick<Schedule, 'utr' | 'share' | 'user_id'> &
  Acting &
  WaitStep &
  Pick<Automation, 'goal_segment_id' | 'exit_segment_id' | 'exit_criteria'>;

/** Returns how many contacts take a step at once: fewer if the rules of many segments are evaluated for each contact. */
function pageRowsFor(client: Database, { kind, user_id }: Pick<Schedule, 'kind' | 'user_id'>): number {
  const most = STEP_ROWS[kind] ?? PAGE_ROWS;
  if (!CHANGES_CONTACTS.has(kind)) return most;
  const rows = Math.floor(RULES_AT_ONCE / Math.max(1, countRules(client, user_id)));
  return Math.min(most, Math.max(MIN_ROWS, rows));
}

/**
 * Takes a step other than a mail for a page of due enrolments, and writes the lines of the log in the same transaction. A contact for whom
 * the automation has ended exits instead. Returns how many contacts exited, took the step or wait at it.
 */
function takeStep({ db, config }: AutomationDeps, place: DuePlace, schedule: number, keepsValues: boolean): number {
  const client = db.$client;
  const { automation, position, now } = place;
  return client
    .transaction(() => {
      const step = client
        .prepare<[object], OtherStep>(`
        SELECT s.*, automations.goal_segment_id, automations.exit_segment_id, automations.exit_criteria
        FROM automation_schedules s JOIN automations ON automations.id = s.automation_id WHERE s.id = @schedule AND ${IS_NEXT} AND ${IS_GOING}`)
        .get({ ...place, schedule });
      if (step === undefined) return 0;
      const page = { ...place, rows: pageRowsFor(client, step) };
      const ended = endDueEnrolments(client, step, page);
      page.rows -= ended;
      const after = lastStep(client);
      const { found, used, change } = takePage(db, step, page, config.TIME_ZONE);
      if (keepsValues && used !== undefined) logSteps(client, { after, ...used.values }, used.sql, used.joins);
      else logSteps(client, { after });
      change?.(after);
      const steps = client.prepare<[number], PlacedStep>(PLACED_STEPS).all(automation);
      const outcomes = client.prepare<[number], { outcome: string }>('SELECT DISTINCT outcome FROM steps WHERE id > ?');
      let passed = 0;
      for (const { outcome } of outcomes.all(after)) {
        const next = stepAfter(steps, schedule, outcome);
        const to =
          next === null
            ? { id: 0, before: steps.at(-1)?.position ?? 0, wait: 0 }
            : { id: next.id, before: next.position - 1, wait: waitMs(next) };
        if (outcome === 'exit') passed += exitByStep(client, after, now);
        else passed += passStepTo(client, { automation, position, after, outcome }, now, to);
      }
      const isFull = passed === page.rows;
      return ended + Math.max(found, passed + (isFull ? 0 : passTaken(client, page, schedule)));
    })
    .immediate();
}

/** Ends the enrolments of a page for which the automation has ended. Returns the number of ended enrolments. */
function endDueEnrolments(client: Database, step: OtherStep, page: DuePlace): number {
  const reason = endReasonOf(step, 'e');
  if (reason === 'NULL') return 0;
  const endEnrolment = enrolmentEnd(client, page.now);
  const rows = client
    .prepare<[object], { id: number; reason: string }>(
      `SELECT id, reason FROM (${duePage(`e.id, ${reason} AS reason`, '')}) WHERE reason IS NOT NULL`,
    )
    .all(page);
  for (const row of rows) endEnrolment(row.id, row.reason);
  return rows.length;
}

type PlacedStep = Pick<Schedule, 'id' | 'position' | 'parent_id' | 'branch' | 'waiting_type' | 'waiting_period'>;

const PLACED_STEPS =
  'SELECT id, position, parent_id, branch, waiting_type, waiting_period FROM automation_schedules WHERE automation_id = ? ORDER BY position';

/** A page of contacts who took a step, or wait at it. */
interface TakenPage {
  /** The number of enrolments in the page. */
  found: number;
  /** The values that decided at the step, for the log; absent if the log keeps no values of this step. */
  used?: UsedValues | undefined;
  /**
   * Changes the contacts. Call it after the lines of the log were written, because the lines keep the values before the change. `after` is
   * the id of the last step before those of this page.
   */
  change?: (after: number) => void;
}

/**
 * Takes a step for a page of enrolments: decides on a path, changes the contacts, or ends a wait. `zone` is the time zone of contacts whose
 * own is unknown.
 */
function takePage(db: Db, step: OtherStep, page: DuePlace, zone: string): TakenPage {
  const account = step.user_id;
  const client = db.$client;
  const parameters = { ...page, schedule: step.id };
  const insert = 'INSERT INTO steps (enrolment_id, schedule_id, outcome, taken_at)';
  const readPage = <Row extends AtStep>(columns: string, joins: string): Row[] =>
    client.prepare<[object], Row>(duePage(`e.id, e.address_id, ${columns}`, joins)).all(page);
  /** Takes the step with an outcome that SQL over the enrolment `e` and `joins` decides. Returns how many took the step. */
  const takeAll = (outcome: string, joins = '', values = {}) =>
    client
      .prepare<[object]>(`${insert} ${duePage(`e.id, @schedule, ${outcome}, @now`, joins)} ON CONFLICT DO NOTHING`)
      .run({ ...parameters, ...values }).changes;
  /** Takes the step with an outcome for each enrolment. */
  const takeEach = (taken: readonly Taken[]) => {
    const insertSteps = client.prepare<[object]>(
      `${insert} SELECT value, @schedule, @outcome, @now FROM json_each(@ids) WHERE true ON CONFLICT DO NOTHING`,
    );
    for (const [outcome, enrolments] of Map.groupBy(taken, (enrolment) => enrolment.outcome))
      insertSteps.run({
        schedule: step.id,
        outcome,
        now: page.now,
        ids: JSON.stringify(enrolments.map(({ id }) => id)),
      });
  };
  switch (step.kind) {
    case 'if': {
      const found = takeAll(`iif(${IN_SEGMENT}, 'yes', 'no')`, '', { segment: step.segment_id ?? 0 });
      return { found, used: usedValues(usedFields(db, account, rulesOf(db, step.segment_id))) };
    }
    case 'exit':
      return { found: takeAll("'exit'") };
    case 'split': {
      const share = (step.share ?? 0) / 100;
      const people = readPage('NULL AS contact_id', '');
      takeEach(
        people.map(({ id, address_id }) => ({ id, outcome: fractionFor(address_id, step.utr) < share ? 'yes' : 'no' })),
      );
      return { found: people.length };
    }
    case 'wait_until': {
      const people = readPage<WaitingContact>(`${CONTACT_ID} AS contact_id, ${waitColumns(db, step)}`, CONTACT_JOINS);
      const taken = endWaits(client, step, people, { now: page.now, zone });
      takeEach(taken);
      return { found: people.length, used: usedTimes(db, step, people, zone) };
    }
    case 'set_field': {
      const field = usedField(db, account, { field: step.field ?? '', customId: step.field_id });
      const hasContact = `EXISTS (SELECT 1 FROM contacts p WHERE p.id = ${CONTACT_ID} AND p.user_id = @account AND p.deleted_at IS NULL)`;
      const found =
        field === null
          ? takeAll("'not_done'")
          : takeAll(`iif(${hasContact}, 'done', 'not_done')`, TARGET_SEGMENT_JOIN, { account });
      const used = field === null ? undefined : usedChange(field, step.value ?? '');
      return { found, used, change: (after) => setField(db, step, after, new Date(page.now)) };
    }
    default: {
      const people = readPage(`${CONTACT_ID} AS contact_id`, TARGET_SEGMENT_JOIN);
      const done = act(db, step, people, new Date(page.now));
      takeEach(people.map(({ id }) => ({ id, outcome: done.has(id) ? 'done' : 'not_done' })));
      return { found: people.length };
    }
  }
}

/** Returns the rules of a segment; an empty list if there is no such segment. */
function rulesOf(db: Db, segment: number | null): SegmentRule[] {
  const row = db
    .select({ rules: segments.rules })
    .from(segments)
    .where(eq(segments.id, segment ?? 0))
    .get();
  return row?.rules ?? [];
}

/** Returns for the log the time zone by which the contacts waited, and the date if they waited for one; undefined if they waited for an event. */
function usedTimes(db: Db, step: OtherStep, people: readonly WaitingContact[], zone: string): UsedValues | undefined {
  if (step.until === 'event') return;
  const name = listCustomFields(db, step.user_id).find(({ id }) => id === step.field_id)?.field_name ?? '';
  const sentences = people.map((contact) => {
    const usedZone = findZone(contact) ?? zone;
    const used =
      step.until === 'date'
        ? sentence('used_date', { field: name, date: contact.date || '–', zone: usedZone })
        : sentence('used_zone', { zone: usedZone });
    return [contact.id, stored(used)];
  });
  return {
    sql: `@used ->> ('$.' || e.id)`,
    values: { used: JSON.stringify(Object.fromEntries(sentences)) },
    joins: '',
  };
}
