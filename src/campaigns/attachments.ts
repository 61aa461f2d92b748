/** The files that a campaign carries. */
import { asc, eq } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { type Attachment, singleSendAttachments } from '../database/schema/index.ts';

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

/** Gives a single send the attachments of another one. */
export function copyAttachments(db: Db, from: number, to: number): void {
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
