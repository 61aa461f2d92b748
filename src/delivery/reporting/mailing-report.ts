/**
 * The report on a mailing: recipients by state and reason, opens and clicks by hour and link, with people, proxies and machines counted
 * separately.
 */
import type { Database } from 'better-sqlite3';
import {
  DELIVERY_STATE,
  DELIVERY_STATE_NAMES,
  DEVICE_NAMES,
  type DeliveryState,
  type Device,
  type mailingHours,
} from '../../database/schema/index.ts';
import type { Said } from '../../errors/sentences.ts';
import { codeOf, readStored, storedSql } from '../../errors/stored.ts';

export interface MailingReport {
  states: Record<ShownDeliveryState, number>;
  reasons: Reason[];
  opens_by_hour: { hour: string; count: number }[];
  clicks_by_hour: { hour: string; count: number }[];
  top_links: { url: string; clicks: number }[];
  /** The number of opens by who made them. */
  opens_by_class: Record<'person' | 'proxied' | 'machine', number>;
  /** The number of opens made by bots, such as link scanners. */
  machine_opens: number;
  /** The number of clicks made by bots. */
  machine_clicks: number;
  /** The numbers of recipients at each stage, from the whole audience to the recipients who clicked. */
  funnel: Funnel;
  hours: ReportedHour[];
  /**
   * The opens and clicks of people by the kind of device, most opens first. Opens and clicks recorded before devices were recorded are
   * missing.
   */
  devices: { device: Device; opens: number; clicks: number }[];
  /** Every link of the mail, in order of appearance. */
  links: { number: number; url: string; clicks: number; machine_clicks: number }[];
}

/** The events within one hour. Hours without events are missing. */
export interface ReportedHour extends Omit<typeof mailingHours.$inferSelect, 'mailing_id' | 'hour'> {
  /** The start of the hour, `YYYY-MM-DD HH:00:00` UTC. */
  hour: string;
}

interface Reason {
  state: DeliveryState;
  reason: Said;
  count: number;
}

const MAX_TOP_LINKS = 20;

const EMPTY_FUNNEL = {
  recipients: 0,
  triggered: 0,
  delivered: 0,
  /** The number of delivered mails that the outbox kept, so that they were never sent. */
  kept: 0,
  /** The number of delivered mails that are unmeasured. */
  unmeasured: 0,
  unique_opens: 0,
  people_opens: 0,
  unique_clicks: 0,
  people_clicks: 0,
  /** Recipients of whom only image loads by a proxy are known. */
  proxied_only: 0,
  bounces: 0,
  failed: 0,
  suppressed: 0,
  cancelled: 0,
  unsubscribes: 0,
};
/**
 * The number of recipients that reached each stage. `people_…` counts recipients with at least one open or click that was not made by a
 * machine.
 */
export type Funnel = typeof EMPTY_FUNNEL;

/**
 * Reports a mailing's recipients by state and reason, and their opens and clicks. Replies that differ only in addresses and ids count as
 * one reason. Everything is read from counters. Mailing 0 yields an empty report.
 */
export function mailingReport(client: Database, mailingId: number): MailingReport {
  const funnel = readFunnel(client, mailingId);
  const hours = readHours(client, mailingId);
  const links = client
    .prepare<[number], MailingReport['links'][number]>(
      'SELECT number, url, clicks, machine_clicks FROM links WHERE mailing_id = ? ORDER BY number',
    )
    .all(mailingId);
  const byHour = (kind: 'opens' | 'clicks') =>
    hours
      .map((row) => ({ hour: row.hour, count: row[kind] - row[`machine_${kind}`] }))
      .filter(({ count }) => count > 0);
  const sum = (counter: 'opens' | 'machine_opens' | 'proxied_opens' | 'machine_clicks') =>
    hours.reduce((total, { [counter]: count }) => total + count, 0);
  const machine = sum('machine_opens');
  const proxied = sum('proxied_opens');
  return {
    states: readStates(client, mailingId, funnel),
    reasons: readReasons(client, mailingId),
    opens_by_hour: byHour('opens'),
    clicks_by_hour: byHour('clicks'),
    top_links: [...Map.groupBy(links, ({ url }) => url)]
      .map(([url, same]) => ({ url, clicks: same.reduce((sum, link) => sum + link.clicks - link.machine_clicks, 0) }))
      .filter(({ clicks }) => clicks > 0)
      .sort((one, other) => other.clicks - one.clicks)
      .slice(0, MAX_TOP_LINKS),
    opens_by_class: { person: sum('opens') - machine - proxied, proxied, machine },
    machine_opens: machine,
    machine_clicks: sum('machine_clicks'),
    funnel,
    hours,
    devices: readDevices(client, mailingId),
    links,
  };
}

