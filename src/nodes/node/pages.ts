/** The pages of this node, and which of their mails may start: those that are not withdrawn, and only while the node has a lease. */

import type { Claim } from '../../delivery/queue/candidates.ts';
import type { OpenMailing } from '../../delivery/queue/mailing-state.ts';
import type { ReadyMailing } from '../../delivery/queue/ready-mailing.ts';
import { CourierHandoffs } from '../../delivery/sending/courier-handoffs.ts';
import { OutgoingMessage } from '../../delivery/sending/sent-mails.ts';
import type { Courier, Outcome } from '../../delivery/transport/courier.ts';
import type { Log } from '../../log.ts';
import { systemClock } from '../../time/clock.ts';
import { type Ended, endedAs, type Page, type SentMessage, type Withdrawal } from '../protocol.ts';

/** How many page ids, and how many withdrawals, are remembered. A page that is sent twice is taken once. */
const MAX_REMEMBERED = 10_000;
/** Stands for all mailings in place of a mailing id. */
const ALL_MAILINGS = 0;

interface HeldPage {
  id: number;
  mailing: OpenMailing;
  ready: ReadyMailing | null;
  /** Claims whose sending has not started. */
  waiting: Claim[];
  /** Ids of deliveries not reported yet. */
  open: Set<number>;
  /** The proofs that this node was given a delivery, by delivery id. */
  proofs: Map<number, string>;
  isWithdrawn: boolean;
  /** True if the reports of this page say what was sent, because the account keeps sent mails. */
  isKept: boolean;
}

export interface HeldPagesDeps {
  courier: Courier;
  findContent(name: string): Promise<ReadyMailing | null>;
  /** Returns true if the lease of the node lasts, so that no other node has its mails. */
  hasLease(): boolean;
  /** Returns true if mails may start now. */
  mayBegin(): boolean;
  /** Called with the outcome for a recipient of a page whose mail goes over this SMTP relay. */
  onEnded(pageId: number, relayId: number | null, ended: Ended, outcome: Outcome | 'withdrawn'): void;
  log: Log;
}

export class HeldPages {
  readonly #deps: HeldPagesDeps;
  readonly #handoffs: CourierHandoffs;
  readonly #pages = new Map<number, HeldPage>();
  readonly #pageOf = new WeakMap<Claim, HeldPage>();
  /** The ids of pages that were taken. */
  readonly #taken = new Set<number>();
  /** The newest withdrawn page, by mailing id. All earlier pages of the mailing are withdrawn, too. */
  readonly #withdrawn = new Map<number, number>();
  /** The newest page from which a delivery was withdrawn, by delivery id. It is withdrawn from all earlier pages, too. */
  readonly #withdrawnDeliveries = new Map<number, number>();
  #isPumping = false;

