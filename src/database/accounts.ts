/**
 * Accounts: their API key pairs, and the rules that hold for all their mail. A secret is 256 random bits, so a plain SHA-256 of it is safe to
 * store.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { and, eq, isNull } from 'drizzle-orm';
import type { Clock } from '../time/clock.ts';
import { isoTimestamp } from '../time/clock.ts';
import { addNamedValue, findNamedValue, removeNamedValue } from './named-values.ts';
import type { Db } from './open.ts';
import { accounts, apiKeys, type CapProgress, type MailCap, SCOPES, type Scope } from './schema/index.ts';
import { inTransaction } from './transaction.ts';
import { isTransientSqliteError } from './write-lock.ts';

/** The id of the account that the first start creates. */
export const FIRST_ACCOUNT = 1;

/** The row of `installation` that exists until the first key pair has been shown. */
const UNSHOWN = 'first_keys_unshown';

export interface KeyPair {
  publicKey: string;
  secretKey: string;
}

interface KeyUse {
  /** The program that gets the pair. */
  name: string;
  scopes: readonly Scope[];
}

/**
 * Creates a key pair for an account, by default a pair that may do everything. Only the hash of the secret is stored, so the caller must
 * show the secret now.
 */
export function addKeyPair(
  db: Db,
  clock: Clock,
  accountId: number,
  { name, scopes }: KeyUse = { name: '', scopes: ['everything'] },
): KeyPair {
  const pair = {
    publicKey: `pk_${randomBytes(16).toString('base64url')}`,
    secretKey: `sk_${randomBytes(32).toString('base64url')}`,
  };
  db.insert(apiKeys)
    .values({
      user_id: accountId,
      public_key: pair.publicKey,
      name,
      scopes: scopes.includes('everything') ? ['everything'] : SCOPES.filter((scope) => scopes.includes(scope)),
      secret_hash: secretHash(pair.secretKey),
      created_at: isoTimestamp(clock.now()),
    })
    .run();
  return pair;
}

/**
 * Creates account 1 in a new file. Returns a key pair to show if the file is new, or if an earlier start ended before it called
 * `firstKeysShown`. Otherwise returns null; also returns null if the settings contain a key pair.
 */
export function firstKeys(db: Db, clock: Clock, isPairInSettings: boolean): KeyPair | null {
  return inTransaction(db, () => {
    const first = db.select().from(accounts).limit(1).get();
    const accountId = first?.id ?? createAccount(db, clock, 'Main');
    const isUnshown = findNamedValue(db.$client, UNSHOWN) !== null;
    if (isPairInSettings || (first !== undefined && !isUnshown)) return null;
    addNamedValue(db.$client, UNSHOWN, '');
    return addKeyPair(db, clock, accountId);
  });
}

/** Records that the pair from `firstKeys` has been shown, so that no later start creates another. */
export function firstKeysShown(db: Db): void {
  removeNamedValue(db.$client, UNSHOWN);
}

/** Revokes the pair with this public key. Requests that use it are refused within a second. Returns false if there is no valid pair. */
export function markKeyPairRevoked(db: Db, clock: Clock, publicKey: string): boolean {
  const { changes } = db
    .update(apiKeys)
    .set({ revoked_at: isoTimestamp(clock.now()) })
    .where(and(eq(apiKeys.public_key, publicKey), isNull(apiKeys.revoked_at)))
    .run();
  return changes > 0;
}

interface ValidKeys extends KeyUse {
  accountId: number;
}

/** `last_used_at` is written only if it is older than this, because each write waits for the disk. */
const USED_MS = 60_000;

/**
 * Returns the account, name and scopes of a pair; null if the pair is not valid. Takes the same time whichever half is wrong, so that timing
 * reveals nothing. `pairInSettings` is valid without a row and may do everything; its texts are empty if the settings have no pair. Records
 * that the pair was used.
 */
