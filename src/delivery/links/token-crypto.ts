/** The cryptography of tokens: a fast HMAC-SHA512 of short texts, and the encryption of addresses. */
import { createCipheriv, createHmac, hash } from 'node:crypto';

/** Computes the HMAC-SHA512 of a text with a certain key. The next call overwrites the result. */
export type Hmac = (text: string) => Buffer;

/** The size of the blocks in which SHA-512 reads its input, in bytes. A key fills one block (RFC 2104 2). */
const HASH_BLOCK = 128;
const HASH_BYTES = 64;
/** The length up to which a text is hashed in a reused buffer, in bytes. The texts of our tokens are shorter. */
const SHORT_TEXT = 1024;
/** The largest number of bytes that a UTF-16 code unit takes in UTF-8. */
const MAX_UNIT_BYTES = 3;

/**
 * Returns a function that computes the HMAC-SHA512 (RFC 2104) of texts with this key. Two hashes of reused buffers take half the time of
 * Node's HMAC, which creates several objects for each text.
 */
export function hmacSha512(secret: string): Hmac {
  const key = Buffer.from(secret);
  const block = Buffer.alloc(HASH_BLOCK);
  block.set(key.length > HASH_BLOCK ? hash('sha512', key, 'buffer') : key);
  const inner = Buffer.alloc(
    HASH_BLOCK + SHORT_TEXT,
    block.map((byte) => byte ^ 0x36),
  );
  const outer = Buffer.alloc(
    HASH_BLOCK + HASH_BYTES,
    block.map((byte) => byte ^ 0x5c),
  );
  const mac = Buffer.alloc(HASH_BYTES);
  return (text) => {
    const isShort = text.length * MAX_UNIT_BYTES <= SHORT_TEXT;
    const input = isShort
      ? inner.subarray(0, HASH_BLOCK + inner.write(text, HASH_BLOCK))
      : Buffer.concat([inner.subarray(0, HASH_BLOCK), Buffer.from(text)]);
    // A text is the cheapest form in which `hash` returns a result.
    outer.write(hash('sha512', input, 'binary'), HASH_BLOCK, 'latin1');
    mac.write(hash('sha512', outer, 'binary'), 'latin1');
    return mac;
  };
}

interface CipherIds {
  delivery: number;
  address: number;
}

const BLOCK_BYTES = 16;
const ID_BYTES = 6;
const ID_RANGE = 2 ** (8 * ID_BYTES);
/** The size of the shared buffer in bytes. Addresses have at most 254 characters, a few of which may take several bytes each. */
const SHORT_BYTES = 1024;

/** Encrypts and decrypts addresses with a key derived from one of the installation's secrets. */
export function addressCipher(secret: string) {
  const key = createHmac('sha256', secret).update('sealed address').digest();
  // AES in counter mode encrypts a counter for each block and XORs the text with the result. One cipher encrypts the counters of all
  // addresses, because creating a cipher for each address costs several times as much as using it.
  const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  const shared = Buffer.alloc(SHORT_BYTES);

  /** XORs the text with the key stream for these ids, in place. */
  function applyKeyStream({ delivery, address }: CipherIds, text: Buffer): Buffer {
    const length = Math.ceil(text.length / BLOCK_BYTES) * BLOCK_BYTES;
    const counters = length <= SHORT_BYTES ? shared.subarray(0, length) : Buffer.alloc(length);
    for (let at = 0; at < length; at += BLOCK_BYTES) {
      // A delivery goes to one address, and ids are never used again, so no two addresses share a counter.
      counters.writeUIntBE(delivery % ID_RANGE, at, ID_BYTES);
      counters.writeUIntBE(address % ID_RANGE, at + ID_BYTES, ID_BYTES);
      counters.writeUInt32BE(at / BLOCK_BYTES, at + 2 * ID_BYTES);
    }
    const stream = cipher.update(counters);
    for (let at = 0; at < text.length; at++) text[at] = (text[at] ?? 0) ^ (stream[at] ?? 0);
    return text;
  }

  return {
    /** Returns the encrypted address in base64url. */
    seal({ email, ...ids }: CipherIds & { email: string }): string {
      return applyKeyStream(ids, Buffer.from(email)).toString('base64url');
    },
    /** Decrypts an address that was encrypted for these ids; returns arbitrary text if another secret was used. */
    open(ids: CipherIds, sealed: string): string {
      return applyKeyStream(ids, Buffer.from(sealed, 'base64url')).toString();
    },
  };
}
