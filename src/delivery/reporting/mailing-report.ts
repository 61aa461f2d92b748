/** The report on a mailing: recipients by state and reason, opens and clicks. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { State } from '../queue/ledger.ts';
import { replyKind } from './reply-kind.ts';

export interface MailingReport {
  states: Record<string, number>;
  reasons: { state: string; reason: string; count: number }[];
  opens_by_hour: { hour: string; count: number }[];
  clicks_by_hour: { hour: string; count: number }[];
  top_links: { url: string; clicks: number }[];
  /** How many of the opens and clicks were made by bots, such as link scanners. */
  machine_opens: number;
  machine_clicks: number;
}

/** Indexed by the number of the state in the ledger. */
const STATE_NAMES = ['queued', 'sending', 'accepted', 'bounced', 'failed', 'suppressed', 'cancelled'] as const;
const TOP = 20;
/** Ledger rows read at once: a few milliseconds, after which other requests are served. */
const PAGE_ROWS = 500;
/** Bounds the memory when a relay replies with a different text to every mail. */
const MAX_REASONS = 1000;

interface Counts {
  states: Map<string, number>;
  reasons: { state: string; reason: string; count: number }[];
}

/**
 * Counts recipients by state and reason, opens and clicks by hour (UTC), and clicks of the most clicked links. Replies that differ only
 * in addresses and ids count as one reason. Mailing 0 gives an empty report.
 */
export async function mailingReport(client: Database, mailingId: number): Promise<MailingReport> {
  const { states, reasons } = await countRecipients(client, mailingId);
  const byHour = client.prepare<[number, string], { hour: string; count: number }>(`
    SELECT strftime('%Y-%m-%d %H:00:00', happened_at / 1000, 'unixepoch') AS hour, count(*) AS count
    FROM events WHERE mailing_id = ? AND kind = ? GROUP BY 1 ORDER BY 1`);
  const links = client.prepare<[number], { url: string; clicks: number }>(`
    SELECT links.url, count(*) AS clicks FROM events JOIN links
      ON links.mailing_id = events.mailing_id AND links.number = events.link_number
    WHERE events.mailing_id = ? AND events.kind = 'click' GROUP BY links.number ORDER BY clicks DESC, links.number LIMIT ${TOP}`);
  const machines = client
    .prepare<[number, string], number>(
      'SELECT count(*) FROM events WHERE mailing_id = ? AND kind = ? AND is_machine = 1',
    )
    .pluck();
  return {
    states: Object.fromEntries(STATE_NAMES.map((name) => [name, states.get(name) ?? 0])),
    reasons,
    opens_by_hour: byHour.all(mailingId, 'open'),
    clicks_by_hour: byHour.all(mailingId, 'click'),
    top_links: links.all(mailingId),
    machine_opens: machines.get(mailingId, 'open') ?? 0,
    machine_clicks: machines.get(mailingId, 'click') ?? 0,
  };
}

/** The name of a ledger state; throws an Error for an unknown number. */
export function stateName(state: number): (typeof STATE_NAMES)[number] {
  const name = STATE_NAMES[state];
  if (name === undefined) throw new Error(`unknown delivery state ${state}`);
  return name;
}

/** Reads the recipients in pages, so that the report of a large mailing does not delay other requests. */
async function countRecipients(client: Database, mailingId: number): Promise<Counts> {
  const page = client.prepare<[number, number], { state: number; reply: string | null; count: number; last: number }>(`
    SELECT state, iif(state = ${State.accepted}, NULL, reply) AS reply, count(*) AS count, max(address_id) AS last
    FROM (SELECT state, reply, address_id FROM deliveries INDEXED BY deliveries_person
      WHERE mailing_id = ? AND address_id > ? ORDER BY address_id LIMIT ${PAGE_ROWS})
    GROUP BY 1, 2`);
  const states = new Map<string, number>();
  const reasons = new Map<string, Counts['reasons'][number]>();
  for (let after = 0, isCut = true; isCut; ) {
    const groups = page.all(mailingId, after);
    for (const { state, reply, count } of groups) {
      const name = stateName(state);
      states.set(name, (states.get(name) ?? 0) + count);
      if (reply !== null) addReason(reasons, name, reply, count);
    }
    after = Math.max(after, ...groups.map(({ last }) => last));
    isCut = groups.reduce((sum, { count }) => sum + count, 0) === PAGE_ROWS;
    if (isCut) await setImmediate();
  }
  const compare = (a: Counts['reasons'][number], b: Counts['reasons'][number]) =>
    b.count - a.count || (a.reason < b.reason ? -1 : 1);
  return { states, reasons: [...reasons.values()].sort(compare).slice(0, TOP) };
}

function addReason(reasons: Map<string, Counts['reasons'][number]>, state: string, reply: string, count: number): void {
  const kind = replyKind(reply);
  const known = reasons.get(`${state} ${kind}`);
  const reason = known === undefined && reasons.size >= MAX_REASONS ? 'Other replies' : kind;
  const entry = reasons.get(`${state} ${reason}`) ?? { state, reason, count: 0 };
  entry.count += count;
  reasons.set(`${state} ${reason}`, entry);
}
