/** Reads the attachments of mailings. */
import type { Database } from 'better-sqlite3';
import type { AttachedFile } from '../mime/attachments.ts';

/**
 * Returns the attachments with these ids, in this order. An attachment of a test mail is missing if it was removed from the draft since.
 */
export function readAttachments(client: Database, ids: readonly number[] = []): AttachedFile[] {
  const read = client.prepare<[number], AttachedFile>(
    'SELECT file_name, type, size, bytes FROM single_send_attachments WHERE id = ?',
  );
  return ids.flatMap((id) => read.get(id) ?? []);
}
