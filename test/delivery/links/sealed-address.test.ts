/** Addresses that links carry encrypted. */
import { createCipheriv, createHmac } from 'node:crypto';
import t from 'tap';
import { addressCipher } from '../../../src/delivery/links/token-crypto.ts';

t.test('an address is sealed by AES in counter mode, and opened whatever its length', async (t) => {
  const { seal, open } = addressCipher('a secret');
  const key = createHmac('sha256', 'a secret').update('sealed address').digest();
  for (const length of [0, 1, 15, 16, 17, 254, 1500]) {
    const email = 'zoë@example.org'.repeat(110).slice(0, length);
    const ids = { delivery: 2 ** 40 + length, address: 77 };
    const counter = Buffer.alloc(16);
    counter.writeUIntBE(ids.delivery, 0, 6);
    counter.writeUIntBE(ids.address, 6, 6);
    const expected = createCipheriv('aes-256-ctr', key, counter).update(email, 'utf8').toString('base64url');
    t.equal(seal({ ...ids, email }), expected);
    t.equal(open(ids, expected), email);
    t.equal(addressCipher('another').open(ids, expected) === email, length === 0);
  }
});
