/**
 * Addresses in the links of mails that sender nodes send, encrypted, so that a node without a database can show a person whose choice
 * it is about to keep. The signature of the token covers the address, so encryption alone is enough here.
 */
import { createCipheriv, createHmac } from 'node:crypto';

interface SealedFor {
  delivery: number;
  address: number;
}

const BLOCK_BYTES = 16;
const ID_BYTES = 6;
/** Addresses have at most 254 characters; some more may be sealed with several bytes each. */
const SHORT_BYTES = 1024;

/** Encrypts and decrypts with a key derived from one of the installation's secrets. */
export function sealing(secret: string) {
  const key = createHmac('sha256', secret).update('sealed address').digest();
  // AES in counter mode encrypts a counter for each block and adds the result to the text. One cipher encrypts the counters of every
  // address, since making a cipher for each costs several times as much as using it.
  const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  const shared = Buffer.alloc(SHORT_BYTES);

  /** Adds the key stream of these ids to the text, in place. */
  function addStream({ delivery, address }: SealedFor, text: Buffer): Buffer {
    const length = Math.ceil(text.length / BLOCK_BYTES) * BLOCK_BYTES;
    const counters = length <= SHORT_BYTES ? shared.subarray(0, length) : Buffer.alloc(length);
    for (let at = 0; at < length; at += BLOCK_BYTES) {
      // A delivery goes to one address, and ids are never used again, so no two addresses share a counter.
      counters.writeUIntBE(delivery % 2 ** 48, at, ID_BYTES);
      counters.writeUIntBE(address % 2 ** 48, at + ID_BYTES, ID_BYTES);
      counters.writeUInt32BE(at / BLOCK_BYTES, at + 2 * ID_BYTES);
    }
    const stream = cipher.update(counters);
    for (let at = 0; at < text.length; at++) text[at] = (text[at] ?? 0) ^ (stream[at] ?? 0);
    return text;
  }

  return {
    /** The address in base64url. */
    seal({ email, ...ids }: SealedFor & { email: string }): string {
      return addStream(ids, Buffer.from(email)).toString('base64url');
    },
    /** What was sealed for these ids; any text when it was sealed with another secret. */
    open(ids: SealedFor, sealed: string): string {
      return addStream(ids, Buffer.from(sealed, 'base64url')).toString();
    },
  };
}
