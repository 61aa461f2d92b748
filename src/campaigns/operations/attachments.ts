/** Operations on the attachments of a single send (additions). */
import { and, eq } from 'drizzle-orm';
import Type from 'typebox';
import type { Db } from '../../database/open.ts';
import { recordId } from '../../database/ownership.ts';
import { singleSendAttachments } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { attachmentOf, decodePieces, MAX_ATTACHMENTS, refusedKind } from '../../delivery/mime/attachments.ts';
import { invalid, notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { identifier, integer, isoTimestampSchema, line, text, unchangedSince } from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { MEBIBYTE } from '../../units.ts';
import { listAttachments, requireRoomForAttachments } from '../attachments.ts';
import { requireChangeable, type SingleSend } from '../single-sends.ts';
import { changeUnsent } from '../status.ts';

/** The maximum size in bytes of all attachments of a single send together. */
export const MAX_ATTACHED_BYTES = 2 * MEBIBYTE;
/** The maximum length of an attachment in base64. */
const MAX_CHARACTERS = Math.ceil(MAX_ATTACHED_BYTES / 3) * 4;

const utr = () => identifier('The single send.');
const updatedAt = isoTimestampSchema();

export const addAttachment = operation({
  name: 'Attach a file to a single send (addition)',
  description: `All recipients get the file. A single send can have ${MAX_ATTACHMENTS} files of 2 MiB together, an account 512 MiB (409). The single send stays a draft or queued. Kinds of files that Gmail refuses, such as exe, are refused.`,
  role: 'editor',
  input: Type.Object({
    utr: utr(),
    unchanged_since: unchangedSince(),
    name: line({ description: 'The name of the file.' }),
    type: Type.Optional(line({ description: 'The media type of the file; application/octet-stream by default.' })),
    content: Type.Unsafe<string>({
      ...text({ maxLength: MAX_CHARACTERS, description: 'The bytes of the file in base64, without line breaks.' }),
      examples: ['SGVsbG8='],
    }),
  }),
  output: Type.Object({ id: integer({ description: 'The id of the attachment.' }), updated_at: updatedAt }),
  run(context, { utr, unchanged_since, name, type = '', content }) {
    const file = { name, type, base64: Buffer.from(content, 'latin1') };
    return change(context, utr, unchanged_since, (send, db) => {
      const before = listAttachments(db, send.id);
      if (before.length >= MAX_ATTACHMENTS)
        throw invalid('content', sentence('attachments_many', { count: MAX_ATTACHMENTS }));
      const attachment = attachmentOf(file, before.length);
      const kind = refusedKind(attachment);
      if (kind !== null) throw invalid('name', sentence('attachment_kind', { kind }));
      if (before.reduce((sum, { size }) => sum + size, attachment.size) > MAX_ATTACHED_BYTES)
        throw invalid('content', sentence('attachments_large', { size: MAX_ATTACHED_BYTES / MEBIBYTE }));
      requireRoomForAttachments(db, send.user_id, [attachment]);
      const bytes = Buffer.concat([...decodePieces(file, attachment, before.length)]);
      return db
        .insert(singleSendAttachments)
        .values({ single_send_id: send.id, ...attachment, bytes })
        .returning({ id: singleSendAttachments.id })
        .get();
    });
  },
});

export const removeAttachment = operation({
  name: 'Remove an attachment of a single send (addition)',
  role: 'editor',
  input: Type.Object({ utr: utr(), unchanged_since: unchangedSince(), attachment_id: identifier('The attachment.') }),
  output: Type.Object({ updated_at: updatedAt }),
  run(context, { utr, unchanged_since, attachment_id }) {
    return change(context, utr, unchanged_since, (send, db) => {
      const { single_send_id, id } = singleSendAttachments;
      const where = and(eq(single_send_id, send.id), eq(id, recordId(attachment_id)));
      if (db.delete(singleSendAttachments).where(where).run().changes === 0) throw notFound();
      return {};
    });
  },
});

/** Changes the attachments of a single send that has not been sent. Returns the result of `work` with the new `updated_at`. */
function change<Result extends object>(
  { db, clock, accountId, actor }: Context,
  utr: unknown,
  unchangedSince: string | undefined,
  work: (send: SingleSend, db: Db) => Result,
): Result & { updated_at: string } {
  return inTransaction(db, () => {
    const send = requireChangeable(db, accountId, utr, unchangedSince);
    const result = work(send, db);
    const updated_at = isoTimestamp(clock.now());
    changeUnsent(db, send.id, { changed_by: actor.userId, updated_at });
    return { ...result, updated_at };
  });
}
