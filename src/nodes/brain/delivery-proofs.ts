/**
 * Proofs that a node was given a delivery. The node gives them back with what it reports, so that a result counts when nothing else tells
 * any more who had the delivery: after its page has ended, or in a backup that was made before the page was given.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { deriveKey, rootSecrets } from '../../delivery/links/secrets.ts';

/** 96 bits, 16 characters of base64url. */
const PROOF_BYTES = 12;

export class DeliveryProofs {
  readonly #keys: readonly string[];

  constructor(client: Database) {
    this.#keys = rootSecrets(client).map((root) => deriveKey(root, 'deliveries of nodes'));
  }

  /** The proof that the node with this name was given a delivery. */
  make(node: string, delivery: number): string {
    return proof(this.#keys[0] ?? '', node, delivery);
  }

  /** Whether it is the proof for this node and this delivery. */
  isRight(node: string, delivery: number, given: string): boolean {
    const bytes = Buffer.from(given);
    return this.#keys.some((key) => {
      const expected = Buffer.from(proof(key, node, delivery));
      return bytes.length === expected.length && timingSafeEqual(bytes, expected);
    });
  }
}

/** The name of a node contains no space. */
function proof(key: string, node: string, delivery: number): string {
  return createHmac('sha256', key).update(`${node} ${delivery}`).digest().toString('base64url', 0, PROOF_BYTES);
}
