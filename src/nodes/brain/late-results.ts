/** What nodes report of deliveries that are on no page of theirs any more: an acceptance counts if the node proves that it had the delivery. */
import type { Database } from 'better-sqlite3';
import type { Claim } from '../../delivery/queue/candidates.ts';
import type { NodePages } from '../../delivery/queue/ledger/node-pages.ts';
import { addRefusedMessages } from '../../delivery/reporting/refused-messages.ts';
import { type Ended, nodeOf, outcomeOf } from '../protocol.ts';
import type { Refusals } from '../refusals.ts';
import { DeliveryProofs } from './delivery-proofs.ts';

/** Of the deliveries that a node reported and never had, the log names so many. */
const MAX_LOGGED = 10;

export class LateResults {
  readonly #client: Database;
  readonly #stored: NodePages;
  readonly #refusals: Refusals;
  readonly #proofs: DeliveryProofs;
  /** The reply by delivery. */
  readonly #accepted = new Map<number, string>();

  constructor(client: Database, stored: NodePages, refusals: Refusals) {
    this.#client = client;
    this.#stored = stored;
    this.#refusals = refusals;
    this.#proofs = new DeliveryProofs(client);
  }

  /** How many the next `record` has to write. */
  get size(): number {
    return this.#accepted.size;
  }

  /** The proofs that come with a page for a run of a node, by row. */
  proofsOf(run: string, claims: readonly Claim[]): string[] {
    const name = nodeOf(run);
    return claims.map(({ id }) => this.#proofs.make(name, id));
  }

  /** Takes what a node with this name reported at this place; gives the deliveries that are accepted. The rest is refused. */
  take(name: string, sequence: number, results: readonly Ended[]): ReadonlySet<number> {
    const late = new Set<number>();
    const refused: number[] = [];
    for (const one of results) {
      const [id, , , , , , proof = ''] = one;
      const outcome = outcomeOf(one);
      if (!this.#proofs.isRight(name, id, proof)) refused.push(id);
      else if (outcome !== 'withdrawn' && outcome.kind === 'accepted') {
        this.#accepted.set(id, outcome.reply);
        late.add(id);
      }
    }
    const fields = { node: name, sequence, deliveries: refused.slice(0, MAX_LOGGED) };
    if (refused.length > 0) this.#refusals.add('result', fields, refused.length);
    return late;
  }

  /** Writes them; gives the deliveries whose state it changed. Call `recorded` once that is committed. */
  record(now: number): number[] {
    const late = [...this.#accepted].map(([id, reply]) => ({ id, reply }));
    return this.#stored.acceptLate(late, now, (id, error) => {
      addRefusedMessages(this.#client, 'result', 1);
      this.#refusals.say('result', { deliveries: [id], err: String(error) });
    });
  }

  recorded(): void {
    this.#accepted.clear();
  }
}
