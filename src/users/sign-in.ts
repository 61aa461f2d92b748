/**
 * Signing in with a password and, if the user has one, a second factor, or with a passkey, which counts as both. Time and
 * answer do not reveal whether a user exists.
 */
import { eq } from 'drizzle-orm';
import { parseAddress } from '../audience/contacts/addresses.ts';
import type { Db } from '../database/open.ts';
import { users } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import type { Tokens } from '../delivery/links/tokens.ts';
import type { Clock } from '../time/clock.ts';
import { type Actor, audit, auditFailedSignIn, hasSignedInFrom } from './audit.ts';
import { PasskeyChallenges } from './passkeys/challenges.ts';
import { checkSignature } from './passkeys/check.ts';
import { findPasskey, recordUse } from './passkeys/passkeys.ts';
import { type RelyingParty, readPasskeyAnswer, userHandle } from './passkeys/requests.ts';
import { hashPassword, isWeaklyHashed, verifyPassword } from './passwords.ts';
import { useCode } from './second-factor.ts';
import { hashSecret } from './secrets.ts';
import { type Caller, createSession, endSession, type Session } from './sessions.ts';
import { type Attempt, Throttle } from './throttle.ts';
import { findUser, findUserByEmail, type User } from './users.ts';

const SECOND_FACTOR = 'second-factor';
/** How long a code can be typed after the password was right. */
const PENDING_MS = 5 * 60_000;

/** The result of an attempt to sign in. */
export type SignInResult =
  | { outcome: 'signed-in'; user: User; secret: string }
  /** The password was right; `pending` proves this to `withCode` for five minutes. */
  | { outcome: 'second-factor'; pending: string }
  | { outcome: 'refused' }
  | { outcome: 'wait'; seconds: number };

/** Handles the sign-ins of an installation, and remembers earlier attempts. */
export class SignIns {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #tokens: Tokens;
  readonly #throttle: Throttle;
  readonly challenges: PasskeyChallenges;

  constructor({ db, clock, tokens }: { db: Db; clock: Clock; tokens: Tokens }) {
    this.#db = db;
    this.#clock = clock;
    this.#tokens = tokens;
    this.#throttle = new Throttle(clock);
    this.challenges = new PasskeyChallenges(clock);
  }

