/** Gives people back what they had before an import: their contacts, places in segments, subscriptions, and choices about opens and clicks. */
import type { Database } from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import type { Db } from '../../../database/open.ts';
import { prepared } from '../../../database/prepared.ts';
import { parseAddress } from '../../contacts/addresses.ts';
import { TEXT_COLUMNS } from '../../contacts/contact-fields.ts';
import { erasedAmong } from '../../contacts/erased.ts';
import { type Recipient, recordMembershipChange, syncAfterContactChange } from '../../segments/membership.ts';
import { removeUnsubscribers } from '../../unsubscribes.ts';
import { undoChoices } from '../lists/tracking-choices.ts';
import type { UndoCounts, Undone } from './undo.ts';

/** People of one transaction: it takes a few milliseconds. */
const CHUNK = 100;

/** Every column that an import can change. */
const COLUMNS = ['email', 'alt_email', 'country_id', ...TEXT_COLUMNS, 'custom_values', 'updated_at'];

/** The columns of a segment's recipient that an import can change. */
const MEMBER_COLUMNS = ['contact_id', 'by_hand', 'is_removed', 'first_name', 'last_name', 'email', 'updated_at'];

/** What the statements are given: people with address ids up to @last. */
interface Given {
  import: number;
  type: number;
  written: string;
  last: number;
  now: string;
}

/** The records of these people with a kind, as `u`. */
const records = (kind: string) =>
  `(SELECT * FROM import_changes WHERE import_id = @import AND address_id <= @last AND kind = '${kind}') u`;

/** Restores some of the people, inside a transaction; null when none are left. */
export function restorePeople(db: Db, undone: Undone, now: string): UndoCounts | null {
  const client = db.$client;
  const people = prepared<[number], number>(
    client,
    `SELECT DISTINCT address_id FROM import_changes WHERE import_id = ? ORDER BY address_id LIMIT ${CHUNK}`,
  )
    .pluck()
    .all(undone.id);
  const last = people.at(-1);
  if (last === undefined) return null;
  const { id, contact_type_id: type, written_at: written } = undone;
  const given: Given = { import: id, type, written, last, now };
  leaveSegments(db, undone, given);
  const counts = restoreContacts(db, undone.user_id, given);
  syncAfterContactChange(db, type, peopleBefore(db, given), now, { startsAutomations: false });
  restoreMembers(db, given);
  resubscribe(db, given);
  undoChoices(db, { accountId: undone.user_id, records: records('tracking'), now }, given);
  prepared(client, 'DELETE FROM import_changes WHERE import_id = @import AND address_id <= @last').run(given);
  return { removed: 0, ...counts };
}

/** The address ids of those of the people who had a contact before the import. The contacts of others are removed later, with their places. */
function peopleBefore(db: Db, given: Given): number[] {
  return prepared<[Given], number>(
    db.$client,
    `SELECT DISTINCT u.address_id FROM import_changes u
       CROSS JOIN contacts c ON c.contact_type_id = @type AND c.address_id = u.address_id AND c.deleted_at IS NULL
     WHERE u.import_id = @import AND u.address_id <= @last AND c.created_at <> @written`,
  )
    .pluck()
    .all(given);
}

/** Takes people out of the segment that the import put them into, unless somebody changed that since. */
function leaveSegments(db: Db, { user_id: accountId }: Undone, given: Given): void {
  const client = db.$client;
  const removed = prepared<[Given], Recipient>(
    client,
    `DELETE FROM segment_recipients WHERE id IN (SELECT row_id FROM ${records('member')} WHERE before IS NULL)
       AND by_hand = 1 AND is_removed = 0 AND updated_at = @written RETURNING *`,
  ).all(given);
  const changed = prepared<[Given], Recipient>(
    client,
    `UPDATE segment_recipients SET ${MEMBER_COLUMNS.map((column) => `${column} = u.before ->> '${column}'`).join(', ')}
     FROM ${records('member')} WHERE segment_recipients.id = u.row_id AND u.before IS NOT NULL AND segment_recipients.updated_at = @written
     RETURNING *`,
  ).all(given);
  const left = [...removed, ...changed.filter((row) => row.is_removed === 1)];
  for (const [segment, rows] of Map.groupBy(left, (row) => row.segment_id)) {
    const gone = JSON.stringify(rows);
    recordMembershipChange(
      db,
      { accountId, table: 'segments', id: segment },
      'left',
      sql`SELECT value ->> 'address_id' AS address_id, value ->> 'contact_id' AS contact_id FROM json_each(${gone})`,
      given.now,
    );
  }
}

