/**
 * Results for deliveries that are no longer on any of the node's pages: an acceptance counts if the node proves that it was given the
 * delivery.
 */

import type { Database } from 'better-sqlite3';
import type { Claim } from '../../delivery/queue/candidates.ts';
import type { NodePages } from '../../delivery/queue/ledger/node-pages.ts';
import { addRefusedMessages } from '../../delivery/reporting/refused-messages.ts';
import type { Said } from '../../errors/sentences.ts';
import { type Ended, nodeOf, outcomeOf, proofOf } from '../protocol.ts';
import type { Refusals } from '../refusals.ts';
import { DeliveryProofs } from './delivery-proofs.ts';

/** How many deliveries the log lists at most of those that a node reported without having had them. */
const MAX_LOGGED = 10;

export class LateResults {
  readonly #client: Database;
  readonly #stored: NodePages;
  readonly #refusals: Refusals;
  readonly #proofs: DeliveryProofs;
  /** The replies of accepted deliveries, by delivery id. */
  readonly #accepted = new Map<number, Said>();

  constructor(client: Database, stored: NodePages, refusals: Refusals) {
    this.#client = client;
    this.#stored = stored;
    this.#refusals = refusals;
    this.#proofs = new DeliveryProofs(client);
  }

  /** The number of results that the next `record` has to write. */
  get size(): number {
    return this.#accepted.size;
  }

  /** The proofs sent with a page to a run of a node, in the order of the rows. */
  proofsOf(run: string, claims: readonly Claim[]): string[] {
    const name = nodeOf(run);
    return claims.map(({ id }) => this.#proofs.make(name, id));
  }

  /**
   * Takes the results that the node with this name reported at this stream position. Returns the ids of accepted deliveries; other results
   * are rejected.
   */
  take(name: string, sequence: number, results: readonly Ended[]): ReadonlySet<number> {
    const late = new Set<number>();
    const refused: number[] = [];
    for (const result of results) {
      const [id] = result;
      const outcome = outcomeOf(result);
      if (!this.#proofs.isRight(name, id, proofOf(result))) refused.push(id);
      else if (outcome !== 'withdrawn' && outcome.kind === 'accepted') {
        this.#accepted.set(id, outcome.reply);
        late.add(id);
      }
    }
    const fields = { node: name, sequence, deliveries: refused.slice(0, MAX_LOGGED) };
    if (refused.length > 0) this.#refusals.add('result', fields, refused.length);
    return late;
  }

  /** Writes the accepted deliveries. Returns the ids of those whose state changed. Call `recorded` after the transaction has committed. */
  record(now: number): number[] {
    const late = [...this.#accepted].map(([id, reply]) => ({ id, reply }));
    return this.#stored.acceptLate(late, now, (id, error) => {
      addRefusedMessages(this.#client, 'result', 1);
      this.#refusals.log('result', { deliveries: [id], err: String(error) });
    });
  }

  /** Forgets the results that the last `record` wrote. */
  recorded(): void {
    this.#accepted.clear();
  }
}
