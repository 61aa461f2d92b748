/**
 * The operation that counts how many contacts met the trigger of an automation in the last 30 days. It reads the stored history of lists,
 * segments, events, forms and dates.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import { filterClause } from '../../audience/events/event-sql.ts';
import { isMember } from '../../delivery/queue/enrolment-state.ts';
import { limitPerKey } from '../../http/account-share.ts';
import { integer, nullable, zeroOrOne } from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { DAY_MS } from '../../units.ts';
import { type Automation, requireAutomation } from '../automations.ts';
import { datesOf, isFilled } from '../date-entries.ts';
import { ByUtr } from './automations.ts';

/** The number of past days, and of coming days, in which contacts are counted. */
const DAYS = 30;
/** The number of rows that are read without a pause, which takes some milliseconds. */
const PAGE_ROWS = 2000;
/** The maximum number of rows that are read for one answer. */
const MAX_ROWS = 50_000;

/** Lets each account make one count at a time, because a count may read many rows. */
const inCountingTurn = limitPerKey({ most: 50 });

const Counted = Type.Object(
  {
    days: integer({ description: 'The number of past days in which contacts are counted.' }),
    contacts: nullable(
      integer(),
      'The number of contacts of the target who met the trigger in these days. Null if this is unknown: past changes of fields are not kept, contacts enter only by hand, or no target is chosen yet.',
    ),
    coming: nullable(
      integer(),
      'Trigger date: the number of contacts of the target who meet the trigger in the next `days` days. Null for other triggers, or if no target is chosen yet.',
    ),
    is_complete: zeroOrOne('1: all contacts were counted; 0: there may be more.'),
  },
  { description: 'The numbers of contacts. Each contact counts once.' },
);
/** The numbers of contacts who met a trigger. */
export type CountedTrigger = Static<typeof Counted>;

export const countTrigger = operation({
  name: `Count how many contacts met the trigger of an automation in the last ${DAYS} days (addition)`,
  description:
    'The automation may be a draft. Contacts who may not get its e-mails, or may not enter again, count as well; GET /automations/replay says who would have entered.',
  role: 'viewer',
  input: ByUtr,
  output: Type.Object({ trigger: Counted }),
  async run(context, { utr }) {
    const automation = requireAutomation(context.db, context.accountId, utr);
    const now = context.clock.now().getTime();
    const pages = pagesOf(context, automation, { from: now - DAYS * DAY_MS, to: now });
    if (pages === null) return { trigger: { days: DAYS, contacts: null, coming: null, is_complete: 1 as const } };
    const isByDate = automation.trigger_kind === 'date';
    const comingPages = isByDate ? pagesOf(context, automation, { from: now, to: now + DAYS * DAY_MS }) : null;
    return inCountingTurn(context.accountId, async () => {
      const maxRows = comingPages === null ? MAX_ROWS : MAX_ROWS / 2;
      const past = await count(pages, maxRows);
      const coming = comingPages === null ? null : await count(comingPages, maxRows);
      const isComplete =
        past.isComplete && coming?.isComplete !== false && isFilled(context.db.$client, automation.trigger_field_id);
      return {
        trigger: {
          days: DAYS,
          contacts: past.contacts,
          coming: coming?.contacts ?? null,
          is_complete: isComplete ? (1 as const) : (0 as const),
        },
      };
    });
  },
});

/** Counts the contacts of these pages, each once, until `maxRows` rows were read. Lets other requests be handled between two pages. */
async function count(pages: Iterable<Page>, maxRows: number): Promise<{ contacts: number; isComplete: boolean }> {
  const contacts = new Set<number>();
  let rows = 0;
  for (const { looked, met } of pages) {
    for (const address of met) contacts.add(address);
    rows += looked;
    if (rows >= maxRows) break;
    await setImmediate();
  }
  return { contacts: contacts.size, isComplete: rows < maxRows };
}

/** A page of rows about the trigger. */
interface Page {
  /** The number of rows that were read. */
  looked: number;
  /** The ids of the addresses of the contacts who met the trigger. */
  met: readonly number[];
}

/**
 * Returns pages of rows about the trigger in a span of time, which may lie in the future if contacts enter by a date. The newest come first.
 * Null if no target is chosen, or if nothing is stored about such a trigger.
 */
function pagesOf({ db, config }: Context, automation: Automation, span: Span): Iterable<Page> | null {
  const client = db.$client;
  if (automation.automation_for === 0) return null;
  switch (automation.trigger_kind) {
    case 'join':
      return joins(client, automation, span);
    case 'event':
      return readBack(client, automation, span, eventSource(automation, span));
    case 'form':
      return readBack(client, automation, span, { rows: CONFIRMED, start: isoTimestamp(new Date(span.to)) });
    case 'date':
      return datesOf(client, automation, span, config.TIME_ZONE);
    default:
      return null;
  }
}

