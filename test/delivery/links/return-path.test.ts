/** Return paths: signed, case-insensitive, and for one address. */
import fc from 'fast-check';
import t from 'tap';
import { parseReturnPath } from '../../../src/delivery/links/return-paths.ts';
import { DOMAIN, KNOWN, pathOf, SECRET } from '../../support/mails/returned-mails.ts';

const deliveryIds = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

t.test('return path', (t) => {
  t.test('it works', async (t) => {
    const address = pathOf(101);
    t.match(address, /^bounce\+2t\.[a-z2-7]{16}@bounces\.letters\.example$/);
    t.equal(parseReturnPath([SECRET], KNOWN, address), 101);
  });

  t.test('one made for another address is invalid, even if its delivery id was assigned again', async (t) => {
    const address = pathOf(2000);
    t.equal(parseReturnPath([SECRET], KNOWN, address), 2000);
    t.equal(parseReturnPath([SECRET], { ...KNOWN, findEmail: () => 'bob@example.org' }, address), null);
    t.equal(
      parseReturnPath([SECRET], { ...KNOWN, findEmail: () => undefined }, address),
      null,
      'nor does one of nobody',
    );
  });

  t.test(
    'one of an earlier release, which does not sign the address, stays valid for the ids of its time',
    async (t) => {
      const address = 'bounce+2t.c33zje3pjm6gmtac@bounces.letters.example';
      t.equal(parseReturnPath([SECRET], KNOWN, address), 101);
      t.equal(parseReturnPath([SECRET], { ...KNOWN, unsignedUpTo: 100 }, address), null);
    },
  );

  t.test('it fits a local part of 64 characters and comes back in any case, by any base and domain', async () => {
    const bases = fc.constantFrom('bounce', 'b', 'mail.returns_to-us', 'a'.repeat(35));
    fc.assert(
      fc.property(deliveryIds, bases, fc.infiniteStream(fc.boolean()), (id, base, raised) => {
        const address = pathOf(id, base);
        const shuffled = Array.from(address, (char) => (raised.next().value ? char.toUpperCase() : char)).join('');
        return address.indexOf('@') <= 64 && parseReturnPath(['newer', SECRET], KNOWN, shuffled) === id;
      }),
    );
  });

  t.test('a forged one is invalid: one character changed, another id, another secret', async () => {
    const characters = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz234567+.@ \n');
    fc.assert(
      fc.property(deliveryIds, deliveryIds, fc.nat(), characters, (id, other, place, char) => {
        const address = pathOf(id);
        const local = address.slice(0, address.indexOf('@'));
        const at = 'bounce+'.length + (place % (local.length - 'bounce+'.length));
        const changed = `${local.slice(0, at)}${char}${local.slice(at + 1)}@${DOMAIN}`;
        const swapped = address.replace(`+${id.toString(36)}.`, `+${other.toString(36)}.`);
        return (
          (changed === address || parseReturnPath([SECRET], KNOWN, changed) === null) &&
          (id === other || parseReturnPath([SECRET], KNOWN, swapped) === null) &&
          parseReturnPath(['another secret'], KNOWN, address) === null &&
          parseReturnPath([], KNOWN, address) === null
        );
      }),
    );
  });

  t.test('any other text is invalid', async (t) => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => parseReturnPath([SECRET], KNOWN, text) === null));
    const address = pathOf(7);
    for (const text of [
      '',
      '@',
      address.replace('+', '+0'),
      `${address} `,
      `<${address}>`,
      'x'.repeat(1e6),
      '+'.repeat(1e6),
    ]) {
      t.equal(parseReturnPath([SECRET], KNOWN, text), null, text.slice(0, 60));
    }
  });

  t.test('a wrong id or base is a programming error', async (t) => {
    for (const id of [0, -1, 1.5, Number.NaN, 2 ** 53]) t.throws(() => pathOf(id), RangeError);
    for (const base of ['', 'Bounce', 'a b', 'a+b', 'a@b', 'a'.repeat(36)]) {
      t.throws(() => pathOf(1, base), RangeError, base);
    }
  });
  t.end();
});
