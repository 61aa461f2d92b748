/**
 * How many mails of campaigns one person gets within some days at most. It is decided at the claim, in its transaction: the ledger says
 * what a person had, so two mailings at once cannot both be the last that is allowed. A mail that was begun is never capped, since it may
 * have left before a kill; it counts for the others.
 */
import type { Database } from 'better-sqlite3';
import { isoTimestamp } from '../../clock.ts';
import { prepared } from '../../database/prepared.ts';
import { DELIVERY_STATE, type MailCap } from '../../database/schema/index.ts';
import { SENTENCES, sentence } from '../../sentences.ts';
import { addDays, toUtc, wallClock } from '../../zones.ts';

export const MAX_CAPS = 3;
export const MAX_CAP_MAILS = 50;
export const MAX_CAP_DAYS = 31;
/** How long after its time a mail of an automation may wait for the caps. */
const LONGEST_WAIT_MS = 7 * 86_400_000;
const START_OF_DAY = '00:00:00';

/** A recipient that is looked at. */
interface Asked {
  id: number;
  address_id: number;
}

/** What the caps say of one recipient: left out with a reason, or to be tried again at a moment (epoch milliseconds). */
export type Capped<Recipient> = { recipient: Recipient; reason: string; until: number | null };

/** Caps at a moment, as the values of statements: the period of each begins with a local day. */
export interface CapPeriods {
  account: number;
  /** Left out of the count. */
  mailing: number;
  /** The beginning of the longest period, as epoch milliseconds and as an ISO timestamp. */
  from: number;
  since: string;
  /** By the index of the cap: its beginning, how many mails are all that is allowed, and what is said then. */
  [slot: `from${number}` | `mails${number}`]: number | null;
  [slot: `reason${number}`]: string | null;
}

/** Whose caps they are, at which moment (epoch milliseconds), and the mailing that is not counted. */
interface CapMoment {
  account: number;
  mailing: number;
  now: number;
  timeZone: string;
}

/** The caps at a moment. A day is one of the zone, and the present one is the last of each period. */
export function capPeriods(caps: readonly MailCap[], { account, mailing, now, timeZone }: CapMoment): CapPeriods {
  const { date } = wallClock(new Date(now), timeZone);
  const starts = caps.map(({ days }) => toUtc(addDays(date, 1 - days), START_OF_DAY, timeZone).getTime());
  const from = Math.min(...starts);
  const periods: CapPeriods = { account, mailing, from, since: isoTimestamp(new Date(from)) };
  for (let slot = 0; slot < MAX_CAPS; slot++) {
    periods[`from${slot}`] = starts[slot] ?? null;
    const cap = caps[slot];
    periods[`mails${slot}`] = cap?.mails ?? null;
    periods[`reason${slot}`] = cap === undefined ? null : capReason(cap);
  }
  return periods;
}

/** The account's mailings of which people may have had mails since @since, as the table `recent`. */
export const RECENT_MAILINGS = `recent AS MATERIALIZED (
  SELECT m.id FROM mailings m INDEXED BY mailings_recent
  WHERE m.user_id = @account AND m.owner_kind IN ('single', 'schedule')
    AND CASE WHEN m.finished_at IS NULL THEN '9' ELSE m.finished_at END >= @since AND m.id <> @mailing)`;

/** The mails that the person `address` (SQL) had since @from, as SQL after FROM: what was handed over and did not come back, or is being tried. */
const hadMails = (
  address: string,
) => `recent CROSS JOIN deliveries had ON had.mailing_id = recent.id AND had.address_id = ${address}
    WHERE had.updated_at >= @from AND (had.state IN (${DELIVERY_STATE.sending}, ${DELIVERY_STATE.accepted})
      OR (had.state = ${DELIVERY_STATE.queued} AND had.first_tried_at IS NOT NULL))`;

/** Why the person `address` (SQL) gets no further mail now, as SQL; null when the caps allow one. Needs `RECENT_MAILINGS`. */
export function capReasonOf(address: string): string {
  const slots = Array.from(
    { length: MAX_CAPS },
    (_, slot) => `WHEN sum(had.updated_at >= @from${slot}) >= @mails${slot} THEN @reason${slot}`,
  );
  return `(SELECT CASE ${slots.join(' ')} END FROM ${hadMails(address)})`;
}