/** A span of time in epoch milliseconds. `from` itself does not belong to it, `to` does. */
interface Span {
  from: number;
  to: number;
}

/** Rows about the past of the account, which are read from the newest to older ones. */
interface Source {
  /**
   * SQL: the rows before @at and the id @last, newest first, with the columns id, at (in the form of `start`), address_id, and fits (1 if
   * the row counts).
   */
  rows: string;
  /** The end of the span, as an ISO timestamp or in epoch milliseconds. */
  start: string | number;
  /** Further values for the parameters of `rows`. */
  values?: Readonly<Record<string, string>>;
}

/** Returns SQL for the rows of a table before the id @last, newest first. */
const newest = (from: string, where: string) => `SELECT id, created_at AS at, address_id, 1 AS fits FROM ${from}
  WHERE ${where} AND id < @last ORDER BY id DESC`;
const CONTACTS = newest('contacts INDEXED BY contacts_type', 'contact_type_id = @target AND deleted_at IS NULL');
const MEMBERS = newest(
  'segment_recipients INDEXED BY segment_recipients_listed',
  'segment_id = @target AND is_removed = 0',
);
/** Contacts who were added to the segment again after a removal by hand. */
const REJOINED = `SELECT id, rejoined_at AS at, address_id, is_removed = 0 AS fits FROM segment_recipients INDEXED BY segment_recipients_rejoined
  WHERE segment_id = @target AND rejoined_at <= @at AND (rejoined_at < @at OR id < @last) ORDER BY rejoined_at DESC, id DESC`;
/** Contacts who were moved to the list. */
const MOVES = `SELECT v.id, v.created_at AS at, c.address_id, c.contact_type_id = @target AND c.deleted_at IS NULL AS fits
  FROM contact_moves v INDEXED BY contact_moves_target LEFT JOIN contacts c ON c.id = v.contact_id
  WHERE v.to_type_id = @target AND v.id < @last ORDER BY v.id DESC`;
/** Contacts who confirmed the form of the trigger. */
const CONFIRMED = newest('consent_log INDEXED BY consent_log_form', 'form_id = @form');

/** Returns the rows about contacts who joined the target, by every way of joining it. */
function* joins(client: Database, automation: Automation, span: Span): Generator<Page> {
  const sources = automation.automation_for_table === 'segments' ? [MEMBERS, REJOINED] : [CONTACTS, MOVES];
  for (const rows of sources)
    yield* readBack(client, automation, span, { rows, start: isoTimestamp(new Date(span.to)) });
}

function eventSource({ user_id: account, trigger_filter }: Automation, { to }: Span): Source {
  const { passes, values } = filterClause(trigger_filter, account);
  return {
    rows: `SELECT v.id, v.happened_at AS at, v.address_id, true ${passes} AS fits
      FROM event_words w CROSS JOIN contact_events v INDEXED BY contact_events_name ON v.name_id = w.id
      WHERE w.user_id = @account AND w.word = @event AND v.happened_at <= @at AND (v.happened_at < @at OR v.id < @last)
      ORDER BY v.happened_at DESC, v.id DESC`,
    start: to,
    values,
  };
}

/** Reads the rows of a source, newest first, until a row is older than the span. */
function* readBack(client: Database, automation: Automation, { from }: Span, source: Source): Generator<Page> {
  const page = client.prepare<[object], { id: number; at: string | number; address_id: number; is_met: 0 | 1 }>(`
    SELECT p.id, p.at, p.address_id, ifnull(p.fits AND ${isMember('p')}, 0) AS is_met
    FROM (${source.rows} LIMIT ${PAGE_ROWS}) p CROSS JOIN automations au ON au.id = @automation`);
  const { id, user_id: account, automation_for: target, trigger_event: event, trigger_form_id: form } = automation;
  const since = isoTimestamp(new Date(from));
  const isOld = (at: string | number) => (typeof at === 'number' ? at <= from : at <= since);
  let last = { last: Number.MAX_SAFE_INTEGER, at: source.start };
  for (;;) {
    const rows = page.all({ ...source.values, automation: id, account, target, event, form, ...last });
    const recent = rows.filter(({ at }) => !isOld(at));
    const met = recent.flatMap(({ address_id, is_met }) => (is_met === 1 ? [address_id] : []));
    yield { looked: rows.length, met };
    const end = rows.at(-1);
    if (end === undefined || rows.length < PAGE_ROWS || isOld(end.at)) return;
    last = { last: end.id, at: end.at };
  }
}