export function useKeys(db: Db, clock: Clock, keys: KeyPair, pairInSettings: KeyPair): ValidKeys | null {
  const hash = secretHash(keys.secretKey);
  const isInSettings =
    equalTexts(keys.publicKey, pairInSettings.publicKey) && equalTexts(hash, secretHash(pairInSettings.secretKey));
  const row = db.select().from(apiKeys).where(eq(apiKeys.public_key, keys.publicKey)).get();
  const matches = equalTexts(hash, row?.secret_hash ?? secretHash('')) && row !== undefined && row.revoked_at === null;
  if (isInSettings && pairInSettings.publicKey !== '')
    return { accountId: FIRST_ACCOUNT, name: '', scopes: ['everything'] };
  if (!matches) return null;
  recordUse(db, row, clock.now());
  const { user_id: accountId, name, scopes } = row;
  return { accountId, name, scopes };
}

/** Records that a pair was used. Does nothing while the database cannot be written; a later request then records the use. */
function recordUse(db: Db, { id, last_used_at: last }: typeof apiKeys.$inferSelect, now: Date): void {
  if (last !== null && last > isoTimestamp(new Date(now.getTime() - USED_MS))) return;
  try {
    db.update(apiKeys)
      .set({ last_used_at: isoTimestamp(now) })
      .where(eq(apiKeys.id, id))
      .run();
  } catch (error) {
    if (!isTransientSqliteError(error)) throw error;
  }
}

function secretHash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function equalTexts(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}

/** Creates an account and returns its id. */
export function createAccount(db: Db, clock: Clock, name: string): number {
  return db
    .insert(accounts)
    .values({ name, created_at: isoTimestamp(clock.now()) })
    .returning({ id: accounts.id })
    .get().id;
}

/** Returns the frequency caps of an account. */
export function readMailCaps(db: Db, accountId: number): MailCap[] {
  const where = eq(accounts.id, accountId);
  return db.select({ caps: accounts.mail_caps }).from(accounts).where(where).get()?.caps ?? [];
}

/** The progress before the first mailing has been looked at. */
const NO_MAILING_YET: CapProgress = { ended: '9', mailing: Number.MAX_SAFE_INTEGER, delivery: 0 };

/**
 * Changes the frequency caps of an account. When caps are set for the first time, the background thread starts to count the
 * mails that recipients got before.
 */
export function changeMailCaps(db: Db, accountId: number, caps: readonly MailCap[]): void {
  const change =
    caps.length === 0
      ? { mail_caps: null, mail_caps_progress: null }
      : {
          mail_caps: [...caps],
          ...(readMailCaps(db, accountId).length === 0 && { mail_caps_progress: NO_MAILING_YET }),
        };
  db.update(accounts).set(change).where(eq(accounts.id, accountId)).run();
}

/** The rules of an account about its mails. `send_window` is null if mail may be sent at any time. */
type MailRules = Pick<
  typeof accounts.$inferSelect,
  'stops_errors' | 'link_rules' | 'mail_language' | 'keeps_sent_mails' | 'auto_hold' | 'send_window'
>;

/** The rules of an account that does not exist. */
const NO_RULES: MailRules = {
  stops_errors: 0,
  link_rules: null,
  mail_language: 'en',
  keeps_sent_mails: 0,
  auto_hold: 0,
  send_window: null,
};

/** Returns one of the rules of an account about its mails, by the name of its column. */
export function readMailRule<Name extends keyof MailRules>(db: Db, accountId: number, name: Name) {
  const row = db.select({ rule: accounts[name] }).from(accounts).where(eq(accounts.id, accountId)).get();
  return row?.rule ?? NO_RULES[name];
}

/** Changes some of the rules of an account about its mails. */
export function changeMailRules(db: Db, accountId: number, changes: Partial<MailRules>): void {
  if (Object.keys(changes).length === 0) return;
  db.update(accounts).set(changes).where(eq(accounts.id, accountId)).run();
}
