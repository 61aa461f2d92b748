/**
 * The secrets of the installation, and the keys derived from them, one for each purpose (HKDF, RFC 5869). The root secrets never leave this
 * process. Sender nodes get only the link secrets, which sign the recipients' links and nothing else.
 */
import { hkdfSync, randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { addNamedValue, findNamedValue } from '../../database/named-values.ts';

const ROOTS = 'token_secrets';
/** The secret that earlier releases used for everything and shared with sender nodes. It is now accepted for recipients' links only. */
const GIVEN_TO_NODES = 'link_secrets';
const KEY_BYTES = 32;

/** The root secrets, newest first; created at first use. Old ones stay valid, so that existing signatures keep working. */
export function rootSecrets(client: Database): string[] {
  // Read first, because reading does not need the write lock.
  if (findNamedValue(client, ROOTS) === null)
    addNamedValue(client, ROOTS, JSON.stringify([randomBytes(KEY_BYTES).toString('base64url')]));
  return listUnder(client, ROOTS);
}

/** The secrets for recipients' links, newest first: the only secrets that sender nodes have. They are the same in every backup. */
export function linkSecrets(client: Database): string[] {
  const received = listUnder(client, GIVEN_TO_NODES);
  return received.length > 0 ? received : derivedLinkSecrets(rootSecrets(client));
}

/** The link secrets of an installation whose sender nodes were never given any others. */
export function derivedLinkSecrets(roots: readonly string[]): string[] {
  return roots.map((root) => deriveKey(root, 'links of recipients'));
}

/** All secrets. They tell whether a database is a copy of this one or belongs to another installation. */
export function allSecrets(client: Database): string[] {
  return [...listUnder(client, ROOTS), ...listUnder(client, GIVEN_TO_NODES)];
}

/** Derives the key for a purpose: 256 bits in base64url. It reveals nothing about the secret or the keys of other purposes. */
export function deriveKey(secret: string, purpose: string): string {
  return Buffer.from(hkdfSync('sha256', secret, '', `sendlark ${purpose}`, KEY_BYTES)).toString('base64url');
}

/**
 * The keys for the return paths of deliveries, newest first. They are derived from the link secrets, because sender nodes create such
 * return paths. Earlier releases signed with the secret itself.
 */
export function returnPathKeys(client: Database): string[] {
  const links = linkSecrets(client);
  return [...links.map((secret) => deriveKey(secret, 'return path')), ...links, ...rootSecrets(client)];
}

/** The keys for return paths that only the service creates, newest first: those of transactional mails and of tests. */
export function ownReturnPathKeys(client: Database): string[] {
  const roots = rootSecrets(client);
  return [...roots.map((secret) => deriveKey(secret, 'own return path')), ...roots];
}

function listUnder(client: Database, name: string): string[] {
  const stored = findNamedValue(client, name);
  return stored === null ? [] : JSON.parse(stored);
}
