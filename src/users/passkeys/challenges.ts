/**
 * The challenges that passkeys sign (W3C Web Authentication 13.4.3): each is valid once, within five minutes, for one purpose
 * and one browser. Challenges are not stored: each carries a MAC made with a key of this process, so that strangers who request
 * many challenges cannot displace those of others.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../time/clock.ts';
import { MINUTE_MS } from '../../units.ts';

/** How long a user has to answer a challenge, in milliseconds. */
export const ANSWER_MS = 5 * MINUTE_MS;
const NONCE_BYTES = 16;
const EXPIRY_BYTES = 6;
const MAC_BYTES = 32;
/** The maximum number of used challenges that are remembered. After so many attempts within five minutes no challenge is accepted. */
const MAX_USED = 10_000;

export type PasskeyPurpose = 'registration' | 'sign-in';

/** Creates and checks the challenges of this process. A restart invalidates all of them. */
export class PasskeyChallenges {
  readonly #clock: Clock;
  readonly #key = randomBytes(MAC_BYTES);
  /** When each used challenge can be forgotten, in monotonic milliseconds, the earliest first. */
  readonly #used = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns a new challenge in base64url. `browser` is a value that only the requesting browser can present again, such as its session.
   */
  make(purpose: PasskeyPurpose, browser: string): string {
    const signed = Buffer.alloc(NONCE_BYTES + EXPIRY_BYTES);
    randomBytes(NONCE_BYTES).copy(signed);
    signed.writeUIntBE(Math.ceil(this.#clock.monotonic()) + ANSWER_MS, NONCE_BYTES, EXPIRY_BYTES);
    return Buffer.concat([signed, this.#mac(signed, purpose, browser)]).toString('base64url');
  }

  /**
   * Returns true if a challenge was made for this purpose and browser, is not expired and was not used before, and marks it as used.
   */
  use(challenge: string, purpose: PasskeyPurpose, browser: string): boolean {
    const bytes = Buffer.from(challenge, 'base64url');
    // Only the canonical spelling is accepted, so that a challenge cannot be used again in another spelling.
    if (bytes.length !== NONCE_BYTES + EXPIRY_BYTES + MAC_BYTES || bytes.toString('base64url') !== challenge)
      return false;
    const signed = bytes.subarray(0, NONCE_BYTES + EXPIRY_BYTES);
    if (!timingSafeEqual(bytes.subarray(signed.length), this.#mac(signed, purpose, browser))) return false;
    const now = this.#clock.monotonic();
    const expiry = signed.readUIntBE(NONCE_BYTES, EXPIRY_BYTES);
    for (const [usedChallenge, forgetAt] of this.#used) {
      if (forgetAt > now) break;
      this.#used.delete(usedChallenge);
    }
    if (expiry <= now || this.#used.has(challenge) || this.#used.size >= MAX_USED) return false;
    this.#used.set(challenge, now + ANSWER_MS);
    return true;
  }

  #mac(signed: Buffer, purpose: PasskeyPurpose, browser: string): Buffer {
    return createHmac('sha256', this.#key).update(signed).update(`${purpose} ${browser}`).digest();
  }
}
