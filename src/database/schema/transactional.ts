/**
 * Tables of transactional mail: single mails that a program sends to one recipient, such as a receipt. They have a ledger of their own.
 */
import { sql } from 'drizzle-orm';
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { address } from './audience.ts';
import { id, integerOrZero, line, said } from './columns.ts';
import { DELIVERY_STATE } from './states.ts';

/** A file attached to a mail. */
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
    /** The recipient's address and name as the request gave them. */
    email: text().notNull(),
    name: line(),
    /** The subject with its values filled in. */
    subject: text().notNull(),
    /** The bodies with their values filled in, as JSON (`Bodies`); null once the mail has a final state. */
    content: text(),
    attachments: text({ mode: 'json' }).$type<Attachment[]>().notNull(),
    /** The size of bodies and attachments in bytes. */
    size: integer().notNull(),
    /**
     * The random part of the Message-ID, and its domain. With the id of the mail, the Message-ID stays the same over retries,
     * restarts and changes of the sender.
     */
    message_key: text().notNull(),
    message_domain: text().notNull(),
    /** The key that identifies a repeated request. Removed after a day. */
    idempotency_key: text(),
    /** The hash of the request with that key. Removed after a day. */
    request_hash: line(),
    state: integer().notNull().default(DELIVERY_STATE.queued),
    /** How many attempts have begun. */
    attempt: integerOrZero(),
    /** When the next attempt is due; 0 before the first attempt. */
    due_at: integerOrZero(),
    first_tried_at: integer(),
    /** The server's reply, or why the mail was not sent. */
    reply: said(),
    created_at: integer().notNull(),
    updated_at: integerOrZero(),
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

/**
 * The bytes of attachments in pieces, which are written one by one before their mail. They are removed once the mail has a final state.
 */
export const transactionalPieces = sqliteTable(
  'transactional_pieces',
  {
    /** The utr of the mail. */
    utr: text().notNull(),
    /** The index of the attachment among those of the mail. */
    attachment: integer().notNull(),
    /** The index of the piece in the attachment. */
    number: integer().notNull(),
    bytes: blob({ mode: 'buffer' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.utr, table.attachment, table.number] })],
);

/** Transactional mails as they were sent, of accounts that keep such copies. A copy is removed with the record of its mail. */
export const sentTransactionalMails = sqliteTable('sent_transactional_mails', {
  mail_id: integer()
    .primaryKey()
    .references(() => transactionalMails.id, { onDelete: 'cascade' }),
  /** The message, compressed (DEFLATE, RFC 1951). */
  message: blob({ mode: 'buffer' }).notNull(),
});
