/**
 * The audit log: successful and failed sign-ins, and changes of users, keys and settings. Failed sign-ins are counted together and
 * bounded, so that strangers cannot make the log grow without limit.
 */
import { and, desc, eq, gt, lte, sql } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { accounts, auditLog } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { type Said, sentence } from '../errors/sentences.ts';
import { type Clock, isoTimestamp } from '../time/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../units.ts';

/** The names of the actions that are recorded. */
export const AUDIT_ACTIONS = [
  'signed_in',
  'sign_in_failed',
  'signed_out',
  'login_link_made',
  'login_link_used',
  'password_changed',
  'second_factor_on',
  'second_factor_off',
  'recovery_code_used',
  'recovery_codes_made',
  'passkey_added',
  'passkey_removed',
  'session_ended',
  'user_added',
  'user_changed',
  'user_removed',
  'key_made',
  'key_revoked',
  'sender_added',
  'sender_changed',
  'sender_removed',
  'sender_verified',
  'dkim_key_made',
  'dkim_key_removed',
  'settings_changed',
  'auto_hold_on',
  'auto_hold_off',
  'sunset_on',
  'sunset_off',
  'sunset_lifted',
  'tracking_changed',
  'mail_caps_changed',
  'send_window_changed',
  'mail_settings_changed',
  'brand_changed',
  'archive_changed',
  'template_added',
  'template_changed',
  'template_removed',
  'template_restored',
  'person_erased',
  'contacts_unsubscribed',
  'contact_resubscribed',
  'suppression_lifted',
  'backup_made',
  'restore_confirmed',
  'backup_restored',
  'relay_added',
  'relay_changed',
  'relay_removed',
  'provider_added',
  'provider_removed',
  'relays_ordered',
  'relay_tested',
  'sending_released',
  'public_address_changed',
  'warm_up_saved',
  'warm_up_stopped',
  'webhook_added',
  'webhook_changed',
  'webhook_removed',
  'webhook_switched',
  'webhook_secret_rotated',
  'form_added',
  'form_changed',
  'form_removed',
  'form_restored',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who acts: a user, a key pair or the command line. */
export interface Actor {
  /** Null for a key pair and for the command line. */
  userId: number | null;
  /** The user's e-mail address, the label of a key pair, or `command line`. */
  name: Said;
  /** The network address of the request; empty for a command. */
  address: string;
}

/** Returns the text by which the log names a key pair: its name and its public key, or only the public key if `name` is empty. */
export function keyLabel(name: string, publicKey: string): string {
  return name === '' ? publicKey : `${name} (${publicKey})`;
}

/** The actor of a command on this machine. */
export const COMMAND_LINE: Actor = { userId: null, name: sentence('actor_command_line'), address: '' };

interface Entry {
  accountId: number;
  actor: Actor;
  action: AuditAction;
  /** What the action changed, such as the e-mail address of a user. */
  subject?: Said;
}

/** Failed sign-ins of one user from one network address within this time are counted in one row. */
const REPEAT_MS = 15 * MINUTE_MS;
/** The maximum number of rows that failed sign-ins add to an account's log in an hour; further ones are counted in the newest row. */
const MAX_PER_HOUR = 100;
/** The maximum number of failed sign-ins stored for an account; older ones are removed. */
const MAX_FAILURES = 10_000;

/** Writes one entry. Call inside the transaction of the recorded change. */
export function audit(db: Db, { accountId, actor, action, subject = '' }: Entry, now: Date): void {
  db.insert(auditLog)
    .values({
      account_id: accountId,
      user_id: actor.userId,
      actor: actor.name,
      action,
      subject,
      address: actor.address,
      created_at: isoTimestamp(now),
    })
    .run();
}

/** Writes an entry for the caller of an operation, in the caller's account. */
export function auditBy(
  { db, clock, accountId, actor }: { db: Db; clock: Clock; accountId: number; actor: Actor },
  action: AuditAction,
  subject: Said = '',
): void {
  audit(db, { accountId, actor, action, subject }, clock.now());
}

/**
 * Records a failed sign-in. `user` is null if no user has the typed e-mail address; the entry then belongs to the first account.
 * The typed text is not stored, because people type passwords into the wrong field. The work is the same whether or not the user
 * exists, so that its duration does not reveal which.
 */
export function auditFailedSignIn(
  db: Db,
  user: { id: number; accountId: number; email: string } | null,
  address: string,
  now: Date,
): void {
  inTransaction(db, (tx) => {
    const firstAccount = tx.select({ id: accounts.id }).from(accounts).orderBy(accounts.id).limit(1).get();
    const accountId = user?.accountId ?? firstAccount?.id;
    if (accountId === undefined) return;
    const failures = and(eq(auditLog.account_id, accountId), eq(auditLog.action, 'sign_in_failed'));
    const before = (ms: number) => isoTimestamp(new Date(now.getTime() - ms));
    const recent = tx
      .select()
      .from(auditLog)
      .where(and(failures, gt(auditLog.created_at, before(HOUR_MS))))
      .orderBy(desc(auditLog.id))
      .limit(MAX_PER_HOUR)
      .all();
    const repeated = recent.find(
      (row) => row.user_id === (user?.id ?? null) && row.address === address && row.created_at > before(REPEAT_MS),
    );
    const row = repeated ?? (recent.length === MAX_PER_HOUR ? recent[0] : undefined);
    if (row !== undefined) {
      tx.update(auditLog)
        .set({ times: row.times + 1 })
        .where(eq(auditLog.id, row.id))
        .run();
      return;
    }
    const actor: Actor = { userId: user?.id ?? null, name: user?.email ?? '', address };
    audit(db, { accountId, actor, action: 'sign_in_failed' }, now);
    const newestSurplus = tx
      .select({ id: auditLog.id })
      .from(auditLog)
      .where(failures)
      .orderBy(desc(auditLog.id))
      .limit(1)
      .offset(MAX_FAILURES);
    tx.delete(auditLog)
      .where(and(failures, lte(auditLog.id, sql`(${newestSurplus})`)))
      .run();
  });
}

/** Returns true if a user has signed in from this network address before. */
export function hasSignedInFrom(db: Db, userId: number, address: string): boolean {
  const entry = db
    .select({ id: auditLog.id })
    .from(auditLog)
    .where(and(eq(auditLog.user_id, userId), eq(auditLog.action, 'signed_in'), eq(auditLog.address, address)))
    .limit(1)
    .get();
  return entry !== undefined;
}
