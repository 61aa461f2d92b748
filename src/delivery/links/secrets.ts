/**
 * The secrets of the installation, and the keys that are derived from them, one for each purpose (HKDF, RFC 5869). The root secrets never
 * leave this process. Sender nodes get the link secrets, which sign what is in the mails of recipients; whoever has those can sign nothing
 * else.
 */
import { hkdfSync, randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { addNamedValue, findNamedValue } from '../../database/named-values.ts';

const ROOTS = 'token_secrets';
/** What sender nodes were given by releases that signed everything with it. It is good for recipients' links only. */
const GIVEN_TO_NODES = 'link_secrets';
const KEY_BYTES = 32;

/** The root secrets, newest first; created at first use. Old ones stay valid, so that what they signed keeps working. */
export function rootSecrets(client: Database): string[] {
  // Read first: whoever asks again does not need the write lock.
  if (findNamedValue(client, ROOTS) === null)
    addNamedValue(client, ROOTS, JSON.stringify([randomBytes(KEY_BYTES).toString('base64url')]));
  return listUnder(client, ROOTS);
}

/** The secrets of recipients' links, newest first: all that sender nodes know. A backup of any age gives the same. */
export function linkSecrets(client: Database): string[] {
  const given = listUnder(client, GIVEN_TO_NODES);
  return given.length > 0 ? given : derivedLinkSecrets(rootSecrets(client));
}

/** The link secrets of an installation whose nodes were never given another. */
export function derivedLinkSecrets(roots: readonly string[]): string[] {
  return roots.map((root) => deriveKey(root, 'links of recipients'));
}

/** Every secret there is, by which a copy of this database is told from another installation's. */
export function allSecrets(client: Database): string[] {
  return [...listUnder(client, ROOTS), ...listUnder(client, GIVEN_TO_NODES)];
}

/** The key of a purpose: 256 bits in base64url. It tells nothing about the secret or the keys of other purposes. */
export function deriveKey(secret: string, purpose: string): string {
  return Buffer.from(hkdfSync('sha256', secret, '', `sendlark ${purpose}`, KEY_BYTES)).toString('base64url');
}

/**
 * The keys of the return paths of deliveries, newest first. They are derived from the link secrets, since nodes make such return paths.
 * Mails of earlier releases were signed with a secret itself.
 */
export function returnPathKeys(client: Database): string[] {
  const links = linkSecrets(client);
  return [...links.map((secret) => deriveKey(secret, 'return path')), ...links, ...rootSecrets(client)];
}

/** The keys of return paths that only the service makes, newest first: of transactional mails and of tests. */
export function ownReturnPathKeys(client: Database): string[] {
  const roots = rootSecrets(client);
  return [...roots.map((secret) => deriveKey(secret, 'own return path')), ...roots];
}

function listUnder(client: Database, name: string): string[] {
  const stored = findNamedValue(client, name);
  return stored === null ? [] : JSON.parse(stored);
}
