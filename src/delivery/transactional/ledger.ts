/**
 * The ledger of transactional mail. Only the files in this folder add transactional mails and change their state. Each mail gets exactly
 * one final state, and every change is one short transaction, so that a crash leaves nothing half done.
 */
import type { Database, Statement } from 'better-sqlite3';
import { suppressionReason } from '../../audience/eligibility.ts';
import { suppressAddress } from '../../audience/suppressions.ts';
import { DELIVERY_STATE, type transactionalMails } from '../../database/schema/index.ts';
import type { Said } from '../../errors/sentences.ts';
import { stored } from '../../errors/stored.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { MAX_WAIT_MS } from '../queue/backoff.ts';
import type { FinalState } from '../queue/ledger/ledger.ts';

type StoredMail = typeof transactionalMails.$inferSelect;

/** A mail to add to the queue. */
export interface NewMail
  extends Omit<
    StoredMail,
    'id' | 'state' | 'attempt' | 'due_at' | 'first_tried_at' | 'reply' | 'updated_at' | 'complained_at'
  > {
  content: string;
}

/** A mail claimed for sending. */
export interface ClaimedMail
  extends Omit<NewMail, 'attachments' | 'idempotency_key' | 'request_hash'>,
    Pick<StoredMail, 'id' | 'attempt'> {
  normalized_email: string;
  /** The attachments, as JSON of `Attachment[]`. */
  attachments: string;
  /** When the first attempt began, in epoch milliseconds of the steady clock; 0 before the first attempt. */
  first_tried_at: number;
}

/** A mail that is due. */
export interface DueMail extends ClaimedMail {
  /** The reason why the mail may not be sent, in its stored form; null if it may be sent. */
  ineligible_because: string | null;
}

/** The result of sending a mail: a final state, or `queued` if the mail waits until `due_at` (epoch milliseconds of the steady clock). */
export interface MailResult {
  mail: ClaimedMail;
  state: FinalState | 'queued';
  reply: Said;
  due_at: number;
  /** True if the address is suppressed, because it does not exist. */
  suppress: boolean;
}

/** SQL for the accounts with due mail. Each is found with two lookups, however long its queue is. */
const DUE_ACCOUNTS = `
  WITH RECURSIVE accounts(id) AS (
    SELECT min(user_id) FROM transactional_mails INDEXED BY transactional_mails_queue WHERE state = ${DELIVERY_STATE.queued}
    UNION ALL SELECT (SELECT min(user_id) FROM transactional_mails INDEXED BY transactional_mails_queue
      WHERE state = ${DELIVERY_STATE.queued} AND user_id > accounts.id) FROM accounts WHERE accounts.id IS NOT NULL)
  SELECT a.id FROM accounts a WHERE a.id IS NOT NULL AND EXISTS (SELECT 1 FROM transactional_mails t INDEXED BY transactional_mails_queue
    WHERE t.user_id = a.id AND t.state = ${DELIVERY_STATE.queued} AND t.due_at <= ?)`;

/** SQL for the due mails of an account, the longest due first. */
const DUE = `
  SELECT t.id, t.utr, t.user_id, t.sender_id, t.address_id, t.email, a.normalized_email, t.name, t.subject, t.content, t.attachments, t.size,
    t.message_key, t.message_domain, t.attempt, t.created_at, ifnull(t.first_tried_at, 0) AS first_tried_at, ${suppressionReason('t')} AS ineligible_because
  FROM transactional_mails t INDEXED BY transactional_mails_queue CROSS JOIN addresses a ON a.id = t.address_id
  WHERE t.user_id = ? AND t.state = ${DELIVERY_STATE.queued} AND t.due_at <= ? ORDER BY t.due_at, t.id LIMIT ?`;

/** The statements that find due mail, exported so that a test can check their query plans. */
export const QUEUE_QUERIES = { DUE_ACCOUNTS, DUE };

/** Adds a mail to the queue. Call it inside a transaction, after the pieces of its attachments are written. */
export function addMail(client: Database, { attachments, ...mail }: NewMail): void {
  client
    .prepare(`
      INSERT INTO transactional_mails (utr, user_id, sender_id, address_id, email, name, subject, content, attachments, size, message_key,
        message_domain, idempotency_key, request_hash, created_at)
      VALUES (@utr, @user_id, @sender_id, @address_id, @email, @name, @subject, @content, @attachments, @size, @message_key,
        @message_domain, @idempotency_key, @request_hash, @created_at)`)
    .run({ ...mail, attachments: JSON.stringify(attachments) });
}

