/**
 * The timeline of a contact: everything that is recorded about one person, as a list of moments. First the times of all
 * moments are read in small steps, with other requests answered in between; then the content of the newest ones. The
 * ledger has no index by address over all mailings, because each mailing would write to places all over that index,
 * which costs more the longer the ledger is. So mails, opens, clicks and bounces are looked up in each mailing of the
 * account, by its index of addresses.
 */

import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { DEVICE_NAMES, MADE_BY } from '../../database/schema/index.ts';
import { VARIANT_OF } from '../../delivery/queue/variant-groups.ts';
import { stateName } from '../../delivery/reporting/mailing-report.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { codeOf, readStored } from '../../errors/stored.ts';
import { isoTimestamp } from '../../time/clock.ts';

/** The kinds of moments. */
export const MOMENTS = [
  'contact_created',
  'contact_changed',
  'contact_moved',
  'contact_deleted',
  'imported',
  'segment_joined',
  'segment_left',
  'segment_removed',
  'automation_entered',
  'automation_ended',
  'automation_step',
  'mail',
  'transactional',
  'opened',
  'clicked',
  'event',
  'bounced',
  'complained',
  'unsubscribed',
  'resubscribed',
  'subscribed',
  'tracking_allowed',
  'tracking_refused',
  'tracking_undone',
  'suppressed',
  'inactive',
  'active_again',
] as const;

/** The text that a contact agreed to, as it was shown. For a form, also when and from which networks it was sent and confirmed. */
type Consent = Record<'consent_text' | 'asked_at' | 'asked_from' | 'confirmed_from', string | null>;

/** A moment as a query returns it, with its reason in the stored form. Absent columns are null. */
interface MomentRow
  extends Partial<
    Consent &
      Record<
        'name' | 'from_name' | 'utr' | 'automation_utr' | 'subject' | 'reason' | 'url' | 'event_key',
        string | null
      >
  > {
  kind: (typeof MOMENTS)[number];
  id: number;
  /** Epoch milliseconds, or an ISO timestamp. */
  at: number | string;
  state?: string | number | null;
  made_by?: number;
  device?: number | null;
  opens?: number;
  clicks?: number;
  kept_mail_id?: number | null;
  value?: number | null;
  currency?: string | null;
  /** The properties of an event, as JSON. */
  properties?: string | null;
}

export type Moment = ReturnType<typeof toMoment>;

/** Returns the moment of a row. The schema in `operations.ts` describes its fields. Keys are unique for a contact and ascend in time. */
function toMoment(key: string, { kind, at, state, made_by, device, ...row }: MomentRow) {
  const reason = reasonOf(row);
  return {
    key,
    kind,
    happened_at: isoTime(at),
    name: row.name ?? null,
    from_name: row.from_name ?? null,
    utr: row.utr ?? null,
    automation_utr: row.automation_utr ?? null,
    subject: row.subject ?? null,
    state: typeof state === 'number' ? stateName(state) : (state ?? null),
    reason,
    reason_code: codeOf(reason),
    url: row.url ?? null,
    is_machine: made_by === MADE_BY.machine ? (1 as const) : (0 as const),
    is_proxied: made_by === MADE_BY.proxied ? (1 as const) : (0 as const),
    device: device === null || device === undefined ? null : (DEVICE_NAMES[device] ?? null),
    opens: row.opens ?? null,
    clicks: row.clicks ?? null,
    kept_mail_id: row.kept_mail_id ?? null,
    event_key: row.event_key ?? null,
    value: row.value ?? null,
    currency: row.currency ?? null,
    properties: propertiesOf(row.properties),
  };
}

/** Returns the properties of an event by their names, as texts; null if there are none. */
function propertiesOf(stored: string | null | undefined): Record<string, string> | null {
  if (!stored) return null;
  const properties: Record<string, unknown> = JSON.parse(stored);
  // The object has no prototype, so that a property may be named `__proto__`.
  const named: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(properties)) named[name] = String(value);
  return named;
}

/** The maximum number of moments in an export. */
export const MAX_MOMENTS = 20_000;
/** The number of moments whose content is read at once. */
const MOMENTS_AT_ONCE = 100;

interface Range {
  /** The key of a moment: only earlier moments are returned. */
  before?: string | undefined;
  limit: number;
}

