/**
 * The test outbox, a courier for trying Sendlark: it keeps the newest 1 000 mails, or the newest 128 MiB of them, in the database, and
 * no mail leaves the machine.
 */

import { decodeWords } from 'postal-mime';
import type { Db } from '../../database/open.ts';
import { inTransaction } from '../../database/transaction.ts';
import { sentence } from '../../errors/sentences.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import type { Courier, Handoff, MailOwner, Outcome } from './courier.ts';

/** The maximum number of mails that the outbox keeps. */
export const MAX_MAILS = 1000;
const MAX_BYTES = 128 * 2 ** 20;
/** The largest size of a mail, in bytes, at which `MAX_MAILS` mails fit into `MAX_BYTES`. */
const LARGE_BYTES = MAX_BYTES / MAX_MAILS;
const BATCH_SIZE = 200;

const ACCEPTED: Outcome = {
  kind: 'accepted',
  stage: 'body',
  code: 250,
  enhanced: '2.0.0',
  reply: sentence('kept_in_outbox'),
};

const INSERT = `INSERT INTO outbox (user_id, mailing_id, envelope_from, envelope_to, "from", "to", subject, raw, created_at)
  VALUES (@user_id, @mailing_id, @envelope_from, @envelope_to, @from, @to, @subject, @raw, @created_at)`;
const DELETE_OLD = `DELETE FROM outbox WHERE id <= (SELECT max(id) - ${MAX_MAILS} FROM outbox)`;
/** Compares the total size of each mail and all newer mails. SQLite reads the lengths from the row headers. */
const DELETE_BEYOND_SIZE = `DELETE FROM outbox WHERE id <= (SELECT max(id) FROM
  (SELECT id, sum(length(raw)) OVER (ORDER BY id DESC) AS bytes FROM outbox) WHERE bytes > ${MAX_BYTES})`;

interface Waiting {
  handoff: Handoff;
  owner: MailOwner;
  resolve(outcome: Outcome | 'withdrawn'): void;
  reject(error: unknown): void;
}

/** A courier that stores each mail. Mails sent in the same turn of the event loop are written in one transaction. */
export class OutboxCourier implements Courier {
  readonly #db: Db;
  readonly #clock: Clock;
  #waiting: Waiting[] = [];

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  room(): number {
    return BATCH_SIZE - this.#waiting.length;
  }

  send(handoff: Handoff, owner: MailOwner): Promise<Outcome | 'withdrawn'> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ handoff, owner, resolve, reject }) === 1) setImmediate(() => this.#store());
    });
  }

  async close(): Promise<void> {
    this.#store();
  }

  /** Writes every waiting mail in one transaction. A mail that cannot be built fails alone; a failed write defers all mails. */
  #store(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    const created_at = isoTimestamp(this.#clock.now());
    const built = batch.flatMap((waiting) => {
      const raw = buildMail(waiting);
      return raw === null ? [] : [{ ...waiting, raw }];
    });
    try {
      inTransaction(this.#db, () => {
        const { $client } = this.#db;
        for (const { handoff, owner, raw } of built) {
          const mail = {
            user_id: owner.accountId,
            mailing_id: owner.mailingId,
            envelope_from: handoff.from,
            envelope_to: handoff.to,
          };
          $client.prepare(INSERT).run({ ...mail, ...shownFields(raw), raw, created_at });
        }
        $client.prepare(DELETE_OLD).run();
        if (built.some(({ raw }) => raw.length > LARGE_BYTES)) $client.prepare(DELETE_BEYOND_SIZE).run();
      });
      for (const { resolve } of built) resolve(ACCEPTED);
    } catch (error) {
      const reply = `The outbox could not be written: ${error instanceof Error ? error.message : error}`;
      for (const { resolve } of built) resolve({ kind: 'deferred', stage: 'body', code: 0, enhanced: null, reply });
    }
  }
}

/** Returns the bytes of the mail; null if it was withdrawn or cannot be built. The promise of such a mail is resolved or rejected here. */
function buildMail({ handoff, resolve, reject }: Waiting): Buffer | null {
  try {
    const mail = handoff.start();
    if (mail === null) resolve('withdrawn');
    return mail?.bytes ?? null;
  } catch (error) {
    reject(error);
    return null;
  }
}

/** Returns the From, To and Subject headers with encoded words (RFC 2047) decoded, for the list of mails. */
function shownFields(raw: Buffer): { from: string; to: string; subject: string } {
  const head = raw.toString('latin1', 0, Math.max(0, raw.indexOf('\r\n\r\n')));
  const field = (name: string) => {
    const value = new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(head)?.[1] ?? '';
    return decodeWords(value.replace(/\r\n/g, ''));
  };
  return { from: field('From'), to: field('To'), subject: field('Subject') };
}
