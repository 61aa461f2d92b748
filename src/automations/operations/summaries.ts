/** The automations of an account as light rows: the state of each in one word, its people and what its mails achieved. */
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import { fold } from '../../database/functions/fold.ts';
import { AUTOMATION_STATUS, HELD_CODES } from '../../database/schema/index.ts';
import { COMMON_HELD_CODES } from '../../delivery/queue/held.ts';
import { mailWaitsReason, sendingHeldReason } from '../../delivery/queue/sending-hold.ts';
import { keptMails } from '../../delivery/reporting/kept-mails.ts';
import { notFound } from '../../errors/failure.ts';
import { choice, identifier, integer, line, nullable } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { requireAutomation } from '../automations.ts';
import { ByUtr } from './automations.ts';

/** Every state. A paused automation was live; a held one stands still because of Sendlark, not of its owner. */
export const AUTOMATION_STATES = ['draft', 'live', 'paused', 'held'] as const;
const HeldCode = nullable(choice(...HELD_CODES, ...COMMON_HELD_CODES));

const Summary = Type.Object({
  id: integer(),
  utr: Type.String(),
  automation_name: Type.String(),
  state: {
    ...choice(...AUTOMATION_STATES),
    description:
      'draft: it was never live; paused: its owner stopped it; held: Sendlark stopped it, for the reason given.',
  },
  held_code: HeldCode,
  held_reason: nullable(Type.String()),
  live_at: nullable(Type.String()),
  created_at: Type.String(),
  mails: integer({ description: 'Number of mails in the series.' }),
  waiting: integer({ description: 'People who wait for their next mail.' }),
  finished: integer({ description: 'People who had every mail.' }),
  left: integer({ description: 'People who left before the end.' }),
  triggered: integer(),
  ended: integer({ description: 'Mails with a final state.' }),
  delivered: integer(),
  kept: integer(),
  unmeasured: integer(),
  people_opens: integer(),
  people_clicks: integer(),
  bounces: integer(),
  unsubscribes: integer(),
});
/** An automation with its people and results. With the code `mail_waits` it is live, and its mail waits for a sender node. */
export type Summary = Static<typeof Summary>;

/** Which automations; without `states` and `search`, all. */
interface Filter {
  accountId: number;
  /** Only this one. */
  id?: number | undefined;
  states?: readonly Summary['state'][] | undefined;
  /** Text in the name, in any case. */
  search?: string | undefined;
  /** Only those with a lower id. */
  beforeId?: number | undefined;
  limit: number;
}

const DEFAULT_ROWS = 50;
/** Automations looked at for a page of a filtered list. The page may be cut by this, so the answer says where to go on. */
const MAX_EXAMINED = 1000;

/**
 * Reads the automations of the page and all their figures in one statement: the people from the counts that the enrolments keep, the
 * mails from the counters of their mailings.
 */
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
    SELECT automation_id, count(*) AS mails FROM automation_schedules WHERE automation_id IN (SELECT id FROM page) GROUP BY automation_id),
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

/** A page of the automations, the newest first, and where the next page goes on; null where this is the last. */
export function listAutomationSummaries(
  client: Database,
  { accountId, id, states, search = '', beforeId, limit }: Filter,
): { summaries: Summary[]; next_before_id: number | null } {
  const isFiltered = states !== undefined || search !== '';
  const rows = client.prepare<Record<string, string | number | null>, Summary & { is_wanted: 0 | 1 }>(PAGE).all({
    account: accountId,
    from: id ?? 0,
    before: id === undefined ? (beforeId ?? Number.MAX_SAFE_INTEGER) : id + 1,
    examined: isFiltered ? MAX_EXAMINED : limit + 1,
    search: fold(search),
    states: states === undefined ? null : JSON.stringify(states),
    sendingHeld: sendingHeldReason(client),
    waits: mailWaitsReason(client),
  });
  const wanted = rows.filter(({ is_wanted }) => is_wanted === 1);
  const summaries = wanted.slice(0, limit).map(({ is_wanted: _, ...summary }) => summary);
  const isCut = wanted.length > limit;
  const end = isCut ? summaries.at(-1) : isFiltered && rows.length === MAX_EXAMINED ? rows.at(-1) : undefined;
  return { summaries, next_before_id: end?.id ?? null };
}

export const listSummaries = operation({
  name: 'List the automations, newest first, with their people and results (addition)',
  description:
    'A page that is filtered may hold fewer records than the limit, even none, though next_before_id says that more follow.',
  role: 'viewer',
  input: Type.Object({
    utr: identifier('Only this automation.'),
    state: Type.Optional(choice(...AUTOMATION_STATES)),
    search: Type.Optional(line({ description: 'Only those with this text in the name.' })),
    limit: Type.Optional(integer({ minimum: 1, maximum: 200, description: 'At most this many; 50 by default.' })),
    before_id: Type.Optional(
      integer({ description: 'Only those with a lower id: next_before_id of the page before.' }),
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

/** For the page of an automation. */
export const readSummary = operation({
  name: 'Read an automation with its people and results',
  role: 'viewer',
  input: ByUtr,
  run({ db, accountId }, { utr }) {
    const { id } = requireAutomation(db, accountId, utr);
    const [summary] = listAutomationSummaries(db.$client, { accountId, id, limit: 1 }).summaries;
    if (summary === undefined) throw notFound('Record not found');
    return summary;
  },
});
