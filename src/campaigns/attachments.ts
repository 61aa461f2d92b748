/** The files that a campaign carries. */
import { asc, eq } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { prepared } from '../database/prepared.ts';
import { type Attachment, singleSendAttachments } from '../database/schema/index.ts';
import { conflict } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';

const MIB = 1024 * 1024;
/** The maximum size of the attachments of all single sends of an account, also of deleted ones whose mails are kept. */
const MAX_ACCOUNT_BYTES = 512 * MIB;

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

/** Throws 409 if an account has no room for this many bytes more of attachments. Call it in the transaction that adds them. */
export function requireRoomForFiles({ $client }: Db, accountId: number, bytes: number): void {
  const { used } = prepared<[number, number], { used: number }>(
    $client,
    `SELECT (SELECT ifnull(sum(f.size), 0) FROM single_send_attachments f JOIN single_sends s ON s.id = f.single_send_id WHERE s.user_id = ?)
       + (SELECT ifnull(sum(f.size), 0) FROM single_send_attachments f JOIN mailings m ON m.id = f.mailing_id
          WHERE f.single_send_id IS NULL AND m.user_id = ?) AS used`,
  ).get(accountId, accountId) ?? { used: 0 };
  if (used + bytes > MAX_ACCOUNT_BYTES)
    throw conflict(sentence('attachments_account', { size: MAX_ACCOUNT_BYTES / MIB }));
}

/** Gives a single send the attachments of another one of the account. Throws 409 if there is no room for them. */
export function copyAttachments(db: Db, accountId: number, from: number, to: number): void {
  const bytes = listAttachments(db, from).reduce((sum, { size }) => sum + size, 0);
  if (bytes > 0) requireRoomForFiles(db, accountId, bytes);
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
