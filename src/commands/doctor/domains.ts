/** The domains that senders write from, with their keys and return paths. */

import { asciiDomain } from '../../audience/contacts/addresses.ts';
import type { Config } from '../../config.ts';
import type { Db } from '../../database/open.ts';
import { dkimKeys, senders } from '../../database/schema/index.ts';
import { dnsRecord } from '../../delivery/mime/dkim.ts';

export interface SenderDomain {
  domain: string;
  /** The domain of the envelope sender, whose SPF record counts. */
  returnPath: string;
  keys: { name: string; value: string; zone: string }[];
}

/** Each domain of a sender that is not deleted, once, in order. */
export function listSenderDomains(db: Db, config: Config): SenderDomain[] {
  const rows = db.select().from(senders).all();
  const keys = db.select().from(dkimKeys).all();
  const names = rows
    .filter(({ deleted_at }) => deleted_at === null)
    .map(({ from_email }) => asciiDomain(from_email.slice(from_email.lastIndexOf('@') + 1)))
    .filter((domain) => domain !== null);
  return [...new Set(names)].sort().map((domain) => ({
    domain,
    returnPath: config.BOUNCE_DOMAIN || domain,
    keys: keys
      .filter((key) => key.domain === domain)
      .map(({ selector, private_key }) => dnsRecord(domain, selector, private_key)),
  }));
}
