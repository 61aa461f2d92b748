/**
 * Sends transactional mail through the courier. The mail has a queue of its own, and each request wakes this worker, so that no mail waits
 * for a campaign. The background thread also runs the worker as one of its steps. Accounts take turns.
 */

import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import type { Database } from 'better-sqlite3';
import { asciiAddress, domainOf } from '../../audience/contacts/addresses.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { readStored } from '../../errors/stored.ts';
import type { Log } from '../../log.ts';
import { type Clock, steadyTime } from '../../time/clock.ts';
import { MEBIBYTE } from '../../units.ts';
import { returnPath } from '../links/return-paths.ts';
import { ownReturnPathKeys } from '../links/secrets.ts';
import { DkimKeys } from '../mime/dkim.ts';
import type { MailData } from '../mime/mail-data.ts';
import { GIVE_UP_AFTER_MS, retryAt } from '../queue/backoff.ts';
import { sendingHeldReason } from '../queue/holds.ts';
import { type SenderFacts, Senders } from '../queue/sender.ts';
import type { Rates } from '../sending/rates.ts';
import { meaning } from '../sending/result-buffer.ts';
import type { Courier, Outcome } from '../transport/courier.ts';
import type { WarmUps } from '../warm-up/warm-ups.ts';
import { type ClaimedMail, type DueMail, type MailResult, TransactionalLedger } from './ledger.ts';
import { buildMail } from './mail.ts';

/** The maximum number of mails sent at the same time. */
const MAX_IN_FLIGHT = 16;
/** The maximum number of mails of one account sent at the same time. */
const MAX_OF_ACCOUNT = 8;
/** The maximum total size of the mails sent at the same time, in bytes. A larger mail is sent alone. */
const MAX_BYTES = 24 * MEBIBYTE;
/** The maximum size of a message that is kept as sent, in bytes. It has room for some small files. */
const MAX_KEPT_BYTES = MEBIBYTE;
/** The time after which the queue is read again if a rate limit allows no mail, in milliseconds. */
const RATE_WAIT_MS = 20;
/** The time after which a mail is tried again if its sender is no longer verified, in milliseconds. */
const UNVERIFIED_WAIT_MS = 60_000;

const compress = promisify(deflateRaw);

interface TransactionalDeps {
  client: Database;
  clock: Clock;
  courier: Courier;
  rates: Rates;
  warmUps: WarmUps;
  /** The domain of return paths; '' if bounces go to the sender's own address. */
  bounceDomain: string;
  mustBeVerified(): boolean;
  /** Returns true if this process can send mail itself. In an installation with sender nodes, it may have no SMTP relay. */
  canSend(): boolean;
  log: Log;
}

/** A claimed mail with its sender and its SMTP relay. `relayId` is null if any relay may send the mail. */
interface ReadyMail {
  mail: ClaimedMail;
  sender: SenderFacts;
  relayId: number | null;
}

/** The outcome of a hand-off, and the message that was sent; null if the message is not to be kept. */
interface HandOffResult {
  outcome: Outcome | 'withdrawn';
  sent: Buffer | null;
}

/** The worker of all transactional mail. There is one, in the background thread. */
export class TransactionalWorker {
  readonly #deps: TransactionalDeps;
  readonly #ledger: TransactionalLedger;
  readonly #senders: Senders;
  readonly #keys: DkimKeys;
  readonly #steady: () => number;
  /**
   * The mails being sent, and accepted mails whose message is not kept yet, because the message takes memory until then. By the id of the
   * mail.
   */
  readonly #inFlight = new Map<number, ClaimedMail>();
  #results: MailResult[] = [];
  #withdrawn: ClaimedMail[] = [];
  /** A number that grows with each claim, so that a different account comes first each time. */
  #rotation = 0;
  #isStopping = false;
  #isScheduled = false;
  #timer: NodeJS.Timeout | null = null;
  #onEnd: () => void = () => undefined;

  constructor(deps: TransactionalDeps) {
    this.#deps = deps;
    this.#ledger = new TransactionalLedger(deps.client);
    this.#senders = new Senders(deps.client, deps.mustBeVerified);
    this.#keys = new DkimKeys(deps.client);
    this.#steady = steadyTime(deps.clock);
    const recovered = this.#ledger.recover(this.#steady());
    if (recovered > 0) deps.log({ recovered }, 'unfinished transactional mails of an earlier run were put back');
  }

  /** The number of mails being sent, or whose result or message is not stored yet. */
  get unfinished(): number {
    return this.#inFlight.size + this.#results.length + this.#withdrawn.length;
  }

