/** Removes deleted rows for good. Addresses, consent log, suppressions and the ledger stay, because links in sent mails depend on them. */
import type { Database } from 'better-sqlite3';
import { inChunks } from './bulk.ts';

const DELETED_CONTACTS = `SELECT id FROM contacts WHERE deleted_at IS NOT NULL
  OR contact_type_id IN (SELECT id FROM contact_types WHERE deleted_at IS NOT NULL)`;

/** Records of an import (schema/people-history.ts) whose contact type is deleted. */
const OF_DELETED_TYPE = `import_id IN (${childrenOfDeleted('contact_imports', 'contact_type_id', 'contact_types')})`;

/** The rows to remove, children before parents: a table and the ids of its rows. Contacts of a deleted type are removed with it. */
const DELETED: readonly [table: string, ids: string][] = [
  [
    'steps',
    `SELECT id FROM steps WHERE enrolment_id IN (SELECT e.id FROM enrolments e JOIN automations a ON a.id = e.automation_id
       WHERE a.deleted_at IS NOT NULL)`,
  ],
  ['enrolments', childrenOfDeleted('enrolments', 'automation_id', 'automations')],
  [
    'mail_versions',
    `SELECT id FROM mail_versions WHERE kind = 'automation_mail' AND owner_id IN (
       SELECT s.id FROM automation_schedules s JOIN automations a ON a.id = s.automation_id WHERE a.deleted_at IS NOT NULL)`,
  ],
  ['automation_schedules', childrenOfDeleted('automation_schedules', 'automation_id', 'automations')],
  ['automations', 'SELECT id FROM automations WHERE deleted_at IS NOT NULL'],
  ['segment_recipients', childrenOfDeleted('segment_recipients', 'segment_id', 'segments')],
  ['segment_leaves', childrenOfDeleted('segment_leaves', 'segment_id', 'segments')],
  ['segments', 'SELECT id FROM segments WHERE deleted_at IS NOT NULL'],
  ['contact_moves', `SELECT id FROM contact_moves WHERE contact_id IN (${DELETED_CONTACTS})`],
  [
    'import_changes',
    `SELECT rowid AS id FROM import_changes WHERE ${OF_DELETED_TYPE} OR (kind = 'contact' AND row_id IN (${DELETED_CONTACTS}))
       OR (kind = 'member' AND before ->> 'contact_id' IN (${DELETED_CONTACTS}))`,
  ],
  ['import_added', `SELECT rowid AS id FROM import_added WHERE ${OF_DELETED_TYPE}`],
  [
    'import_kept',
    `SELECT rowid AS id FROM import_kept WHERE ${OF_DELETED_TYPE} OR contact_id IN (${DELETED_CONTACTS})`,
  ],
  ['earlier_addresses', `SELECT rowid AS id FROM earlier_addresses WHERE contact_id IN (${DELETED_CONTACTS})`],
  ['contacts', DELETED_CONTACTS],
  ['contact_imports', childrenOfDeleted('contact_imports', 'contact_type_id', 'contact_types')],
  ['contact_types', 'SELECT id FROM contact_types WHERE deleted_at IS NOT NULL'],
  ['senders', 'SELECT id FROM senders WHERE deleted_at IS NOT NULL'],
  // Sessions that have ended and links to sign in that no longer work; the service removes them only when it makes others.
  ['sessions', `SELECT id FROM sessions WHERE last_seen_at < ${monthAgo()}`],
  ['login_links', `SELECT id FROM login_links WHERE used_at IS NOT NULL OR expires_at < ${monthAgo()}`],
];

/** The person may be added anew, and erasing them is to find their earlier addresses. */
const KEEP_CORRECTIONS = `INSERT OR IGNORE INTO purged_corrections (address_id, earlier_id)
  SELECT c.address_id, e.address_id FROM temp.doomed d CROSS JOIN earlier_addresses e ON e.rowid = d.id
    CROSS JOIN contacts c ON c.id = e.contact_id
  WHERE d.name = 'earlier_addresses' AND c.address_id <> e.address_id`;

/** A time as records have it. The latest that a session can be of use is 30 days. */
function monthAgo(): string {
  return "strftime('%Y-%m-%dT%H:%M:%S', 'now', '-30 days')";
}

function childrenOfDeleted(table: string, column: string, parent: string): string {
  return `SELECT id FROM ${table} WHERE ${column} IN (SELECT id FROM ${parent} WHERE deleted_at IS NOT NULL)`;
}

/**
 * Removes every deleted row and overwrites its content in the file; returns the number of rows by table. `onProgress` is told how
 * many rows have been removed so far. The writes are short transactions, so the service can keep running.
 */
export async function purge(
  client: Database,
  onProgress: (done: number, whole: number) => void,
): Promise<Record<string, number>> {
  client.exec('CREATE TEMP TABLE doomed (name TEXT NOT NULL, id INTEGER NOT NULL)');
  try {
    for (const [table, ids] of DELETED) client.exec(`INSERT INTO temp.doomed SELECT '${table}', id FROM (${ids})`);
    client.exec(KEEP_CORRECTIONS);
    const whole = Number(client.prepare('SELECT count(*) FROM temp.doomed').pluck().get());
    let done = 0;
    const counts: Record<string, number> = {};
    for (const [table] of DELETED) {
      counts[table] = await purgeTable(client, table, (rows) => {
        done += rows;
        onProgress(done, whole);
      });
    }
    return counts;
  } finally {
    client.exec('DROP TABLE temp.doomed');
  }
}

async function purgeTable(client: Database, table: string, onRows: (rows: number) => void): Promise<number> {
  const bounds = client
    .prepare<[string], { first: number | null; last: number | null }>(
      'SELECT min(rowid) AS first, max(rowid) AS last FROM temp.doomed WHERE name = ?',
    )
    .get(table);
  if (bounds?.first == null || bounds.last === null) return 0;
  const { first, last } = bounds;
  const remove = client.prepare(
    `DELETE FROM ${table} WHERE rowid IN (SELECT id FROM temp.doomed WHERE rowid BETWEEN ? AND ?)`,
  );
  let from = first;
  await inChunks(client, (rows) => {
    const to = Math.min(last, from + rows - 1);
    onRows(remove.run(from, to).changes);
    from = to + 1;
    return from <= last;
  });
  return last - first + 1;
}
