/**
 * The public URL: where recipients reach this service, and where links in mails lead. PUBLIC_URL in the environment takes precedence over
 * the URL that operators saved in the database.
 */
import type { Database } from 'better-sqlite3';
import type { Config } from '../../config.ts';
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';

const NAME = 'public_url';

/**
 * Where the public URL comes from: the environment, the database file, or nowhere. Without a public URL, links lead to this machine's host
 * and port.
 */
export const URL_SOURCES = ['environment', 'file', 'none'] as const;

export interface PublicUrl {
  /** An origin without a trailing slash; empty if there is none. */
  url: string;
  source: (typeof URL_SOURCES)[number];
}

/** Returns the current public URL and its source. */
export function findPublicUrl(client: Database, { PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>): PublicUrl {
  if (PUBLIC_URL !== '') return { url: PUBLIC_URL, source: 'environment' };
  const stored = findNamedValue(client, NAME);
  return stored === null ? { url: '', source: 'none' } : { url: stored, source: 'file' };
}

/** Saves an origin in the database. Call it in the transaction that writes the audit log entry. */
export function savePublicUrl(client: Database, url: string): void {
  writeNamedValue(client, NAME, url);
}
