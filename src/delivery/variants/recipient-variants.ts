/** Finds the variant of a mail that its recipient got, and the sender as shown in that mail, for the pages that the mail's links open. */
import type { Database, Statement } from 'better-sqlite3';
import type { RecipientIds } from '../links/tokens.ts';
import type { FrozenContent } from '../queue/ready-mailing.ts';
import { VARIANT_OF } from '../queue/variant-groups.ts';

/** The sender's details in the mailing. */
export type SenderValues = Pick<FrozenContent, 'sender_name' | 'sender_address'>;

/** The maximum number of cached senders. A mailing's sender details never change. */
const MAX_SENDERS = 1000;

export class RecipientVariants {
  readonly #variant: Statement<[number, number], number | null>;
  readonly #sender: Statement<[string | null, number], SenderValues>;
  /** The cached senders by mailing and variant. They are cached because reading the content of a large mail takes milliseconds. */
  readonly #senders = new Map<string, SenderValues>();

  constructor(client: Database) {
    this.#variant = client
      .prepare<[number, number], number | null>(
        `SELECT ${VARIANT_OF} FROM deliveries d WHERE id = ? AND mailing_id = ?`,
      )
      .pluck();
    this.#sender = client.prepare(`
      SELECT ifnull(content ->> ?, content ->> 'sender_name') AS sender_name, content ->> 'sender_address' AS sender_address
      FROM mailings WHERE id = ?`);
  }

  /** Returns the number of the recipient's variant; 0 for variant A and for recipients in no test. */
  number({ delivery, mailing }: RecipientIds): number {
    return this.#variant.get(delivery, mailing) ?? 0;
  }

  /** Returns the sender's name and address in the recipient's mail; undefined if there is no such mailing. */
  findSender(ids: RecipientIds): SenderValues | undefined {
    const variant = this.number(ids);
    const key = `${ids.mailing} ${variant}`;
    const known = this.#senders.get(key);
    if (known !== undefined) return known;
    const path = variant === 0 ? null : `$.variants[${variant - 1}].sender_name`;
    const row = this.#sender.get(path, ids.mailing);
    if (this.#senders.size >= MAX_SENDERS) this.#senders.clear();
    if (row !== undefined) this.#senders.set(key, row);
    return row;
  }
}
