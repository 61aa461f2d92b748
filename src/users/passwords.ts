/** Hashes passwords with scrypt (RFC 7914). The parameters are stored with each hash, so that they can be raised later. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { Failure } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import { MEBIBYTE } from '../units.ts';

interface Cost {
  /** Base-2 logarithm of N. */
  logN: number;
  r: number;
  p: number;
}

/** OWASP's recommendation for scrypt. Each hash takes 128 MiB and about a third of a second. */
const COST: Cost = { logN: 17, r: 8, p: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** The maximum number of concurrent hashes, because each takes 128 MiB. */
const MAX_AT_ONCE = 2;
/** The maximum number of hashes that wait when a stranger's is added; twice as many may wait when a known user's is added. */
const MAX_WAITING = 20;

/** The place at which a hash joins the queue: `first` is for known users, who must not wait behind strangers. */
export type Turn = 'first' | 'last';

const waiting: (() => void)[] = [];
let running = 0;

/** Returns the text to store for a password. Throws 503 if too many hashes wait. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await inTurn('first', () => derive(password, salt, COST));
  return ['scrypt', COST.logN, COST.r, COST.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/**
 * Returns true if a password matches the stored text of a user. If `stored` is null, because there is no such user or no password,
 * returns false after the same time, so that timing does not reveal this. Throws 503 if too many hashes wait.
 */
export async function verifyPassword(password: string, stored: string | null, turn: Turn): Promise<boolean> {
  const { cost, salt, hash } = stored === null ? NO_PASSWORD : parseStored(stored);
  const derived = await inTurn(turn, () => derive(password, salt, cost));
  return timingSafeEqual(derived, hash) && stored !== null;
}

/** Returns true if a stored text was made with weaker parameters than the present ones. */
export function isWeaklyHashed(stored: string): boolean {
  const { logN, r, p } = parseStored(stored).cost;
  return logN < COST.logN || r < COST.r || p < COST.p;
}

const NO_PASSWORD = { cost: COST, salt: Buffer.alloc(SALT_BYTES), hash: Buffer.alloc(HASH_BYTES) };

function parseStored(stored: string): typeof NO_PASSWORD {
  const [name, logN, r, p, salt = '', hash = ''] = stored.split('$');
  if (name !== 'scrypt') throw new Error('a stored password has an unknown form');
  return {
    cost: { logN: Number(logN), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  };
}

/** Returns the hash of a password. Computes it on one of Node's worker threads, so that this thread does not block. */
function derive(password: string, salt: Buffer, { logN, r, p }: Cost): Promise<Buffer> {
  const N = 2 ** logN;
  const options: ScryptOptions = { N, r, p, maxmem: 128 * N * r + MEBIBYTE };
  // The same password typed on different systems can be different sequences of code points (NIST SP 800-63B 5.1.1.2).
  const text = password.normalize('NFKC');
  return new Promise((resolve, reject) => {
    scrypt(text, salt, HASH_BYTES, options, (error, hash) => (error ? reject(error) : resolve(hash)));
  });
}

/** Runs `work` when a hash may start. Throws 503 if too many wait. */
async function inTurn<T>(turn: Turn, work: () => Promise<T>): Promise<T> {
  if (running < MAX_AT_ONCE) running++;
  else {
    if (waiting.length >= (turn === 'first' ? 2 * MAX_WAITING : MAX_WAITING))
      throw new Failure(503, sentence('too_many_sign_ins'));
    // A hash that ends starts the next one itself, so `running` stays the same.
    await new Promise<void>((resolve) => (turn === 'first' ? waiting.unshift(resolve) : waiting.push(resolve)));
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}
