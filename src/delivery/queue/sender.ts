/** Reads the sender of a mailing when its recipients are claimed, so that a change applies to all later mails. */
import type { Database, Statement } from 'better-sqlite3';
import type { senders } from '../../database/schema/index.ts';
import { type Held, holdFor } from './holds.ts';

/** The sender's details in a mail. */
export interface SenderFacts {
  from_email: string;
  reply_to: string;
  sender_name: string;
  /** The value of `((sender_address))`, which is one line. */
  sender_address: string;
}

type Sender = typeof senders.$inferSelect;

interface SenderAddress extends Pick<Sender, 'company_address' | 'company_address2' | 'zip_code'> {
  city?: string | null;
  country?: string | null;
}

type SenderRow = SenderAddress &
  Pick<Sender, 'from_name' | 'from_email' | 'reply_to_email' | 'is_verified' | 'deleted_at'>;

/** Reads senders. While `mustBeVerified` returns true, unverified senders may not send. */
export class Senders {
  readonly #mustBeVerified: () => boolean;
  readonly #read: Statement<[number], SenderRow>;

  constructor(client: Database, mustBeVerified: () => boolean) {
    this.#mustBeVerified = mustBeVerified;
    this.#read = client.prepare(`
      SELECT from_name, from_email, reply_to_email, company_address, company_address2, zip_code, cities.name AS city,
        countries.name AS country, is_verified, deleted_at
      FROM senders LEFT JOIN cities ON cities.id = senders.city_id LEFT JOIN countries ON countries.id = senders.country_id
      WHERE senders.id = ?`);
  }

  /** Returns the current sender, or the reason why it may not send. */
  get(id: number): SenderFacts | Held {
    const row = this.#read.get(id);
    if (row === undefined || row.deleted_at !== null) return holdFor('sender_deleted');
    if (row.is_verified === 0 && this.#mustBeVerified()) return holdFor('sender_unverified');
    return senderFacts(row);
  }
}

function senderFacts(row: SenderRow): SenderFacts {
  return {
    from_email: row.from_email,
    reply_to: row.reply_to_email,
    sender_name: row.from_name,
    sender_address: addressLine(row),
  };
}

/** Returns a sender's postal address in one line: company lines, zip code and city, country, separated by commas. */
export function addressLine(sender: SenderAddress): string {
  const place = [sender.zip_code, sender.city].filter(Boolean).join(' ');
  return [sender.company_address, sender.company_address2, place, sender.country].filter(Boolean).join(', ');
}
