/**
 * What an import does in addition to writing contacts: it adds them to a segment, unsubscribes them, and stores their tracking
 * choices. For a migration it also unsubscribes or suppresses the leavers: addresses that unsubscribed, bounced or complained at the other service.
 */
import { createReadStream } from 'node:fs';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { TRACKING_CHOICE } from '../../database/schema/index.ts';
import { sentence } from '../../errors/sentences.ts';
import { stored } from '../../errors/stored.ts';
import { type Address, parseAddress } from '../contacts/addresses.ts';
import { erasedTest } from '../contacts/erased-addresses.ts';
import type { Recipient } from '../segments/membership.ts';
import { addContactsToSegment } from '../segments/segments.ts';
import { storeTrackingChoices } from '../store-tracking-choice.ts';
import { suppressAddresses } from '../suppressions.ts';
import { addUnsubscribers } from '../unsubscribes.ts';
import { readCsv } from './csv.ts';
import { CsvError } from './csv-parse.ts';
import { DEFAULT_OPTIONS, type ImportJob, type LeavingCount, type LeavingKind } from './import-job.ts';
import { findGroup, requireGroup } from './make-lists.ts';
import type { Chunk, UndoRecorder } from './undo-records.ts';

/**
 * Adds the contacts of a chunk to the job's segment and unsubscribes them, as the job says. The contacts are already written in
 * this transaction.
 */
export function addToLists(db: Db, job: ImportJob, chunk: Chunk, recorder: UndoRecorder, now: string): void {
  const { segmentId, unsubscribe } = job.options ?? DEFAULT_OPTIONS;
  if (unsubscribe !== 'nothing') {
    const groupId = unsubscribe === 'all' ? null : unsubscribe;
    markUnsubscribed(db, { accountId: job.accountId, groupId, table: 'sorted' }, chunk, recorder, now);
  }
  if (segmentId !== null) addToSegment(db, job, segmentId, chunk, recorder, now);
}

/** A temporary table whose rows have a normalized address, and the address as given, which is null if both are equal. */
type StagedTable = 'sorted' | 'leavers';

const peopleIn = (table: StagedTable) =>
  `FROM ${table} p CROSS JOIN addresses a ON a.user_id = @user AND a.normalized_email = p.normalized`;
const IN_CHUNK = 'WHERE p.rowid > @after AND p.rowid <= @until';

function addressesOf(db: Db, table: StagedTable, chunk: Chunk): Address[] {
  return db.$client
    .prepare<[Chunk], Address>(
      `SELECT ifnull(email, normalized) AS address, normalized, '' AS domain FROM ${table} p ${IN_CHUNK}`,
    )
    .all(chunk);
}

/** Unsubscribes the contacts of a chunk, from all mail if the group is null. Existing entries stay unchanged. */
function markUnsubscribed(
  db: Db,
  { accountId, groupId, table }: { accountId: number; groupId: number | null; table: StagedTable },
  chunk: Chunk,
  recorder: UndoRecorder,
  now: string,
): void {
  const people = addressesOf(db, table, chunk);
  // The undo of an earlier import keeps entries that were changed since. So a new `updated_at` keeps these entries if
  // that import is undone.
  db.$client
    .prepare(`
      UPDATE unsubscribers SET updated_at = @now WHERE unsubscribe_groups_id IS @group AND id IN (
        SELECT n.row_id ${peopleIn(table)} CROSS JOIN contact_imports i ON i.user_id = @user AND i.undo_until IS NOT NULL
          CROSS JOIN import_changes n ON n.import_id = i.id AND n.address_id = a.id AND n.kind = 'unsubscribed' ${IN_CHUNK})`)
    .run({ ...chunk, now, group: groupId });
  const before = lastId(db, 'unsubscribers');
  addUnsubscribers(db, { accountId, groupId, source: 'api', now, keepsExisting: true }, people);
  recorder.recordRows('unsubscribers', before);
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
  const members = client
    .prepare<[Chunk & { segment: number }], Recipient>(
      `SELECT r.* ${peopleIn('sorted')} CROSS JOIN segment_recipients r ON r.segment_id = @segment AND r.address_id = a.id ${IN_CHUNK}`,
    )
    .all({ ...chunk, segment: segmentId });
  recorder.recordMembers(members);
  const contacts = client
    .prepare<[Chunk & { type: number }], number>(
      `SELECT c.id ${peopleIn('sorted')} CROSS JOIN contacts c ON c.contact_type_id = @type AND c.address_id = a.id AND c.deleted_at IS NULL ${IN_CHUNK}`,
    )
    .pluck()
    .all({ ...chunk, type: typeId });
  const before = lastId(db, 'segment_recipients');
  addContactsToSegment(db, accountId, segmentId, contacts, now, options.startsAutomations);
  recorder.recordRows('segment_recipients', before);
}

