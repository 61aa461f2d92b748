/** The caller of an operation: a program with a key pair or a user with a session. Also the check whether the caller may perform it. */
import { ROLES, type Role } from '../database/schema/index.ts';
import { Failure } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import type { Actor } from '../users/audit.ts';
import { isOperator } from '../users/operators.ts';
import type { Session } from '../users/sessions.ts';

const FORBIDDEN = 403;

/** The caller of an operation, the account and the caller's rights. */
export interface Caller {
  /** The account of the caller: the `user_id` of every record that the caller can see. */
  accountId: number;
  /** The acting person or program, for the audit log. */
  actor: Actor;
  /**
   * The rights of the caller. A key pair has the rights of an owner, except for operations that only users may perform (`isForUsers`).
   */
  role: Role;
  /** The session of a signed-in user; null for a key pair. */
  sessionId: number | null;
}

/** The callers who may perform an operation. */
export interface AccessRule {
  /** The lowest role that may perform it. */
  role: Role;
  /**
   * True if only signed-in users may perform it, because it creates, changes or removes access: a stolen key pair must not be
   * enough to become an operator, or to keep access after the pair is revoked.
   */
  isForUsers?: true | undefined;
  /** True if it concerns the whole installation, so that only signed-in operators may perform it and a key pair is not enough. */
  isForOperators?: true | undefined;
}

/** Throws 403 unless the caller may perform an operation with this rule. */
export function requireAccess({ role: least, isForUsers, isForOperators }: AccessRule, caller: Caller): void {
  const { role, sessionId } = caller;
  const required = isForOperators ? 'owner' : least;
  if (sessionId === null && isForUsers && !isForOperators) throw new Failure(FORBIDDEN, sentence('people_only'));
  if (ROLES.indexOf(role) < ROLES.indexOf(required))
    throw new Failure(FORBIDDEN, sentence('role_too_low', { role, required }));
  if (isForOperators && !isOperatorsSession(caller)) throw new Failure(FORBIDDEN, sentence('operators_only'));
}

/** Returns the caller of a request that has a session. */
export function callerWithSession({ id: sessionId, user }: Session, address: string): Caller {
  const { id: userId, accountId, email: name, role } = user;
  return { accountId, actor: { userId, name, address }, role, sessionId };
}

/**
 * Returns true if the caller may change nothing. Such callers get no links that work without signing in, such as those to a design page.
 */
export function isReadOnly({ role }: Pick<Caller, 'role'>): boolean {
  return role === 'viewer';
}

/** Returns true if the caller is a signed-in operator. */
export function isOperatorsSession({ sessionId, accountId, role }: Omit<Caller, 'actor'>): boolean {
  return sessionId !== null && isOperator({ accountId, role });
}
