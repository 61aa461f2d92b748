/**
 * Addresses in the links of mails that sender nodes send, encrypted, so that a node without a database can show a person whose choice
 * it is about to keep. The signature of the token covers the address, so encryption alone is enough here.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';

interface SealedFor {
  delivery: number;
  address: number;
}

const CIPHER = 'aes-256-ctr';
const ID_BYTES = 6;

/** Encrypts and decrypts with a key derived from one of the installation's secrets. */
export function sealing(secret: string) {
  const key = createHmac('sha256', secret).update('sealed address').digest();
  return {
    /** The address in base64url. */
    seal({ email, ...ids }: SealedFor & { email: string }): string {
      return createCipheriv(CIPHER, key, counterFor(ids)).update(email, 'utf8').toString('base64url');
    },
    /** What was sealed for these ids; any text when it was sealed with another secret. */
    open(ids: SealedFor, sealed: string): string {
      return createDecipheriv(CIPHER, key, counterFor(ids)).update(sealed, 'base64url').toString();
    },
  };
}

/** The first counter block: a delivery goes to one address, and ids are never used again, so no two addresses share it. */
function counterFor({ delivery, address }: SealedFor): Buffer {
  const block = Buffer.alloc(16);
  block.writeUIntBE(delivery % 2 ** 48, 0, ID_BYTES);
  block.writeUIntBE(address % 2 ** 48, ID_BYTES, ID_BYTES);
  return block;
}