/** A moment, or where to read it. Its time is in epoch milliseconds, because numbers are sorted much faster than texts. */
interface FoundMoment {
  at: number;
  source: string;
  id: number;
  moment: Moment | null;
}

/** Returns the newest `limit` moments of an address of the account, newest first, or those before the moment with the key `before`. */
export async function personTimeline(
  client: Database,
  accountId: number,
  addressId: number,
  range: Range,
): Promise<Moment[]> {
  const moments: Moment[] = [];
  for await (const slice of timelineSlices(client, accountId, addressId, range)) moments.push(...slice);
  return moments;
}

/** Yields the moments that `personTimeline` returns, in slices. */
export async function* timelineSlices(
  client: Database,
  accountId: number,
  addressId: number,
  { before, limit }: Range,
): AsyncGenerator<Moment[]> {
  let moments: FoundMoment[] = [];
  // The list is sorted after each slice: sorting a few moments into a sorted list takes a fraction of a millisecond, while sorting all
  // moments at the end takes tens of milliseconds.
  const keepNewest = () => {
    moments = moments.sort(newestFirst).slice(0, limit);
  };
  const parameters = { account: accountId, address: addressId };
  RECORDED.forEach((text, at) => {
    const source = at.toString(36);
    for (const row of client.prepare<unknown[], MomentRow>(text).all(parameters)) {
      const key = keyOf(row.at, source, row.id);
      if (before === undefined || key < before)
        moments.push({ at: epochTime(row.at), source, id: row.id, moment: toMoment(key, row) });
    }
  });
  const place = before === undefined ? null : parsePlace(before);
  for (const { id, at } of reportedTimes(client, addressId, limit, place))
    moments.push({ at, source: REPORTED, id, moment: null });
  for (const slice of mailedSlices(client, accountId, addressId, limit, place)) {
    for (const { source, id, at } of slice) moments.push({ at: epochTime(at), source, id, moment: null });
    keepNewest();
    await setImmediate();
  }
  keepNewest();
  for (let at = 0; at < moments.length; at += MOMENTS_AT_ONCE) {
    const slice = moments
      .slice(at, at + MOMENTS_AT_ONCE)
      .map((found) => ({ ...found, key: keyOf(found.at, found.source, found.id) }));
    const read = readMoments(
      client,
      accountId,
      slice.filter(({ moment }) => moment === null),
    );
    yield slice.flatMap(({ key, moment }) => moment ?? read.get(key) ?? []);
    await setImmediate();
  }
}

function newestFirst(a: FoundMoment, b: FoundMoment): number {
  if (a.at !== b.at) return b.at - a.at;
  if (a.source !== b.source) return a.source < b.source ? 1 : -1;
  return b.id - a.id;
}

function epochTime(at: number | string): number {
  return typeof at === 'number' ? at : Date.parse(at);
}

function isoTime(at: number | string): string {
  return typeof at === 'number' ? isoTimestamp(new Date(at)) : at;
}

/** The number of digits of the largest id that a number can hold. */
const ID_DIGITS = String(Number.MAX_SAFE_INTEGER).length;

function keyOf(at: number | string, source: string, id: number): string {
  return `${isoTime(at)} ${source}${String(id).padStart(ID_DIGITS, '0')}`;
}

/** Parses a key. A malformed key is before everything. */
function parsePlace(key: string): Place {
  const [time = '', rest = ''] = key.split(' ', 2);
  return { at: Date.parse(time) || 0, source: rest.slice(0, 1), id: Number(rest.slice(1)) || 0 };
}

/** Returns the reason of a row; for a consent, the text with the time of the request, and the networks of the request and the confirmation. */
function reasonOf({
  reason = null,
  consent_text: text = null,
  ...row
}: Omit<MomentRow, 'kind' | 'id' | 'at'>): Said | null {
  if (text === null) return readStored(reason);
  if (!row.asked_at) return text;
  const time = row.asked_at.slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ');
  const [asker, confirmer] = [row.asked_from ?? '', row.confirmed_from ?? ''];
  return asker === ''
    ? sentence('api_consent', { text, time, confirmer })
    : sentence('form_consent', { text, time, asker, confirmer });
}

/** The maximum number of changes of lists and segments that are read, newest first. Only an address used for tests has more. */
const MAX_CHANGES = 1000;

