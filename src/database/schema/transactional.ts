/** Tables of transactional mail: single mails that a program sends to one person, such as a receipt. It is a ledger of its own. */
import { sql } from 'drizzle-orm';
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { address } from './audience.ts';
import { count, id, line, said } from './columns.ts';
import { DELIVERY_STATE } from './states.ts';

/** A file that goes with a mail. */
export interface Attachment {
  file_name: string;
  type: string;
  /** In bytes. */
  size: number;
}

/** One row per mail. The states are `DELIVERY_STATE`. Times are epoch milliseconds. */
export const transactionalMails = sqliteTable(
  'transactional_mails',
  {
    id: id(),
    utr: text().notNull().unique(),
    user_id: user(),
    sender_id: integer().notNull(),
    address_id: address(),
    /** The recipient's address as it was given, and their name. */
    email: text().notNull(),
    name: line(),
    /** With its values. */
    subject: text().notNull(),
    /** The bodies with their values, as JSON (`Bodies`); null once the mail is in a final state. */
    content: text(),
    attachments: text({ mode: 'json' }).$type<Attachment[]>().notNull(),
    /** Bytes of bodies and attachments. */
    size: integer().notNull(),
    /** Random part of the Message-ID, and its domain: with the id of the mail it stays the same over retries, restarts and changes of the sender. */
    message_key: text().notNull(),
    message_domain: text().notNull(),
    /** The key by which the same request is known again, and the hash of that request. Forgotten after a day. */
    idempotency_key: text(),
    request_hash: line(),
    state: integer().notNull().default(DELIVERY_STATE.queued),
    attempt: count(),
    /** When the next try is due; 0 at first. */
    due_at: count(),
    first_tried_at: integer(),
    /** The server's reply, or why there was no mail. */
    reply: said(),
    created_at: integer().notNull(),
    updated_at: count(),
    complained_at: integer(),
  },
  (table) => [
    index('transactional_mails_user').on(table.user_id, table.id),
    index('transactional_mails_address').on(table.address_id, table.id),
    uniqueIndex('transactional_mails_key')
      .on(table.user_id, table.idempotency_key)
      .where(sql`idempotency_key IS NOT NULL`),
    index('transactional_mails_keyed').on(table.created_at).where(sql`idempotency_key IS NOT NULL`),
    index('transactional_mails_queue')
      .on(table.user_id, table.due_at, table.id, table.size)
      .where(sql`state = ${sql.raw(`${DELIVERY_STATE.queued}`)}`),
    index('transactional_mails_sending')
      .on(table.id)
      .where(sql`state = ${sql.raw(`${DELIVERY_STATE.sending}`)}`),
  ],
);

/** The bytes of attachments in pieces, which are written one by one before their mail. They go when the mail is in a final state. */
export const transactionalPieces = sqliteTable(
  'transactional_pieces',
  {
    /** The utr of the mail. */
    utr: text().notNull(),
    attachment: integer().notNull(),
    number: integer().notNull(),
    bytes: blob({ mode: 'buffer' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.utr, table.attachment, table.number] })],
);