/** The worker's operations on transactional mail. */
export class TransactionalLedger {
  readonly #client: Database;
  readonly #dueAccounts: Statement<[number], number>;
  readonly #due: Statement<[number, number, number], DueMail>;
  readonly #claim: Statement<[number, number, number]>;
  readonly #postpone: Statement<[number, number]>;
  readonly #requeue: Statement<[number]>;
  readonly #finish: Statement<[number, string, number, number, number, number]>;
  readonly #removePieces: Statement<[string]>;
  readonly #keep: Statement<[Buffer, number, string]>;

  constructor(client: Database) {
    const { queued, sending } = DELIVERY_STATE;
    this.#client = client;
    this.#dueAccounts = client.prepare<[number], number>(DUE_ACCOUNTS).pluck();
    this.#due = client.prepare(DUE);
    this.#claim = client.prepare(`
      UPDATE transactional_mails SET state = ${sending}, attempt = attempt + 1, first_tried_at = ifnull(first_tried_at, ?), updated_at = ?
      WHERE id = ? AND state = ${queued}`);
    this.#postpone = client.prepare(`UPDATE transactional_mails SET due_at = ? WHERE id = ? AND state = ${queued}`);
    this.#requeue = client.prepare(`
      UPDATE transactional_mails SET state = ${queued}, attempt = attempt - 1, due_at = 0, first_tried_at = iif(attempt = 1, NULL, first_tried_at)
      WHERE id = ? AND state = ${sending}`);
    this.#finish = client.prepare(`
      UPDATE transactional_mails SET state = ?, reply = ?, due_at = ?, updated_at = ?, content = iif(?, NULL, content)
      WHERE id = ? AND state IN (${queued}, ${sending})`);
    this.#removePieces = client.prepare('DELETE FROM transactional_pieces WHERE utr = ?');
    this.#keep = client.prepare(
      'INSERT OR REPLACE INTO sent_transactional_mails (message, mail_id) SELECT ?, id FROM transactional_mails WHERE id = ? AND utr = ?',
    );
  }

  /**
   * Recovers what an earlier run left. Call it at startup. Mails whose sending was not finished go back to the queue and keep their
   * Message-ID. Mails due later than the longest retry wait, because the clock was ahead, become due at `now`. Returns the number of mails
   * that went back.
   */
  recover(now: number): number {
    const { queued, sending } = DELIVERY_STATE;
    return this.#client
      .transaction(() => {
        this.#client
          .prepare(`
            UPDATE transactional_mails SET due_at = @now, first_tried_at = min(first_tried_at, @now)
            WHERE state = ${queued} AND due_at > @now + ${MAX_WAIT_MS}`)
          .run({ now });
        return this.#client.prepare(`UPDATE transactional_mails SET state = ${queued} WHERE state = ${sending}`).run()
          .changes;
      })
      .immediate();
  }

  /** Returns the accounts with mail that is due at `steady`, epoch milliseconds of the steady clock. */
  dueAccounts(steady: number): number[] {
    return this.#dueAccounts.all(steady);
  }

  /** Returns up to `limit` due mails of an account, the longest due first. */
  due(accountId: number, steady: number, limit: number): DueMail[] {
    return this.#due.all(accountId, steady, limit);
  }

  /** Runs several of the methods below in one transaction. */
  inTransaction<T>(moves: () => T): T {
    return this.#client.transaction(moves).immediate();
  }

  /** Claims a due mail for sending. */
  claim({ id }: DueMail, steady: number, now: number): void {
    this.#claim.run(steady, now, id);
  }

  /** Postpones a due mail until `due_at` without counting an attempt. */
  postpone({ id }: DueMail, due_at: number): void {
    this.#postpone.run(due_at, id);
  }

  /** Puts a claimed mail whose sending never started back into the queue, as if it had not been claimed. */
  requeue({ id }: ClaimedMail): void {
    this.#requeue.run(id);
  }

  /** Records a result. A final state also removes the mail's bodies and attachments. */
  record({ mail, state, reply, due_at, suppress }: MailResult, now: Date): void {
    const isFinal = state !== 'queued';
    const values = [DELIVERY_STATE[state], stored(reply), due_at, now.getTime(), isFinal ? 1 : 0, mail.id] as const;
    const { changes } = this.#finish.run(...values);
    if (suppress) {
      const { user_id, address_id } = mail;
      const suppression = {
        user_id,
        address_id,
        kind: 'bounce',
        diagnostic: reply,
        created_at: isoTimestamp(now),
      } as const;
      suppressAddress(this.#client, suppression);
    }
    if (isFinal && changes > 0) this.#removePieces.run(mail.utr);
  }

  /** Keeps the message of an accepted mail, compressed, unless the mail was removed in the meantime. */
  keep({ id, utr }: ClaimedMail, message: Buffer): void {
    this.#keep.run(message, id, utr);
  }
}
