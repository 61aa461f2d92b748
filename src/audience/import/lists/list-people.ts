/** What an import does with everybody in its file beside their contacts: adding them to a segment, marking them as unsubscribed. */
import type { Db } from '../../../database/open.ts';
import type { Address } from '../../contacts/addresses.ts';
import type { Recipient } from '../../segments/membership.ts';
import { addContactsToSegment } from '../../segments/segments.ts';
import { addUnsubscribers } from '../../unsubscribes.ts';
import { DEFAULT_OPTIONS, type ImportJob } from '../import-options.ts';
import type { Chunk, UndoRecorder } from '../undo/recorder.ts';

/** Does so for the people of a chunk, whose contacts have been written in the same transaction. */
export function listPeople(db: Db, job: ImportJob, chunk: Chunk, recorder: UndoRecorder, now: string): void {
  const { segmentId, unsubscribe } = job.options ?? DEFAULT_OPTIONS;
  if (unsubscribe !== 'nothing') {
    const groupId = unsubscribe === 'all' ? null : unsubscribe;
    markUnsubscribed(db, { accountId: job.accountId, groupId, table: 'sorted' }, chunk, recorder, now);
  }
  if (segmentId !== null) addToSegment(db, job, segmentId, chunk, recorder, now);
}

/** A temporary table with an e-mail, null where it is the normalized one, and the normalized address in each row. */
type People = 'sorted' | 'leavers';

const peopleIn = (table: People) =>
  `FROM ${table} p CROSS JOIN addresses a ON a.user_id = @user AND a.normalized_email = p.normalized`;
const CHUNK = 'WHERE p.rowid > @after AND p.rowid <= @until';

/** The people of a chunk as addresses. */
export function addressesOf(db: Db, table: People, chunk: Chunk): Address[] {
  return db.$client
    .prepare<[Chunk], Address>(
      `SELECT ifnull(email, normalized) AS address, normalized, '' AS domain FROM ${table} p ${CHUNK}`,
    )
    .all(chunk);
}

/** Marks the people of a chunk as unsubscribed, from all mail where the group is null. Whoever is already stays as they are. */
export function markUnsubscribed(
  db: Db,
  { accountId, groupId, table }: { accountId: number; groupId: number | null; table: People },
  chunk: Chunk,
  recorder: UndoRecorder,
  now: string,
): void {
  const people = addressesOf(db, table, chunk);
  // Who was put there by another import stays there when that one is undone.
  db.$client
    .prepare(`
      UPDATE unsubscribers SET updated_at = @now WHERE unsubscribe_groups_id IS @group AND id IN (
        SELECT n.row_id ${peopleIn(table)} CROSS JOIN contact_imports i ON i.user_id = @user AND i.undo_until IS NOT NULL
          CROSS JOIN import_changes n ON n.import_id = i.id AND n.address_id = a.id AND n.kind = 'unsubscribed' ${CHUNK})`)
    .run({ ...chunk, now, group: groupId });
  const before = lastId(db, 'unsubscribers');
  addUnsubscribers(db, { accountId, groupId, source: 'api', now, keepsPresent: true }, people);
  recorder.rowsAdded('unsubscribers', before);
}

function addToSegment(
  db: Db,
  { accountId, typeId, options = DEFAULT_OPTIONS }: ImportJob,
  segmentId: number,
  chunk: Chunk,
  recorder: UndoRecorder,
  now: string,
): void {
  const client = db.$client;
  const present = client
    .prepare<[Chunk & { segment: number }], Recipient>(
      `SELECT r.* ${peopleIn('sorted')} CROSS JOIN segment_recipients r ON r.segment_id = @segment AND r.address_id = a.id ${CHUNK}`,
    )
    .all({ ...chunk, segment: segmentId });
  recorder.membersBefore(present);
  const contacts = client
    .prepare<[Chunk & { type: number }], number>(
      `SELECT c.id ${peopleIn('sorted')} CROSS JOIN contacts c ON c.contact_type_id = @type AND c.address_id = a.id AND c.deleted_at IS NULL ${CHUNK}`,
    )
    .pluck()
    .all({ ...chunk, type: typeId });
  const before = lastId(db, 'segment_recipients');
  addContactsToSegment(db, accountId, segmentId, contacts, now, options.startsAutomations);
  recorder.rowsAdded('segment_recipients', before);
}

function lastId(db: Db, table: 'segment_recipients' | 'unsubscribers'): number {
  return Number(db.$client.prepare(`SELECT ifnull(max(id), 0) FROM ${table}`).pluck().get());
}