/** Restores contacts that nobody changed since, and writes down the others. */
function restoreContacts(db: Db, accountId: number, given: Given): { restored: number; kept: number } {
  const client = db.$client;
  forgetErased(client, accountId, given);
  const kept = prepared(
    client,
    `INSERT OR IGNORE INTO import_kept (import_id, contact_id, reason)
     SELECT @import, u.row_id, CASE WHEN c.id IS NULL OR c.deleted_at IS NOT NULL THEN 'deleted'
       WHEN c.contact_type_id <> @type THEN 'moved' ELSE 'changed' END
     FROM ${records('contact')} LEFT JOIN contacts c ON c.id = u.row_id
     WHERE c.id IS NULL OR c.deleted_at IS NOT NULL OR c.contact_type_id <> @type OR c.updated_at <> @written`,
  ).run(given);
  // A column that is missing in the record was not changed.
  const columns = COLUMNS.map(
    (column) =>
      `${column} = iif(json_type(u.before, '$.${column}') IS NULL, contacts.${column}, u.before ->> '${column}')`,
  );
  const restored = prepared(
    client,
    `UPDATE contacts SET ${columns.join(', ')} FROM ${records('contact')}
     WHERE contacts.id = u.row_id AND contacts.deleted_at IS NULL AND contacts.contact_type_id = @type AND contacts.updated_at = @written`,
  ).run(given);
  return { restored: restored.changes, kept: kept.changes };
}

/** Takes second addresses out of the records that were erased since: the erasure may not have come to these records yet. */
function forgetErased(client: Database, accountId: number, given: Given): void {
  const seconds = prepared<[Given], { row: number; typed: string }>(
    client,
    `SELECT row_id AS row, before ->> 'alt_email' AS typed FROM ${records('contact')} WHERE before ->> 'alt_email' IS NOT NULL`,
  ).all(given);
  if (seconds.length === 0) return;
  const normalized = seconds.map(({ typed }) => parseAddress(typed)?.normalized ?? '');
  const erased = new Set(erasedAmong(client, accountId, normalized));
  const rows = seconds.flatMap(({ row }, at) => (erased.has(normalized[at] ?? '') ? [row] : []));
  if (rows.length > 0)
    prepared<[object]>(
      client,
      `UPDATE import_changes SET before = json_set(before, '$.alt_email', NULL)
       WHERE import_id = @import AND address_id <= @last AND kind = 'contact' AND row_id IN (SELECT value FROM json_each(@rows))`,
    ).run({ ...given, rows: JSON.stringify(rows) });
}

/**
 * Makes the rows of segments that people are in again those they were: the contacts are restored, so that the rules have put them in
 * anew where they belong.
 */
function restoreMembers(db: Db, given: Given): void {
  const client = db.$client;
  const rows = records('member');
  prepared(
    client,
    `UPDATE segment_recipients SET updated_at = u.before ->> 'updated_at' FROM ${rows}
     WHERE segment_recipients.id = u.row_id AND u.before IS NOT NULL AND segment_recipients.updated_at IN (@now, @written)
       AND contact_id IS u.before ->> 'contact_id' AND by_hand = u.before ->> 'by_hand' AND is_removed = u.before ->> 'is_removed'`,
  ).run(given);
  const again = ['id', 'created_at', 'updated_at', 'first_name', 'last_name', 'email'];
  prepared(
    client,
    `UPDATE segment_recipients SET ${again.map((column) => `${column} = u.before ->> '${column}'`).join(', ')} FROM ${rows}
     WHERE u.before ->> 'by_hand' = 0 AND u.before ->> 'is_removed' = 0 AND segment_recipients.segment_id = u.before ->> 'segment_id'
       AND segment_recipients.address_id = u.address_id AND by_hand = 0 AND is_removed = 0 AND segment_recipients.created_at = @now
       AND segment_recipients.id <> u.row_id`,
  ).run(given);
  prepared(
    client,
    `DELETE FROM segment_leaves WHERE id IN (
       SELECT l.id FROM ${rows} CROSS JOIN segment_recipients r ON r.id = u.row_id
         CROSS JOIN segment_leaves l ON l.address_id = u.address_id AND l.segment_id = r.segment_id
       WHERE u.before IS NOT NULL AND l.joined_at = r.created_at AND l.left_at = @written)`,
  ).run(given);
}

/** Takes the marks of the import back. Whoever unsubscribed since has touched the row, and stays unsubscribed. */
function resubscribe(db: Db, given: Given): void {
  const ids = prepared<[Given], number>(
    db.$client,
    `SELECT e.id FROM ${records('unsubscribed')} CROSS JOIN unsubscribers e ON e.id = u.row_id
     WHERE e.created_at = @written AND e.updated_at = @written`,
  )
    .pluck()
    .all(given);
  if (ids.length > 0) removeUnsubscribers(db, ids, 'api', given.now);
}
