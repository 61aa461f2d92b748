/**
 * Proofs that a node was given a delivery. The node returns the proof with its result. So a result counts even if no record shows which node
 * had the delivery: after the page has ended, or in a backup made before the page was given.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { deriveKey, rootSecrets } from '../../delivery/links/secrets.ts';

/** The length of a proof: 96 bits, which are 16 characters of base64url. */
const PROOF_BYTES = 12;

/** Makes and checks proofs. */
export class DeliveryProofs {
  readonly #keys: readonly string[];

  constructor(client: Database) {
    this.#keys = rootSecrets(client).map((root) => deriveKey(root, 'deliveries of nodes'));
  }

  /** The proof that the node with this name was given a delivery. */
  make(node: string, deliveryId: number): string {
    return proof(this.#keys[0] ?? '', node, deliveryId);
  }

  /** Returns true if `received` is the proof for this node and this delivery. */
  isRight(node: string, deliveryId: number, received: string): boolean {
    const bytes = Buffer.from(received);
    return this.#keys.some((key) => {
      const expected = Buffer.from(proof(key, node, deliveryId));
      return bytes.length === expected.length && timingSafeEqual(bytes, expected);
    });
  }
}

/** Makes a proof. A space separates the name and the id, because names of nodes contain no space. */
function proof(key: string, node: string, deliveryId: number): string {
  return createHmac('sha256', key).update(`${node} ${deliveryId}`).digest().toString('base64url', 0, PROOF_BYTES);
}
