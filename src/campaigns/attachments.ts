/** Stores the attachments of campaigns, and removes attachments that are no longer needed. */
import type { Database } from 'better-sqlite3';
import { asc, eq } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { type Attachment, singleSendAttachments } from '../database/schema/index.ts';
import { conflict } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import { MEBIBYTE, MINUTE_MS } from '../units.ts';

/** The maximum size in bytes of all attachments of an account, including those of deleted single sends whose mails are kept. */
const MAX_ACCOUNT_BYTES = 512 * MEBIBYTE;
/** The maximum number of attachments of an account. Each request that adds an attachment reads the sizes of all of them. */
const MAX_ACCOUNT_ATTACHMENTS = 2000;
/** The interval in milliseconds at which the background thread looks for attachments that are no longer needed. */
const REMOVAL_MS = MINUTE_MS;
/** The number of mailings at which the background thread looks without a pause. */
const PAGE_MAILINGS = 100;

/** An attachment of a single send, without its bytes. */
export interface StoredAttachment extends Attachment {
  id: number;
}

/** Returns the attachments of a single send, in the order in which they were added. */
export function listAttachments(db: Db, sendId: number): StoredAttachment[] {
  const { id, file_name, type, size } = singleSendAttachments;
  return db
    .select({ id, file_name, type, size })
    .from(singleSendAttachments)
    .where(eq(singleSendAttachments.single_send_id, sendId))
    .orderBy(asc(id))
    .all();
}

/** Throws 409 if an account has no room for these attachments. Call it in the transaction that adds them. */
export function requireRoomForAttachments(
  { $client }: Db,
  accountId: number,
  added: readonly Pick<StoredAttachment, 'size'>[],
): void {
  const { stored, bytes } = $client
    .prepare<[{ account: number }], { stored: number; bytes: number }>(`
      SELECT count(*) AS stored, ifnull(sum(size), 0) AS bytes FROM (
      SELECT f.size FROM single_sends s CROSS JOIN single_send_attachments f ON f.single_send_id = s.id WHERE s.user_id = @account
      UNION ALL SELECT f.size FROM single_send_attachments f INDEXED BY single_send_attachments_mailing
        CROSS JOIN mailings m ON m.id = f.mailing_id WHERE f.single_send_id IS NULL AND m.user_id = @account)`)
    .get({ account: accountId }) ?? { stored: 0, bytes: 0 };
  const sum = added.reduce((total, { size }) => total + size, bytes);
  if (sum > MAX_ACCOUNT_BYTES || stored + added.length > MAX_ACCOUNT_ATTACHMENTS)
    throw conflict(
      sentence('attachments_account', { size: MAX_ACCOUNT_BYTES / MEBIBYTE, count: MAX_ACCOUNT_ATTACHMENTS }),
    );
}

/** Copies the attachments of a single send to another single send. Throws 409 if the account has no room for them. */
export function copyAttachments(db: Db, accountId: number, from: number, to: number): void {
  const attachments = listAttachments(db, from);
  if (attachments.length === 0) return;
  requireRoomForAttachments(db, accountId, attachments);
  db.$client
    .prepare(
      `INSERT INTO single_send_attachments (single_send_id, file_name, type, size, bytes)
       SELECT ?, file_name, type, size, bytes FROM single_send_attachments WHERE single_send_id = ? ORDER BY id`,
    )
    .run(to, from);
}

/** Keeps the attachments of a single send as long as its mailing needs them. Call it in the transaction that creates the mailing. */
export function keepAttachments(db: Db, sendId: number, mailing_id: number): void {
  db.update(singleSendAttachments).set({ mailing_id }).where(eq(singleSendAttachments.single_send_id, sendId)).run();
}

/**
 * Removes the attachments of deleted single sends whose mailing has ended and whose mails are not kept. Each attachment is
 * removed in a transaction of its own, which takes a while because SQLite overwrites its bytes. The attachments of a single
 * send that was not launched are removed together with the single send (drizzle/triggers.sql).
 */
export class UnusedAttachments {
  readonly #client: Database;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** The id of the last mailing whose attachments have been looked at. */
  #after = 0;

  constructor(client: Database) {
    this.#client = client;
  }

  /**
   * Removes an attachment that is no longer needed, and further ones while `mayContinue` returns true. Returns true if there may be more.
   * After the last mailing, does nothing for a minute. `monotonic` is the time of a monotonic clock in milliseconds.
   */
  remove(monotonic: number, mayContinue: () => boolean): boolean {
    if (monotonic < this.#nextAt) return false;
    const nextAttachment = this.#client.prepare<[number], number>(NEXT_ATTACHMENT).pluck();
    const remove = this.#client.prepare<[number]>('DELETE FROM single_send_attachments WHERE id = ?');
    const page = this.#client.prepare<[number], { id: number; is_needed: 0 | 1 }>(MAILINGS).all(this.#after);
    for (const { id, is_needed } of page) {
      if (is_needed === 0)
        for (let next = nextAttachment.get(id); next !== undefined; next = nextAttachment.get(id)) {
          remove.run(next);
          if (!mayContinue()) return true;
        }
      this.#after = id;
    }
    if (page.length === PAGE_MAILINGS) return true;
    this.#after = 0;
    this.#nextAt = monotonic + REMOVAL_MS;
    return false;
  }
}

/** SQL after FROM: the attachments `f` of deleted single sends. */
const OF_DELETED =
  'single_send_attachments f INDEXED BY single_send_attachments_mailing WHERE f.single_send_id IS NULL';
/** SQL: the next mailings of deleted single sends with attachments. `is_needed`: 1 if the mailing has not ended, or its mails are kept. */
const MAILINGS = `
  SELECT d.id, EXISTS (SELECT 1 FROM mailings m WHERE m.id = d.id AND m.finished_at IS NULL)
    OR EXISTS (SELECT 1 FROM sent_facts k WHERE k.mailing_id = d.id) AS is_needed
  FROM (SELECT DISTINCT f.mailing_id AS id FROM ${OF_DELETED} AND f.mailing_id > ? ORDER BY 1 LIMIT ${PAGE_MAILINGS}) d`;
const NEXT_ATTACHMENT = `SELECT f.id FROM ${OF_DELETED} AND f.mailing_id = ? LIMIT 1`;
