/** Targets of sends and automations: `contacts_<contact type id>`, `segments_<segment id>` (interface "Conventions" 8). */
import type { Db } from '../database/open.ts';
import { recordId } from '../database/owned.ts';
import type { WireTarget } from '../database/schema.ts';
import { isOwnedType } from './contacts.ts';

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
    if (target === null || target.table !== 'contacts' || !isOwnedType(db, userId, target.id)) return null;
    if (!targets.some((other) => other.id === target.id && other.table === target.table)) targets.push(target);
  }
  return targets;
}
