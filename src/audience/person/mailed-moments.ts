/**
 * The moments of a person that come of mails: the mails, opens, clicks and returns. The ledger has no index of a person's mails over all
 * mailings, because it would be written all over for each mailing, and the more the longer the ledger is. So they are looked up in each
 * mailing of the account, by its index of people.
 */
import type { Database } from 'better-sqlite3';
import { type Moment, type MomentRow, moment } from './moments.ts';

/** Mailings whose ledger is asked at once. */
const MAILINGS_AT_ONCE = 100;
/** Mails and events whose times are read at once: they lie all over the file. A mail has two hundred opens and clicks at most. */
const EVENTS_AT_ONCE = 100;
/** Where they are in the order of a timeline among moments of the same time: after those of other sources, which are digits and letters. */
const MAIL = 'y';
const EVENT = 'z';

/** A place in a timeline: what is before it was earlier, or at the same time from an earlier source, or of the same with a lower id. */
export interface Place {
  /** Epoch milliseconds. */
  at: number;
  source: string;
  id: number;
}

/** A moment by its source and id, with its time in epoch milliseconds or as an ISO timestamp. */
interface MailedTime {
  source: typeof MAIL | typeof EVENT;
  id: number;
  at: number | string;
}

interface Delivery {
  id: number;
  mailing_id: number;
  updated_at: number;
  events: number;
}

/**
 * The times of the mails to an address of the account and of what came of them, before a place (null: all), so many at a time that it
 * takes a few milliseconds. Of each slice the newest `limit` are given.
 */
export function* mailedSlices(
  client: Database,
  accountId: number,
  addressId: number,
  limit: number,
  before: Place | null,
): Generator<MailedTime[]> {
  const mailings = client.prepare<[number, number], { id: number; created_at: string }>(`
    SELECT id, created_at FROM mailings INDEXED BY mailings_user WHERE user_id = ? AND id < ? ORDER BY id DESC LIMIT ${MAILINGS_AT_ONCE}`);
  const deliveries = client.prepare<[string, number], Delivery>(`
    SELECT d.mailing_id, d.id, d.updated_at, d.opens + d.clicks AS events
    FROM json_each(?) given CROSS JOIN deliveries d ON d.mailing_id = given.value AND d.address_id = ?`);
  const events = client.prepare<unknown[], MailedTime>(`
    SELECT '${EVENT}' AS source, e.id, e.happened_at AS at
    FROM json_each(@deliveries) given CROSS JOIN events e ON e.delivery_id = given.value AND e.kind <> 'unsubscribe'
    WHERE e.happened_at < @at OR (e.happened_at = @at AND e.id < @id) ORDER BY e.happened_at DESC, e.id DESC LIMIT @limit`);
  const eventsBefore = { ...placeIn(EVENT, before), limit };
  const mailsBefore = placeIn(MAIL, before);
  for (let last = Number.MAX_SAFE_INTEGER; ; ) {
    const some = mailings.all(accountId, last);
    const created = new Map(some.map(({ id, created_at }) => [id, created_at]));
    const found = deliveries.all(JSON.stringify(some.map(({ id }) => id)), addressId);
    // A mail that was never tried has the time of its mailing.
    yield found
      .map(({ id, mailing_id, updated_at }): MailedTime => {
        return { source: MAIL, id, at: updated_at > 0 ? updated_at : (created.get(mailing_id) ?? 0) };
      })
      .filter(({ id, at }) => isBefore(typeof at === 'number' ? at : Date.parse(at), id, mailsBefore));
    for (const group of groups(found))
      yield events.all({ ...eventsBefore, deliveries: JSON.stringify(group.map(({ id }) => id)) });
    if (some.length < MAILINGS_AT_ONCE) return;
    last = some.at(-1)?.id ?? 0;
  }
}

/** The part of a place that compares moments of one source: before this time, or at it with a lower id. */
function placeIn(source: string, before: Place | null): { at: number; id: number } {
  if (before === null) return { at: Number.MAX_SAFE_INTEGER, id: 0 };
  const id = source === before.source ? before.id : source < before.source ? Number.MAX_SAFE_INTEGER : 0;
  return { at: before.at, id };
}

function isBefore(at: number, id: number, before: { at: number; id: number }): boolean {
  return at < before.at || (at === before.at && id < before.id);
}

/** Deliveries in groups of about as many events. */
function* groups(deliveries: readonly Delivery[]): Generator<Delivery[]> {
  let group: Delivery[] = [];
  let size = 0;
  for (const delivery of deliveries) {
    group.push(delivery);
    size += 1 + delivery.events;
    if (size < EVENTS_AT_ONCE) continue;
    yield group;
    group = [];
    size = 0;
  }
  if (group.length > 0) yield group;
}

/** The campaign of mailing `m`: its joins and columns. */
const CAMPAIGN = `
  LEFT JOIN single_sends ss ON m.owner_kind IN ('single', 'test') AND ss.id = m.owner_id
  LEFT JOIN automation_schedules sc ON m.owner_kind = 'schedule' AND sc.id = m.owner_id
  LEFT JOIN automations au ON au.id = m.automation_id`;
const CAMPAIGN_COLUMNS = `coalesce(ss.single_send_name, au.automation_name) AS name,
  coalesce(ss.utr, sc.utr) AS utr, iif(au.deleted_at IS NULL, au.utr, NULL) AS automation_utr,
  coalesce(ss.subject, sc.subject) AS subject`;

const MAILED = {
  [MAIL]: `SELECT 'mail' AS kind, d.id, iif(d.updated_at > 0, d.updated_at, m.created_at) AS at, ${CAMPAIGN_COLUMNS}, d.state, d.reply AS reason, d.opens, d.clicks
    FROM json_each(@ids) given CROSS JOIN deliveries d ON d.id = given.value CROSS JOIN mailings m ON m.id = d.mailing_id ${CAMPAIGN}
    WHERE m.user_id = @account`,
  [EVENT]: `SELECT CASE e.kind WHEN 'open' THEN 'opened' WHEN 'click' THEN 'clicked' WHEN 'bounce' THEN 'bounced' ELSE 'complained' END AS kind,
      e.id, e.happened_at AS at, ${CAMPAIGN_COLUMNS}, e.made_by, l.url
    FROM json_each(@ids) given CROSS JOIN events e ON e.id = given.value CROSS JOIN mailings m ON m.id = e.mailing_id ${CAMPAIGN}
      LEFT JOIN links l ON l.mailing_id = e.mailing_id AND l.number = e.link_number
    WHERE m.user_id = @account`,
};

/** Reads moments whose times were found, by their keys. */
export function mailedMoments(
  client: Database,
  accountId: number,
  found: readonly { key: string; source: string; id: number }[],
): Map<string, Moment> {
  const moments = new Map<string, Moment>();
  for (const [source, text] of Object.entries(MAILED)) {
    const keys = new Map(found.filter((one) => one.source === source).map(({ id, key }) => [id, key]));
    if (keys.size === 0) continue;
    const given = { ids: JSON.stringify([...keys.keys()]), account: accountId };
    for (const row of client.prepare<unknown[], MomentRow>(text).all(given)) {
      const key = keys.get(row.id);
      if (key !== undefined) moments.set(key, moment(key, row));
    }
  }
  return moments;
}