/**
 * Queries for the moments that are not about mails: one query for each source, of an @address of an @account. A contact has few of
 * these moments. Deleted contacts count too, until they are purged. A row of segment_recipients shows a present membership, a
 * row of segment_leaves a past one.
 */
const RECORDED: readonly string[] = [
  `SELECT 'contact_created' AS kind, c.id, c.created_at AS at, t.name
   FROM contacts c LEFT JOIN contact_types t ON t.id = ifnull(
     (SELECT v.from_type_id FROM contact_moves v WHERE v.contact_id = c.id ORDER BY v.id LIMIT 1), c.contact_type_id)
   WHERE c.address_id = @address AND c.user_id = @account`,
  `SELECT 'contact_changed' AS kind, c.id, c.updated_at AS at, t.name
   FROM contacts c LEFT JOIN contact_types t ON t.id = c.contact_type_id
   WHERE c.address_id = @address AND c.user_id = @account AND c.updated_at <> c.created_at
     AND NOT EXISTS (SELECT 1 FROM contact_moves v WHERE v.contact_id = c.id AND v.created_at = c.updated_at)`,
  `SELECT 'contact_moved' AS kind, v.id, v.created_at AS at, t.name, f.name AS from_name
   FROM contacts c CROSS JOIN contact_moves v ON v.contact_id = c.id
     LEFT JOIN contact_types t ON t.id = v.to_type_id LEFT JOIN contact_types f ON f.id = v.from_type_id
   WHERE c.address_id = @address AND c.user_id = @account ORDER BY v.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'contact_deleted' AS kind, c.id, ifnull(c.deleted_at, t.deleted_at) AS at, t.name
   FROM contacts c CROSS JOIN contact_types t ON t.id = c.contact_type_id
   WHERE c.address_id = @address AND c.user_id = @account AND (c.deleted_at IS NOT NULL OR t.deleted_at IS NOT NULL)`,
  `WITH written (type_id, created_at, updated_at) AS (
     SELECT contact_type_id, created_at, updated_at FROM contacts WHERE address_id = @address
     UNION SELECT v.from_type_id, c.created_at, c.updated_at
     FROM contacts c CROSS JOIN contact_moves v ON v.contact_id = c.id WHERE c.address_id = @address)
   SELECT DISTINCT 'imported' AS kind, i.id, i.written_at AS at, i.file_name AS name
   FROM written w CROSS JOIN contact_imports i INDEXED BY contact_imports_written ON i.contact_type_id = w.type_id AND i.written_at IN (w.created_at, w.updated_at)
   WHERE i.user_id = @account`,
  `SELECT 'segment_joined' AS kind, r.id, r.created_at AS at, s.segment_name AS name
   FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = @address WHERE s.user_id = @account`,
  `SELECT 'segment_removed' AS kind, r.id, r.updated_at AS at, s.segment_name AS name
   FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = @address
   WHERE s.user_id = @account AND r.is_removed = 1`,
  `SELECT 'segment_joined' AS kind, l.id, l.joined_at AS at, s.segment_name AS name
   FROM segment_leaves l CROSS JOIN segments s ON s.id = l.segment_id AND s.user_id = @account
   WHERE l.address_id = @address ORDER BY l.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'segment_left' AS kind, l.id, l.left_at AS at, s.segment_name AS name
   FROM segment_leaves l CROSS JOIN segments s ON s.id = l.segment_id AND s.user_id = @account
   WHERE l.address_id = @address ORDER BY l.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'automation_entered' AS kind, e.id, e.entered_at AS at, a.automation_name AS name, a.utr, e.state, e.reason
   FROM automations a CROSS JOIN enrolments e ON e.automation_id = a.id AND e.address_id = @address
   WHERE a.user_id = @account AND a.deleted_at IS NULL`,
  `SELECT g.action AS kind, g.id, g.created_at AS at, ifnull(g.form_name, u.group_name) AS name,
     iif(g.source = 'import', ifnull(g.consent_text, g.source), g.source) AS reason, iif(g.source = 'import', NULL, g.consent_text) AS consent_text,
     g.asked_at, g.asked_from, g.confirmed_from
   FROM consent_log g LEFT JOIN unsubscribe_groups u ON u.id = g.unsubscribe_groups_id
   WHERE g.address_id = @address AND g.user_id = @account ORDER BY g.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'transactional' AS kind, t.id, t.created_at AS at, t.subject, t.utr, t.state, t.reply AS reason
   FROM transactional_mails t INDEXED BY transactional_mails_address
   WHERE t.address_id = @address AND t.user_id = @account ORDER BY t.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'suppressed' AS kind, s.id, s.created_at AS at, s.kind AS state, s.diagnostic AS reason
   FROM suppressions s WHERE s.address_id = @address AND s.user_id = @account`,
  // Mails and entries are also in this log, but are read from their own tables.
  `SELECT iif(l.step_id IS NULL, 'automation_ended', 'automation_step') AS kind, l.id, l.happened_at AS at, a.automation_name AS name, a.utr,
     l.code AS state, l.reason
   FROM enrolment_log l INDEXED BY enrolment_log_person CROSS JOIN automations a ON a.id = l.automation_id AND a.user_id = @account AND a.deleted_at IS NULL
   WHERE l.address_id = @address AND l.code NOT IN ('entered', 'mail') ORDER BY l.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'inactive' AS kind, z.id, z.created_at AS at, z.action AS state
   FROM sunset_people z WHERE z.address_id = @address AND z.user_id = @account`,
  `SELECT 'active_again' AS kind, z.id, z.lifted_at AS at, z.lifted_by AS state
   FROM sunset_people z WHERE z.address_id = @address AND z.user_id = @account AND z.lifted_at IS NOT NULL`,
];

