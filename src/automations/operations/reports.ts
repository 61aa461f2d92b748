/**
 * Operations for the results of automations: a list with the state, enrolments and results of each automation, and the report of one
 * automation, mail by mail.
 */
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import { recordedFindings, shownFindings } from '../../campaigns/operations/shown-mails.ts';
import { fold } from '../../database/functions/fold.ts';
import type { Db } from '../../database/open.ts';
import { AUTOMATION_STATUS, HELD_CODES } from '../../database/schema/index.ts';
import { COMMON_HELD_CODES, mailWaitsReason, reportedHold, sendingHeldReason } from '../../delivery/queue/holds.ts';
import { keptMails } from '../../delivery/reporting/mailing-report.ts';
import { notFound } from '../../errors/failure.ts';
import { codeOf, readStored, stored } from '../../errors/stored.ts';
import {
  choice,
  DEFAULT_ROWS,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  pageLimit,
  said,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { type Automation, requireAutomation } from '../automations.ts';
import { ByUtr } from './automations.ts';

/** Every state of an automation. A user stopped a paused automation, and Sendlark itself stopped a held automation. */
export const AUTOMATION_STATES = ['draft', 'live', 'paused', 'held'] as const;
const HeldCode = nullable(choice(...HELD_CODES, ...COMMON_HELD_CODES));

const Summary = Type.Object({
  id: integer(),
  utr: Type.String(),
  automation_name: Type.String(),
  state: {
    ...choice(...AUTOMATION_STATES),
    description:
      'draft: the automation was never live; paused: a user stopped it; held: Sendlark stopped it, for the reason in held_reason.',
  },
  held_code: HeldCode,
  held_reason: nullable(said()),
  live_at: nullable(Type.String()),
  created_at: Type.String(),
  mails: integer({ description: 'The number of e-mails of the automation.' }),
  waiting: integer({ description: 'The number of contacts who wait for their next e-mail.' }),
  finished: integer({ description: 'The number of contacts who got every e-mail.' }),
  left: integer({ description: 'The number of contacts who exited before the last e-mail.' }),
  triggered: integer(),
  ended: integer({ description: 'The number of e-mails with a final state.' }),
  delivered: integer(),
  kept: integer(),
  unmeasured: integer(),
  people_opens: integer(),
  people_clicks: integer(),
  bounces: integer(),
  unsubscribes: integer(),
});
/** An automation with its enrolments and results. An automation with the code `mail_waits` is live, but its mail waits for a sender node. */
export type Summary = Static<typeof Summary>;

/** The filter of automations. If `states` and `search` are absent, all automations pass. */
interface Filter {
  accountId: number;
  /** Only the automation with this id. */
  id?: number | undefined;
  states?: readonly Summary['state'][] | undefined;
  /** Only automations whose name contains this text, in any case. */
  search?: string | undefined;
  /** Only automations with a lower id. */
  beforeId?: number | undefined;
  limit: number;
}

/**
 * The maximum number of automations examined for a page of a filtered list. A page can therefore be shorter than its limit, and the
 * answer says where to continue.
 */
const MAX_EXAMINED = 1000;

/** SQL: the automations of a page with all their figures. Sums the counts of enrolments, and the counters of mailings. */
const PAGE = `
  WITH page AS MATERIALIZED (
    SELECT id, utr, automation_name, status, live_at, created_at, held_code, held_reason FROM automations INDEXED BY automations_user
    WHERE user_id = @account AND deleted_at IS NULL AND id < @before AND id >= @from ORDER BY id DESC LIMIT @examined),
  sent AS (
    SELECT automation_id, sum(triggered) AS triggered, sum(delivered + bounces + failed + suppressed + cancelled) AS ended,
      sum(delivered) AS delivered, sum(${keptMails('mailings')}) AS kept, sum(unmeasured) AS unmeasured, sum(people_opens) AS people_opens, sum(people_clicks) AS people_clicks, sum(bounces) AS bounces,
      sum(unsubscribes) AS unsubscribes, min(iif(state = 'held', id, NULL)) AS held_id
    FROM mailings INDEXED BY mailings_automation WHERE automation_id IN (SELECT id FROM page) GROUP BY automation_id),
  enrolled AS (
    SELECT automation_id, sum(iif(state = 'active', people, 0)) AS waiting, sum(iif(state = 'finished', people, 0)) AS finished,
      sum(iif(state = 'left', people, 0)) AS gone
    FROM enrolment_counts WHERE automation_id IN (SELECT id FROM page) GROUP BY automation_id),
  series AS (
    SELECT automation_id, count(*) AS mails FROM automation_schedules WHERE automation_id IN (SELECT id FROM page) AND kind = 'mail' GROUP BY automation_id),
  rows AS (
    SELECT a.*, CASE
        WHEN a.held_code IS NOT NULL OR m.held_id IS NOT NULL THEN 'held'
        WHEN a.status = ${AUTOMATION_STATUS.live} THEN iif(@sendingHeld IS NULL, 'live', 'held')
        ELSE iif(m.automation_id IS NULL, 'draft', 'paused') END AS state,
      h.held_code AS mailing_code, h.held_reason AS mailing_reason, ifnull(s.mails, 0) AS mails,
      ifnull(p.waiting, 0) AS waiting, ifnull(p.finished, 0) AS finished, ifnull(p.gone, 0) AS gone,
      ifnull(m.triggered, 0) AS triggered, ifnull(m.ended, 0) AS ended, ifnull(m.delivered, 0) AS delivered, ifnull(m.kept, 0) AS kept,
      ifnull(m.unmeasured, 0) AS unmeasured,
      ifnull(m.people_opens, 0) AS people_opens, ifnull(m.people_clicks, 0) AS people_clicks, ifnull(m.bounces, 0) AS bounces,
      ifnull(m.unsubscribes, 0) AS unsubscribes
    FROM page a LEFT JOIN sent m ON m.automation_id = a.id LEFT JOIN mailings h ON h.id = m.held_id
      LEFT JOIN enrolled p ON p.automation_id = a.id LEFT JOIN series s ON s.automation_id = a.id)
  SELECT id, utr, automation_name, state, live_at, created_at, mails, waiting, finished, gone AS "left", triggered, ended, delivered, kept, unmeasured,
    people_opens, people_clicks, bounces, unsubscribes,
    coalesce(held_code, mailing_code, CASE state WHEN 'held' THEN 'sending_held' WHEN 'live' THEN iif(@waits IS NULL, NULL, 'mail_waits') END)
      AS held_code,
    CASE state WHEN 'held' THEN coalesce(held_reason, mailing_reason, @sendingHeld) WHEN 'live' THEN @waits END AS held_reason,
    (@search = '' OR instr(fold(automation_name), @search) > 0)
      AND (@states IS NULL OR state IN (SELECT value FROM json_each(@states))) AS is_wanted
  FROM rows ORDER BY id DESC`;

/** Returns a page of automations, newest first, and where the next page continues; null after the last page. */
export function listAutomationSummaries(
  client: Database,
  { accountId, id, states, search = '', beforeId, limit }: Filter,
): { summaries: Summary[]; next_before_id: number | null } {
  const sendingHeld = sendingHeldReason(client);
  const waits = mailWaitsReason(client);
  const isFiltered = states !== undefined || search !== '';
  const rows = client
    .prepare<Record<string, string | number | null>, Summary & { held_reason: string | null; is_wanted: 0 | 1 }>(PAGE)
    .all({
      account: accountId,
      from: id ?? 0,
      before: id === undefined ? (beforeId ?? Number.MAX_SAFE_INTEGER) : id + 1,
      examined: isFiltered ? MAX_EXAMINED : limit + 1,
      search: fold(search),
      states: states === undefined ? null : JSON.stringify(states),
      sendingHeld: sendingHeld && stored(sendingHeld),
      waits: waits && stored(waits),
    });
  const wanted = rows.filter(({ is_wanted }) => is_wanted === 1);
  const summaries = wanted
    .slice(0, limit)
    .map(({ is_wanted: _, ...summary }) => ({ ...summary, held_reason: readStored(summary.held_reason) }));
  if (wanted.length > limit) return { summaries, next_before_id: summaries.at(-1)?.id ?? null };
  const mayFollow = isFiltered && rows.length === MAX_EXAMINED;
  return { summaries, next_before_id: mayFollow ? (rows.at(-1)?.id ?? null) : null };
}

export const listSummaries = operation({
  name: 'List the automations, newest first, with their contacts and results (addition)',
  description:
    'With a filter, a page may hold fewer records than the limit, even none. More records can follow as long as next_before_id is not null.',
  role: 'viewer',
  input: Type.Object({
    utr: identifier('Only this automation.'),
    state: Type.Optional(choice(...AUTOMATION_STATES)),
    search: Type.Optional(line({ description: 'Only automations with this text in the name.' })),
    limit: pageLimit('automations'),
    before_id: Type.Optional(
      integer({ description: 'next_before_id of the previous page, for the automations after that page.' }),
    ),
  }),
  output: Type.Object({
    summaries: Type.Array(Summary, { description: 'The automations.' }),
    next_before_id: nullable(integer()),
  }),
  run({ db, accountId }, { utr, state, search, limit = DEFAULT_ROWS, before_id: beforeId }) {
    const id = utr === undefined ? undefined : requireAutomation(db, accountId, utr).id;
    const filter = { accountId, id, states: state && [state], search, beforeId, limit };
    return listAutomationSummaries(db.$client, filter);
  },
});

/** Used by the screen of an automation. */
export const readSummary = operation({
  name: 'Read an automation with its contacts and results',
  role: 'viewer',
  input: ByUtr,
  run({ db, accountId }, { utr }) {
    const { id } = requireAutomation(db, accountId, utr);
    const [summary] = listAutomationSummaries(db.$client, { accountId, id, limit: 1 }).summaries;
    if (summary === undefined) throw notFound('Record not found');
    return summary;
  },
});

const Report = Type.Object({
  status: integer({ description: '0: draft; 1: live.' }),
  held_code: HeldCode,
  held_reason: nullable(said()),
  people: Type.Array(
    Type.Object({
      state: Type.String({ description: 'The state of these contacts.' }),
      reason: nullable(said()),
      reason_code: nullable(Type.String()),
      count: integer(),
    }),
    { description: 'The number of contacts in each state, and why they exited.' },
  ),
  entered: integer({ description: 'The number of contacts who ever entered.' }),
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
      waiting: integer({ description: 'The number of contacts whose next e-mail this is.' }),
      passed: integer({
        description:
          'The number of contacts who passed this e-mail: it was sent, or it was skipped because they had got it before.',
      }),
      left: integer({ description: 'The number of contacts who exited while they waited for this e-mail.' }),
      tracking: nullable(zeroOrOne()),
      waiting_type: nullable(choice('instantly', 'hours', 'days')),
      waiting_period: nullable(integer()),
      next_due_at: nullable(
        isoTimestampSchema(),
        'When the first of the contacts who wait for this e-mail gets it; null if no contact waits for it, or the automation is not live.',
      ),
      findings: recordedFindings(
        'What the check found when the automation was set live, or when the e-mail was changed after that; null if it was not checked.',
      ),
    }),
    { description: 'The e-mails, and what became of each.' },
  ),
  steps: Type.Array(
    Type.Object({
      utr: Type.String(),
      waiting: integer({ description: 'The number of contacts whose next step this is.' }),
    }),
    { description: 'The steps other than e-mails.' },
  ),
});
/**
 * The report of an automation. `held_reason` says why Sendlark moved the automation back to draft, or why one of its mails or all
 * sending is held. A deleted mail has no utr, tracking and wait, but still has its counters. `next_due_at` is when the first waiting
 * enrolment without a queued mail gets its mail; null while the automation is not live.
 */
