/** Targets of single sends and automations: `contacts_<contact type id>` or `segments_<segment id>`. */
import { sql } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { isOwned, ownedBy, recordId } from '../../database/ownership.ts';
import { contactTypes, segments, type Target } from '../../database/schema/index.ts';

/** Parses a target into the form in which answers show it; null when the text is not one. */
function parseTarget(text: string): Target | null {
  const parts = /^(contacts|segments)_(\d+)$/.exec(text);
  const id = recordId(parts?.[2]);
  if (parts === null || id === 0) return null;
  return { id: String(id), table: parts[1] === 'contacts' ? 'contacts' : 'segments' };
}

/** The targets named by these texts, without repeats; null when one is malformed. */
function parseTargets(given: readonly string[]): Target[] | null {
  const targets = new Map<string, Target>();
  for (const text of given) {
    const target = parseTarget(text);
    if (target === null) return null;
    targets.set(`${target.table}_${target.id}`, target);
  }
  return [...targets.values()];
}

/** Whether each of these texts names a target that the account has. */
export function hasTargets(db: Db, accountId: number, given: readonly string[]): boolean {
  const targets = parseTargets(given);
  return (
    targets !== null && areOwned(db, accountId, targets, 'contacts') && areOwned(db, accountId, targets, 'segments')
  );
}

/** The targets named by texts that `hasTargets` accepted in the same request, without repeats; throws an Error when one is malformed. */
export function checkedTargets(given: readonly string[]): Target[] {
  const targets = parseTargets(given);
  if (targets === null) throw new Error('a target passed the check and is malformed');
  return targets;
}

function areOwned(db: Db, accountId: number, targets: readonly Target[], kind: Target['table']): boolean {
  const ids = targets.filter(({ table }) => table === kind).map(({ id }) => Number(id));
  if (ids.length === 0) return true;
  const table = kind === 'contacts' ? contactTypes : segments;
  const { owned } = db.get<{ owned: number }>(sql`
    SELECT count(*) AS owned FROM ${table}
    WHERE ${table.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)})) AND ${ownedBy(table, accountId)}`);
  return owned === ids.length;
}

/** Whether this segment exists for the account. */
export function hasSegment(db: Db, accountId: number, id: unknown): boolean {
  return isOwned(db, segments, id, accountId);
}