function lastId(db: Db, table: 'segment_recipients' | 'unsubscribers'): number {
  return Number(db.$client.prepare(`SELECT ifnull(max(id), 0) FROM ${table}`).pluck().get());
}

/** The leavers of one kind. `name` is the group's name if the kind is `group`. */
interface List {
  kind: LeavingKind;
  name: string;
  /** The rowid of the first leaver in temp.leavers. */
  first: number;
  /** The rowid of the last leaver. */
  last: number;
}

/**
 * Stages the leavers of a migration in the table temp.leavers, ordered by list and address. Returns their number in each
 * list, and no list without a migration. Skips erased addresses, because nothing about them may be stored again.
 */
export async function stageLeavers(db: Db, job: ImportJob): Promise<LeavingCount[]> {
  const { accountId, migration } = job;
  if (migration === undefined) return [];
  const client = db.$client;
  const isErased = erasedTest(client, accountId);
  const csv = await readCsv(() => createReadStream(migration.leavingPath));
  client.exec('CREATE TEMP TABLE unsorted_leavers (kind, name, normalized, email)');
  const insert = client.prepare('INSERT INTO unsorted_leavers VALUES (?, ?, ?, ?)');
  client.exec('BEGIN');
  try {
    for await (const { rows } of csv.batches())
      for (const [kind = '', name = '', email = ''] of rows) {
        const address = parseAddress(email);
        if (address === null || isErased(address.normalized)) continue;
        insert.run(kind, name, address.normalized, address.address === address.normalized ? null : address.address);
      }
  } finally {
    client.exec('COMMIT');
  }
  client.exec(`
    CREATE TEMP TABLE leavers AS SELECT kind, name, normalized, email FROM unsorted_leavers
      GROUP BY kind, name, normalized ORDER BY kind, name, normalized;
    DROP TABLE unsorted_leavers;
    CREATE INDEX temp.leavers_address ON leavers (normalized)`);
  return listsOf(db).map((list) => countLeavers(db, accountId, list));
}

function listsOf(db: Db): List[] {
  return db.$client
    .prepare<[], List>('SELECT kind, name, min(rowid) AS first, max(rowid) AS last FROM leavers GROUP BY kind, name')
    .all();
}

function countLeavers(db: Db, accountId: number, { kind, name, first, last }: List): LeavingCount {
  const group = kind === 'group' ? findGroup(db, accountId, name) : null;
  const isListed =
    kind === 'bounce' || kind === 'complaint'
      ? 'EXISTS (SELECT 1 FROM suppressions s WHERE s.address_id = a.id)'
      : `EXISTS (SELECT 1 FROM unsubscribers u WHERE u.address_id = a.id AND u.unsubscribe_groups_id ${kind === 'all' ? 'IS NULL' : '= @group'})`;
  const listed = db.$client
    .prepare<[Record<string, unknown>], number>(
      `SELECT count(*) FROM leavers CROSS JOIN addresses a ON a.user_id = @account AND a.normalized_email = leavers.normalized
       WHERE leavers.rowid BETWEEN @first AND @last AND ${isListed}`,
    )
    .pluck()
    .get({ account: accountId, first, last, group: group ?? null });
  const people = last - first + 1;
  return { kind, name, people, added: people - Number(listed) };
}

const NOTES = { all: 'migrated_all', bounce: 'migrated_bounce', complaint: 'migrated_complaint' } as const;

