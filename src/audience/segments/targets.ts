/** Targets of single sends and automations: `contacts_<contact type id>` or `segments_<segment id>`. */
import { sql } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { ownedBy, ownedRecord, recordId } from '../../database/ownership.ts';
import { contactTypes, segments, type Target } from '../../database/schema/index.ts';

/** Parses a target into the form in which answers show it; null when the text is not one. */
export function parseTarget(text: string): Target | null {
  const parts = /^(contacts|segments)_(\d+)$/.exec(text);
  const id = recordId(parts?.[2]);
  if (parts === null || id === 0) return null;
  return { id: String(id), table: parts[1] === 'contacts' ? 'contacts' : 'segments' };
}

/** The targets named by these texts, without repeats; null when one is malformed or the account does not have it. */
export function findTargets(db: Db, userId: number, given: readonly string[]): Target[] | null {
  const targets = new Map<string, Target>();
  for (const text of given) {
    const target = parseTarget(text);
    if (target === null) return null;
    targets.set(`${target.table}_${target.id}`, target);
  }
  const found = [...targets.values()];
  return areOwned(db, userId, found, 'contacts') && areOwned(db, userId, found, 'segments') ? found : null;
}

function areOwned(db: Db, userId: number, targets: readonly Target[], kind: Target['table']): boolean {
  const ids = targets.filter(({ table }) => table === kind).map(({ id }) => Number(id));
  if (ids.length === 0) return true;
  const table = kind === 'contacts' ? contactTypes : segments;
  const { owned } = db.get<{ owned: number }>(sql`
    SELECT count(*) AS owned FROM ${table}
    WHERE ${table.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)})) AND ${ownedBy(table, userId)}`);
  return owned === ids.length;
}

/** Whether this segment exists for the account. */
export function hasSegment(db: Db, userId: number, id: unknown): boolean {
  return (
    db
      .select({ id: segments.id })
      .from(segments)
      .where(ownedRecord(segments, id, userId))
      .get() !== undefined
  );
}
