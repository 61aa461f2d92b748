/** Which variant of a mail its recipient got, and the sender as they know it: for the pages that the links of the mail open. */
import type { Database, Statement } from 'better-sqlite3';
import type { RecipientIds } from '../links/tokens.ts';
import type { FrozenContent } from '../queue/ready-mailing.ts';
import { VARIANT_OF } from '../queue/variant-groups.ts';

/** The sender as the mailing has it. */
export type SenderValues = Pick<FrozenContent, 'sender_name' | 'sender_address'>;

/** Senders that are kept. What a mailing has of its sender never changes. */
const MAX_SENDERS = 1000;

export class RecipientVariants {
  readonly #variant: Statement<[number, number], number | null>;
  readonly #sender: Statement<[string | null, number], SenderValues>;
  /** The senders that were read, by mailing and variant: reading that of a large mail takes milliseconds. */
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

  /** The number of the variant; 0 is A, and the mail of who is in no test. */
  number({ delivery, mailing }: RecipientIds): number {
    return this.#variant.get(delivery, mailing) ?? 0;
  }

  /** The sender's name and address; undefined when there is no such mailing. */
  findSender(ids: RecipientIds): SenderValues | undefined {
    const variant = this.number(ids);
    const key = `${ids.mailing} ${variant}`;
    const known = this.#senders.get(key);
    if (known !== undefined) return known;
    const path = variant === 0 ? null : `$.variants[${variant - 1}].sender_name`;
    const found = this.#sender.get(path, ids.mailing);
    if (this.#senders.size >= MAX_SENDERS) this.#senders.clear();
    if (found !== undefined) this.#senders.set(key, found);
    return found;
  }
}
