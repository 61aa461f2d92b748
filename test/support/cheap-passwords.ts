/**
 * Hashing of passwords at a fraction of its cost, for tests that are not about it: a hash of the product takes a third of a second of CPU
 * time, by intention. `test/users/passwords.test.ts` has the real cost.
 */
import crypto, { type ScryptOptions, scrypt } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Test } from 'tap';

type Done = Parameters<typeof scrypt>[4];

const N = 16;
/** What a test stores with a weaker hash than this is computed as it says. */
const COSTLY = 2 ** 14;
const real = scrypt;
let users = 0;

/** Has everything in this process hash passwords cheaply until the test has ended. What is stored tells the real parameters. */
export function hashCheaply(t: Pick<Test, 'teardown'>): void {
  if (users++ === 0) install(cheap);
  t.teardown(() => {
    if (--users === 0) install(real);
  });
}

/** The text that is stored for a password that is hashed cheaply. */
export function cheapHash(password: string): string {
  const salt = crypto.randomBytes(16);
  const hash = crypto.scryptSync(password, salt, 32, { N, r: 8, p: 1 });
  return ['scrypt', 17, 8, 1, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

function cheap(password: string, salt: Buffer, bytes: number, options: ScryptOptions, done: Done): void {
  real(password, salt, bytes, (options.N ?? N) < COSTLY ? options : { ...options, N }, done);
}

function install(one: typeof real | typeof cheap): void {
  Object.assign(crypto, { scrypt: one });
  // So that those who import the function by its name get this one.
  syncBuiltinESMExports();
}
