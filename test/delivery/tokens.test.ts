/** The signed texts in links: one spelling each, one purpose each. */
import fc from 'fast-check';
import t from 'tap';
import { createTokens, type Purpose } from '../../src/delivery/tokens.ts';

const PURPOSES: readonly Purpose[] = ['open', 'click', 'unsubscribe', 'web'];
const tokens = createTokens(['the newest secret', 'an older secret']);
const ids = fc.record({
  delivery: fc.nat(),
  mailing: fc.nat(),
  address: fc.nat(),
  group: fc.nat(),
  user: fc.nat(),
});
/** As long as three remainders of three: base64url then leaves no, four and two bits unused. */
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });

/** The token with each single bit of its characters flipped, and in the other spellings a lenient reader takes for the same. */
function alterations(token: string): string[] {
  const flipped = [...token].flatMap((character, at) =>
    Array.from({ length: 8 }, (_, bit) => {
      const other = String.fromCharCode(character.charCodeAt(0) ^ (1 << bit));
      return token.slice(0, at) + other + token.slice(at + 1);
    }),
  );
  const [body = '', mac = ''] = token.split('.');
  const standard = token.replaceAll('-', '+').replaceAll('_', '/');
  const respelled = [
    `${body}=.${mac}`,
    `${body}.${mac}==`,
    ` ${token}`,
    `${token}\n`,
    `${body}.${mac}.x`,
    `${body}A.${mac}`,
  ];
  return [...flipped, ...respelled, ...(standard === token ? [] : [standard])];
}

t.test(
  'a token with one bit changed anywhere is refused, unused bits of its encoding included (trust 21)',
  async () => {
    fc.assert(
      fc.property(text, (given) => {
        const token = tokens.sign('design', given);
        return (
          tokens.read('design', token) === given &&
          alterations(token).every((altered) => tokens.read('design', altered) === null)
        );
      }),
      { numRuns: 60 },
    );
    fc.assert(
      fc.property(ids, fc.constantFrom(...PURPOSES), (given, purpose) => {
        const token = tokens.recipient(given)[purpose];
        return alterations(token).every((altered) => tokens.readRecipient(purpose, altered) === null);
      }),
      { numRuns: 60 },
    );
  },
);

t.test(
  'every character but the last of each part can end in unused bits; all 64 last ones are tried (trust 21)',
  async (t) => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (const given of ['a', 'ab', 'abc']) {
      const [body = '', mac = ''] = tokens.sign('verify-sender', given).split('.');
      const read = [...alphabet].flatMap((last) => [
        tokens.read('verify-sender', `${body.slice(0, -1)}${last}.${mac}`),
        tokens.read('verify-sender', `${body}.${mac.slice(0, -1)}${last}`),
      ]);
      t.strictSame(
        read.filter((found) => found !== null),
        [given, given],
        'just the one spelling of each part',
      );
    }
  },
);

t.test(
  'a token of one purpose is none of another; an older secret still reads, a foreign one does not (trust 21)',
  async () => {
    const older = createTokens(['an older secret']);
    const foreign = createTokens(['somebody else’s secret']);
    fc.assert(
      fc.property(ids, text, (given, said) => {
        const own = tokens.recipient(given);
        const crossed = PURPOSES.flatMap((of) =>
          PURPOSES.filter((as) => as !== of).map((as) => tokens.readRecipient(as, own[of])),
        );
        return (
          crossed.every((found) => found === null) &&
          tokens.read('design', tokens.sign('verify-sender', said)) === null &&
          tokens.read('design', own.web) === null &&
          tokens.readRecipient('unsubscribe', older.recipient(given).unsubscribe)?.address === given.address &&
          tokens.read('design', older.sign('design', said)) === said &&
          tokens.readRecipient('unsubscribe', foreign.recipient(given).unsubscribe) === null &&
          tokens.read('design', foreign.sign('design', said)) === null
        );
      }),
    );
  },
);
