/** The contact type that `import` and `export` are told by its number. */
import { and, eq, isNull } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { contactTypes } from '../database/schema/index.ts';
import { type Call, numberOption, UsageError } from './command.ts';

/** The number after --type; throws UsageError without one. */
export function typeOption(call: Call): number {
  const given = call.option('type');
  if (given === undefined) throw new UsageError('--type N is missing: the number of a contact type');
  return numberOption(given, '--type');
}

/** Whose the contact type is; throws an Error of one line when there is none of that number. */
export function requireContactType(db: Db, typeId: number): { userId: number } {
  const type = db
    .select({ userId: contactTypes.user_id })
    .from(contactTypes)
    .where(and(eq(contactTypes.id, typeId), isNull(contactTypes.deleted_at)))
    .get();
  if (type === undefined) throw new Error(`There is no contact type ${typeId}`);
  return type;
}
