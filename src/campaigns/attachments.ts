/** The attachments of campaigns: storing them, and removing those that nothing needs any more. */
import type { Database } from 'better-sqlite3';
import { asc, eq } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { type Attachment, singleSendAttachments } from '../database/schema/index.ts';
import { conflict } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';

const MIB = 1024 * 1024;
/** The maximum size of the attachments of all single sends of an account, also of deleted ones whose mails are kept. */
const MAX_ACCOUNT_BYTES = 512 * MIB;
/** The maximum number of these attachments. Each request that adds an attachment reads the sizes of all. */
const MAX_ACCOUNT_FILES = 2000;
/** How often the background looks for files that nothing needs any more. */
const REMOVAL_MS = 60_000;
/** The number of mailings that the background looks at without a pause. */
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
export function requireRoomForFiles(
  { $client }: Db,
  accountId: number,
  added: readonly Pick<StoredAttachment, 'size'>[],
): void {
  const { files, bytes } = $client
    .prepare<[{ account: number }], { files: number; bytes: number }>(`
      SELECT count(*) AS files, ifnull(sum(size), 0) AS bytes FROM (
      SELECT f.size FROM single_sends s CROSS JOIN single_send_attachments f ON f.single_send_id = s.id WHERE s.user_id = @account
      UNION ALL SELECT f.size FROM single_send_attachments f INDEXED BY single_send_attachments_mailing
        CROSS JOIN mailings m ON m.id = f.mailing_id WHERE f.single_send_id IS NULL AND m.user_id = @account)`)
    .get({ account: accountId }) ?? { files: 0, bytes: 0 };
  const sum = added.reduce((total, { size }) => total + size, bytes);
  if (sum > MAX_ACCOUNT_BYTES || files + added.length > MAX_ACCOUNT_FILES)
    throw conflict(sentence('attachments_account', { size: MAX_ACCOUNT_BYTES / MIB, count: MAX_ACCOUNT_FILES }));
}

/** Gives a single send the attachments of another one of the account. Throws 409 if there is no room for them. */
export function copyAttachments(db: Db, accountId: number, from: number, to: number): void {
  const files = listAttachments(db, from);
  if (files.length === 0) return;
  requireRoomForFiles(db, accountId, files);
  db.$client
    .prepare(
      `INSERT INTO single_send_attachments (single_send_id, file_name, type, size, bytes)
       SELECT ?, file_name, type, size, bytes FROM single_send_attachments WHERE single_send_id = ? ORDER BY id`,
    )
    .run(to, from);
}

/** Keeps the attachments of a single send as long as its mailing. Call it in the transaction that creates the mailing. */
export function keepAttachments(db: Db, sendId: number, mailing_id: number): void {
  db.update(singleSendAttachments).set({ mailing_id }).where(eq(singleSendAttachments.single_send_id, sendId)).run();
}

/**
 * Removes the files of deleted single sends whose mailing has ended and of which no mail is kept. Each file is removed
 * in a transaction of its own, because SQLite overwrites the bytes of the file. Files of a single send that was not
 * launched are removed with it (drizzle/triggers.sql).
 */
export class UnusedFiles {
  readonly #client: Database;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** The mailing up to which files have been looked at. */
  #after = 0;

  constructor(client: Database) {
    this.#client = client;
  }

  /**
   * Looks at the files of some mailings, and removes some, at least one, while `mayContinue` returns true. Returns whether there
   * may be more. After the last mailing it rests. `monotonic`: monotonic milliseconds.
   */
  remove(monotonic: number, mayContinue: () => boolean): boolean {
    if (monotonic < this.#nextAt) return false;
    const file = this.#client.prepare<[number], number>(FILE).pluck();
    const remove = this.#client.prepare<[number]>('DELETE FROM single_send_attachments WHERE id = ?');
    const page = this.#client.prepare<[number], { id: number; is_needed: 0 | 1 }>(MAILINGS).all(this.#after);
    for (const { id, is_needed } of page) {
      for (let next = is_needed === 1 ? undefined : file.get(id); next !== undefined; next = file.get(id)) {
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

const OF_DELETED =
  'single_send_attachments f INDEXED BY single_send_attachments_mailing WHERE f.single_send_id IS NULL';
const MAILINGS = `
  SELECT d.id, EXISTS (SELECT 1 FROM mailings m WHERE m.id = d.id AND m.finished_at IS NULL)
    OR EXISTS (SELECT 1 FROM sent_facts k WHERE k.mailing_id = d.id) AS is_needed
  FROM (SELECT DISTINCT f.mailing_id AS id FROM ${OF_DELETED} AND f.mailing_id > ? ORDER BY 1 LIMIT ${PAGE_MAILINGS}) d`;
const FILE = `SELECT f.id FROM ${OF_DELETED} AND f.mailing_id = ? LIMIT 1`;
