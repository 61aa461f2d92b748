/** Has everything that is on the lists of this file published: for a stream that is new, because NATS was set up or lost what it had. */
import { setImmediate } from 'node:timers/promises';
import { addNamedValue, findNamedValue } from '../../database/named-values.ts';
import type { Db } from '../../database/open.ts';
import type { WriteLock } from '../../database/write-lock.ts';

const STEP_ROWS = 2000;
const LOCK_WAIT_MS = 60_000;

const CREATED = "CAST(unixepoch(created_at, 'subsec') * 1000 AS INTEGER)";
/** The name of the value that says that all was published with proofs. */
const SIGNED = 'choices_published_with_proofs';
const LISTS = [
  { table: 'unsubscribers', list: 'ifnull(unsubscribe_groups_id, 0)', at: CREATED, which: 'true' },
  { table: 'suppressions', list: '-1', at: CREATED, which: 'true' },
  {
    table: 'addresses',
    list: '-2',
    at: `ifnull((SELECT max(${CREATED}) FROM consent_log
      WHERE address_id = addresses.id AND action IN ('tracking_allowed', 'tracking_refused')), 0)`,
    which: 'tracking_choice <> 0',
  },
] as const;

/** Adds all entries to what is to be published, in short transactions. What waits already stays as it is. */
export async function publishEverything(db: Db, lock: WriteLock): Promise<void> {
  for (const { table, list, at, which } of LISTS) {
    const step = db.$client.prepare(`
      INSERT OR IGNORE INTO unpublished_choices (user_id, address_id, list, changed_at)
      SELECT user_id, ${table === 'addresses' ? 'id' : 'address_id'}, ${list}, ${at}
      FROM ${table} WHERE id > @after AND id <= @to AND ${which}`);
    const end = db.$client
      .prepare<[number], number | null>(
        `SELECT max(id) FROM (SELECT id FROM ${table} WHERE id > ? AND ${which} ORDER BY id LIMIT ${STEP_ROWS})`,
      )
      .pluck();
    for (let after = 0, to = end.get(0) ?? 0; to > after; after = to, to = end.get(after) ?? 0) {
      const range = { after, to };
      await lock.write(() => step.run(range), LOCK_WAIT_MS);
      await setImmediate();
    }
  }
}

/** Has everything published once by this release: what earlier ones published has no proof, so a restored backup does not take it over. */
export async function publishSigned(db: Db, lock: WriteLock): Promise<void> {
  if (findNamedValue(db.$client, SIGNED) !== null) return;
  await publishEverything(db, lock);
  await lock.write(() => addNamedValue(db.$client, SIGNED, ''), LOCK_WAIT_MS);
}
