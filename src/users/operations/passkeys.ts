/**
 * Operations for the passkeys with which users sign in (additions to the contract). Passkeys are added on the page of a user's
 * own settings, because this needs a browser.
 */
import { and, eq, type SQL, sql } from 'drizzle-orm';
import Type from 'typebox';
import { recordId } from '../../database/ownership.ts';
import { recordObject } from '../../database/record-json.ts';
import { passkeys, users } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { notFound } from '../../errors/failure.ts';
import { identifier, integer, isoTimestampSchema, listQuery, nullable } from '../../http/requests/schemas.ts';
import { type Context, listOperation, operation } from '../../operations/operation.ts';
import { auditBy } from '../audit.ts';

const Passkey = Type.Object({
  id: integer(),
  user_id: integer(),
  email: Type.String(),
  name: Type.String(),
  created_at: isoTimestampSchema(),
  last_used_at: nullable(
    isoTimestampSchema(),
    'When the passkey was last used to sign in, UTC; null: it was never used.',
  ),
});
const source = {
  record: recordObject(Passkey, passkeys, { email: sql`${users.email}` }),
  from: sql`${passkeys} CROSS JOIN ${users} ON ${users.id} = ${passkeys.user_id}`,
  id: passkeys.id,
};

export const listPasskeys = listOperation({
  name: 'List the passkeys (addition)',
  description:
    'Owners, and key pairs that may do everything, see all passkeys of the account. Other users see their own passkeys, other key pairs see no passkeys.',
  role: 'viewer',
  input: listQuery,
  as: 'passkeys',
  record: Passkey,
  select: (context, part) => ({ ...source, where: isVisibleTo(context), part }),
});

/** Used by the page of a user's own account. */
export const listOwnPasskeys = listOperation({
  name: "List the caller's own passkeys",
  role: 'viewer',
  input: Type.Object({}),
  as: 'passkeys',
  record: Passkey,
  select: ({ actor }) => ({ ...source, where: eq(passkeys.user_id, actor.userId ?? 0), part: {} }),
});

export const removePasskey = operation({
  name: 'Remove a passkey (addition)',
  // Every user may remove their own passkeys.
  role: 'viewer',
  isForUsers: true,
  input: Type.Object({ id: identifier('The passkey.') }),
  run(context, { id }) {
    inTransaction(context.db, (tx) => {
      const passkey = tx
        .select({ id: passkeys.id, name: passkeys.name, email: users.email })
        .from(passkeys)
        .innerJoin(users, eq(users.id, passkeys.user_id))
        .where(and(eq(passkeys.id, recordId(id)), isVisibleTo(context)))
        .get();
      if (passkey === undefined) throw notFound();
      tx.delete(passkeys).where(eq(passkeys.id, passkey.id)).run();
      auditBy(context, 'passkey_removed', `${passkey.email}: ${passkey.name}`);
    });
  },
});

/** Returns the condition for passkeys that the caller may see. */
function isVisibleTo({ accountId, role, actor }: Context): SQL | undefined {
  return and(eq(users.account_id, accountId), role === 'owner' ? undefined : eq(users.id, actor.userId ?? 0));
}
