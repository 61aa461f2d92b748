/** Writes the staged rows of an import as contacts, in short transactions, each with what undoing it needs. */
import type { Database } from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { messages } from '../../errors/field-errors.ts';
import { SENTENCES } from '../../errors/sentences.ts';
import { parseAddress } from '../contacts/addresses.ts';
import { countErased, erasedAmong } from '../contacts/erased.ts';
import { recordMembershipChange, syncAfterContactChange } from '../segments/membership.ts';
import { CsvError } from './csv-parse.ts';
import { DEFAULT_OPTIONS, type ImportJob, type ImportProgress, valueAfter } from './import-options.ts';
import type { RowError } from './import-rows.ts';
import { listPeople } from './lists/list-people.ts';
import { keepChoices } from './lists/tracking-choices.ts';
import type { Chunk, UndoRecorder } from './undo/recorder.ts';

/** An import that has begun. */
export interface Begun {
  /** Of its row in contact_imports. */
  id: number;
  /** The contact columns that the file has. */
  columns: readonly string[];
  /** Whether it says of whom opens and clicks may be recorded. */
  hasTracking: boolean;
  /** How many addresses of the account were erased when the file was read. */
  erased: number;
  /** Counts rows as failed that are not written after all. Call it in the transaction of their chunk. */
  refuse(errors: readonly RowError[]): void;
  /** The ISO timestamp that its contacts get. */
  now: string;
  recorder: UndoRecorder;
}

/** Writes everybody in temp.sorted; gives how many contacts were made and changed. Throws a `CsvError` when it is undone meanwhile. */
export async function writeContacts(
  db: Db,
  job: ImportJob,
  { id, columns, hasTracking, erased, refuse, now, recorder }: Begun,
  progress: ImportProgress | undefined,
): Promise<{ created: number; updated: number }> {
  const client = db.$client;
  const { accountId: user, typeId: type, options = DEFAULT_OPTIONS } = job;
  const { startsAutomations } = options;
  const range = 'sorted.rowid > @after AND sorted.rowid <= @until';
  const addresses = client.prepare(`
    INSERT INTO addresses (user_id, normalized_email) SELECT @user, normalized FROM sorted WHERE ${range} ON CONFLICT DO NOTHING`);
  const list = columns.join(', ');
  const updates = columns.map((column) => `${column} = ${valueAfter(column, options, 'excluded', 'contacts')}`);
  // CROSS JOIN makes the chunk the outer loop; otherwise the planner reads all contacts of the type for every chunk.
  const upsert = client.prepare(`
    INSERT INTO contacts (user_id, contact_type_id, address_id, ${list}, created_at, updated_at)
    SELECT @user, @type, a.id, ${columns.map((column) => (column === 'email' ? 'ifnull(sorted.email, normalized)' : `sorted.${column}`)).join(', ')}, @now, @now
    FROM sorted CROSS JOIN addresses a ON a.user_id = @user AND a.normalized_email = sorted.normalized WHERE ${range} ORDER BY sorted.rowid
    ON CONFLICT (contact_type_id, address_id) WHERE deleted_at IS NULL
      DO ${options.existing === 'keep' ? 'NOTHING' : `UPDATE SET ${updates.join(', ')}, updated_at = @now`}`);
  const last = client.prepare<[], number>('SELECT ifnull(max(id), 0) FROM contacts').pluck();
  // The plus keeps the planner from using the index on the type instead of the range of new ids.
  const countNew = client
    .prepare<[number, number], number>('SELECT count(*) FROM contacts WHERE id > ? AND +contact_type_id = ?')
    .pluck();
  const hasSegments = client
    .prepare<[number], number>(
      'SELECT EXISTS (SELECT 1 FROM segments WHERE contact_type_id = ? AND deleted_at IS NULL)',
    )
    .pluck();
  const written = client
    .prepare<Record<string, number>, number>(
      `SELECT a.id FROM sorted CROSS JOIN addresses a ON a.user_id = @user AND a.normalized_email = sorted.normalized WHERE ${range}`,
    )
    .pluck();
  // The import ends when somebody undoes what it has written so far.
  const count = client.prepare(
    "UPDATE contact_imports SET created = created + ?, updated = updated + ? WHERE id = ? AND state = 'writing'",
  );
  const whole = Number(client.prepare('SELECT max(rowid) FROM sorted').pluck().get());
  const counts = { created: 0, updated: 0 };
  let after = 0;
  const write = (rows: number) => {
    const chunk = { user, after, until: Math.min(after + rows, whole) };
    if (countErased(client, user) > erased) refuse(dropErased(client, columns, chunk));
    addresses.run(chunk);
    const before = last.get() ?? 0;
    const { changes } = upsert.run({ ...chunk, type, now });
    const created = countNew.get(before, type) ?? 0;
    recorder.added(before, last.get() ?? 0);
    const joined = sql`SELECT address_id, id AS contact_id FROM contacts WHERE id > ${before} AND +contact_type_id = ${type}`;
    if (startsAutomations)
      recordMembershipChange(db, { accountId: user, table: 'contacts', id: type }, 'joined', joined, now);
    if (hasSegments.get(type) === 1)
      syncAfterContactChange(db, type, written.all(chunk), now, {
        before: (rows) => recorder.membersBefore(rows),
        startsAutomations,
      });
    listPeople(db, job, chunk, recorder, now);
    if (hasTracking) keepChoices(db, job, chunk, recorder, now);
    if (count.run(created, changes - created, id).changes === 0) throw new CsvError(null, SENTENCES.import_stopped);
    counts.created += created;
    counts.updated += changes - created;
    after = chunk.until;
    progress?.wrote(after, whole);
    return after < whole;
  };
  await inChunks(client, write);
  return counts;
}

/**
 * Takes the rows out of a chunk of temp.sorted that name somebody who was erased since the file was read, by their address or a second one:
 * nobody is added again. Gives these rows as failed.
 */
function dropErased(client: Database, columns: readonly string[], { user, after, until }: Chunk): RowError[] {
  const second = columns.includes('alt_email') ? 'alt_email' : 'NULL';
  const rows = client
    .prepare<[number, number], { id: number; line: number; email: string; alt_email: string | null }>(
      `SELECT rowid AS id, last_line AS line, normalized AS email, ${second} AS alt_email FROM sorted WHERE rowid > ? AND rowid <= ?`,
    )
    .all(after, until)
    .map((row) => ({ ...row, alt_email: row.alt_email && (parseAddress(row.alt_email)?.normalized ?? null) }));
  const given = rows.flatMap(({ email, alt_email }) => (alt_email === null ? [email] : [email, alt_email]));
  const erased = new Set(erasedAmong(client, user, given));
  const errors = rows.flatMap(({ id, line, ...named }) => {
    const field = (['email', 'alt_email'] as const).find((one) => erased.has(named[one] ?? ''));
    return field === undefined ? [] : [{ id, line, field, text: String(messages.erased(field)) }];
  });
  client
    .prepare('DELETE FROM sorted WHERE rowid IN (SELECT value FROM json_each(?))')
    .run(JSON.stringify(errors.map(({ id }) => id)));
  return errors.map(({ line, field, text }) => ({ line, field, text }));
}