export type Report = Static<typeof Report>;
/** A mail in a report. */
export type ReportedMail = Report['mails'][number];

/** Returns the report of an automation. The counters of each mail, deleted ones included, are summed over all its revisions. */
function automationReport(db: Db, automation: Automation): Report {
  const places = readPlaces(db.$client, automation.id);
  const mails = readMails(db.$client, automation.id);
  const mailing = db.$client
    .prepare<[number], Pick<Automation, 'held_code'> & { held_reason: string | null }>(
      "SELECT held_code, held_reason FROM mailings WHERE automation_id = ? AND state = 'held' ORDER BY id LIMIT 1",
    )
    .get(automation.id);
  const steps = db.$client
    .prepare<[number], { utr: string; kind: string; position: number }>(
      'SELECT utr, kind, position FROM automation_schedules WHERE automation_id = ? ORDER BY position',
    )
    .all(automation.id);
  return {
    status: automation.status,
    ...reportedHold(
      db.$client,
      [automation, mailing && { ...mailing, held_reason: readStored(mailing.held_reason) }],
      automation.status === AUTOMATION_STATUS.live,
    ),
    people: countPeople(places),
    entered: sumOf(places),
    mails: mails.map(({ id: _, position, parent_id, findings, ...mail }) => {
      const people = peopleAt(position);
      return {
        ...mail,
        ...people,
        // Contacts on the other path have a higher position, too. So for a mail on a path, only mails that were sent count.
        passed: parent_id === null ? people.passed : mail.triggered,
        findings: shownFindings(findings === null ? null : JSON.parse(findings)),
      };
    }),
    steps: steps.flatMap(({ utr, kind, position }) =>
      kind === 'mail' ? [] : { utr, waiting: peopleAt(position).waiting },
    ),
  };

  /** Returns the numbers of contacts at the step in this position; with null (a deleted mail), zeros. */
  function peopleAt(position: number | null) {
    const placesBefore = places.filter(
      ({ position: at }) => position !== null && steps.find((step) => step.position > at)?.position === position,
    );
    const dueTimes = placesBefore.flatMap((place) => place.due ?? []);
    const hasDueTime = automation.status === AUTOMATION_STATUS.live && dueTimes.length > 0;
    return {
      waiting: sumOf(placesBefore.filter(({ state }) => state === 'waiting')),
      passed: sumOf(places.filter(({ position: at }) => position !== null && at >= position)),
      left: sumOf(placesBefore.filter(({ state }) => state === 'left')),
      next_due_at: hasDueTime ? isoTimestamp(new Date(Math.min(...dueTimes))) : null,
    };
  }
}

