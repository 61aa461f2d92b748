/** Claims due recipients: divides the courier's free capacity among the mailings, and holds those that may not be sent. */

import { saidBy, sentence } from '../../errors/sentences.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../time/clock.ts';
import type { Claim } from '../queue/candidates.ts';
import type { Held } from '../queue/holds.ts';
import type { Ledger } from '../queue/ledger/ledger.ts';
import type { MailingStates, OpenMailing } from '../queue/mailing-state.ts';
import type { CommonFacts, Mailings, PreparedMailing } from '../queue/mailings.ts';
import type { ReadyMailing } from '../queue/ready-mailing.ts';
import type { WarmUps } from '../warm-up/warm-ups.ts';
import type { Rates } from './rates.ts';

const MAX_CLAIMS = 500;
/** The maximum number of ineligible recipients of a mailing that one transaction skips to find eligible ones. */
const MAX_INELIGIBLE = 500;

/** Claimed recipients of one mailing whose mails have the same form. */
export interface Batch {
  mailing: OpenMailing;
  ready: ReadyMailing;
  /** The data to keep with each sent mail; null if nothing is kept. */
  kept: CommonFacts | null;
  claims: Claim[];
}

export interface ClaimsDeps {
  ledger: Ledger;
  states: MailingStates;
  mailings: Mailings;
  rates: Rates;
  warmUps: WarmUps;
  clock: Clock;
  /** The clock by which waits are measured, in epoch milliseconds. */
  steady: () => number;
  log: Log;
}

export class Claims {
  readonly #deps: ClaimsDeps;
  /**
   * The number by which the order of the mailings is rotated. It grows with each round, so that a large mailing does not delay a small one.
   */
  #rotation = 0;
  #ineligible = 0;

  constructor(deps: ClaimsDeps) {
    this.#deps = deps;
  }

  /** The number of recipients that the last round moved to a final state or to another mailing without sending. */
  get ineligible(): number {
    return this.#ineligible;
  }

  /** Begins a round of claims. */
  startRound(): void {
    this.#ineligible = 0;
  }

  /**
   * Claims recipients of the due mailings. Each mailing gets an equal share of the courier's free capacity, which `roomOf` returns for
   * an SMTP relay, or for any relay with null. A relay without capacity does not delay mailings of other relays. Call it inside a
   * transaction.
   */
  take(due: readonly OpenMailing[], roomOf: (relayId: number | null) => number): Batch[] {
    const { rates, warmUps, clock } = this.#deps;
    const now = clock.now().getTime();
    const batches: Batch[] = [];
    /** The free capacity of each SMTP relay, and the number of its mailings that have not had their share. */
    const rooms = new Map<number | null, { left: number; mailings: number }>();
    for (const { relay_id } of due) {
      const room = rooms.get(relay_id);
      if (room === undefined) rooms.set(relay_id, { left: roomOf(relay_id), mailings: 1 });
      else room.mailings++;
    }
    for (let at = 0; at < due.length; at++) {
      const mailing = due[(this.#rotation + at) % due.length];
      const room = mailing && rooms.get(mailing.relay_id);
      if (mailing === undefined || room === undefined || room.left <= 0) continue;
      const share = Math.min(MAX_CLAIMS, Math.ceil(room.left / room.mailings--), warmUps.allowed(mailing));
      if (share === 0) continue;
      const granted = rates.take(share);
      if (granted === 0) break;
      const prepared = this.#prepare(mailing);
      const claims = prepared === null ? [] : this.#claim(mailing, prepared, granted, now);
      rates.giveBack(granted - claims.length);
      warmUps.claimed(
        mailing.id,
        claims.map(({ id }) => id),
      );
      if (prepared !== null) batches.push(...byForm(mailing, prepared, claims));
      room.left -= claims.length;
    }
    this.#rotation++;
    return batches;
  }

  /**
   * Claims up to `share` recipients of a mailing. Ineligible recipients do not use up the share, because otherwise thousands of
   * unsubscribed contacts would leave the SMTP relay idle.
   */
  #claim(mailing: OpenMailing, prepared: PreparedMailing, share: number, now: number): Claim[] {
    const { ledger, steady } = this.#deps;
    const claims: Claim[] = [];
    let ineligible = 0;
    let hasMore = true;
    while (hasMore && claims.length < share && ineligible < MAX_INELIGIBLE) {
      const wanted = share - claims.length;
      const claimed = ledger.claim(mailing, prepared, wanted, steady(), now);
      claims.push(...claimed.claims);
      ineligible += claimed.examined - claimed.claims.length + claimed.moved;
      hasMore = claimed.examined === wanted || claimed.moved > 0;
    }
    this.#ineligible += ineligible;
    return claims;
  }

  /**
   * Returns the mailing ready to render; null if it cannot be prepared or may not be sent. It is then held, so that none of its recipients
   * is claimed.
   */
  #prepare(mailing: OpenMailing): PreparedMailing | null {
    const prepared = this.#tryToPrepare(mailing);
    if (!('held_code' in prepared)) return prepared;
    this.#deps.states.hold(mailing.id, prepared);
    return null;
  }

  #tryToPrepare(mailing: OpenMailing): PreparedMailing | Held {
    try {
      return this.#deps.mailings.get(mailing.id);
    } catch (error) {
      const held_reason = sentence('held_not_prepared', { problem: saidBy(error) });
      return { held_code: 'internal_error', held_reason };
    }
  }
}

/** Groups claims by the form of their mails, each group with the mailing in that form. */
function byForm(
  mailing: OpenMailing,
  { measured, unmeasured, kept }: PreparedMailing,
  claims: readonly Claim[],
): Batch[] {
  return [measured, unmeasured].flatMap((ready, is_unmeasured) => {
    const ofForm = claims.filter((claim) => claim.is_unmeasured === is_unmeasured);
    return ofForm.length === 0 ? [] : [{ mailing, ready, kept, claims: ofForm }];
  });
}
