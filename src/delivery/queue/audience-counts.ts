/** Counts the recipients of an audience before anything is enqueued, and finds one of them. */

import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { exclusionReason, ineligibilityReason, isInTargets, isReadEarlier } from '../../audience/eligibility.ts';
import { isMeasuredWith } from '../../audience/tracking-choice.ts';
import type { TrackingMode } from '../../database/schema/index.ts';
import type { Said } from '../../errors/sentences.ts';
import { readStored } from '../../errors/stored.ts';
import { type CapPeriods, reachedCapReason } from '../timing/mail-caps.ts';
import { findZone, type Place, placeColumns } from '../timing/place-zones.ts';
import { type EnqueueProgress, MEMBERS } from './enqueue-recipients.ts';

/** Returns true if any contact in this audience would get a mail now. The search stops at the first one. */
export function hasAudience(client: Database, groupId: number, progress: EnqueueProgress): boolean {
  const statement = client.prepare(`
    SELECT 1 FROM (
        SELECT c.address_id FROM json_each(@targets) t CROSS JOIN contacts c
          INDEXED BY contacts_person ON c.contact_type_id = t.value ->> 'id' AND c.deleted_at IS NULL
        WHERE t.value ->> 'table' = 'contacts'
        UNION ALL
        SELECT r.address_id FROM json_each(@targets) t CROSS JOIN segment_recipients r
          INDEXED BY segment_recipients_person ON r.segment_id = t.value ->> 'id' AND r.is_removed = 0
        WHERE t.value ->> 'table' = 'segments') p
    WHERE NOT ${isInTargets('@excluded', 'p.address_id')}
      AND ${ineligibilityReason('p', '@group')} IS NULL LIMIT 1`);
  return (
    statement.get({
      targets: JSON.stringify(progress.targets),
      excluded: JSON.stringify(progress.excluded),
      group: groupId,
    }) !== undefined
  );
}

/** The number of members among which new recipients are counted at once. */
const NEW_PAGE_ROWS = 2000;

/**
 * Counts the contacts of an audience who would get a mail now and are not among the recipients of the mailing. Reads the audience in pages.
 */
export async function countNewRecipients(
  client: Database,
  mailingId: number,
  groupId: number,
  { targets, excluded }: Pick<EnqueueProgress, 'targets' | 'excluded'>,
): Promise<number> {
  let count = 0;
  for (const [at, { table, id: target }] of targets.entries()) {
    const page = client.prepare<Record<string, unknown>, { last: number | null; count: number }>(`
      SELECT max(d.address_id) AS last, count(*) FILTER (WHERE NOT ${isReadEarlier('d')} AND NOT EXISTS (
          SELECT 1 FROM deliveries e WHERE e.mailing_id = @mailing AND e.address_id = d.address_id)
        AND NOT (@excluded <> '[]' AND ${isInTargets('@excluded', 'd.address_id')})
        AND ${ineligibilityReason('d', '@group')} IS NULL) AS count
      FROM (${MEMBERS[table]} ORDER BY p.address_id LIMIT ${NEW_PAGE_ROWS}) d`);
    const bounds = {
      mailing: mailingId,
      group: groupId,
      target,
      excluded: JSON.stringify(excluded),
      earlier: JSON.stringify(targets.slice(0, at)),
    };
    for (let after: number | null = 0; after !== null; await setImmediate()) {
      const row = page.get({ ...bounds, after });
      count += row?.count ?? 0;
      after = row?.last ?? null;
    }
  }
  return count;
}

/** The number of contacts that are examined to find one. If nearly all are excluded, none may be found. */
const SAMPLE_ROWS = 1000;

/**
 * Returns the id of a contact in the audience that is not excluded: the contact with the address `addressId`, or any contact if that is
 * null. Returns null if none of the first `SAMPLE_ROWS` members of each kind of target qualifies.
 */
export function findAudienceContact(
  client: Database,
  { targets, excluded }: Pick<EnqueueProgress, 'targets' | 'excluded'>,
  addressId: number | null,
): number | null {
  const addressCondition = addressId === null ? '' : 'AND p.address_id = @address';
  const statement = client
    .prepare<Record<string, unknown>, number>(`
      SELECT p.contact_id FROM (
        SELECT * FROM (SELECT p.address_id, p.id AS contact_id FROM json_each(@targets) t CROSS JOIN contacts p
          INDEXED BY contacts_person ON p.contact_type_id = t.value ->> 'id' AND p.deleted_at IS NULL ${addressCondition}
          WHERE t.value ->> 'table' = 'contacts' LIMIT ${SAMPLE_ROWS})
        UNION ALL
        SELECT * FROM (SELECT p.address_id, p.contact_id FROM json_each(@targets) t CROSS JOIN segment_recipients p
          INDEXED BY segment_recipients_person ON p.segment_id = t.value ->> 'id' AND p.is_removed = 0 ${addressCondition}
          CROSS JOIN contacts c ON c.id = p.contact_id AND c.deleted_at IS NULL
          WHERE t.value ->> 'table' = 'segments' LIMIT ${SAMPLE_ROWS})) p
      WHERE NOT ${isInTargets('@excluded', 'p.address_id')} LIMIT 1`)
    .pluck();
  const bound = { targets: JSON.stringify(targets), excluded: JSON.stringify(excluded) };
  return statement.get({ ...bound, ...(addressId !== null && { address: addressId }) }) ?? null;
}

