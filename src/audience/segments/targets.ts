/** Targets of sends and automations: `contacts_<contact type id>`, `segments_<segment id>` (interface "Conventions" 8). */
import type { Db } from '../../database/open.ts';
import { ownedRecord, recordId } from '../../database/ownership.ts';
import { segments, type WireTarget } from '../../database/schema.ts';
import { isOwnedType } from '../contacts/contacts.ts';

/** The target a text names, in the form it comes back in (decisions §4), or null. */
export function parseTarget(text: string): WireTarget | null {
  const parts = /^(contacts|segments)_(\d+)$/.exec(text);
  const id = recordId(parts?.[2]);
  if (parts === null || id === 0) return null;
  return { id: String(id), table: parts[1] === 'contacts' ? 'contacts' : 'segments' };
}

/** The targets texts name, when each exists for the account; null when one does not. */
export function ownedTargets(db: Db, userId: number, given: readonly string[]): WireTarget[] | null {
  const targets: WireTarget[] = [];
  for (const text of given) {
    const target = parseTarget(text);
    if (target === null || !isOwned(db, userId, target)) return null;
    if (!targets.some((other) => other.id === target.id && other.table === target.table)) targets.push(target);
  }
  return targets;
}

function isOwned(db: Db, userId: number, { table, id }: WireTarget): boolean {
  return table === 'contacts' ? isOwnedType(db, userId, id) : isOwnedSegment(db, userId, id);
}

/** Whether this segment exists for the account. */
export function isOwnedSegment(db: Db, userId: number, id: unknown): boolean {
  return (
    db
      .select({ id: segments.id })
      .from(segments)
      .where(ownedRecord(segments, id, userId))
      .get() !== undefined
  );
}
