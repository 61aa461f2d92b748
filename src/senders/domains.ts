/** The domains that senders write from, with their keys and return paths. */
import { and, eq, isNull } from 'drizzle-orm';
import { asciiDomain } from '../audience/contacts/addresses.ts';
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import { dkimKeys, senders } from '../database/schema/index.ts';
import { dnsRecord } from '../delivery/mime/dkim.ts';

export interface SenderDomain {
  domain: string;
  /** The domain of the envelope sender, whose SPF record counts. */
  returnPath: string;
  keys: { name: string; value: string; zone: string }[];
}

/** The domain of a sender's address in ASCII form; null where it is not one. */
export function senderDomain(email: string): string | null {
  return asciiDomain(email.slice(email.lastIndexOf('@') + 1));
}

/** Each domain of a sender that is not deleted, once, in order; of one account where its id is given. */
export function listSenderDomains(db: Db, config: Config, accountId?: number): SenderDomain[] {
  const rows = db
    .select({ from_email: senders.from_email })
    .from(senders)
    .where(and(isNull(senders.deleted_at), accountId === undefined ? undefined : eq(senders.user_id, accountId)))
    .all();
  const keys = db.select().from(dkimKeys).all();
  const names = rows.map(({ from_email }) => senderDomain(from_email)).filter((domain) => domain !== null);
  return [...new Set(names)].sort().map((domain) => ({
    domain,
    returnPath: config.BOUNCE_DOMAIN || domain,
    keys: keys
      .filter((key) => key.domain === domain)
      .map(({ selector, private_key }) => dnsRecord(domain, selector, private_key)),
  }));
}
