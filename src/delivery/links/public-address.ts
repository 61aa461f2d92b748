/**
 * The public address: where recipients reach this service, and where links in mails lead. PUBLIC_URL in the environment decides; without
 * it, what operators saved in the file.
 */
import type { Database } from 'better-sqlite3';
import type { Config } from '../../config.ts';
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';

const NAME = 'public_url';

/** Where the public address comes from; none: there is none, and links lead to host and port of this machine. */
export const ADDRESS_SOURCES = ['environment', 'file', 'none'] as const;

export interface PublicAddress {
  /** An origin without a trailing slash; empty where there is none. */
  url: string;
  source: (typeof ADDRESS_SOURCES)[number];
}

/** The public address in force now, and where it comes from. */
export function publicAddress(client: Database, { PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>): PublicAddress {
  if (PUBLIC_URL !== '') return { url: PUBLIC_URL, source: 'environment' };
  const stored = findNamedValue(client, NAME);
  return stored === null ? { url: '', source: 'none' } : { url: stored, source: 'file' };
}

/** Keeps an origin in the file. To be called within the transaction of its entry in the audit log. */
export function savePublicAddress(client: Database, url: string): void {
  writeNamedValue(client, NAME, url);
}
