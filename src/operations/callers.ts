/** Who calls: a program with a pair of keys, or a person with a session; and who may do something. */
import { ROLES, type Role } from '../database/schema/index.ts';
import { Failure } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import type { Actor } from '../users/audit.ts';
import { isOperator } from '../users/operators.ts';
import type { Session } from '../users/sessions.ts';

const FORBIDDEN = 403;

/** Who calls, for which account and with which rights. */
export interface Caller {
  /** The account of the caller: the `user_id` of every record that they may see. */
  accountId: number;
  /** Who acts, for the audit log. */
  actor: Actor;
  /** What the caller may do. A pair of keys has the role of an owner, except where only people may act (`isForPeople`). */
  role: Role;
  /** The session by which a person calls; null for a pair of keys. */
  sessionId: number | null;
}

/** Who may do something. */
export interface Allowed {
  /** The least role that a person needs. */
  role: Role;
  /**
   * Whether only people who are signed in may do this, because it makes, changes or removes who has access: whoever has got hold of a
   * key pair must not be able to become an operator with it, or keep access after the pair is revoked.
   */
  isForPeople?: true | undefined;
  /** Whether it concerns the whole installation: then it takes a signed-in operator, and keys are not enough. */
  isForOperators?: true | undefined;
}

/** Throws 403 unless a caller is among those who may do something. */
export function requireAllowed({ role: least, isForPeople, isForOperators }: Allowed, caller: Caller): void {
  const { role, sessionId } = caller;
  const required = isForOperators ? 'owner' : least;
  if (sessionId === null && isForPeople && !isForOperators) throw new Failure(FORBIDDEN, sentence('people_only'));
  if (ROLES.indexOf(role) < ROLES.indexOf(required))
    throw new Failure(FORBIDDEN, sentence('role_too_low', { role, required }));
  if (isForOperators && !isOperatorsSession(caller)) throw new Failure(FORBIDDEN, sentence('operators_only'));
}

/** The caller of a request that has a session. */
export function callerWithSession({ id: sessionId, user }: Session, address: string): Caller {
  const { id: userId, accountId, email: name, role } = user;
  return { accountId, actor: { userId, name, address }, role, sessionId };
}

/** Whether the caller is a person who may change nothing. They get no links that work without signing in, such as those to a design page. */
export function changesNothing({ role }: Pick<Caller, 'role'>): boolean {
  return role === 'viewer';
}

/** Whether a signed-in operator calls. */
export function isOperatorsSession({ sessionId, accountId, role }: Omit<Caller, 'actor'>): boolean {
  return sessionId !== null && isOperator({ accountId, role });
}
