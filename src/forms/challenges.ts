/**
 * Proofs of work (ALTCHA, version 2). The page of a form contains a signed challenge, which takes a browser about a second to solve.
 * A solution is valid once, for one form and for an hour.
 */
import { randomInt } from 'node:crypto';
import { type Challenge, createChallenge, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import type { Tokens } from '../delivery/links/tokens.ts';
import { HOUR_MS } from '../units.ts';
import type { Proof } from './used-challenges.ts';

const ALGORITHM = 'PBKDF2/SHA-256';
/** The number of iterations of one try. The service makes one try for each challenge, which takes about half a millisecond. */
const COST = 1000;
/** The minimum number of tries that a browser needs for the solution. */
const MIN_TRIES = 500;
/** The number of tries that a browser needs for the solution is below this. */
const MAX_TRIES = 3500;
/** How long a page may stay open before its form is submitted. */
const CHALLENGE_MS = HOUR_MS;
/** The minimum time that a visitor needs for filling in a form. */
const MIN_FILL_MS = 2000;
/** The maximum length of a submitted solution. Longer texts are not parsed. */
const MAX_PROOF_CHARACTERS = 4000;
const HEX = /^(?:[0-9a-f]{2}){1,64}$/;

/** Creates and verifies challenges. All processes with the same key accept each other's challenges. */
export class Challenges {
  readonly #secrets: { hmacSignatureSecret: string; hmacKeySignatureSecret: string };

  constructor(tokens: Tokens) {
    this.#secrets = {
      hmacSignatureSecret: tokens.sign('form-challenge', 'signature'),
      hmacKeySignatureSecret: tokens.sign('form-challenge', 'solution'),
    };
  }

  /** Returns a new challenge as the text of a form's hidden field. `now` is in epoch milliseconds. */
  async create(formId: number, now: number): Promise<string> {
    const challenge = await createChallenge({
      algorithm: ALGORITHM,
      cost: COST,
      counter: randomInt(MIN_TRIES, MAX_TRIES),
      deriveKey,
      data: { form: formId, at: now },
      ...this.#secrets,
    });
    return encode({ challenge });
  }

  /**
   * Verifies the hidden field of a form that was submitted at `now`, epoch milliseconds. The caller uses up the challenge with
   * `useChallenge`.
   */
  async verify(text: string, formId: number, now: number): Promise<Proof> {
    const decoded = decode(text);
    if (decoded === null) return { kind: 'none' };
    const { challenge, derivedKey } = decoded;
    const { data, nonce } = challenge.parameters;
    // Without a solution, a wrong one takes its place, because the signature of the challenge must be verified nevertheless.
    const solution = { counter: 0, derivedKey: derivedKey ?? '00' };
    const result = await verifySolution({ challenge, solution, deriveKey, ...this.#secrets });
    const at = Number(data?.at);
    const isOurs = result.invalidSignature === false && data?.form === formId;
    if (!isOurs || now < at + MIN_FILL_MS || now > at + CHALLENGE_MS) return { kind: 'none' };
    if (derivedKey !== null && !result.verified) return { kind: 'none' };
    return { kind: derivedKey === null ? 'unproven' : 'proven', nonce, expiresAt: at + CHALLENGE_MS };
  }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

/** Parses the text of a hidden field. Returns null if it has another format. Does not check the signature of the challenge. */
function decode(text: string): { challenge: Challenge; derivedKey: string | null } | null {
  if (text === '' || text.length > MAX_PROOF_CHARACTERS) return null;
  try {
    const { challenge, solution } = JSON.parse(Buffer.from(text, 'base64').toString());
    const { parameters, signature } = challenge;
    const derivedKey = solution === undefined ? null : String(solution.derivedKey);
    const isComplete =
      typeof parameters === 'object' && typeof signature === 'string' && typeof parameters.keySignature === 'string';
    return isComplete && (derivedKey === null || HEX.test(derivedKey)) ? { challenge, derivedKey } : null;
  } catch {
    return null;
  }
}