/** The number of mailings whose ledger is read at once. */
const MAILINGS_AT_ONCE = 100;
/**
 * The number of mails and events whose times are read at once, because they are scattered over the file. A mail has two hundred
 * opens and clicks at most.
 */
const EVENTS_AT_ONCE = 100;
/**
 * The sources of reported events, mails and events of mails. Among moments of the same time, they come after the other sources,
 * which are digits and letters before x.
 */
const REPORTED = 'x';
const MAIL = 'y';
const EVENT = 'z';

/**
 * A place in a timeline. What is before it has an earlier time, or the same time and an earlier source, or the same source and a lower id.
 */
interface Place {
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
 * Yields the times of the mails to an address of the account and of their events, before a place (null: all). A slice takes a
 * few milliseconds to read and has the newest `limit` moments of its mails.
 */
function* mailedSlices(
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
    const page = mailings.all(accountId, last);
    const created = new Map(page.map(({ id, created_at }) => [id, created_at]));
    const rows = deliveries.all(JSON.stringify(page.map(({ id }) => id)), addressId);
    // The time of a mail that was never tried is the time of its mailing.
    yield rows
      .map(({ id, mailing_id, updated_at }): MailedTime => {
        return { source: MAIL, id, at: updated_at > 0 ? updated_at : (created.get(mailing_id) ?? 0) };
      })
      .filter(({ id, at }) => isBefore(typeof at === 'number' ? at : Date.parse(at), id, mailsBefore));
    for (const group of groupsOf(rows))
      yield events.all({ ...eventsBefore, deliveries: JSON.stringify(group.map(({ id }) => id)) });
    if (page.length < MAILINGS_AT_ONCE) return;
    last = page.at(-1)?.id ?? 0;
  }
}

/** Returns the times of the newest `limit` reported events of an address before a place, read from the index alone. */
function reportedTimes(
  client: Database,
  addressId: number,
  limit: number,
  before: Place | null,
): { id: number; at: number }[] {
  return client
    .prepare<unknown[], { id: number; at: number }>(`
      SELECT v.id, v.happened_at AS at FROM contact_events v INDEXED BY contact_events_person
      WHERE v.address_id = @address AND v.happened_at <= @at AND (v.happened_at < @at OR v.id < @id)
      ORDER BY v.happened_at DESC, v.id DESC LIMIT @limit`)
    .all({ ...placeIn(REPORTED, before), address: addressId, limit });
}

/** Returns the part of a place that compares moments of one source: an earlier time, or the same time with a lower id. */
function placeIn(source: string, before: Place | null): { at: number; id: number } {
  if (before === null) return { at: Number.MAX_SAFE_INTEGER, id: 0 };
  if (source === before.source) return { at: before.at, id: before.id };
  return { at: before.at, id: source < before.source ? Number.MAX_SAFE_INTEGER : 0 };
}

function isBefore(at: number, id: number, before: { at: number; id: number }): boolean {
  return at < before.at || (at === before.at && id < before.id);
}

