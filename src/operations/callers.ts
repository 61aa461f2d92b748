/**
 * The caller of an operation, which is a program with a key pair or a user with a session, and the checks whether a caller may perform an
 * operation.
 */
import { ROLES, type Role, SCOPES, type Scope } from '../database/schema/index.ts';
import { Failure } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import type { Actor } from '../users/audit.ts';
import { isOperator } from '../users/operators.ts';
import type { Session } from '../users/sessions.ts';

/** The caller of an operation: the acting person or program, the account, and the caller's rights. */
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

/** States which callers may perform an operation. */
export interface AccessRule {
  /** The lowest role that may perform the operation. */
  role: Role;
  /**
   * True if the scope `read` suffices for a key pair although `role` is above viewer, because the operation changes nothing and shows no
   * secret.
   */
  isReading?: true | undefined;
  /** True if any single scope suffices for a key pair. */
  isForAnyScope?: true | undefined;
  /**
   * True if only signed-in users may perform the operation, because it creates, changes or removes access: a stolen key pair must not be
   * enough to become an operator, or to keep access after the pair is revoked.
   */
  isForUsers?: true | undefined;
  /** True if only signed-in operators may perform the operation, because it concerns the whole installation. */
  isForOperators?: true | undefined;
}

/** The access rule of a route of the API: the rule of the route's operation, and the scope that key pairs need for the route's feature. */
export interface RouteRule extends AccessRule {
  scope: Exclude<Scope, 'read'>;
}

/**
 * Throws 403 if the caller's role is too low for this rule, or if the operation is for operators and the caller is not a signed-in
 * operator.
 */
export function requireAccess({ role: least, isForOperators }: AccessRule, caller: Caller): void {
  const { role } = caller;
  const required = isForOperators ? 'owner' : least;
  if (ROLES.indexOf(role) < ROLES.indexOf(required))
    throw new Failure(403, sentence('role_too_low', { role, required }));
  if (isForOperators && !isOperatorsSession(caller)) throw new Failure(403, sentence('operators_only'));
}

/**
 * Returns the scopes that suffice for a key pair to use a route: the scope of the route's feature, and `read` if the route only reads. The
 * scope `everything` always suffices, so it is returned only if no other scope does, for example because the route is for owners.
 */
export function sufficientScopes({ role, isReading, isForAnyScope, scope }: RouteRule): Scope[] {
  if (isForAnyScope) return [...SCOPES];
  const scopes = new Set<Scope>();
  if (role === 'viewer' || isReading) scopes.add('read');
  if (role !== 'owner' && scope !== 'everything') scopes.add(scope);
  return scopes.size === 0 ? ['everything'] : [...scopes];
}

/**
 * Returns the role that a key pair with these scopes has in a route: owner with the scope `everything`, editor with the scope of the
 * route's feature, otherwise viewer. Throws 403 if the scopes do not suffice, or if key pairs may not use the route.
 */
export function requireScope(rule: RouteRule, scopes: readonly Scope[]): Role {
  if (rule.isForOperators) throw new Failure(403, sentence('operators_only'));
  if (rule.isForUsers) throw new Failure(403, sentence('people_only'));
  if (scopes.includes('everything')) return 'owner';
  const sufficient = sufficientScopes(rule);
  const matching = sufficient.filter((scope) => scopes.includes(scope));
  if (matching.length > 0) return matching.includes(rule.scope) ? 'editor' : 'viewer';
  const [scope = 'everything', other] = sufficient;
  throw new Failure(
    403,
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
  return scopes === null || scopes.some((own) => sufficient.includes(own));
}

/**
 * Returns true if the caller may change nothing. Such a caller gets no links that work without signing in, such as the link to a design
 * page.
 */
export function isReadOnly({ role }: Pick<Caller, 'role'>): boolean {
  return role === 'viewer';
}

/** Returns true if the caller is a signed-in operator. */
export function isOperatorsSession({ sessionId, accountId, role }: Omit<Caller, 'actor' | 'scopes'>): boolean {
  return sessionId !== null && isOperator({ accountId, role });
}