/** Returns the notes about leavers for the report of an import, in their stored form. */
export function leavingNotes(leaving: readonly LeavingCount[]): string[] {
  return leaving.map(({ kind, name, people, added }) => {
    const values = { count: people, added };
    return stored(kind === 'group' ? sentence('migrated_group', { name, ...values }) : sentence(NOTES[kind], values));
  });
}

/** The import that processes the leavers: its id, ISO timestamp and recorder. */
type LeaverImport = { id: number; now: string; recorder: UndoRecorder };

/**
 * Unsubscribes or suppresses leavers in short transactions, before contacts are written. Throws a `CsvError` if the import is
 * undone meanwhile.
 */
export async function markLeavers(db: Db, job: ImportJob, marking: LeaverImport): Promise<void> {
  if (job.migration === undefined) return;
  for (const list of listsOf(db)) await markList(db, job, list, marking);
}

async function markList(
  db: Db,
  job: ImportJob,
  { kind, name, first, last }: List,
  { id, now, recorder }: LeaverImport,
): Promise<void> {
  const { accountId } = job;
  const groupId = kind === 'group' ? requireGroup(db, accountId, name, now) : null;
  const isWriting = db.$client
    .prepare<[number], number>("SELECT count(*) FROM contact_imports WHERE id = ? AND state = 'writing'")
    .pluck();
  let after = first - 1;
  await inChunks(db.$client, (rows) => {
    if (isWriting.get(id) === 0) throw new CsvError(null, sentence('import_stopped'));
    const chunk = { user: accountId, after, until: Math.min(after + rows, last) };
    if (kind === 'bounce' || kind === 'complaint') {
      const diagnostic = sentence('migrated_diagnostic', { name: job.migration?.source ?? '' });
      suppressAddresses(
        db,
        { user_id: accountId, kind, diagnostic, created_at: now },
        addressesOf(db, 'leavers', chunk),
      );
    } else markUnsubscribed(db, { accountId, groupId, table: 'leavers' }, chunk, recorder, now);
    after = chunk.until;
    return after < last;
  });
}

/**
 * Stores the choices of a chunk's contacts about the recording of opens and clicks. Their addresses have been written in the
 * same transaction. A file never allows what the contact refused, because it may be older than the contact's choice.
 */
export function importTrackingChoices(db: Db, job: ImportJob, chunk: Chunk, recorder: UndoRecorder, now: string): void {
  const client = db.$client;
  // The statement is prepared again for each chunk, because each import creates the temporary table again.
  const people = client
    .prepare<[Chunk], { address: number; choice: number; before: number }>(
      `SELECT a.id AS address, p.tracking AS choice, a.tracking_choice AS before
      FROM sorted p CROSS JOIN addresses a ON a.user_id = @user AND a.normalized_email = p.normalized
      WHERE p.rowid > @after AND p.rowid <= @until AND p.tracking <> a.tracking_choice AND a.tracking_choice <> ${TRACKING_CHOICE.refused}`,
    )
    .all(chunk);
  if (people.length === 0) return;
  const text = sentence('tracking_imported', { name: job.fileName });
  const logged = storeTrackingChoices(client, { accountId: job.accountId, text, now }, people);
  recorder.recordChoices(logged, people);
}

/**
 * Takes back the tracking choices that an undone import stored, unless the contact has chosen again since. `records` is the SQL of the
 * import's records with the alias `u`, and `input` its parameters.
 */
export function undoTrackingChoices(
  db: Db,
  { accountId, records, now }: { accountId: number; records: string; now: string },
  input: object,
): void {
  const people = db.$client
    .prepare<[object], { address: number; choice: number }>(`
      SELECT u.address_id AS address, CAST(u.before AS INTEGER) AS choice FROM ${records} WHERE u.row_id = (
      SELECT max(l.id) FROM consent_log l
      WHERE l.address_id = u.address_id AND l.action IN ('tracking_allowed', 'tracking_refused', 'tracking_undone'))`)
    .all(input);
  if (people.length === 0) return;
  storeTrackingChoices(db.$client, { accountId, text: sentence('tracking_import_undone'), now }, people);
}
