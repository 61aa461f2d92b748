/** The caller of an operation: a program with a key pair or a user with a session. Also the check whether the caller may perform it. */
import { ROLES, type Role, SCOPES, type Scope } from '../database/schema/index.ts';
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
  /** The rights of the caller; the rights of a key pair follow from its scopes (`requireScope`). */
  role: Role;
  /** The session of a signed-in user; null for a key pair. */
  sessionId: number | null;
  /** The scopes of the key pair; null for a signed-in user. */
  scopes: readonly Scope[] | null;
}

/** The callers who may perform an operation. */
export interface AccessRule {
  /** The lowest role that may perform it. */
  role: Role;
  /**
   * True if the operation changes nothing and shows no secret although its role is above viewer, so that the scope
   * `read` suffices for a key pair.
   */
  isReading?: true | undefined;
  /** True if one scope suffices for a key pair, whichever it is. */
  isForAnyScope?: true | undefined;
  /**
   * True if only signed-in users may perform it, because it creates, changes or removes access: a stolen key pair must not be
   * enough to become an operator, or to keep access after the pair is revoked.
   */
  isForUsers?: true | undefined;
  /**
   * True if the operation concerns the whole installation, so that only signed-in operators may perform it and a key
   * pair is not enough.
   */
  isForOperators?: true | undefined;
}

/** The rule of a route of the API: the rule of its operation, and the scope with which key pairs use its feature. */
export interface RouteRule extends AccessRule {
  scope: Exclude<Scope, 'read'>;
}

/** Throws 403 unless a signed-in user may perform an operation with this rule. */
export function requireAccess({ role: least, isForOperators }: AccessRule, caller: Caller): void {
  const { role } = caller;
  const required = isForOperators ? 'owner' : least;
  if (ROLES.indexOf(role) < ROLES.indexOf(required))
    throw new Failure(FORBIDDEN, sentence('role_too_low', { role, required }));
  if (isForOperators && !isOperatorsSession(caller)) throw new Failure(FORBIDDEN, sentence('operators_only'));
}

/**
 * Returns the scopes of which a key pair needs one for a route: the scope of its feature, or `read` if the route only
 * reads. `everything` always suffices, so it is in the list only if no other scope does, for example because the route
 * is for owners.
 */
export function sufficientScopes({ role, isReading, isForAnyScope, scope }: RouteRule): Scope[] {
  if (isForAnyScope) return [...SCOPES];
  const scopes = new Set<Scope>();
  if (role === 'viewer' || isReading) scopes.add('read');
  if (role !== 'owner' && scope !== 'everything') scopes.add(scope);
  return scopes.size === 0 ? ['everything'] : [...scopes];
}

/**
 * Returns the rights that a key pair with these scopes has in a route: the rights of an owner with `everything`, of an
 * editor with the scope of the feature, otherwise of a viewer. Throws 403 if the scopes do not suffice, or if the route
 * is not for key pairs.
 */
export function requireScope(rule: RouteRule, scopes: readonly Scope[]): Role {
  if (rule.isForOperators) throw new Failure(FORBIDDEN, sentence('operators_only'));
  if (rule.isForUsers) throw new Failure(FORBIDDEN, sentence('people_only'));
  if (scopes.includes('everything')) return 'owner';
  const sufficient = sufficientScopes(rule);
  const held = sufficient.filter((scope) => scopes.includes(scope));
  if (held.length > 0) return held.includes(rule.scope) ? 'editor' : 'viewer';
  const [scope = 'everything', other] = sufficient;
  throw new Failure(
    FORBIDDEN,
    other === undefined ? sentence('scope_missing', { scope }) : sentence('scopes_missing', { scope, other }),
  );
}

/** Returns the caller of a request that has a session. */
export function callerWithSession({ id: sessionId, user }: Session, address: string): Caller {
  const { id: userId, accountId, email: name, role } = user;
  return { accountId, actor: { userId, name, address }, role, sessionId, scopes: null };
}

/** Returns true if the caller may read what belongs to the features of this scope. */
export function mayRead({ scopes }: Pick<Caller, 'scopes'>, scope: RouteRule['scope']): boolean {
  const sufficient = [...sufficientScopes({ role: 'viewer', scope }), 'everything'];
  return scopes === null || scopes.some((held) => sufficient.includes(held));
}

/**
 * Returns true if the caller may change nothing. Such callers get no links that work without signing in, such as those to a design page.
 */
export function isReadOnly({ role }: Pick<Caller, 'role'>): boolean {
  return role === 'viewer';
}

/** Returns true if the caller is a signed-in operator. */
export function isOperatorsSession({ sessionId, accountId, role }: Omit<Caller, 'actor' | 'scopes'>): boolean {
  return sessionId !== null && isOperator({ accountId, role });
}
