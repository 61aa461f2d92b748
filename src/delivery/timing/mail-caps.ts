/**
 * The frequency cap: how many campaign mails a contact gets at most within some days. It is checked against the ledger at the claim, inside
 * the claim's transaction, so that two mailings at once cannot both use the last allowed mail. A mail whose sending has begun is never
 * capped, because it may have been sent before a crash; it counts towards the cap of other mails. Only one index of the ledger is read,
 * which contains only mails of accounts with caps (`counts_to_caps`): each claim marks its own mails, and `ledger/earlier-mails.ts` marks
 * those sent before the caps were set.
 */
import type { Database } from 'better-sqlite3';
import { isReceivedOrUnderway, type MailCap } from '../../database/schema/index.ts';
import { sentence } from '../../errors/sentences.ts';
import { stored } from '../../errors/stored.ts';
import { addDays, toUtc, wallClock } from '../../time/zones.ts';
import { DAY_MS } from '../../units.ts';

export const MAX_CAPS = 3;
export const MAX_CAP_MAILS = 50;
export const MAX_CAP_DAYS = 31;
/** How long after its due time an automation's mail may wait because of the caps, in milliseconds. */
const MAX_WAIT_MS = 7 * DAY_MS;
const START_OF_DAY = '00:00:00';

/** The stored reason of a mail that waits for the caps. */
const WAITS = stored(sentence('waits_for_cap'));

interface CapCandidate {
  id: number;
  address_id: number;
}

/**
 * A recipient who has reached the cap, with the reason in its stored form: excluded if `until` is null, else to be tried again at `until`
 * (epoch milliseconds).
 */
export type Capped<Recipient> = { recipient: Recipient; reason: string; until: number | null };

/** The caps that apply to a mailing. */
export interface MailingCaps {
  account: number;
  caps: readonly MailCap[];
  /** True if the mailing's mails ignore the caps. They still count towards the caps of other mails. */
  ignores: boolean;
  /** True for a mail of an automation. */
  in_series: boolean;
  /** True if mails sent before the caps were set are still being marked. */
  is_incomplete: boolean;
}

/** The caps at a given time, as parameters of SQL statements. The period of each cap begins with a local day. */
export interface CapPeriods {
  /** The beginning of the longest period, epoch milliseconds. */
  from: number;
  /** The largest number of mails that any of the caps allows. */
  most: number;
  /** By the index of the cap: when its period begins (`from`), and how many mails it allows (`mails`). */
  [slot: `from${number}` | `mails${number}`]: number | null;
  /** By the index of the cap: the stored reason when its mails are used up. */
  [slot: `reason${number}`]: string | null;
}

/** Returns the caps at `now`, epoch milliseconds. Days begin in the time zone, and each period ends with the current day. */
export function capPeriods(caps: readonly MailCap[], now: number, timeZone: string): CapPeriods {
  const { date } = wallClock(new Date(now), timeZone);
  const starts = caps.map(({ days }) => toUtc(addDays(date, 1 - days), START_OF_DAY, timeZone).getTime());
  const periods: CapPeriods = { from: Math.min(...starts), most: Math.max(...caps.map(({ mails }) => mails)) };
  for (let slot = 0; slot < MAX_CAPS; slot++) {
    periods[`from${slot}`] = starts[slot] ?? null;
    const cap = caps[slot];
    periods[`mails${slot}`] = cap?.mails ?? null;
    periods[`reason${slot}`] = cap === undefined ? null : capReason(cap);
  }
  return periods;
}

function capReason({ mails, days }: MailCap): string {
  return stored(days === 1 ? sentence('over_cap_day', { mails }) : sentence('over_cap', { mails, days }));
}

/**
 * Returns SQL for the latest mails, at most @most, that were sent to the contact `address` (SQL) since @from: by default their times,
 * latest first.
 */
const latestMails = (address: string, columns = 'updated_at') => `
  SELECT ${columns} FROM deliveries INDEXED BY deliveries_capped
  WHERE address_id = ${address} AND updated_at >= @from AND counts_to_caps = 1 AND ${isReceivedOrUnderway()}
  ORDER BY updated_at DESC LIMIT @most`;

/** Returns SQL for the reason why the contact `address` (SQL) may get no more mail now; null if the caps allow one. */
export function reachedCapReason(address: string): string {
  const slots = Array.from(
    { length: MAX_CAPS },
    (_, slot) => `WHEN sum(updated_at >= @from${slot}) >= @mails${slot} THEN @reason${slot}`,
  );
  return `(SELECT CASE ${slots.join(' ')} END FROM (${latestMails(address)}))`;
}

/** A mail that counts towards a cap. `updated_at` is when it was sent, in epoch milliseconds. */
interface CappedMail {
  mailing_id: number;
  updated_at: number;
}

