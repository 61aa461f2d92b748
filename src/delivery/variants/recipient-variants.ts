/** Which variant of a mail its recipient got, and the sender as they know it: for the pages that the links of the mail open. */
import type { Database, Statement } from 'better-sqlite3';
import type { RecipientIds } from '../links/tokens.ts';
import type { FrozenContent } from '../queue/ready-mailing.ts';
import { VARIANT_OF } from './groups.ts';

/** The sender as the mailing has it. */
export type SenderValues = Pick<FrozenContent, 'sender_name' | 'sender_address'>;

export class RecipientVariants {
  readonly #variant: Statement<[number, number], number | null>;
  readonly #sender: Statement<RecipientIds, SenderValues>;

  constructor(client: Database) {
    this.#variant = client
      .prepare<[number, number], number | null>(
        `SELECT ${VARIANT_OF} FROM deliveries d WHERE id = ? AND mailing_id = ?`,
      )
      .pluck();
    this.#sender = client.prepare(`
      SELECT ifnull(CASE WHEN ${VARIANT_OF} > 0 THEN m.content ->> ('$.variants[' || (${VARIANT_OF} - 1) || '].sender_name') END,
        m.content ->> 'sender_name') AS sender_name, m.content ->> 'sender_address' AS sender_address
      FROM mailings m LEFT JOIN deliveries d ON d.id = @delivery AND d.mailing_id = m.id WHERE m.id = @mailing`);
  }

  /** The number of the variant; 0 is A, and the mail of who is in no test. */
  number({ delivery, mailing }: RecipientIds): number {
    return this.#variant.get(delivery, mailing) ?? 0;
  }

  /** The sender's name and address; undefined when there is no such mailing. */
  findSender(ids: RecipientIds): SenderValues | undefined {
    return this.#sender.get(ids);
  }
}