  /** Records results and starts to send due mails. Throws if the disk fails; the results are then recorded by the next call. */
  run(): void {
    const { client, clock, canSend } = this.#deps;
    const mayClaim = !this.#isStopping && canSend() && sendingHeldReason(client) === null;
    const steady = this.#steady();
    const accounts = mayClaim ? this.#ledger.dueAccounts(steady) : [];
    if (accounts.length === 0) this.#deps.rates.takeFirst(0);
    if (accounts.length + this.#results.length + this.#withdrawn.length === 0) return;
    const claimed = this.#ledger.inTransaction(() => {
      const now = clock.now();
      for (const result of this.#results) {
        this.#ledger.record(result, now);
        if (result.state === 'accepted') this.#deps.warmUps.countTransactional(result.mail.sender_id);
      }
      for (const mail of this.#withdrawn) this.#ledger.requeue(mail);
      return this.#claim(accounts, steady, now);
    });
    this.#results = [];
    this.#withdrawn = [];
    for (const ready of claimed) {
      this.#inFlight.set(ready.mail.id, ready.mail);
      void this.#handOver(ready);
    }
  }

  /** Resolves when one mail has been sent or has failed, or after `ms` milliseconds. */
  async waitForOne(ms: number): Promise<void> {
    if (this.#inFlight.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#onEnd = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Starts no more sends. */
  stop(): void {
    this.#isStopping = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Waits until all sends have ended, and records the results. Close the courier first, which ends them. */
  async finish(): Promise<void> {
    this.stop();
    while (this.#inFlight.size > 0) await this.waitForOne(1000);
    this.run();
  }

  /** Claims mails of these accounts in turn, as many as the rates and the limits allow. Call it inside a transaction. */
  #claim(accounts: readonly number[], steady: number, now: Date): ReadyMail[] {
    const claimed: ReadyMail[] = [];
    const busy = [...this.#inFlight.values()];
    let bytes = busy.reduce((sum, { size }) => sum + size, 0);
    for (let at = 0; at < accounts.length; at++) {
      const account = accounts[(this.#rotation + at) % accounts.length] ?? 0;
      const share = Math.ceil((MAX_IN_FLIGHT - busy.length) / (accounts.length - at));
      const free = MAX_OF_ACCOUNT - busy.filter(({ user_id }) => user_id === account).length;
      for (const mail of this.#ledger.due(account, steady, Math.max(0, Math.min(share, free)))) {
        if (busy.length > 0 && bytes + mail.size > MAX_BYTES) break;
        const ready = this.#claimOne(mail, steady, now);
        if (ready === 'later') break;
        if (ready === null) continue;
        claimed.push(ready);
        busy.push(mail);
        bytes += mail.size;
      }
    }
    this.#rotation++;
    return claimed;
  }

  /** Claims a mail. Returns null if the mail is now in a final state or waits, and 'later' if the rate allows no mail. */
  #claimOne(mail: DueMail, steady: number, now: Date): ReadyMail | null | 'later' {
    const { rates } = this.#deps;
    const ledger = this.#ledger;
    const finish = (state: 'suppressed' | 'cancelled', reply: Said) =>
      ledger.record({ mail, state, reply, due_at: 0, suppress: false }, now);
    if (mail.ineligible_because !== null) {
      finish('suppressed', readStored(mail.ineligible_because));
      return null;
    }
    const sender = this.#senders.get(mail.sender_id);
    if ('held_code' in sender) {
      // A mail gives up after a while, because the sender may never be verified again, and a mail that waits forever would keep older
      // records from being removed.
      const isTooOld = now.getTime() - mail.created_at >= GIVE_UP_AFTER_MS;
      if (sender.held_code === 'sender_deleted' || isTooOld) finish('cancelled', sender.held_reason);
      else ledger.postpone(mail, steady + UNVERIFIED_WAIT_MS);
      return null;
    }
    if (rates.takeFirst(1) === 0) {
      this.#runAfter(RATE_WAIT_MS);
      return 'later';
    }
    // This call reserves a place in the domain's rate, so it comes after all other checks.
    const wait = rates.waitForFirst(domainOf(mail.normalized_email));
    if (wait > 0) {
      rates.giveBack(1);
      ledger.postpone(mail, steady + wait);
      this.#runAfter(wait);
      return null;
    }
    ledger.claim(mail, steady, now.getTime());
    return { mail: { ...mail, first_tried_at: mail.first_tried_at || steady }, sender, relayId: this.#relayOf(mail) };
  }

  #relayOf({ sender_id }: ClaimedMail): number | null {
    const read = this.#deps.client.prepare<[number], { relay_id: number | null }>(
      'SELECT relay_id FROM senders WHERE id = ?',
    );
    return read.get(sender_id)?.relay_id ?? null;
  }

  async #handOver(ready: ReadyMail): Promise<void> {
    const { mail } = ready;
    const { outcome, sent } = await this.#send(ready).catch((error: unknown): HandOffResult => {
      this.#deps.log({ transactional_mail: mail.id, err: String(error) }, 'a mail could not be built', 'error');
      const reply = sentence('not_built');
      return { outcome: { kind: 'refused', stage: 'data', code: 554, enhanced: '5.6.0', reply }, sent: null };
    });
    if (outcome === 'withdrawn') this.#withdrawn.push(mail);
    else {
      const now = this.#steady();
      const result = meaning(outcome, () => retryAt(mail.attempt + 1, mail.first_tried_at, now));
      this.#results.push({ mail, ...result });
    }
    // The result is recorded without waiting for the message, because a mail without a result would be sent again after a kill.
    if (sent !== null) {
      this.#schedule();
      await this.#keep(mail, sent);
    }
    this.#inFlight.delete(mail.id);
    this.#onEnd();
    this.#schedule();
  }

  /** Keeps the message of an accepted mail. A failure is only logged, because the mail has been sent. */
  async #keep(mail: ClaimedMail, message: Buffer): Promise<void> {
    try {
      this.#ledger.keep(mail, await compress(message));
    } catch (error) {
      this.#deps.log({ transactional_mail: mail.id, err: String(error) }, 'a sent mail could not be kept', 'warn');
    }
  }