/** Reads the enrolments of an automation, counted by state, reason and position. */
function readPlaces(client: Database, automationId: number): Place[] {
  return client
    .prepare<[number], Place>(`
      SELECT iif(state = 'active', 'waiting', state) AS state, nullif(reason, '') AS reason,
        ifnull((SELECT m.landing FROM moved_mails m WHERE m.automation_id = c.automation_id AND m.position > c.position
          ORDER BY m.position LIMIT 1), c.position) AS position, sum(people) AS count,
        (SELECT min(e.due_at) FROM enrolments e INDEXED BY enrolments_place WHERE e.automation_id = c.automation_id
          AND e.position = c.position AND e.state = 'active' AND e.delivery_id IS NULL AND c.state = 'active') AS due
      FROM enrolment_counts c WHERE automation_id = ? AND people > 0 GROUP BY 1, 2, 3 ORDER BY 1, 2`)
    .all(automationId);
}

/** Reads the mails of an automation, deleted ones included, with the sums of their counters. */
function readMails(client: Database, automationId: number) {
  return client
    .prepare<
      Record<string, number>,
      Omit<ReportedMail, 'waiting' | 'passed' | 'left' | 'next_due_at' | 'findings'> &
        ReportedPlace & { findings: string | null }
    >(`
      SELECT l.id, s.utr, s.position, ifnull(s.subject, (SELECT content ->> '$.content.subject' FROM mailings
          WHERE owner_kind = 'schedule' AND owner_id = l.id ORDER BY revision DESC LIMIT 1)) AS subject,
        ifnull(sum(triggered), 0) AS triggered, ifnull(sum(delivered), 0) AS delivered, sum(${keptMails('m')}) AS kept,
        ifnull(sum(unmeasured), 0) AS unmeasured,
        ifnull(sum(unique_opens), 0) AS unique_opens, ifnull(sum(total_opens), 0) AS total_opens,
        ifnull(sum(people_opens), 0) AS people_opens,
        ifnull(sum(bounces), 0) AS bounces, ifnull(sum(unsubscribes), 0) AS unsubscribes, s.tracking, s.waiting_type, s.waiting_period, s.parent_id,
        (SELECT findings FROM mailings WHERE owner_kind = 'schedule' AND owner_id = l.id ORDER BY revision DESC LIMIT 1) AS findings
      FROM (SELECT id FROM automation_schedules WHERE automation_id = @id AND kind = 'mail'
          UNION SELECT owner_id FROM mailings INDEXED BY mailings_automation WHERE automation_id = @id AND owner_kind = 'schedule') l
        LEFT JOIN automation_schedules s ON s.id = l.id
        LEFT JOIN mailings m ON m.owner_kind = 'schedule' AND m.owner_id = l.id
      GROUP BY l.id ORDER BY ifnull(s.position, l.id), l.id`)
    .all({ id: automationId });
}

