/**
 * Operations for the sessions of signed-in users (additions to the contract). Owners see the sessions of the whole account, other
 * users their own.
 */
import { and, eq, type SQL, sql } from 'drizzle-orm';
import Type from 'typebox';
import { recordId } from '../../database/ownership.ts';
import { recordObject } from '../../database/record-json.ts';
import { sessions, users } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { notFound } from '../../errors/failure.ts';
import { identifier, integer, isoTimestampSchema, listQuery, zeroOrOne } from '../../http/requests/schemas.ts';
import { type Context, listOperation, operation } from '../../operations/operation.ts';
import { auditBy } from '../audit.ts';
import { isAlive, endSession as removeSession } from '../sessions.ts';

const Session = Type.Object({
  id: integer(),
  user_id: integer({ description: 'Id of the user of the session.' }),
  email: Type.String(),
  address: Type.String({ description: 'Network address from which the user signed in.' }),
  user_agent: Type.String({ description: 'The User-Agent of the browser that signed in.' }),
  is_current: zeroOrOne('1: the session of this request.'),
  created_at: isoTimestampSchema(),
  last_seen_at: isoTimestampSchema(),
});

export const listSessions = listOperation({
  name: 'List the sessions (addition)',
  description:
    'Owners, and key pairs that may do everything, see all sessions of the account. Other users see their own sessions, other key pairs see no sessions.',
  role: 'viewer',
  input: listQuery,
  as: 'sessions',
  record: Session,
  select: (context, part) => ({
    record: recordObject(Session, sessions, {
      email: sql`${users.email}`,
      is_current: sql`${sessions.id} = ${context.sessionId ?? 0}`,
    }),
    from: sql`${sessions} CROSS JOIN ${users} ON ${users.id} = ${sessions.user_id}`,
    where: isVisibleTo(context),
    id: sessions.id,
    part,
  }),
});

export const endSession = operation({
  name: 'End a session (addition)',
  // Every user may end their own sessions.
  role: 'viewer',
  isForUsers: true,
  input: Type.Object({ id: identifier('The session.') }),
  run(context, { id }) {
    const { db } = context;
    inTransaction(db, (tx) => {
      const session = tx
        .select({ id: sessions.id, email: users.email })
        .from(sessions)
        .innerJoin(users, eq(users.id, sessions.user_id))
        .where(and(eq(sessions.id, recordId(id)), isVisibleTo(context)))
        .get();
      if (session === undefined) throw notFound();
      removeSession(db, session.id);
      auditBy(context, 'session_ended', session.email);
    });
  },
});

/** Returns the condition for live sessions that the caller may see. */
function isVisibleTo({ clock, accountId, role, actor }: Context): SQL | undefined {
  const isOwn = role === 'owner' ? undefined : eq(users.id, actor.userId ?? 0);
  return and(eq(users.account_id, accountId), isAlive(clock.now()), isOwn);
}
