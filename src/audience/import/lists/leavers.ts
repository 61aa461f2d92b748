/** Those who left another service, bounced or complained there: they are marked here before any contact of its export is written. */
import { createReadStream } from 'node:fs';
import { inChunks } from '../../../database/bulk.ts';
import type { Db } from '../../../database/open.ts';
import { SENTENCES, sentence } from '../../../errors/sentences.ts';
import { parseAddress } from '../../contacts/addresses.ts';
import { erasedTest } from '../../contacts/erased.ts';
import { suppressAddresses } from '../../suppressions.ts';
import { readCsv } from '../csv.ts';
import { CsvError } from '../csv-parse.ts';
import type { ImportJob } from '../import-options.ts';
import type { Begun } from '../write-contacts.ts';
import { addressesOf, markUnsubscribed } from './list-people.ts';
import { findGroup, requireGroup } from './make-lists.ts';
import type { LeavingCount, LeavingKind } from './migration-job.ts';

interface List {
  kind: LeavingKind;
  name: string;
  /** The rows of temp.leavers that it has. */
  first: number;
  last: number;
}

/**
 * Stages the people of a migration who left, in the table temp.leavers by list and address, and counts them. Without a migration there is
 * nobody. Whoever was erased is not among them: nothing about them may be stored again, and they cannot be added.
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
  return listsOf(db).map((list) => count(db, accountId, list));
}

function listsOf(db: Db): List[] {
  return db.$client
    .prepare<[], List>('SELECT kind, name, min(rowid) AS first, max(rowid) AS last FROM leavers GROUP BY kind, name')
    .all();
}

function count(db: Db, accountId: number, { kind, name, first, last }: List): LeavingCount {
  const group = kind === 'group' ? findGroup(db, accountId, name) : null;
  const isThere =
    kind === 'bounce' || kind === 'complaint'
      ? 'EXISTS (SELECT 1 FROM suppressions s WHERE s.address_id = a.id)'
      : `EXISTS (SELECT 1 FROM unsubscribers u WHERE u.address_id = a.id AND u.unsubscribe_groups_id ${kind === 'all' ? 'IS NULL' : '= @group'})`;
  const there = db.$client
    .prepare<[Record<string, unknown>], number>(
      `SELECT count(*) FROM leavers CROSS JOIN addresses a ON a.user_id = @account AND a.normalized_email = leavers.normalized
       WHERE leavers.rowid BETWEEN @first AND @last AND ${isThere}`,
    )
    .pluck()
    .get({ account: accountId, first, last, group: group ?? null });
  const people = last - first + 1;
  return { kind, name, people, added: people - Number(there) };
}

const NOTES = { all: 'migrated_all', bounce: 'migrated_bounce', complaint: 'migrated_complaint' } as const;

/** What the report of an import says of them. */
export function leavingNotes(leaving: readonly LeavingCount[]): string[] {
  return leaving.map(({ kind, name, people, added }) => {
    const values = { count: people, added };
    return String(kind === 'group' ? sentence('migrated_group', { name, ...values }) : sentence(NOTES[kind], values));
  });
}

/** Marks them, in short transactions. Throws a `CsvError` when the import is undone meanwhile. */
export async function markLeavers(db: Db, job: ImportJob, begun: Begun): Promise<void> {
  if (job.migration === undefined) return;
  for (const list of listsOf(db)) await mark(db, job, list, begun);
}

async function mark(
  db: Db,
  job: ImportJob,
  { kind, name, first, last }: List,
  { id, now, recorder }: Begun,
): Promise<void> {
  const { accountId } = job;
  const groupId = kind === 'group' ? requireGroup(db, accountId, name, now) : null;
  const isWriting = db.$client
    .prepare<[number], number>("SELECT count(*) FROM contact_imports WHERE id = ? AND state = 'writing'")
    .pluck();
  let after = first - 1;
  await inChunks(db.$client, (rows) => {
    if (isWriting.get(id) === 0) throw new CsvError(null, SENTENCES.import_stopped);
    const chunk = { user: accountId, after, until: Math.min(after + rows, last) };
    if (kind === 'bounce' || kind === 'complaint') {
      const diagnostic = String(sentence('migrated_diagnostic', { name: job.migration?.source ?? '' }));
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
