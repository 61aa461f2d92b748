/** The contact type that `import` and `export` work on, given by --type. */
import { and, eq, isNull } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { contactTypes } from '../database/schema/index.ts';
import { type Call, requireNumber, UsageError } from './command.ts';

/** The number after --type; throws UsageError without one. */
export function typeOption(call: Call): number {
  const given = call.option('type');
  if (given === undefined) throw new UsageError('--type N is missing: the number of a contact type');
  return requireNumber(given, '--type');
}

/** The account that owns the contact type; throws an Error of one line when there is no such type. */
export function requireContactType(db: Db, typeId: number): { accountId: number } {
  const type = db
    .select({ accountId: contactTypes.user_id })
    .from(contactTypes)
    .where(and(eq(contactTypes.id, typeId), isNull(contactTypes.deleted_at)))
    .get();
  if (type === undefined) throw new Error(`There is no contact type ${typeId}`);
  return type;
}