/** The place of a mail in its automation. */
interface ReportedPlace {
  /** The id of the mail. */
  id: number;
  /** Null for a deleted mail. */
  position: number | null;
  /** Null on the main path, and for a deleted mail. */
  parent_id: number | null;
}

/** The enrolments with the same state and reason at the same place. */
interface Place {
  state: string;
  /** Why these contacts exited, in the stored form; null if there is no reason. */
  reason: string | null;
  /** Mails with a higher position are still to come. */
  position: number;
  /** The number of these enrolments. */
  count: number;
  /**
   * When the first of these enrolments that wait without a queued mail is due, in epoch milliseconds; null if no enrolment waits without a
   * queued mail.
   */
  due: number | null;
}

function sumOf(places: readonly Place[]): number {
  return places.reduce((sum, { count }) => sum + count, 0);
}

/** Counts enrolments by state and reason, at all places together. */
function countPeople(places: readonly Place[]): Report['people'] {
  const byReason = Map.groupBy(places, ({ state, reason }) => `${state} ${reason ?? ''}`).values();
  return [...byReason].flatMap((samePlaces) => {
    const [first] = samePlaces;
    if (first === undefined) return [];
    const reason = readStored(first.reason);
    return [{ state: first.state, reason, reason_code: codeOf(reason), count: sumOf(samePlaces) }];
  });
}

export const readReport = operation({
  name: 'Read the report of an automation (addition)',
  role: 'viewer',
  input: ByUtr,
  output: Type.Object({ report: Report }),
  run: ({ db, accountId }, { utr }) => ({ report: automationReport(db, requireAutomation(db, accountId, utr)) }),
});
