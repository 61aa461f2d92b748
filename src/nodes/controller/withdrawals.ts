/** Withdrawals: mails that nodes must not start. A withdrawal is kept until its node has confirmed it or can no longer start mails. */

import type { DkimKey } from '../../delivery/mime/dkim.ts';
import type { Claim } from '../../delivery/queue/candidates.ts';
import type { OpenMailing } from '../../delivery/queue/mailing-state.ts';
import type { CommonFacts } from '../../delivery/queue/mailings.ts';
import type { ReadyMailing } from '../../delivery/queue/ready-mailing.ts';
import type { Withdrawal } from '../protocol.ts';
import type { Fleet, FleetNode } from './fleet.ts';

/** A page that a node has, with the recipients not reported yet. */
export interface HeldPage {
  id: number;
  run: string;
  mailing: OpenMailing;
  claims: Map<number, Claim>;
  /** True if the node has confirmed that it starts no more mail of the page. */
  isWithdrawn: boolean;
  /** What is kept with the page's mails; null: the account keeps no sent mails, or the page is from before a restart. */
  kept: { ready: ReadyMailing; common: CommonFacts; key: DkimKey | null } | null;
}

interface WithdrawalsDeps {
  /** Sends withdrawals to a node at once; `onDone` gets their numbers when the node has confirmed them. */
  send(run: string, withdrawals: Withdrawal[], onDone: (numbers: number[]) => void): void;
  /** Called when a node has confirmed a withdrawal. */
  onConfirmed(): void;
}

/** Withdraws mails from nodes and records what nodes confirm. */
export class Withdrawals {
  readonly #pages: ReadonlyMap<number, HeldPage>;
  readonly #fleet: Fleet;
  readonly #deps: WithdrawalsDeps;
  /** The number of the last withdrawal. */
  #number = 0;

  constructor(pages: ReadonlyMap<number, HeldPage>, fleet: Fleet, deps: WithdrawalsDeps) {
    this.#pages = pages;
    this.#fleet = fleet;
    this.#deps = deps;
  }

  /** Records that a node has carried out withdrawals. */
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

  /**
   * Withdraws mails to the matching recipients that the nodes have not started. The next claim decides whether these recipients may get mail.
   */
  withdrawDeliveries(isMeant: (claim: Claim) => boolean): void {
    const byRun = new Map<string, { deliveries: number[]; upTo: number }>();
    for (const { id, run, claims } of this.#pages.values()) {
      for (const claim of claims.values()) {
        if (!isMeant(claim)) continue;
        const withdrawal = byRun.get(run) ?? { deliveries: [], upTo: 0 };
        withdrawal.deliveries.push(claim.id);
        withdrawal.upTo = Math.max(withdrawal.upTo, id);
        byRun.set(run, withdrawal);
      }
    }
    for (const [run, withdrawal] of byRun) {
      const node = this.#fleet.find(run);
      if (node !== undefined) this.#send(node, withdrawal);
    }
  }

  /** Withdraws a mailing, or all mailings, from every node. Returns true once no node can start any of these mails. */
  withdraw(mailingId?: number): boolean {
    const open = [...this.#pages.values()].filter(
      (page) => !page.isWithdrawn && (mailingId === undefined || page.mailing.id === mailingId),
    );
    const newest = new Map<string, number>();
    for (const { run, id } of open) newest.set(run, Math.max(id, newest.get(run) ?? 0));
    let isDone = true;
    for (const [run, upTo] of newest) {
      const node = this.#fleet.find(run);
      if (node === undefined) continue;
      const isAlreadySent = node.withdrawals.some(
        (withdrawal) => isWhole(withdrawal) && withdrawal.mailing === mailingId && withdrawal.upTo >= upTo,
      );
      if (!isAlreadySent) this.#send(node, mailingId === undefined ? { upTo } : { upTo, mailing: mailingId });
      if (this.#fleet.mayStart(node)) isDone = false;
    }
    return isDone;
  }

  /** Adds a withdrawal that the node gets with the reply to its next heartbeat. */
  add(node: FleetNode, withdrawal: Omit<Withdrawal, 'number'>): void {
    node.withdrawals.push({ number: ++this.#number, ...withdrawal });
  }

  #send(node: FleetNode, withdrawal: Omit<Withdrawal, 'number'>): void {
    this.add(node, withdrawal);
    this.#deps.send(node.run, node.withdrawals, (numbers) => this.confirm(node.run, numbers));
  }
}

/** Returns true if a withdrawal covers whole mailings rather than one page or some recipients. */
function isWhole({ page, deliveries }: Withdrawal): boolean {
  return page === undefined && deliveries === undefined;
}
