/**
 * The secrets of the installation, and the keys derived from them, one for each purpose (HKDF, RFC 5869). The root secrets never leave this
 * process. Sender nodes get only the link secrets, which sign the recipients' links and nothing else.
 */
import { hkdfSync, randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { addNamedValue, findNamedValue } from '../../database/named-values.ts';

const ROOTS = 'token_secrets';
/**
 * The name of the secret that earlier releases used for everything and shared with sender nodes. It is now accepted for recipients' links
 * only.
 */
const SHARED_WITH_NODES = 'link_secrets';
const KEY_BYTES = 32;

/**
 * Returns the root secrets, newest first. The first secret is created when it is needed. Old secrets stay valid, so that existing
 * signatures keep working.
 */
export function rootSecrets(client: Database): string[] {
  // The secrets are read first, because reading does not need the write lock.
  if (findNamedValue(client, ROOTS) === null)
    addNamedValue(client, ROOTS, JSON.stringify([randomBytes(KEY_BYTES).toString('base64url')]));
  return listUnder(client, ROOTS);
}

/**
 * Returns the secrets for recipients' links, newest first. They are the only secrets that sender nodes have, and the same in every backup.
 */
export function linkSecrets(client: Database): string[] {
  const received = listUnder(client, SHARED_WITH_NODES);
  return received.length > 0 ? received : derivedLinkSecrets(rootSecrets(client));
}

/** Returns the link secrets of an installation whose sender nodes never received a secret of an earlier release. */
export function derivedLinkSecrets(roots: readonly string[]): string[] {
  return roots.map((root) => deriveKey(root, 'links of recipients'));
}

/** Returns all secrets. They tell whether a database is a copy of this one or belongs to another installation. */
export function allSecrets(client: Database): string[] {
  return [...listUnder(client, ROOTS), ...listUnder(client, SHARED_WITH_NODES)];
}

/** Derives the key for a purpose: 256 bits in base64url. The key reveals nothing about the secret or the keys of other purposes. */
export function deriveKey(secret: string, purpose: string): string {
  return Buffer.from(hkdfSync('sha256', secret, '', `sendlark ${purpose}`, KEY_BYTES)).toString('base64url');
}

/**
 * Returns the keys for the return paths of deliveries, newest first. They are derived from the link secrets, because sender nodes create
 * such return paths. Earlier releases signed with the secret itself.
 */
export function returnPathKeys(client: Database): string[] {
  const links = linkSecrets(client);
  return [...links.map((secret) => deriveKey(secret, 'return path')), ...links, ...rootSecrets(client)];
}

/** Returns the keys for return paths that only the service creates, newest first: those of transactional mails and of tests. */
export function ownReturnPathKeys(client: Database): string[] {
  const roots = rootSecrets(client);
  return [...roots.map((secret) => deriveKey(secret, 'own return path')), ...roots];
}

function listUnder(client: Database, name: string): string[] {
  const stored = findNamedValue(client, name);
  return stored === null ? [] : JSON.parse(stored);
}
