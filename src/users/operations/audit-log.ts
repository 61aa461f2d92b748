/**
 * Operations that read the audit log of an account (additions to the contract): sign-ins, failed sign-ins, changes of users,
 * keys and settings, and erased contacts.
 */
import { and, desc, eq, lt, sql } from 'drizzle-orm';
import Type from 'typebox';
import { recordObject } from '../../database/record-json.ts';
import { auditLog } from '../../database/schema/index.ts';
import { choice, eitherOrderQuery, integer, isoTimestampSchema, nullable, said } from '../../http/requests/schemas.ts';
import { listOperation, operation } from '../../operations/operation.ts';
import { AUDIT_ACTIONS } from '../audit.ts';

const Entry = Type.Object({
  id: integer(),
  user_id: nullable(integer(), 'Id of the user who acted; null for a key pair and the command line.'),
  actor: said('The actor: the e-mail address of a user, the name and public key of a key pair, or command line.'),
  action: { ...choice(...AUDIT_ACTIONS), description: 'What was done.' },
  subject: said('What the action changed, such as the e-mail address of a user or a public key.'),
  address: Type.String({ description: 'Network address of the caller.' }),
  times: integer({
    description:
      'Number of occurrences, above 1 only for failed sign-ins: those from one address are counted in one entry.',
  }),
  created_at: isoTimestampSchema(),
});
const record = recordObject(Entry, auditLog, {
  actor: sql`english(${auditLog.actor})`,
  subject: sql`english(${auditLog.subject})`,
});

export const listAudit = listOperation({
  name: 'List who signed in, who changed users, keys, settings and senders, and who deleted contacts permanently (addition)',
  role: 'owner',
  isReading: true,
  input: eitherOrderQuery,
  as: 'audit',
  record: Entry,
  select: ({ accountId }, part) => ({
    record,
    from: sql`${auditLog}`,
    where: eq(auditLog.account_id, accountId),
    id: auditLog.id,
    part,
  }),
});

/** Used by the page of the audit log. Returns up to `limit` entries older than the entry `before_id`, the newest first. */
export const readAuditLog = operation({
  name: 'Read the audit log',
  role: 'owner',
  input: Type.Object({ limit: integer(), before_id: Type.Optional(integer()) }),
  run: ({ db, accountId }, { limit, before_id: before }) =>
    db
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.account_id, accountId), before === undefined ? undefined : lt(auditLog.id, before)))
      .orderBy(desc(auditLog.id))
      .limit(limit)
      .all(),
});