/** Groups deliveries so that each group has about the same number of events. */
function* groupsOf(deliveries: readonly Delivery[]): Generator<Delivery[]> {
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

/**
 * SQL: the joins that find the campaign of mailing `m`. The id of a test that an earlier release recorded may be that of a template or of a
 * mail of an automation, so a campaign of another account may have this id.
 */
const CAMPAIGN = `
  LEFT JOIN single_sends ss ON m.owner_kind IN ('single', 'test', 'single_test') AND ss.id = m.owner_id AND ss.user_id = m.user_id
  LEFT JOIN automation_schedules sc ON m.owner_kind IN ('schedule', 'schedule_test') AND sc.id = m.owner_id
  LEFT JOIN automations au ON au.id = coalesce(m.automation_id, sc.automation_id)`;
/**
 * SQL: the subject of the variant of an A/B test that delivery `d` got; null for the mail itself, which is variant 0, and for other mails.
 */
const VARIANT_SUBJECT = `(SELECT nullif(v.value ->> 'subject', '') FROM json_each(ss.ab_test, '$.variants') v
    WHERE v.key + 1 = ${VARIANT_OF})`;
/** SQL: the columns of a moment that come from the campaign, and from delivery `d`. */
const CAMPAIGN_COLUMNS = `coalesce(ss.single_send_name, au.automation_name) AS name,
  coalesce(ss.utr, sc.utr) AS utr, iif(au.deleted_at IS NULL, au.utr, NULL) AS automation_utr,
  coalesce(${VARIANT_SUBJECT}, ss.subject, sc.subject) AS subject`;

/** The queries for the content of moments, by source. */
const CONTENT = {
  [REPORTED]: `SELECT 'event' AS kind, v.id, v.happened_at AS at, n.word AS name, v.event_key, v.value, v.currency,
      (SELECT json_group_object(w.word, p.value) FROM json_each(v.properties) p CROSS JOIN event_words w ON w.id = CAST(p.key AS INTEGER)) AS properties
    FROM json_each(@ids) given CROSS JOIN contact_events v ON v.id = given.value CROSS JOIN event_words n ON n.id = v.name_id
    WHERE v.user_id = @account`,
  [MAIL]: `SELECT 'mail' AS kind, d.id, iif(d.updated_at > 0, d.updated_at, m.created_at) AS at, ${CAMPAIGN_COLUMNS}, d.state, d.reply AS reason, d.opens, d.clicks,
      (SELECT k.delivery_id FROM sent_mails k WHERE k.delivery_id = d.id) AS kept_mail_id
    FROM json_each(@ids) given CROSS JOIN deliveries d ON d.id = given.value CROSS JOIN mailings m ON m.id = d.mailing_id ${CAMPAIGN}
    WHERE m.user_id = @account`,
  [EVENT]: `SELECT CASE e.kind WHEN 'open' THEN 'opened' WHEN 'click' THEN 'clicked' WHEN 'bounce' THEN 'bounced' ELSE 'complained' END AS kind,
      e.id, e.happened_at AS at, ${CAMPAIGN_COLUMNS}, e.made_by, e.device, l.url
    FROM json_each(@ids) given CROSS JOIN events e ON e.id = given.value CROSS JOIN mailings m ON m.id = e.mailing_id ${CAMPAIGN}
      LEFT JOIN deliveries d ON d.id = e.delivery_id
      LEFT JOIN links l ON l.mailing_id = e.mailing_id AND l.number = e.link_number
    WHERE m.user_id = @account`,
};

/** Reads the content of moments whose times are known. Returns the moments by key. */
function readMoments(
  client: Database,
  accountId: number,
  rows: readonly { key: string; source: string; id: number }[],
): Map<string, Moment> {
  const moments = new Map<string, Moment>();
  for (const [source, text] of Object.entries(CONTENT)) {
    const keys = new Map(rows.filter((row) => row.source === source).map(({ id, key }) => [id, key]));
    if (keys.size === 0) continue;
    const parameters = { ids: JSON.stringify([...keys.keys()]), account: accountId };
    for (const row of client.prepare<unknown[], MomentRow>(text).all(parameters)) {
      const key = keys.get(row.id);
      if (key !== undefined) moments.set(key, toMoment(key, row));
    }
  }
  return moments;
}
