/** Enqueues an audience: adds one ledger row for every contact of a mailing's audience, including excluded contacts, with the reason. */

import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { exclusionReason, ineligibilityReason, isInTargets, isReadEarlier } from '../../audience/eligibility.ts';
import { isMeasuredWith } from '../../audience/tracking-choice.ts';
import { inChunks } from '../../database/bulk.ts';
import { DELIVERY_STATE, type Target, type TrackingMode } from '../../database/schema/index.ts';
import type { Said } from '../../errors/sentences.ts';
import { readStored } from '../../errors/stored.ts';
import { type LocalTime, localTimes } from '../timing/local-times.ts';
import { type CapPeriods, reachedCapReason } from '../timing/mail-caps.ts';
import { findZone, type Place, placeColumns } from '../timing/place-zones.ts';
import { type BestHours, bestHourTimes } from './best-hours.ts';
import { enqueueStatement } from './ledger/enqueue.ts';
import { type ReasonChange, reasonCounter } from './ledger/reason-counts.ts';
import { endEnqueueing } from './mailing-state.ts';
import { divideRecipients } from './variant-groups.ts';

/** The JSON in `mailings.enqueue_progress` while recipients are being enqueued: the audience and the progress. */
export interface EnqueueProgress {
  targets: Target[];
  excluded: Target[];
  /** The index of the target being enqueued. */
  target: number;
  /** The last address id of that target that has been enqueued. */
  after: number;
  /** Set if each recipient gets the mail at a time in their own time zone. */
  local?: LocalTime;
  /** Set if each recipient gets the mail at their best hour. */
  best?: BestHours;
}

/**
 * SQL for the members of a target whose address id is above @after, each with their contact and their segment row: one SELECT per kind of
 * target. Whether the contact still exists is checked when the mail is claimed.
 */
export const MEMBERS = {
  contacts: `
  SELECT p.address_id, p.id AS contact_id, NULL AS segment_recipient_id
  FROM contacts p INDEXED BY contacts_person
  WHERE p.contact_type_id = @target AND p.deleted_at IS NULL AND p.address_id > @after`,
  segments: `
  SELECT p.address_id, p.contact_id, p.id AS segment_recipient_id
  FROM segment_recipients p INDEXED BY segment_recipients_person
  WHERE p.segment_id = @target AND p.is_removed = 0 AND p.address_id > @after`,
};

/**
 * Returns the mailings with recipients still to enqueue, in random order, so that a small mailing does not wait for a large one that came
 * first. Includes cancelled mailings, because all their recipients get a final state, too.
 */
export function mailingsToEnqueue(client: Database): { id: number; state: 'enqueueing' | 'cancelled' }[] {
  return client
    .prepare<[], { id: number; state: 'enqueueing' | 'cancelled' }>(`
      SELECT id, state FROM mailings WHERE finished_at IS NULL AND state IN ('enqueueing', 'cancelled') AND enqueue_progress IS NOT NULL
      ORDER BY random()`)
    .all();
}

/**
 * Adds ledger rows for the audience in short transactions until `mayContinue` returns false. Progress is stored, so the next call
 * continues, even after a crash. When the whole audience is enqueued, the state of the mailing becomes `sending`; the worker cancels the
 * rows of a cancelled mailing. Returns true if there was anything to do.
 */
export async function enqueueRecipients(
  client: Database,
  mailingId: number,
  mayContinue: () => boolean = () => true,
): Promise<boolean> {
  let didWork = false;
  const read = client.prepare<[number], { enqueue_progress: string }>(
    "SELECT enqueue_progress FROM mailings WHERE id = ? AND state IN ('enqueueing', 'cancelled') AND enqueue_progress IS NOT NULL",
  );
  const statements = {
    contacts: enqueueStatements(client, MEMBERS.contacts),
    segments: enqueueStatements(client, MEMBERS.segments),
  };
  const newestDelivery = client.prepare<[], number>('SELECT ifnull(max(id), 0) FROM deliveries').pluck();
  const suppressedSince = client.prepare<[number], ReasonChange>(
    `SELECT mailing_id, state, reply, count(*) AS by FROM deliveries WHERE id > ? AND state = ${DELIVERY_STATE.suppressed} GROUP BY reply`,
  );
  const countReasons = reasonCounter(client);
  const setLocalTimes = localTimes(client, mailingId);
  const setBestHours = bestHourTimes(client, mailingId);
  const save = client.prepare(
    'UPDATE mailings SET enqueue_progress = ?, recipients = recipients + ?, suppressed = suppressed + ? WHERE id = ?',
  );

  await inChunks(client, (rows) => {
    const stored = read.get(mailingId);
    if (stored === undefined) return false;
    didWork = true;
    const progress: EnqueueProgress = JSON.parse(stored.enqueue_progress);
    const target = progress.targets[progress.target];
    if (target === undefined) {
      endEnqueueing(client, mailingId);
      return false;
    }
    const range = { target: target.id, after: progress.after, rows };
    const { reached, insert } = statements[target.table];
    const last = reached.get(range);
    if (last === null || last === undefined) {
      save.run(JSON.stringify({ ...progress, target: progress.target + 1, after: 0 }), 0, 0, mailingId);
      return mayContinue();
    }
    const before = newestDelivery.get() ?? 0;
    const { changes } = insert.run({
      target: target.id,
      after: progress.after,
      last,
      mailing: mailingId,
      excluded: JSON.stringify(progress.excluded),
    });
    divideRecipients(client, mailingId, before);
    if (progress.local) setLocalTimes(before, progress.local);
    if (progress.best) setBestHours(before, progress.best);
    const suppressed = suppressedSince.all(before);
    countReasons(suppressed);
    const count = suppressed.reduce((sum, { by }) => sum + by, 0);
    save.run(JSON.stringify({ ...progress, after: last }), changes, count, mailingId);
    return mayContinue();
  });
  return didWork;
}

/**
 * Prepares the statements that enqueue one page of a target: `reached` finds the page's last address, and `insert` adds its ledger rows.
 */
function enqueueStatements(client: Database, members: string) {
  return {
    reached: client
      .prepare<Record<string, unknown>, number | null>(
        `SELECT max(address_id) FROM (${members} ORDER BY p.address_id LIMIT @rows)`,
      )
      .pluck(),
    insert: enqueueStatement(
      client,
      `SELECT c.*, ${exclusionReason('c', 'm.unsubscribe_group_id')} AS reason
        FROM mailings m CROSS JOIN (${members} AND p.address_id <= @last) c WHERE m.id = @mailing`,
    ),
  };
}

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
    // The reason '' marks contacts already counted under an earlier target.
    const members = MEMBERS[target.table];
    const reached = client
      .prepare<Record<string, unknown>, number | null>(
        `SELECT max(address_id) FROM (${members} ORDER BY p.address_id LIMIT ${rows})`,
      )
      .pluck();
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
