/** Enqueues an audience: adds one ledger row for every contact of a mailing's audience, including excluded contacts, with the reason. */

import type { Database } from 'better-sqlite3';
import { exclusionReason } from '../../audience/eligibility.ts';
import { inChunks } from '../../database/bulk.ts';
import { DELIVERY_STATE, type Target } from '../../database/schema/index.ts';
import { type LocalTime, localTimes } from '../timing/local-times.ts';
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