  constructor(deps: HeldPagesDeps) {
    this.#deps = deps;
    this.#handoffs = new CourierHandoffs({
      courier: deps.courier,
      clock: systemClock,
      sent: null,
      mayLeave: (claim, hasEnvelope) => (hasEnvelope ? deps.hasLease() : deps.mayBegin()) && this.#mayLeave(claim),
      onOutcome: (_mailing, claim, outcome, sent) => this.#end(claim, outcome, sent),
      log: deps.log,
    });
  }

  /** The deliveries not reported yet, by page. */
  get open(): [page: number, number[]][] {
    return [...this.#pages].map(([id, { open }]) => [id, [...open]]);
  }

  /** Takes a page, unless it was taken before. */
  take(page: Page): void {
    if (this.#taken.has(page.id)) return;
    this.#taken.add(page.id);
    for (const oldest of this.#taken) {
      if (this.#taken.size <= MAX_REMEMBERED) break;
      this.#taken.delete(oldest);
    }
    const { id, fields, rows, proofs = [], isKept = false } = page;
    const mailing: OpenMailing = { ...page.mailing, is_canary: 0, is_due: 1 };
    const held: HeldPage = {
      id,
      mailing,
      ready: null,
      waiting: [],
      open: new Set(),
      proofs: new Map(),
      isWithdrawn: this.#isWithdrawn(page),
      isKept,
    };
    for (const [at, [delivery, address_id, normalized_email, ...values]] of rows.entries()) {
      const proof = proofs[at];
      if (proof !== undefined) held.proofs.set(delivery, proof);
      const claim: Claim & Record<string, string | number | null> = {
        id: delivery,
        mailing_id: mailing.id,
        address_id,
        attempt: 0,
        first_tried_at: 0,
        normalized_email,
        contact_id: null,
        is_unmeasured: 0,
      };
      // The fields are set one by one, always in the same order. Such objects are read several times as fast as objects built from a list of
      // pairs.
      for (let field = 0; field < fields.length; field++) claim[fields[field] ?? ''] = values[field] ?? null;
      held.waiting.push(claim);
      held.open.add(delivery);
      this.#pageOf.set(claim, held);
    }
    this.#pages.set(id, held);
    void this.#deps.findContent(page.content).then((ready) => {
      held.ready = ready;
      if (ready === null || held.isWithdrawn) this.#withdrawPage(held);
      else this.pump();
    });
  }

  /**
   * Carries out withdrawals of pages, mailings or deliveries: no text of their mails is written any more. Mails not started are reported at
   * once.
   */
  withdraw(withdrawals: readonly Withdrawal[]): void {
    for (const { mailing, upTo, page: id, deliveries } of withdrawals) {
      const ids = deliveries ?? [];
      for (const delivery of ids) remember(this.#withdrawnDeliveries, delivery, upTo);
      if (id === undefined && deliveries === undefined) remember(this.#withdrawn, mailing ?? ALL_MAILINGS, upTo);
      for (const page of [...this.#pages.values()]) {
        if (page.id > upTo || (id !== undefined && page.id !== id)) continue;
        if (mailing !== undefined && page.mailing.id !== mailing) continue;
        if (deliveries === undefined) this.#withdrawPage(page);
        else this.#endWaiting(page, (claim) => ids.includes(claim.id));
      }
    }
  }

  /** Withdraws all pages, or those whose SMTP relay matches. */
  withdrawAll(isOfRelay: (relayId: number | null) => boolean = () => true): void {
    for (const page of [...this.#pages.values()]) if (isOfRelay(page.mailing.relay_id)) this.#withdrawPage(page);
  }

  /** Starts as many mails as the courier takes now, at most once per turn of the event loop. */
  pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      if (this.#deps.mayBegin()) this.#startAll();
    });
  }

  /** Gives mails whose text is being written `graceMs` milliseconds to finish. */
  close(graceMs: number): Promise<void> {
    return this.#handoffs.close(graceMs);
  }

  #startAll(): void {
    const rooms = new Map<number | null, number>();
    for (const { mailing, ready, waiting, isKept } of this.#pages.values()) {
      if (ready === null || waiting.length === 0) continue;
      const room = rooms.get(mailing.relay_id) ?? this.#handoffs.room(mailing.relay_id);
      const claims = waiting.splice(0, Math.max(0, room));
      rooms.set(mailing.relay_id, room - claims.length);
      for (const claim of claims) this.#handoffs.startOne(mailing, ready, claim, isKept ? new OutgoingMessage() : null);
    }
  }

  #isWithdrawn({ id, mailing }: Page): boolean {
    return id <= Math.max(this.#withdrawn.get(mailing.id) ?? 0, this.#withdrawn.get(ALL_MAILINGS) ?? 0);
  }

  #mayLeave(claim: Claim): boolean {
    const page = this.#pageOf.get(claim);
    return page !== undefined && !page.isWithdrawn && page.id > (this.#withdrawnDeliveries.get(claim.id) ?? 0);
  }

  #withdrawPage(page: HeldPage): void {
    page.isWithdrawn = true;
    this.#endWaiting(page, () => true);
  }

  #endWaiting(page: HeldPage, isEnding: (claim: Claim) => boolean): void {
    const ending = page.waiting.filter(isEnding);
    page.waiting = page.waiting.filter((claim) => !isEnding(claim));
    for (const claim of ending) this.#end(claim, 'withdrawn');
  }

  #end(claim: Claim, outcome: Outcome | 'withdrawn', sent: SentMessage | null = null): void {
    const page = this.#pageOf.get(claim);
    if (page === undefined) return;
    page.open.delete(claim.id);
    if (page.open.size === 0) this.#pages.delete(page.id);
    const ended = endedAs(claim.id, outcome, page.proofs.get(claim.id), sent);
    this.#deps.onEnded(page.id, page.mailing.relay_id, ended, outcome);
    this.pump();
  }
}

/** Stores a number for a key unless a larger one is stored. Drops the keys that were not stored for the longest time. */
function remember(numbers: Map<number, number>, key: number, number: number): void {
  const largest = Math.max(number, numbers.get(key) ?? 0);
  numbers.delete(key);
  numbers.set(key, largest);
  for (const oldest of numbers.keys()) {
    if (numbers.size <= MAX_REMEMBERED) break;
    numbers.delete(oldest);
  }
}
