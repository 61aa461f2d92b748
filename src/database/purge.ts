/**
 * Removes deleted rows from the file. Addresses, the consent log, suppressions and the ledger stay, because links in sent mails
 * depend on them.
 */
import type { Database } from 'better-sqlite3';
import { inChunks } from './bulk.ts';

/** Condition for contacts and imports whose contact type is deleted. */
const OF_DELETED_TYPES = 'contact_type_id IN (SELECT id FROM contact_types WHERE deleted_at IS NOT NULL)';

/** Condition for records of an import (schema/people-history.ts) whose contact type is deleted. */
const OF_DELETED_IMPORTS = `import_id IN (SELECT id FROM contact_imports WHERE ${OF_DELETED_TYPES})`;

/** The rows to remove, children before parents: a table and the condition. Contacts of a deleted type are removed with it. */
const DELETED: readonly [table: string, condition: string][] = [
  [
    'steps',
    `EXISTS (SELECT 1 FROM enrolments e WHERE e.id = enrolment_id AND e.${ofDeleted('automation_id', 'automations')})`,
  ],
  ['enrolments', ofDeleted('automation_id', 'automations')],
  [
    'mail_versions',
    `kind = 'automation_mail' AND owner_id IN (SELECT id FROM automation_schedules WHERE ${ofDeleted('automation_id', 'automations')})`,
  ],
  ['automation_schedules', ofDeleted('automation_id', 'automations')],
  ['automations', 'deleted_at IS NOT NULL'],
  ['segment_recipients', ofDeleted('segment_id', 'segments')],
  ['segment_leaves', ofDeleted('segment_id', 'segments')],
  ['segments', 'deleted_at IS NOT NULL'],
  ['contact_moves', ofDeletedContact('contact_id')],
  [
    'import_changes',
    `(${OF_DELETED_IMPORTS} OR (kind = 'contact' AND ${ofDeletedContact('row_id')})
       OR (kind = 'member' AND ${ofDeletedContact("(before ->> 'contact_id')")}))`,
  ],
  ['import_added', OF_DELETED_IMPORTS],
  ['import_kept', `(${OF_DELETED_IMPORTS} OR ${ofDeletedContact('contact_id')})`],
  ['earlier_addresses', ofDeletedContact('contact_id')],
  // Lines of the log that contain values of contacts: those that decided at a step.
  [
    'enrolment_log',
    `step_id IS NOT NULL AND reason IS NOT NULL AND NOT EXISTS (SELECT 1 FROM contacts c
       WHERE c.address_id = enrolment_log.address_id AND c.deleted_at IS NULL AND NOT c.${OF_DELETED_TYPES})`,
  ],
  ['contacts', `(deleted_at IS NOT NULL OR ${OF_DELETED_TYPES})`],
  ['contact_imports', OF_DELETED_TYPES],
  ['contact_types', 'deleted_at IS NOT NULL'],
  ['senders', 'deleted_at IS NOT NULL'],
  ['deleted_records', 'true'],
  // Sessions and login links that have expired. The service removes them only when it creates new ones.
  ['sessions', `last_seen_at < ${monthAgo()}`],
  ['login_links', `(used_at IS NOT NULL OR expires_at < ${monthAgo()})`],
];

/**
 * Keeps the corrected addresses of purged contacts, because a contact may be added again under the last address, and erasing
 * that contact must find the earlier ones.
 */
const KEEP_CORRECTIONS = `INSERT OR IGNORE INTO purged_corrections (address_id, earlier_id)
  SELECT c.address_id, e.address_id FROM temp.doomed d CROSS JOIN earlier_addresses e ON e.rowid = d.id
    CROSS JOIN contacts c ON c.id = e.contact_id
  WHERE d.name = 'earlier_addresses' AND c.address_id <> e.address_id`;

/** Returns SQL for the time 30 days ago as records store it. No session lives longer than that. */
function monthAgo(): string {
  return "strftime('%Y-%m-%dT%H:%M:%S', 'now', '-30 days')";
}

/** Returns the condition that the row of the table `parent` to which a column refers is deleted. */
function ofDeleted(column: string, parent: string): string {
  return `${column} IN (SELECT id FROM ${parent} WHERE deleted_at IS NOT NULL)`;
}

/**
 * Returns the condition that a contact or its contact type is deleted. `id` is SQL for the contact's id. The condition looks each contact up,
 * because a list of all deleted contacts could have a million entries.
 */
function ofDeletedContact(id: string): string {
  return `EXISTS (SELECT 1 FROM contacts c WHERE c.id = ${id} AND (c.deleted_at IS NOT NULL OR c.${OF_DELETED_TYPES}))`;
}

/**
 * Removes every deleted row and overwrites its content in the file. Returns the number of rows by table. Reports to
 * `onProgress` how many rows have been removed so far. The writes are short transactions, so the service can keep running.
 */
export async function purge(
  client: Database,
  onProgress: (done: number, total: number) => void,
): Promise<Record<string, number>> {
  client.exec('CREATE TEMP TABLE doomed (name TEXT NOT NULL, id INTEGER NOT NULL)');
  try {
    for (const [table, condition] of DELETED)
      client.exec(`INSERT INTO temp.doomed SELECT '${table}', rowid FROM ${table} WHERE ${condition}`);
    client.exec(KEEP_CORRECTIONS);
    const total = Number(client.prepare('SELECT count(*) FROM temp.doomed').pluck().get());
    let done = 0;
    const counts: Record<string, number> = {};
    for (const [table, condition] of DELETED) {
      counts[table] = await purgeTable(client, table, condition, (rows) => {
        done += rows;
        onProgress(done, total);
      });
    }
    return counts;
  } finally {
    client.exec('DROP TABLE temp.doomed');
  }
}

/**
 * Removes the rows of a table that are listed in `temp.doomed` and still satisfy `condition`. Returns their number. Reports to `onRows` how
 * many listed rows each transaction has processed.
 */
async function purgeTable(
  client: Database,
  table: string,
  condition: string,
  onRows: (rows: number) => void,
): Promise<number> {
  const bounds = client
    .prepare<[string], { first: number | null; last: number | null }>(
      'SELECT min(rowid) AS first, max(rowid) AS last FROM temp.doomed WHERE name = ?',
    )
    .get(table);
  if (bounds?.first == null || bounds.last === null) return 0;
  const { first, last } = bounds;
  // The condition is checked again, because meanwhile a row may have been restored, or another row may have got the rowid of a removed one.
  const remove = client.prepare(
    `DELETE FROM ${table} WHERE rowid IN (
       SELECT ${table}.rowid FROM temp.doomed CROSS JOIN ${table} ON ${table}.rowid = doomed.id
       WHERE doomed.rowid BETWEEN ? AND ? AND ${condition})`,
  );
  let from = first;
  let removed = 0;
  await inChunks(client, (rows) => {
    const to = Math.min(last, from + rows - 1);
    removed += remove.run(from, to).changes;
    onRows(to - from + 1);
    from = to + 1;
    return from <= last;
  });
  return removed;
}