function capReason({ mails, days }: MailCap): string {
  return days === 1 ? sentence('over_cap_day', { mails }) : sentence('over_cap', { mails, days });
}

/** How many mailings are looked through for each person. */
export function countRecentMailings(client: Database, periods: CapPeriods): number {
  const count = prepared<[object], { count: number }>(
    client,
    `WITH ${RECENT_MAILINGS} SELECT count(*) AS count FROM recent`,
  );
  return count.get(periods)?.count ?? 0;
}

const CAPS_OF_MAILING = `
  SELECT a.id AS account, a.mail_caps AS caps, m.owner_kind = 'schedule' AS in_series FROM mailings m CROSS JOIN accounts a ON a.id = m.user_id
  WHERE m.id = ? AND a.mail_caps IS NOT NULL AND m.owner_kind IN ('single', 'schedule')
    AND NOT EXISTS (SELECT 1 FROM single_sends s WHERE m.owner_kind = 'single' AND s.id = m.owner_id AND s.ignores_caps = 1)
    AND NOT EXISTS (SELECT 1 FROM automations au WHERE au.id = m.automation_id AND au.ignores_caps = 1)`;

const CAPPED = `
  WITH ${RECENT_MAILINGS}
  SELECT asked.value AS address_id, ${capReasonOf('asked.value')} AS reason FROM json_each(@addresses) asked`;

const HAD = `WITH ${RECENT_MAILINGS} SELECT had.updated_at FROM ${hadMails('@address')} ORDER BY had.updated_at`;

const DUE_SINCE = 'SELECT due_at FROM enrolments INDEXED BY enrolments_delivery WHERE delivery_id = ?';

/**
 * Those of a mailing's recipients whom the caps of its account allow no further mail at `now`, epoch milliseconds. A mail of an
 * automation is to be tried again when they allow it, if that is within a week of its time. Call inside the claim's transaction.
 */
export function findCapped<Recipient extends Asked>(
  client: Database,
  mailing: number,
  recipients: readonly Recipient[],
  now: number,
  timeZone: string,
): Capped<Recipient>[] {
  const found = prepared<[number], { account: number; caps: string; in_series: 0 | 1 }>(client, CAPS_OF_MAILING).get(
    mailing,
  );
  if (found === undefined || recipients.length === 0) return [];
  const caps: MailCap[] = JSON.parse(found.caps);
  const periods = capPeriods(caps, { account: found.account, mailing, now, timeZone });
  const addresses = JSON.stringify(recipients.map(({ address_id }) => address_id));
  const rows = prepared<[object], { address_id: number; reason: string | null }>(client, CAPPED).all({
    ...periods,
    addresses,
  });
  const reasons = new Map(rows.map(({ address_id, reason }) => [address_id, reason]));
  return recipients.flatMap((recipient) => {
    const reason = reasons.get(recipient.address_id) ?? null;
    if (reason === null) return [];
    const until = found.in_series === 1 ? findNextTry(client, recipient, caps, periods, now, timeZone) : null;
    return [{ recipient, until, reason: until === null ? reason : SENTENCES.waits_for_cap }];
  });
}

/** When the caps allow another mail: that day at the present time of day. Null if that is too late. */
function findNextTry(
  client: Database,
  { id, address_id }: Asked,
  caps: readonly MailCap[],
  periods: CapPeriods,
  now: number,
  timeZone: string,
): number | null {
  const had = prepared<[object], { updated_at: number }>(client, HAD).all({ ...periods, address: address_id });
  const days = caps.flatMap(({ mails, days }, slot) => {
    const counted = had.filter(({ updated_at }) => updated_at >= (periods[`from${slot}`] ?? 0));
    // The mail that leaves the period last before it has room.
    const last = counted[counted.length - mails];
    return last === undefined ? [] : [addDays(wallClock(new Date(last.updated_at), timeZone).date, days)];
  });
  const day = days.sort().at(-1);
  if (day === undefined) return null;
  const next = toUtc(day, wallClock(new Date(now), timeZone).time, timeZone).getTime();
  const due = prepared<[number], { due_at: number }>(client, DUE_SINCE).get(id)?.due_at ?? now;
  return next > due + LONGEST_WAIT_MS ? null : next;
}
