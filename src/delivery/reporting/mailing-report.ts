/** The report on a mailing: recipients by state and reason, opens and clicks by hour and link, people apart from machines. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { DELIVERY_STATE, DELIVERY_STATE_NAMES, type DeliveryState } from '../../database/schema/index.ts';
import { SENTENCES } from '../../sentences.ts';
import type { EventTally, TalliedHour } from './event-tally.ts';
import { replyKind } from './reply-kind.ts';

export interface MailingReport {
  states: Record<DeliveryState, number>;
  reasons: Reason[];
  opens_by_hour: { hour: string; count: number }[];
  clicks_by_hour: { hour: string; count: number }[];
  top_links: { url: string; clicks: number }[];
  /** How many of the opens and clicks were made by bots, such as link scanners. */
  machine_opens: number;
  machine_clicks: number;
  /** From those who were meant to get it to those who clicked. */
  funnel: Funnel;
  hours: TalliedHour[];
  /** Every link of the mail in the order in which they stand there. */
  links: { number: number; url: string; clicks: number; machine_clicks: number }[];
}

/** How many recipients got how far. People are those with at least one open or click that no machine made. */
export interface Funnel {
  recipients: number;
  triggered: number;
  delivered: number;
  unique_opens: number;
  people_opens: number;
  unique_clicks: number;
  people_clicks: number;
  bounces: number;
  failed: number;
  suppressed: number;
  cancelled: number;
  unsubscribes: number;
}

interface Reason {
  state: DeliveryState;
  reason: string;
  count: number;
}

const TOP = 20;
/** Ledger rows read at once: a few milliseconds, after which other requests are served. */
const PAGE_ROWS = 500;
/** Bounds the memory when a relay replies with a different text to every mail. */
const MAX_REASONS = 1000;

const NOBODY: Funnel = {
  recipients: 0,
  triggered: 0,
  delivered: 0,
  unique_opens: 0,
  people_opens: 0,
  unique_clicks: 0,
  people_clicks: 0,
  bounces: 0,
  failed: 0,
  suppressed: 0,
  cancelled: 0,
  unsubscribes: 0,
};

/**
 * Counts recipients by state and reason, and what they did. Replies that differ only in addresses and ids count as one reason. The
 * counters of the mailing and its events are read, and of the ledger only those who did not simply get their mail. Mailing 0 gives
 * an empty report.
 */
export async function mailingReport(client: Database, tally: EventTally, mailingId: number): Promise<MailingReport> {
  const funnel = readFunnel(client, mailingId);
  const states = readStates(client, mailingId, funnel);
  const reasons = await countReasons(client, mailingId);
  const { hours, clicksByLink } = await tally.read(mailingId);
  const links = client
    .prepare<[number], { number: number; url: string }>(
      'SELECT number, url FROM links WHERE mailing_id = ? ORDER BY number',
    )
    .all(mailingId)
    .map((link) => ({ ...link, ...(clicksByLink.get(link.number) ?? { clicks: 0, machine_clicks: 0 }) }));
  const byHour = (kind: 'opens' | 'clicks') =>
    hours.filter((hour) => hour[kind] > 0).map(({ hour, [kind]: count }) => ({ hour, count }));
  return {
    states,
    reasons,
    opens_by_hour: byHour('opens'),
    clicks_by_hour: byHour('clicks'),
    top_links: links
      .filter(({ clicks }) => clicks > 0)
      .sort((one, other) => other.clicks - one.clicks || one.number - other.number)
      .slice(0, TOP)
      .map(({ url, clicks }) => ({ url, clicks })),
    machine_opens: hours.reduce((sum, { machine_opens }) => sum + machine_opens, 0),
    machine_clicks: hours.reduce((sum, { machine_clicks }) => sum + machine_clicks, 0),
    funnel,
    hours,
    links,
  };
}

/** The counters of a mailing; zeros when it does not exist. */
function readFunnel(client: Database, mailingId: number): Funnel {
  const columns = Object.keys(NOBODY).join(', ');
  return client.prepare<[number], Funnel>(`SELECT ${columns} FROM mailings WHERE id = ?`).get(mailingId) ?? NOBODY;
}

function readStates(client: Database, mailingId: number, funnel: Funnel): MailingReport['states'] {
  const { delivered, bounces, failed, suppressed, cancelled, recipients } = funnel;
  const sending =
    client
      .prepare<[number], number>(
        `SELECT count(*) FROM deliveries INDEXED BY deliveries_sending WHERE mailing_id = ? AND state = ${DELIVERY_STATE.sending}`,
      )
      .pluck()
      .get(mailingId) ?? 0;
  const final = delivered + bounces + failed + suppressed + cancelled;
  const queued = Math.max(0, recipients - final - sending);
  return { queued, sending, accepted: delivered, bounced: bounces, failed, suppressed, cancelled };
}

/** The name of a ledger state; throws an Error for an unknown number. */
export function stateName(state: number): DeliveryState {
  const name = DELIVERY_STATE_NAMES[state];
  if (name === undefined) throw new Error(`unknown delivery state ${state}`);
  return name;
}

/** Those who are put off, with the reply of the last try. Nobody else in the queue has one. */
const PUT_OFF = `deliveries INDEXED BY deliveries_queue WHERE mailing_id = @mailing AND state = ${DELIVERY_STATE.queued}
  AND (due_at, id) > (max(@due, 1), @id) ORDER BY due_at, id`;
/** Those with a final state that is not acceptance. */
const UNACCEPTED = `deliveries INDEXED BY deliveries_unaccepted WHERE mailing_id = @mailing AND state > ${DELIVERY_STATE.accepted}
  AND (state, id) > (@due, @id) ORDER BY state, id`;

/** Reads those with a reason in pages, so that the report of a large mailing does not delay other requests. */
async function countReasons(client: Database, mailingId: number): Promise<Reason[]> {
  const reasons = new Map<string, Reason>();
  for (const [source, key] of [
    [PUT_OFF, 'due_at'],
    [UNACCEPTED, 'state'],
  ]) {
    const page = client.prepare<
      Record<string, number>,
      { id: number; key: number; state: number; reply: string | null }
    >(`SELECT id, ${key} AS key, state, reply FROM ${source} LIMIT ${PAGE_ROWS}`);
    for (let after = { due: 0, id: 0 }, isCut = true; isCut; ) {
      const rows = page.all({ mailing: mailingId, ...after });
      for (const { state, reply } of rows) if (reply !== null) addReason(reasons, stateName(state), reply, 1);
      const last = rows.at(-1);
      if (last !== undefined) after = { due: last.key, id: last.id };
      isCut = rows.length === PAGE_ROWS;
      if (isCut) await setImmediate();
    }
  }
  const compare = (a: Reason, b: Reason) => b.count - a.count || (a.reason < b.reason ? -1 : 1);
  return [...reasons.values()].sort(compare).slice(0, TOP);
}

function addReason(reasons: Map<string, Reason>, state: DeliveryState, reply: string, count: number): void {
  const kind = replyKind(reply);
  const known = reasons.get(`${state} ${kind}`);
  const reason = known === undefined && reasons.size >= MAX_REASONS ? SENTENCES.other_replies : kind;
  const entry = reasons.get(`${state} ${reason}`) ?? { state, reason, count: 0 };
  entry.count += count;
  reasons.set(`${state} ${reason}`, entry);
}