/** The number of members that are counted at once. */
const COUNT_PAGE_ROWS = 4000;
/**
 * The number of members that are counted at once if there is a frequency cap. It is smaller because up to fifty mails of each contact are
 * counted.
 */
const CAPPED_PAGE_ROWS = 400;
/**
 * The number of groups after which other work gets its turn. Checking whether a text is a time zone takes about 40 µs, and each contact can
 * have a different text.
 */
const GROUPS_AT_ONCE = 100;

/** The size of an audience, and one contact in it. */
export interface AudienceCount {
  recipients: number;
  /** The number of recipients whose opens and clicks are recorded under the account's tracking mode. */
  measured: number;
  /** The number of contacts who would not get the mail, by reason. */
  left_out: { reason: Said; count: number }[];
  /** The number of recipients whose time zone is known. */
  with_zone: number;
  /** A contact who would get the mail; null if only recipients added by hand would. */
  contact_id: number | null;
}

/**
 * Counts exactly how many contacts would get a mail of the account now, how many of them are measured, and how many are excluded, by
 * reason. The frequency caps in `caps`, if any, are among the reasons. The audience is read in pages, so that other requests do not wait.
 */
export async function countAudience(
  client: Database,
  { accountId, groupId }: { accountId: number; groupId: number },
  progress: EnqueueProgress,
  caps: CapPeriods | null,
  tracking: TrackingMode,
): Promise<AudienceCount> {
  const rows = caps === null ? COUNT_PAGE_ROWS : CAPPED_PAGE_ROWS;
  const places = placeColumns(client, accountId, 'c');
  const reasons = new Map<string, number>();
  let recipients = 0;
  let measured = 0;
  let with_zone = 0;
  let contact_id: number | null = null;
  for (const [at, target] of progress.targets.entries()) {
    const members = MEMBERS[target.table];
    const reached = client
      .prepare<Record<string, unknown>, number | null>(
        `SELECT max(address_id) FROM (${members} ORDER BY p.address_id LIMIT ${rows})`,
      )
      .pluck();
    // The reason '' marks contacts already counted under an earlier target.
    const page = client.prepare<
      Record<string, unknown>,
      Place & { reason: string | null; count: number; measured: number; contact_id: number | null }
    >(`
      SELECT reason, country_id, state, time_zone, count(*) AS count, sum(${isMeasuredWith(tracking, 'address_id')}) AS measured,
        min(contact_id) AS contact_id
      FROM (
        SELECT d.contact_id, d.address_id, ${places}, CASE WHEN ${isReadEarlier('d')} THEN ''
          ELSE coalesce(${exclusionReason('d', '@group')}, ${caps === null ? 'NULL' : reachedCapReason('d.address_id')}) END AS reason
        FROM (${members} AND p.address_id <= @last) d LEFT JOIN contacts c ON c.id = d.contact_id)
      GROUP BY 1, 2, 3, 4`);
    const bounds = {
      ...caps,
      group: groupId,
      target: target.id,
      excluded: JSON.stringify(progress.excluded),
      earlier: JSON.stringify(progress.targets.slice(0, at)),
    };
    let after = 0;
    for (;;) {
      const last = reached.get({ target: target.id, after }) ?? null;
      if (last === null) break;
      const groups = page.all({ ...bounds, after, last });
      for (const [number, { reason, count, contact_id: contact, measured: known, ...place }] of groups.entries()) {
        if (number % GROUPS_AT_ONCE === GROUPS_AT_ONCE - 1) await setImmediate();
        if (reason === null) {
          recipients += count;
          measured += known;
          if (findZone(place) !== null) with_zone += count;
          contact_id ??= contact;
        } else if (reason !== '') {
          reasons.set(reason, (reasons.get(reason) ?? 0) + count);
        }
      }
      after = last;
      await setImmediate();
    }
  }
  const left_out = [...reasons].map(([reason, count]) => ({ reason: readStored(reason), count }));
  return { recipients, measured, left_out, with_zone, contact_id };
}
