/**
 * Undoes imports: whether an import can be undone, the request to undo it, and the work, which the background thread does in
 * short transactions. Each transaction removes the records of the import that it has used, so that a kill loses nothing and
 * nothing is done twice. The records of an import are also removed when it can no longer be undone.
 */
import type { Database } from 'better-sqlite3';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { isOwned } from '../../database/ownership.ts';
import { contactImports } from '../../database/schema/index.ts';
import { isTransientSqliteError } from '../../database/write-lock.ts';
import { conflict, notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { DAY_MS } from '../../units.ts';
import { parseAddress } from '../contacts/addresses.ts';
import { LINE_COLUMNS } from '../contacts/contact-fields.ts';
import { deleteContacts } from '../contacts/contacts.ts';
import { erasedAmong } from '../contacts/erased-addresses.ts';
import {
  peopleOf,
  type Recipient,
  recordMembershipChange,
  syncAfterContactChange,
  withoutFieldTriggers,
} from '../segments/membership.ts';
import { removeUnsubscribers } from '../unsubscribes.ts';
import { undoTrackingChoices } from './lists.ts';

/** How long an import can be undone after it began: 30 days. */
export const UNDO_MS = 30 * DAY_MS;

/**
 * The number of changes of contacts that are kept for undoing the imports of an account, so that importing the same contacts
 * every night does not fill the disk with their earlier values. The newest import can be undone in any case.
 */
const MAX_KEPT_CHANGES = 1_000_000;

/** Ends the undo period of older imports of an account if newer ones have changed too many contacts since. */
export function limitUndo(db: Db, accountId: number, now: string, most = MAX_KEPT_CHANGES): void {
  db.$client
    .prepare(`UPDATE contact_imports SET undo_until = @now WHERE id IN (
       SELECT id FROM (SELECT id, state, sum(updated) OVER (ORDER BY id DESC) AS changed, row_number() OVER (ORDER BY id DESC) AS place
         FROM contact_imports WHERE user_id = @account AND undo_until > @now)
       WHERE changed > @most AND place > 1 AND state <> 'undoing')`)
    .run({ account: accountId, now, most });
}

interface ImportToUndo {
  id: number;
  user_id: number;
  contact_type_id: number;
  /** The ISO timestamp that the import gave its contacts. A contact with another timestamp was changed since. */
  written_at: string;
}

interface UndoCounts {
  removed: number;
  restored: number;
  kept: number;
}

/** SQL about a row of contact_imports: true if the import can be undone at `now`, which is SQL for an ISO timestamp. */
export function isUndoable(now: string): string {
  return `(state IN ('writing', 'done') AND undo_until IS NOT NULL AND undo_until > ${now}
    AND EXISTS (SELECT 1 FROM contact_types t WHERE t.id = contact_imports.contact_type_id AND t.deleted_at IS NULL))`;
}

/**
 * Makes the background thread undo an import. If the import still runs, it ends. Throws 404, and 409 if the import cannot be undone (any
 * more). `now` is an ISO timestamp.
 */
export function undoImport(db: Db, accountId: number, id: number, now: string): void {
  if (!isOwned(db, contactImports, id, accountId)) throw notFound();
  const { changes } = db.$client
    .prepare(
      `UPDATE contact_imports SET state = 'undoing' WHERE id = @id AND user_id = @account AND ${isUndoable('@now')}`,
    )
    .run({ id, account: accountId, now });
  if (changes === 0) throw conflict(sentence('import_final'));
}

/** How long one call of `continueUndos` works. */
const BACKGROUND_MS = 30;
/** The number of records that one transaction removes once they are no longer needed. */
const RECORDS_PER_TRANSACTION = 1000;
/** The tables with the records of imports. */
const RECORD_TABLES = ['import_changes', 'import_added', 'import_kept'];

/** The account whose import was processed last. The account after it is next. */
let lastAccount = 0;

/**
 * Continues, for a short time, to undo the newest import of an account whose undo was requested. Returns true if there is more to do.
 * Reports a failing undo to `onFailure` and ends it; users can request it again. Throws if the disk fails.
 */
export async function continueUndos(
  db: Db,
  clock: Clock,
  isHeld: boolean,
  onFailure: (id: number, error: unknown) => void,
): Promise<boolean> {
  // The later of two imports is undone first, because its records have the values that the earlier one wrote.
  const next = db.$client.prepare<[number], ImportToUndo>(`
     SELECT id, user_id, contact_type_id, written_at FROM contact_imports WHERE state = 'undoing'
     ORDER BY user_id < ?, user_id, id DESC LIMIT 1`);
  const account = next.get(lastAccount + 1)?.user_id;
  // Nothing expires while sending is held, because one cause of a hold is a wrong clock, by which everything may seem
  // old.
  if (account === undefined) return !isHeld && removeExpired(db, clock);
  lastAccount = account;
  const until = performance.now() + BACKGROUND_MS;
  await inChunks(db.$client, () => {
    const past = next.get(account);
    if (past?.user_id !== account) return false;
    try {
      db.$client.transaction(() => undoStep(db, past, isoTimestamp(clock.now())))();
    } catch (error) {
      if (isTransientSqliteError(error)) throw error;
      setState(db, past.id, 'done');
      onFailure(past.id, error);
    }
    return performance.now() < until;
  });
  return next.get(account) !== undefined;
}

/**
 * Does one step of an undo: restores some contacts that the import changed; if none is left, removes some that it added; if none of these
 * is left either, ends the undo.
 */
function undoStep(db: Db, past: ImportToUndo, now: string): void {
  const counts = restoreAddresses(db, past, now) ?? removeAdded(db, past, now);
  if (counts === null) {
    setState(db, past.id, 'undone');
    return;
  }
  db.$client
    .prepare(
      `UPDATE contact_imports SET removed = removed + @removed, restored = restored + @restored, kept = kept + @kept WHERE id = @id`,
    )
    .run({ ...counts, id: past.id });
}

function setState(db: Db, id: number, state: 'done' | 'undone'): void {
  db.$client.prepare('UPDATE contact_imports SET state = ? WHERE id = ?').run(state, id);
}

/** Removes some records of an import that can no longer be undone. Returns true if there may be more. */
function removeExpired(db: Db, clock: Clock): boolean {
  const id = db.$client
    .prepare<[string], number>(
      `SELECT id FROM contact_imports WHERE undo_until IS NOT NULL AND undo_until < ? AND state <> 'undoing' LIMIT 1`,
    )
    .pluck()
    .get(isoTimestamp(clock.now()));
  if (id === undefined) return false;
  for (const table of RECORD_TABLES) {
    const { changes } = db.$client
      .prepare(
        `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE import_id = ? LIMIT ${RECORDS_PER_TRANSACTION})`,
      )
      .run(id);
    if (changes > 0) return true;
  }
  // The errors of rows stay; the texts of their cells are removed with the other records.
  db.$client
    .prepare(`UPDATE contact_imports SET undo_until = NULL,
       errors = (SELECT json_group_array(json_remove(value, '$.value')) FROM json_each(errors)) WHERE id = ?`)
    .run(id);
  return true;
}

/** The number of addresses to restore, or contacts to remove, in one transaction, which takes a few milliseconds. */
const CHUNK = 100;

/** Every column of contacts that an import can change. */
const COLUMNS = ['email', 'alt_email', 'country_id', ...LINE_COLUMNS, 'custom_values', 'updated_at'];

/** The columns of a segment's recipient that an import can change. */
const MEMBER_COLUMNS = [
  'contact_id',
  'by_hand',
  'is_removed',
  'first_name',
  'last_name',
  'email',
  'rejoined_at',
  'updated_at',
];

/** The parameters of the statements: the import, and the addresses with ids up to @last. */
interface UndoParameters {
  import: number;
  type: number;
  written: string;
  last: number;
  now: string;
}

/** SQL: the records of these addresses with a kind, as `u`. */
const records = (kind: string) =>
  `(SELECT * FROM import_changes WHERE import_id = @import AND address_id <= @last AND kind = '${kind}') u`;

/**
 * Restores the state of some addresses before the import, inside a transaction: their contacts, segments, subscriptions, and
 * choices about opens and clicks. Returns null if no addresses are left.
 */
function restoreAddresses(db: Db, past: ImportToUndo, now: string): UndoCounts | null {
  const client = db.$client;
  const addresses = client
    .prepare<[number], number>(
      `SELECT DISTINCT address_id FROM import_changes WHERE import_id = ? ORDER BY address_id LIMIT ${CHUNK}`,
    )
    .pluck()
    .all(past.id);
  const last = addresses.at(-1);
  if (last === undefined) return null;
  const { id, contact_type_id: type, written_at: written } = past;
  const parameters: UndoParameters = { import: id, type, written, last, now };
  leaveSegments(db, parameters);
  const counts = withoutFieldTriggers(db, () => restoreContacts(db, past.user_id, parameters));
  syncAfterContactChange(db, type, addressesBefore(db, parameters), now, { startsAutomations: false });
  restoreMembers(db, parameters);
  resubscribe(db, parameters);
  undoTrackingChoices(db, { accountId: past.user_id, records: records('tracking'), now }, parameters);
  client.prepare('DELETE FROM import_changes WHERE import_id = @import AND address_id <= @last').run(parameters);
  return { removed: 0, ...counts };
}

/**
 * Returns the address ids that had a contact before the import. Contacts that the import added are removed later, with their
 * rows in segments.
 */
function addressesBefore(db: Db, parameters: UndoParameters): number[] {
  return db.$client
    .prepare<[UndoParameters], number>(`SELECT DISTINCT u.address_id FROM import_changes u
       CROSS JOIN contacts c ON c.contact_type_id = @type AND c.address_id = u.address_id AND c.deleted_at IS NULL
     WHERE u.import_id = @import AND u.address_id <= @last AND c.created_at <> @written`)
    .pluck()
    .all(parameters);
}

/** Undoes the memberships of segments that the import added or changed, unless they were changed since. */
function leaveSegments(db: Db, parameters: UndoParameters): void {
  const client = db.$client;
  const removed = client
    .prepare<[UndoParameters], Recipient>(`
       DELETE FROM segment_recipients WHERE id IN (SELECT row_id FROM ${records('member')} WHERE before IS NULL)
       AND by_hand = 1 AND is_removed = 0 AND updated_at = @written RETURNING *`)
    .all(parameters);
  const changed = client
    .prepare<[UndoParameters], Recipient>(`
     UPDATE segment_recipients SET ${MEMBER_COLUMNS.map((column) => `${column} = u.before ->> '${column}'`).join(', ')}
     FROM ${records('member')} WHERE segment_recipients.id = u.row_id AND u.before IS NOT NULL AND segment_recipients.updated_at = @written
     RETURNING *`)
    .all(parameters);
  const leaving = [...removed, ...changed.filter((row) => row.is_removed === 1)];
  for (const [id, rows] of Map.groupBy(leaving, (row) => row.segment_id))
    recordMembershipChange(db, { table: 'segments', id }, 'left', peopleOf(rows), parameters.now);
}

/** Restores contacts that were not changed since, and records the others as kept. */
function restoreContacts(db: Db, accountId: number, parameters: UndoParameters): { restored: number; kept: number } {
  const client = db.$client;
  forgetErased(client, accountId, parameters);
  const kept = client
    .prepare(`INSERT OR IGNORE INTO import_kept (import_id, contact_id, reason)
     SELECT @import, u.row_id, CASE WHEN c.id IS NULL OR c.deleted_at IS NOT NULL THEN 'deleted'
       WHEN c.contact_type_id <> @type THEN 'moved' ELSE 'changed' END
     FROM ${records('contact')} LEFT JOIN contacts c ON c.id = u.row_id
     WHERE c.id IS NULL OR c.deleted_at IS NOT NULL OR c.contact_type_id <> @type OR c.updated_at <> @written`)
    .run(parameters);
  // A column that is not in the record was not changed.
  const columns = COLUMNS.map(
    (column) =>
      `${column} = iif(json_type(u.before, '$.${column}') IS NULL, contacts.${column}, u.before ->> '${column}')`,
  );
  const restored = client
    .prepare(`UPDATE contacts SET ${columns.join(', ')} FROM ${records('contact')}
     WHERE contacts.id = u.row_id AND contacts.deleted_at IS NULL AND contacts.contact_type_id = @type AND contacts.updated_at = @written`)
    .run(parameters);
  return { restored: restored.changes, kept: kept.changes };
}

/** Removes erased second addresses from the records, because the erasure may not have reached these records yet. */
function forgetErased(client: Database, accountId: number, parameters: UndoParameters): void {
  const secondAddresses = client
    .prepare<[UndoParameters], { row: number; typed: string }>(
      `SELECT row_id AS row, before ->> 'alt_email' AS typed FROM ${records('contact')} WHERE before ->> 'alt_email' IS NOT NULL`,
    )
    .all(parameters);
  if (secondAddresses.length === 0) return;
  const normalized = secondAddresses.map(({ typed }) => parseAddress(typed)?.normalized ?? '');
  const erased = new Set(erasedAmong(client, accountId, normalized));
  const rows = secondAddresses.flatMap(({ row }, at) => (erased.has(normalized[at] ?? '') ? [row] : []));
  if (rows.length > 0)
    client
      .prepare<[object]>(`UPDATE import_changes SET before = json_set(before, '$.alt_email', NULL)
       WHERE import_id = @import AND address_id <= @last AND kind = 'contact' AND row_id IN (SELECT value FROM json_each(@rows))`)
      .run({ ...parameters, rows: JSON.stringify(rows) });
}

/**
 * Gives the rows of segments the values that they had before the import. A contact whom the rules have just added to a segment again has a
 * new row there, which gets the values of the earlier row.
 */
function restoreMembers(db: Db, parameters: UndoParameters): void {
  const client = db.$client;
  const rows = records('member');
  // A row whose membership is as before the import gets its earlier time back.
  client
    .prepare(`UPDATE segment_recipients SET updated_at = u.before ->> 'updated_at' FROM ${rows}
     WHERE segment_recipients.id = u.row_id AND u.before IS NOT NULL AND segment_recipients.updated_at IN (@now, @written)
       AND contact_id IS u.before ->> 'contact_id' AND by_hand = u.before ->> 'by_hand' AND is_removed = u.before ->> 'is_removed'`)
    .run(parameters);
  // A contact who left a segment by the import and joined it again by its rules gets the values of the earlier row back.
  const columns = ['id', 'created_at', 'updated_at', 'first_name', 'last_name', 'email'];
  client
    .prepare(`UPDATE segment_recipients SET ${columns.map((column) => `${column} = u.before ->> '${column}'`).join(', ')} FROM ${rows}
     WHERE u.before ->> 'by_hand' = 0 AND u.before ->> 'is_removed' = 0 AND segment_recipients.segment_id = u.before ->> 'segment_id'
       AND segment_recipients.address_id = u.address_id AND by_hand = 0 AND is_removed = 0 AND segment_recipients.created_at = @now
       AND segment_recipients.id <> u.row_id`)
    .run(parameters);
  // The leave that the import caused is removed from the history.
  client
    .prepare(`DELETE FROM segment_leaves WHERE id IN (
       SELECT l.id FROM ${rows} CROSS JOIN segment_recipients r ON r.id = u.row_id
         CROSS JOIN segment_leaves l ON l.address_id = u.address_id AND l.segment_id = r.segment_id
       WHERE u.before IS NOT NULL AND l.joined_at = r.created_at AND l.left_at = @written)`)
    .run(parameters);
}

/** Undoes the unsubscribes of the import. An entry that was unsubscribed again since has another `updated_at` and stays. */
function resubscribe(db: Db, parameters: UndoParameters): void {
  const ids = db.$client
    .prepare<[UndoParameters], number>(`
     SELECT e.id FROM ${records('unsubscribed')} CROSS JOIN unsubscribers e ON e.id = u.row_id
     WHERE e.created_at = @written AND e.updated_at = @written`)
    .pluck()
    .all(parameters);
  if (ids.length > 0) removeUnsubscribers(db, ids, 'api', parameters.now);
}

/**
 * Removes some of the contacts that the import added, inside a transaction, unless they were changed, or subscribed themselves, since.
 * Returns null if no contacts are left. Reports keep the mails to them, as for every deleted contact; mails that are still queued are not sent.
 */
function removeAdded(db: Db, { id, contact_type_id: type, written_at }: ImportToUndo, now: string): UndoCounts | null {
  const client = db.$client;
  const range = client
    .prepare<[number], { first: number; last: number }>(
      'SELECT first_id AS first, last_id AS last FROM import_added WHERE import_id = ? ORDER BY first_id LIMIT 1',
    )
    .get(id);
  if (range === undefined) return null;
  const contacts = client
    .prepare<[Record<string, unknown>], { id: number; address_id: number; reason: string | null }>(`
     SELECT c.id, c.address_id, CASE
        WHEN c.deleted_at IS NOT NULL THEN 'deleted'
        WHEN c.contact_type_id <> @type THEN 'moved'
        WHEN c.updated_at <> @written_at THEN 'changed'
        WHEN EXISTS (SELECT 1 FROM consent_log l WHERE l.address_id = c.address_id AND l.action = 'subscribed' AND l.created_at >= @written_at) THEN 'changed'
        WHEN EXISTS (SELECT 1 FROM segment_recipients r WHERE r.contact_id = c.id AND r.by_hand = 1) THEN 'segment'
      END AS reason
     FROM contacts c WHERE c.id BETWEEN @first AND @last ORDER BY c.id LIMIT ${CHUNK}`)
    .all({ ...range, type, written_at });
  const removed = contacts.filter(({ reason }) => reason === null).map((contact) => contact.id);
  // These contacts are first deleted in the usual way, so that segments, automations and counts are updated.
  deleteContacts(db, removed, now);
  client.prepare('DELETE FROM contacts WHERE id IN (SELECT value FROM json_each(?))').run(JSON.stringify(removed));
  const kept = contacts.filter(({ reason }) => reason !== null);
  // Contacts that are kept may match the rules of a segment to which the import added them by hand.
  const keptAddresses = kept.map((contact) => contact.address_id);
  syncAfterContactChange(db, type, keptAddresses, now, { startsAutomations: false });
  client
    .prepare(`INSERT OR IGNORE INTO import_kept (import_id, contact_id, reason)
     SELECT ?, value ->> 'id', value ->> 'reason' FROM json_each(?)`)
    .run(id, JSON.stringify(kept));
  const last = contacts.at(-1)?.id;
  if (last === undefined || contacts.length < CHUNK)
    client.prepare('DELETE FROM import_added WHERE import_id = ? AND first_id = ?').run(id, range.first);
  else
    client
      .prepare('UPDATE import_added SET first_id = ? WHERE import_id = ? AND first_id = ?')
      .run(last + 1, id, range.first);
  return { removed: removed.length, restored: 0, kept: kept.length };
}