function readDevices(client: Database, mailingId: number): MailingReport['devices'] {
  return client
    .prepare<[number], { device: number; opens: number; clicks: number }>(
      'SELECT device, opens, clicks FROM mailing_devices WHERE mailing_id = ? AND opens + clicks > 0 ORDER BY opens DESC, clicks DESC, device',
    )
    .all(mailingId)
    .map((row) => ({ ...row, device: DEVICE_NAMES[row.device] ?? 'unknown' }));
}

/** Reads the counters of a mailing. Returns zeros if the mailing does not exist. */
function readFunnel(client: Database, mailingId: number): Funnel {
  const columns = Object.keys(EMPTY_FUNNEL).map((name) => (name === 'kept' ? `${keptMails('m')} AS kept` : name));
  const read = client.prepare<[number], Funnel>(`SELECT ${columns.join(', ')} FROM mailings m WHERE id = ?`);
  return read.get(mailingId) ?? EMPTY_FUNNEL;
}

function readStates(client: Database, mailingId: number, funnel: Funnel): MailingReport['states'] {
  const { delivered, kept, bounces, failed, suppressed, cancelled, recipients } = funnel;
  const sending =
    client
      .prepare<[number], number>(
        `SELECT count(*) FROM deliveries INDEXED BY deliveries_sending WHERE mailing_id = ? AND state = ${DELIVERY_STATE.sending}`,
      )
      .pluck()
      .get(mailingId) ?? 0;
  const final = delivered + bounces + failed + suppressed + cancelled;
  const queued = Math.max(0, recipients - final - sending);
  return { queued, sending, accepted: delivered - kept, kept, bounced: bounces, failed, suppressed, cancelled };
}

/** Returns the name of a ledger state. Throws an Error for an unknown number. */
export function stateName(state: number): DeliveryState {
  const name = DELIVERY_STATE_NAMES[state];
  if (name === undefined) throw new Error(`unknown delivery state ${state}`);
  return name;
}

function readReasons(client: Database, mailingId: number): Reason[] {
  return client
    .prepare<[number], { state: number; reason: string; count: number }>(
      `SELECT state, reason, count FROM delivery_reasons WHERE mailing_id = ? AND state <> ${DELIVERY_STATE.accepted}
        ORDER BY count DESC, reason LIMIT ${MAX_TOP_LINKS}`,
    )
    .all(mailingId)
    .map(({ state, reason, count }) => ({ state: stateName(state), reason: readStored(reason), count }));
}

function readHours(client: Database, mailingId: number): ReportedHour[] {
  return client
    .prepare<[number], ReportedHour>(`
      SELECT strftime('%Y-%m-%d %H:00:00', hour / 1000, 'unixepoch') AS hour, opens, machine_opens, proxied_opens, clicks, machine_clicks, bounces, unsubscribes
      FROM mailing_hours WHERE mailing_id = ? ORDER BY mailing_hours.hour`)
    .all(mailingId);
}

/** The state of a delivery as displayed: `kept` for an accepted mail that the outbox kept. */
export type ShownDeliveryState = DeliveryState | 'kept';

/** Every displayed state: the states of the ledger, and `kept` after `accepted`. */
export const SHOWN_DELIVERY_STATES: readonly ShownDeliveryState[] = DELIVERY_STATE_NAMES.flatMap((name) =>
  name === 'accepted' ? (['accepted', 'kept'] as const) : [name],
);

/** Returns the displayed state of a delivery with this reply. */
export function shownDeliveryState(state: DeliveryState, reply: Said | null): ShownDeliveryState {
  return state === 'accepted' && codeOf(reply) === 'kept_in_outbox' ? 'kept' : state;
}

/** Returns SQL for the number of a mailing's mails that the outbox kept. `mailing` is the alias of the mailing's row. */
export function keptMails(mailing: string): string {
  return `ifnull((SELECT count FROM delivery_reasons WHERE mailing_id = ${mailing}.id AND state = ${DELIVERY_STATE.accepted}
    AND reason = ${storedSql('kept_in_outbox')}), 0)`;
}
