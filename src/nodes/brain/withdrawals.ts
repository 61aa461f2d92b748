/** What nodes are told not to begin any more, until they have confirmed it or cannot begin anything. */
import type { Claim } from '../../delivery/queue/candidates.ts';
import type { OpenMailing } from '../../delivery/queue/mailing-state.ts';
import type { Withdrawal } from '../protocol.ts';
import type { Fleet, FleetNode } from './fleet.ts';

/** A page that a node has, with the recipients it has not reported. */
export interface HeldPage {
  id: number;
  run: string;
  mailing: OpenMailing;
  claims: Map<number, Claim>;
  /** Whether the node has confirmed that it begins none of it any more. */
  isWithdrawn: boolean;
}

interface WithdrawalsDeps {
  /** Tells a node at once, and `onDone` the numbers when it has confirmed them. */
  send(run: string, withdrawals: Withdrawal[], onDone: (numbers: number[]) => void): void;
  /** Called when a node has confirmed something. */
  onConfirmed(): void;
}

export class Withdrawals {
  readonly #pages: ReadonlyMap<number, HeldPage>;
  readonly #fleet: Fleet;
  readonly #deps: WithdrawalsDeps;
  #number = 0;

  constructor(pages: ReadonlyMap<number, HeldPage>, fleet: Fleet, deps: WithdrawalsDeps) {
    this.#pages = pages;
    this.#fleet = fleet;
    this.#deps = deps;
  }

  /** Notes that a node has carried out withdrawals. */
  confirm(run: string, numbers: readonly number[]): void {
    const node = this.#fleet.find(run);
    if (node === undefined || numbers.length === 0) return;
    for (const withdrawal of node.withdrawals) {
      const { number, mailing, upTo } = withdrawal;
      if (!numbers.includes(number) || !isWhole(withdrawal)) continue;
      for (const page of this.#pages.values()) {
        if (page.run !== run || page.id > upTo) continue;
        if (mailing === undefined || page.mailing.id === mailing) page.isWithdrawn = true;
      }
    }
    node.withdrawals = node.withdrawals.filter(({ number }) => !numbers.includes(number));
    this.#deps.onConfirmed();
  }

  /** Has nodes begin no mail to some recipients, as far as they have not; whether they may get it is decided at the next claim. */
  withdrawDeliveries(isMeant: (claim: Claim) => boolean): void {
    const theirs = new Map<string, { deliveries: number[]; upTo: number }>();
    for (const { id, run, claims } of this.#pages.values()) {
      for (const claim of claims.values()) {
        if (!isMeant(claim)) continue;
        const one = theirs.get(run) ?? { deliveries: [], upTo: 0 };
        one.deliveries.push(claim.id);
        one.upTo = Math.max(one.upTo, id);
        theirs.set(run, one);
      }
    }
    for (const [run, what] of theirs) {
      const node = this.#fleet.find(run);
      if (node !== undefined) this.#tell(node, what);
    }
  }

  /** Has nodes begin no more of a mailing, or of any; true once none of them can. */
  withdraw(mailing?: number): boolean {
    const open = [...this.#pages.values()].filter(
      (page) => !page.isWithdrawn && (mailing === undefined || page.mailing.id === mailing),
    );
    const newest = new Map<string, number>();
    for (const { run, id } of open) newest.set(run, Math.max(id, newest.get(run) ?? 0));
    let isDone = true;
    for (const [run, upTo] of newest) {
      const node = this.#fleet.find(run);
      if (node === undefined) continue;
      const isTold = node.withdrawals.some((one) => isWhole(one) && one.mailing === mailing && one.upTo >= upTo);
      if (!isTold) this.#tell(node, mailing === undefined ? { upTo } : { upTo, mailing });
      if (this.#fleet.mayBegin(node)) isDone = false;
    }
    return isDone;
  }

  /** Adds a withdrawal that the node gets with its next sign of life. */
  add(node: FleetNode, what: Omit<Withdrawal, 'number'>): void {
    node.withdrawals.push({ number: ++this.#number, ...what });
  }

  #tell(node: FleetNode, what: Omit<Withdrawal, 'number'>): void {
    this.add(node, what);
    this.#deps.send(node.run, node.withdrawals, (numbers) => this.confirm(node.run, numbers));
  }
}

/** Whether a withdrawal is of whole mailings, not of one page or of some recipients. */
function isWhole({ page, deliveries }: Withdrawal): boolean {
  return page === undefined && deliveries === undefined;
}