/**
 * Returns each cap with the mails that count towards it for the address at `now`, epoch milliseconds, latest first. There are at most as
 * many as the largest cap allows.
 */
export function mailsWithinCaps(
  client: Database,
  address: number,
  caps: readonly MailCap[],
  now: number,
  timeZone: string,
): (MailCap & { counted: CappedMail[] })[] {
  const periods = capPeriods(caps, now, timeZone);
  const latest = client.prepare<[object], CappedMail>(latestMails('@address', 'mailing_id, updated_at')).all({
    from: periods.from,
    most: periods.most,
    address,
  });
  return caps.map((cap, slot) => ({
    ...cap,
    counted: latest.filter(({ updated_at }) => updated_at >= (periods[`from${slot}`] ?? 0)),
  }));
}

const CAPS_OF_MAILING = `
  SELECT a.id AS account, a.mail_caps AS caps, a.mail_caps_progress IS NOT NULL AS is_incomplete, m.owner_kind = 'schedule' AS in_series,
    EXISTS (SELECT 1 FROM single_sends s WHERE m.owner_kind = 'single' AND s.id = m.owner_id AND s.ignores_caps = 1)
      OR EXISTS (SELECT 1 FROM automations au WHERE au.id = m.automation_id AND au.ignores_caps = 1) AS ignores
  FROM mailings m CROSS JOIN accounts a ON a.id = m.user_id
  WHERE m.id = ? AND a.mail_caps IS NOT NULL AND m.owner_kind IN ('single', 'schedule')`;

/** Returns the account's caps for the mailing of a campaign or an automation; null if there are none, and for all other mailings. */
export function findMailingCaps(client: Database, mailing: number): MailingCaps | null {
  type Row = { account: number; caps: string } & Record<'ignores' | 'in_series' | 'is_incomplete', 0 | 1>;
  const row = client.prepare<[number], Row>(CAPS_OF_MAILING).get(mailing);
  if (row === undefined) return null;
  const { account, caps, ignores, in_series, is_incomplete } = row;
  return {
    account,
    caps: JSON.parse(caps),
    ignores: ignores === 1,
    in_series: in_series === 1,
    is_incomplete: is_incomplete === 1,
  };
}

/** SQL for the reason why each of @addresses may get no more mail; null if the caps allow one. */
const CAPPED = `SELECT value AS address_id, ${reachedCapReason('value')} AS reason FROM json_each(@addresses)`;

const DUE_SINCE = 'SELECT due_at FROM enrolments INDEXED BY enrolments_delivery WHERE delivery_id = ?';

/**
 * Returns the recipients of a mailing for whom the account's caps allow no more mail at `now`, epoch milliseconds. An automation's mail is
 * tried again when the caps allow it, if that is within a week of its due time. Call it inside the claim's transaction.
 */
export function findCapped<Recipient extends CapCandidate>(
  client: Database,
  { caps, ignores, in_series }: MailingCaps,
  recipients: readonly Recipient[],
  now: number,
  timeZone: string,
): Capped<Recipient>[] {
  if (ignores || recipients.length === 0) return [];
  const periods = capPeriods(caps, now, timeZone);
  const addresses = JSON.stringify(recipients.map(({ address_id }) => address_id));
  const rows = client.prepare<[object], { address_id: number; reason: string | null }>(CAPPED).all({
    ...periods,
    addresses,
  });
  const reasons = new Map(rows.map(({ address_id, reason }) => [address_id, reason]));
  return recipients.flatMap((recipient) => {
    const reason = reasons.get(recipient.address_id) ?? null;
    if (reason === null) return [];
    const until = in_series ? findNextTry(client, recipient, caps, periods, now, timeZone) : null;
    return [{ recipient, until, reason: until === null ? reason : WAITS }];
  });
}

/** Returns when the caps allow another mail, on the first possible day at the current time of day; null if that is too late. */
function findNextTry(
  client: Database,
  { id, address_id }: CapCandidate,
  caps: readonly MailCap[],
  periods: CapPeriods,
  now: number,
  timeZone: string,
): number | null {
  const sentTimes = client
    .prepare<[object], number>(latestMails('@address'))
    .pluck()
    .all({ from: periods.from, most: periods.most, address: address_id });
  const days = caps.flatMap(({ mails, days }, slot) => {
    // There is room again when this mail leaves the period.
    const last = sentTimes[mails - 1] ?? 0;
    return last < (periods[`from${slot}`] ?? 0) ? [] : [addDays(wallClock(new Date(last), timeZone).date, days)];
  });
  const day = days.sort().at(-1);
  if (day === undefined) return null;
  const next = toUtc(day, wallClock(new Date(now), timeZone).time, timeZone).getTime();
  const due = client.prepare<[number], { due_at: number }>(DUE_SINCE).get(id)?.due_at ?? now;
  return next > due + MAX_WAIT_MS ? null : next;
}
