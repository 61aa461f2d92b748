/**
 * The sessions of signed-in users. A session ends after 12 hours without a request, and after 30 days at the latest. Only a hash
 * of a session's secret is stored.
 */
import { and, eq, gt, lte, or, type Placeholder, sql } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { preparedOnce } from '../database/prepared.ts';
import { type ColourScheme, type Role, sessions, users } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { isBusy } from '../database/write-lock.ts';
import { isoTimestamp } from '../time/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../units.ts';
import { hashSecret, newSecret } from './secrets.ts';

const IDLE_MS = 12 * HOUR_MS;
/** The maximum duration of a session, in milliseconds. */
export const SESSION_MS = 30 * DAY_MS;
/** The age from which `last_seen_at` is updated. Requests in between do not update it, because each write waits for the disk. */
const SEEN_AGE_MS = 5 * MINUTE_MS;
/** The maximum number of sessions of one user. If a user has more, the session that is unused for longest is ended. */
const MAX_SESSIONS = 50;
const MAX_USER_AGENT = 255;

/** A signed-in user, with the settings that every request needs. */
export interface SignedInUser {
  id: number;
  accountId: number;
  email: string;
  name: string;
  role: Role;
  language: string;
  shortcuts: boolean;
  colourScheme: ColourScheme;
}

export interface Session {
  id: number;
  user: SignedInUser;
}

/** The origin of a request: its network address and the browser's User-Agent. */
export interface Caller {
  address: string;
  userAgent: string;
}

/** Creates a session and removes expired sessions of the user. Returns the secret of the new session, which goes into the cookie. */
export function createSession(db: Db, userId: number, { address, userAgent }: Caller, now: Date): string {
  const secret = newSecret();
  const stamp = isoTimestamp(now);
  inTransaction(db, (tx) => {
    tx.delete(sessions)
      .where(and(eq(sessions.user_id, userId), hasEnded(now)))
      .run();
    const earlier = tx
      .select({ id: sessions.id })
      .from(sessions)
      .where(eq(sessions.user_id, userId))
      .orderBy(sessions.last_seen_at)
      .all();
    for (const { id } of earlier.slice(0, Math.max(0, earlier.length - MAX_SESSIONS + 1)))
      tx.delete(sessions).where(eq(sessions.id, id)).run();
    tx.insert(sessions)
      .values({
        user_id: userId,
        token_hash: hashSecret(secret),
        created_at: stamp,
        last_seen_at: stamp,
        address,
        user_agent: userAgent.slice(0, MAX_USER_AGENT),
      })
      .run();
  });
  return secret;
}

const sessionQuery = preparedOnce((db) =>
  db
    .select({ session: sessions, user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.user_id))
    .where(
      and(
        eq(sessions.token_hash, sql.placeholder('hash')),
        isUsedSince(sql.placeholder('seenAfter'), sql.placeholder('createdAfter')),
      ),
    )
    .prepare(),
);

/** Returns the session with this secret, and its user; null if no valid session has it. With `isInUse`, records the use. */
export function findSession(db: Db, secret: string, now: Date, isInUse = true): Session | null {
  const row = sessionQuery(db).get({
    hash: hashSecret(secret),
    seenAfter: before(now, IDLE_MS),
    createdAfter: before(now, SESSION_MS),
  });
  if (row === undefined) return null;
  const { session, user } = row;
  if (isInUse && session.last_seen_at < before(now, SEEN_AGE_MS)) recordUse(db, session.id, now);
  const { id, account_id, email, name, role, language, shortcuts, colour_scheme } = user;
  return {
    id: session.id,
    user: {
      id,
      accountId: account_id,
      email,
      name,
      role,
      language,
      shortcuts: shortcuts === 1,
      colourScheme: colour_scheme,
    },
  };
}

/** Ends a session at once. Returns false if it had ended already. */
export function endSession(db: Db, id: number): boolean {
  return db.delete(sessions).where(eq(sessions.id, id)).run().changes > 0;
}

/** Ends all sessions of a user. */
export function endSessionsOf(db: Db, userId: number): void {
  db.delete(sessions).where(eq(sessions.user_id, userId)).run();
}

/** Returns the condition for sessions that have not expired. */
export function isAlive(now: Date) {
  return isUsedSince(before(now, IDLE_MS), before(now, SESSION_MS));
}

function isUsedSince(seenAfter: string | Placeholder, createdAfter: string | Placeholder) {
  return and(gt(sessions.last_seen_at, seenAfter), gt(sessions.created_at, createdAfter));
}

function hasEnded(now: Date) {
  return or(lte(sessions.last_seen_at, before(now, IDLE_MS)), lte(sessions.created_at, before(now, SESSION_MS)));
}

function before(now: Date, ms: number): string {
  return isoTimestamp(new Date(now.getTime() - ms));
}

/** Records that the session is in use. Does nothing while the database is locked, because a later request will record the use. */
function recordUse(db: Db, id: number, now: Date): void {
  try {
    db.update(sessions)
      .set({ last_seen_at: isoTimestamp(now) })
      .where(eq(sessions.id, id))
      .run();
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}
