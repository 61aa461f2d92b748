/** The domains of senders, with their DKIM keys and return paths. */
import { and, eq, isNull } from 'drizzle-orm';
import { asciiDomain } from '../audience/contacts/addresses.ts';
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import { senders } from '../database/schema/index.ts';
import { dnsRecord } from '../delivery/mime/dkim.ts';
import { type DkimKey, listDkimKeys } from './dkim-keys.ts';

/** A DKIM key with the name and value of its DNS record, and that record as a line of a zone file. */
type SenderDomainKey = Pick<DkimKey, 'id' | 'state' | 'created_at'> & ReturnType<typeof dnsRecord>;

export interface SenderDomain {
  domain: string;
  /** The domain of the envelope sender, for which SPF is checked. */
  returnPath: string;
  /** The DKIM keys of the domain, oldest first. */
  keys: SenderDomainKey[];
}

/** Returns the domain of a sender's address in ASCII form; null if the address is not valid. */
export function senderDomain(email: string): string | null {
  return asciiDomain(email.slice(email.lastIndexOf('@') + 1));
}

/** Returns true if an account has a sender of a domain (ASCII form) with a verified address. */
export function hasVerifiedSender(db: Db, accountId: number, domain: string): boolean {
  const rows = db
    .select({ from_email: senders.from_email })
    .from(senders)
    .where(and(isNull(senders.deleted_at), eq(senders.user_id, accountId), eq(senders.is_verified, 1)))
    .all();
  return rows.some(({ from_email }) => senderDomain(from_email) === domain);
}

/** Returns the domains of an account's senders, or of all senders, in alphabetical order. Deleted senders do not count. */
export function listSenderDomains(db: Db, config: Config, accountId?: number): SenderDomain[] {
  const rows = db
    .select({ from_email: senders.from_email })
    .from(senders)
    .where(and(isNull(senders.deleted_at), accountId === undefined ? undefined : eq(senders.user_id, accountId)))
    .all();
  const keys = listDkimKeys(db);
  const names = rows.map(({ from_email }) => senderDomain(from_email)).filter((domain) => domain !== null);
  return [...new Set(names)].sort().map((domain) => ({
    domain,
    returnPath: config.BOUNCE_DOMAIN || domain,
    keys: keys
      .filter((key) => key.domain === domain)
      .map(({ id, state, created_at, selector, private_key }) => ({
        id,
        state,
        created_at,
        ...dnsRecord(domain, selector, private_key),
      })),
  }));
}