  /** Checks an e-mail address and a password. Throws 503 if too many users sign in at once. */
  async withPassword(email: string, password: string, caller: Caller): Promise<SignInResult> {
    const address = parseAddress(email);
    const user = address === null ? undefined : findUserByEmail(this.#db, address);
    const tried = await this.#judge(user, address?.normalized ?? '', caller, (turn) =>
      verifyPassword(password, user?.password_hash ?? null, turn),
    );
    if (tried !== 'right' || user === undefined) return tried === 'right' ? { outcome: 'refused' } : tried;
    const { id, account_id, password_hash: checked } = user;
    const isWeak = checked !== null && isWeaklyHashed(checked);
    const stronger = isWeak ? await hashPassword(password) : checked;
    // Meanwhile the user may have been removed or may have chosen another password, or another sign-in may have replaced the weak hash.
    const passwordHash = findUser(this.#db, account_id, id)?.password_hash ?? null;
    const isRight = passwordHash === checked || (isWeak && (await verifyPassword(password, passwordHash, 'first')));
    if (!isRight) return { outcome: 'refused' };
    const stored = passwordHash === checked ? stronger : passwordHash;
    return inTransaction(this.#db, (tx) => {
      const current = findUser(this.#db, account_id, id);
      if (current?.password_hash !== passwordHash) return { outcome: 'refused' };
      if (stored !== passwordHash) tx.update(users).set({ password_hash: stored }).where(eq(users.id, id)).run();
      return this.afterPassword({ ...current, password_hash: stored }, caller);
    });
  }

  /** Continues for a user whose password was right or has just been chosen: signs in, or asks for the second factor. */
  afterPassword(user: User, caller: Caller): SignInResult & { outcome: 'signed-in' | 'second-factor' } {
    if (user.totp_secret === null) return this.signIn(user, caller);
    const until = this.#clock.now().getTime() + PENDING_MS;
    const pending = this.#tokens.sign(SECOND_FACTOR, `${user.id}:${until}:${fingerprint(user)}`);
    return { outcome: 'second-factor', pending };
  }

  /** Checks a code of the second factor after `withPassword`. Refuses an expired `pending`. */
  async withCode(pending: string, code: string, caller: Caller): Promise<SignInResult> {
    const [id, until, print] = this.#tokens.read(SECOND_FACTOR, pending)?.split(':') ?? [];
    const now = this.#clock.now();
    if (Number(until ?? 0) <= now.getTime()) return { outcome: 'refused' };
    const user = this.#db
      .select()
      .from(users)
      .where(eq(users.id, Number(id)))
      .get();
    if (user === undefined || fingerprint(user) !== print) return { outcome: 'refused' };
    const tried = await this.#judge(user, `${user.normalized_email} code`, caller, async () =>
      useCode(this.#db, user, code, actorOf(user, caller), now),
    );
    return tried === 'right' ? this.signIn(user, caller) : tried;
  }

  /**
   * Checks a browser's answer to a passkey request. `browser` identifies the browser that the challenge was made for. Throws
   * 503 if too many users sign in at once.
   */
  async withPasskey(json: string, party: RelyingParty, browser: string, caller: Caller): Promise<SignInResult> {
    const answer = readPasskeyAnswer(json);
    const owned = answer === null ? undefined : findPasskey(this.#db, answer.id);
    const tried = await this.#judge(owned?.user, `passkey ${answer?.id ?? ''}`, caller, async () => {
      if (answer === null || !this.challenges.use(answer.challenge, 'sign-in', browser)) return false;
      if (owned === undefined || answer.userHandle !== userHandle(owned.user.id)) return false;
      const { public_key: publicKey, counter } = owned.passkey;
      const next = await checkSignature(answer, party, { publicKey, counter });
      return next !== null && recordUse(this.#db, owned.passkey, next, this.#clock.now());
    });
    if (tried !== 'right' || owned === undefined) return tried === 'right' ? { outcome: 'refused' } : tried;
    return this.signIn(owned.user, caller, `passkey ${owned.passkey.name}`);
  }

  /**
   * Returns true if a signed-in user gives the right password, which is asked for again before important changes. Returns false if the
   * password was changed meanwhile. Returns the time to wait after too many attempts.
   */
  async confirmPassword(user: User, password: string, caller: Caller): Promise<boolean | { waitSeconds: number }> {
    const tried = await this.#judge(user, user.normalized_email, caller, (turn) =>
      verifyPassword(password, user.password_hash, turn),
    );
    if (tried === 'right') return findUser(this.#db, user.account_id, user.id)?.password_hash === user.password_hash;
    return tried.outcome === 'wait' ? { waitSeconds: tried.seconds } : false;
  }

  /** Creates and records a session for a user whose identity was proved. `subject` is the method, if it was not the password. */
  signIn(user: User, caller: Caller, subject = ''): SignInResult & { outcome: 'signed-in' } {
    const now = this.#clock.now();
    const secret = inTransaction(this.#db, () => {
      audit(this.#db, { accountId: user.account_id, actor: actorOf(user, caller), action: 'signed_in', subject }, now);
      return createSession(this.#db, user.id, caller, now);
    });
    return { outcome: 'signed-in', user, secret };
  }

  /** Runs one check within the limits on guessing, and records a failure. */
  async #judge(
    user: User | undefined,
    name: string,
    { address }: Caller,
    check: (turn: 'first' | 'last') => Promise<boolean>,
  ): Promise<'right' | { outcome: 'refused' } | { outcome: 'wait'; seconds: number }> {
    const isKnown = hasSignedInFrom(this.#db, user?.id ?? 0, address);
    const attempt: Attempt = { address, user: name, isKnown };
    const waitMs = this.#throttle.begin(attempt);
    if (waitMs > 0) return { outcome: 'wait', seconds: Math.ceil(waitMs / 1000) };
    if (await check(isKnown ? 'first' : 'last')) {
      this.#throttle.succeed(attempt);
      return 'right';
    }
    const failed = user && { id: user.id, accountId: user.account_id, email: user.email };
    auditFailedSignIn(this.#db, failed ?? null, address, this.#clock.now());
    return { outcome: 'refused' };
  }
}

/** Ends and records the session of a browser that signs out or signs in as another user. */
export function signOut(db: Db, { id, user }: Session, address: string, now: Date): void {
  const actor: Actor = { userId: user.id, name: user.email, address };
  inTransaction(db, () => {
    if (endSession(db, id)) audit(db, { accountId: user.accountId, actor, action: 'signed_out' }, now);
  });
}

/** Returns a user as the actor for the audit log. */
export function actorOf(user: User, { address }: Caller): Actor {
  return { userId: user.id, name: user.email, address };
}

/** Returns a text that changes with the password, so that a proof of the earlier password becomes invalid. */
function fingerprint(user: User): string {
  return hashSecret(user.password_hash ?? '').slice(0, 16);
}