  async #send({ mail, sender, relayId }: ReadyMail): Promise<HandOffResult> {
    const { client, clock, courier, bounceDomain } = this.#deps;
    const from = asciiAddress(sender.from_email);
    if (from === null) throw new Error('its sender has no valid address');
    const { email, normalized_email: normalized } = mail;
    // The address has the local part as it was given, and the domain in ASCII form.
    const to = email.slice(0, email.lastIndexOf('@')) + normalized.slice(normalized.lastIndexOf('@'));
    const replyTo = sender.reply_to === sender.from_email ? null : sender.reply_to;
    const message = await this.#signed(
      await buildMail(client, mail, {
        sender: { name: sender.sender_name, address: from, replyTo },
        to,
        date: clock.now(),
      }),
      domainOf(from),
    );
    const [key = ''] = ownReturnPathKeys(client);
    // The setting is read before the mail is sent, so that a failure to read it cannot make an accepted mail look refused.
    const isKept = message.bytes.length <= MAX_KEPT_BYTES && this.#keepsMails(mail.user_id);
    const returned = { id: mail.id, email: normalized, isTransactional: true };
    const outcome = await courier.send(
      {
        from: bounceDomain === '' ? from : returnPath(key, returned, bounceDomain),
        to,
        relayId,
        isUrgent: true,
        dotless: true,
        start: () => (this.#isStopping ? null : message),
        maySend: () => !this.#isStopping,
      },
      { accountId: mail.user_id, mailingId: 0 },
    );
    const isAccepted = outcome !== 'withdrawn' && outcome.kind === 'accepted';
    return { outcome, sent: isAccepted && isKept ? message.bytes : null };
  }

  /** Returns true if an account keeps mails as sent. */
  #keepsMails(account: number): boolean {
    const read = this.#deps.client.prepare<[number], { keeps: 0 | 1 }>(
      'SELECT keeps_sent_mails AS keeps FROM accounts WHERE id = ?',
    );
    return read.get(account)?.keeps === 1;
  }

  async #signed(message: MailData, domain: string): Promise<MailData> {
    const key = this.#keys.findKey(domain);
    if (key === null) return message;
    return message.withField(await key.signer.signInThreadPool(message.bytes, this.#deps.clock.now()));
  }

  /** Calls `run` once in the next turn of the event loop, with all results that arrive until then. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#runSafely();
    });
  }

  #runAfter(ms: number): void {
    if (this.#timer !== null || this.#isStopping) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#runSafely();
    }, ms);
    this.#timer.unref();
  }

  /** Calls `run` and logs a failed write, for example on a full disk. The next step of the background thread tries it again. */
  #runSafely(): void {
    try {
      this.run();
    } catch (error) {
      this.#deps.log({ err: String(error) }, 'transactional mail could not be recorded', 'warn');
    }
  }
}
