/**
 * Signing in: with a password, followed by a code if the user has a second factor, or with a passkey, which counts as both. Neither
 * the answer nor the time it takes reveals whether a user exists.
 */
import { eq } from 'drizzle-orm';
import { parseAddress } from '../audience/contacts/addresses.ts';
import type { Db } from '../database/open.ts';
import { users } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import type { Tokens } from '../delivery/links/tokens.ts';
import type { Clock } from '../time/clock.ts';
import { MINUTE_MS } from '../units.ts';
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
/** How long a user has to type the code after the password was right, in milliseconds. */
const PENDING_MS = 5 * MINUTE_MS;

/** The result of an attempt to sign in. */
export type SignInResult =
  | { outcome: 'signed-in'; user: User; secret: string }
  /** The password was right; `pending` proves this to `withCode` for five minutes. */
  | { outcome: 'second-factor'; pending: string }
  | { outcome: 'refused' }
  | { outcome: 'wait'; seconds: number };

/** Checks the sign-ins of an installation. Remembers earlier attempts, to slow down guessing. */
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
    const result = await this.#limited(user, address?.normalized ?? '', caller, (turn) =>
      verifyPassword(password, user?.password_hash ?? null, turn),
    );
    if (result !== 'right') return result;
    if (user === undefined) return { outcome: 'refused' };
    const { id, account_id, password_hash: checkedHash } = user;
    const isWeak = checkedHash !== null && isWeaklyHashed(checkedHash);
    const strongHash = isWeak ? await hashPassword(password) : checkedHash;
    // During the check the user may have been removed or may have chosen another password, or another sign-in may have replaced the
    // weak hash.
    const presentHash = findUser(this.#db, account_id, id)?.password_hash ?? null;
    const isRight = presentHash === checkedHash || (isWeak && (await verifyPassword(password, presentHash, 'first')));
    if (!isRight) return { outcome: 'refused' };
    const newHash = presentHash === checkedHash ? strongHash : presentHash;
    return inTransaction(this.#db, (tx) => {
      const current = findUser(this.#db, account_id, id);
      if (current?.password_hash !== presentHash) return { outcome: 'refused' };
      if (newHash !== presentHash) tx.update(users).set({ password_hash: newHash }).where(eq(users.id, id)).run();
      return this.afterPassword({ ...current, password_hash: newHash }, caller);
    });
  }

  /** Continues the sign-in of a user whose password was right or has just been chosen: signs in, or asks for the second factor. */
  afterPassword(user: User, caller: Caller): SignInResult & { outcome: 'signed-in' | 'second-factor' } {
    if (user.totp_secret === null) return this.signIn(user, caller);
    const until = this.#clock.now().getTime() + PENDING_MS;
    const pending = this.#tokens.sign(SECOND_FACTOR, `${user.id}:${until}:${fingerprint(user)}`);
    return { outcome: 'second-factor', pending };
  }

  /** Checks a code of the second factor after `withPassword`. Refuses an expired `pending`. */
  async withCode(pending: string, code: string, caller: Caller): Promise<SignInResult> {
    const [id, until, passwordPrint] = this.#tokens.read(SECOND_FACTOR, pending)?.split(':') ?? [];
    const now = this.#clock.now();
    if (Number(until ?? 0) <= now.getTime()) return { outcome: 'refused' };
    const user = this.#db
      .select()
      .from(users)
      .where(eq(users.id, Number(id)))
      .get();
    if (user === undefined || fingerprint(user) !== passwordPrint) return { outcome: 'refused' };
    const check = async () => useCode(this.#db, user, code, actorOf(user, caller), now);
    const result = await this.#limited(user, `${user.normalized_email} code`, caller, check, true);
    return result === 'right' ? this.signIn(user, caller) : result;
  }

  /**
   * Checks a browser's answer to a passkey request. `browser` identifies the browser that the challenge was made for. Throws
   * 503 if too many users sign in at once.
   */
  async withPasskey(json: string, party: RelyingParty, browser: string, caller: Caller): Promise<SignInResult> {
    const answer = readPasskeyAnswer(json);
    const known = answer === null ? undefined : findPasskey(this.#db, answer.id);
    const result = await this.#limited(known?.user, `passkey ${answer?.id ?? ''}`, caller, async () => {
      if (answer === null || !this.challenges.use(answer.challenge, 'sign-in', browser)) return false;
      if (known === undefined || answer.userHandle !== userHandle(known.user.id)) return false;
      const { public_key: publicKey, counter } = known.passkey;
      const newCounter = await checkSignature(answer, party, { publicKey, counter });
      return newCounter !== null && recordUse(this.#db, known.passkey, newCounter, this.#clock.now());
    });
    if (result !== 'right') return result;
    if (known === undefined) return { outcome: 'refused' };
    return this.signIn(known.user, caller, `passkey ${known.passkey.name}`);
  }

  /**
   * Checks the password that a signed-in user types again before an important change. Returns false if it is wrong or was changed
   * during the check; after too many attempts, returns the time to wait.
   */
  async confirmPassword(user: User, password: string, caller: Caller): Promise<boolean | { waitSeconds: number }> {
    const result = await this.#limited(user, user.normalized_email, caller, (turn) =>
      verifyPassword(password, user.password_hash, turn),
    );
    if (result === 'right') return findUser(this.#db, user.account_id, user.id)?.password_hash === user.password_hash;
    return result.outcome === 'wait' ? { waitSeconds: result.seconds } : false;
  }

  /** Creates and records a session for a user whose identity was proved. `subject` names the passkey; empty for a password. */
  signIn(user: User, caller: Caller, subject = ''): SignInResult & { outcome: 'signed-in' } {
    const now = this.#clock.now();
    const secret = inTransaction(this.#db, () => {
      audit(this.#db, { accountId: user.account_id, actor: actorOf(user, caller), action: 'signed_in', subject }, now);
      return createSession(this.#db, user.id, caller, now);
    });
    return { outcome: 'signed-in', user, secret };
  }

  /** Runs one check within the limits on guessing, and records a failure. The throttle counts the attempt under the name `countedAs`. */
  async #limited(
    user: User | undefined,
    countedAs: string,
    { address }: Caller,
    check: (turn: 'first' | 'last') => Promise<boolean>,
    isCode = false,
  ): Promise<'right' | { outcome: 'refused' } | { outcome: 'wait'; seconds: number }> {
    const isKnown = hasSignedInFrom(this.#db, user?.id ?? 0, address);
    const attempt: Attempt = { address, user: countedAs, isKnown, isCode };
    const waitMs = this.#throttle.begin(attempt);
    if (waitMs > 0) return { outcome: 'wait', seconds: Math.ceil(waitMs / 1000) };
    if (await check(isKnown ? 'first' : 'last')) {
      this.#throttle.succeed(attempt);
      return 'right';
    }
    const knownUser = user && { id: user.id, accountId: user.account_id, email: user.email };
    auditFailedSignIn(this.#db, knownUser ?? null, address, this.#clock.now());
    return { outcome: 'refused' };
  }
}

/** Ends the session of a browser that signs out or signs in as another user, and records this in the audit log. */
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
