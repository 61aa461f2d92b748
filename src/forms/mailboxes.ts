/**
 * Limits the mail of all forms to one per mailbox and day, so that forms cannot be used to flood a stranger. The mailboxes are stored
 * in the database, so that the limit holds across restarts.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { Address } from '../audience/contacts/addresses.ts';
import { addNamedValue, findNamedValue } from '../database/named-values.ts';
import { DAY_MS } from '../units.ts';

/** The named value that has the key of the stored hashes. */
const KEY_NAME = 'form_mailbox_key';
/**
 * Providers that deliver several spellings of an address to one mailbox. `ignored` are the characters that a provider ignores before
 * the at sign.
 */
const PROVIDERS = [
  { domains: ['gmail.com', 'googlemail.com'], ignored: '.' },
  { domains: ['proton.me', 'protonmail.com', 'protonmail.ch', 'pm.me'], ignored: '._-' },
  { domains: ['icloud.com', 'me.com', 'mac.com'], ignored: '' },
  { domains: ['yandex.ru', 'yandex.com', 'yandex.by', 'yandex.kz', 'yandex.ua', 'ya.ru'], ignored: '.-' },
] as const;
/** A domain such as `name.fastmail.com`: all its addresses belong to the mailbox `name@fastmail.com`. */
const BY_SUBDOMAIN = /^([^.]+)\.(fastmail\.(?:com|fm))$/;

/**
 * Records that a mailbox gets a mail now. Returns false if the mailbox got one within a day and may get none. A time in the future,
 * recorded while the clock was wrong, counts only if it is less than a day away. Call this in the transaction that queues the mail.
 */
export function takeMailOfDay(client: Database, address: Address, now: number): boolean {
  const mailbox = hashOf(client, mailboxOf(address));
  const { changes } = client
    .prepare(`INSERT INTO form_mailboxes (mailbox, mailed_at) VALUES (@mailbox, @now)
     ON CONFLICT (mailbox) DO UPDATE SET mailed_at = @now WHERE abs(mailed_at - @now) >= ${DAY_MS}`)
    .run({ mailbox, now });
  return changes === 1;
}

/** Removes up to `limit` mailboxes that may get another mail. Returns how many were removed. */
export function forgetMailboxes(client: Database, now: number, limit: number): number {
  return client
    .prepare(
      'DELETE FROM form_mailboxes WHERE mailbox IN (SELECT mailbox FROM form_mailboxes WHERE mailed_at <= ? LIMIT ?)',
    )
    .run(now - DAY_MS, limit).changes;
}

/**
 * Returns the mailbox that an address most likely belongs to: without a plus sign and the text after it, and without the characters
 * that large providers ignore. Otherwise a flood could use any number of spellings.
 */
function mailboxOf({ normalized }: Address): string {
  const at = normalized.lastIndexOf('@');
  const domain = normalized.slice(at + 1);
  const plus = normalized.indexOf('+');
  // A plus sign at the beginning separates nothing.
  const local = normalized.slice(0, plus > 0 && plus < at ? plus : at);
  const [, name, provider] = BY_SUBDOMAIN.exec(domain) ?? [];
  if (name !== undefined) return `${name}@${provider}`;
  const known = PROVIDERS.find(({ domains }) => domains.some((providerDomain) => providerDomain === domain));
  if (known === undefined) return `${local}@${domain}`;
  return `${[...local].filter((character) => !known.ignored.includes(character)).join('')}@${known.domains[0]}`;
}

function hashOf(client: Database, mailbox: string): string {
  if (findNamedValue(client, KEY_NAME) === null) addNamedValue(client, KEY_NAME, randomBytes(32).toString('hex'));
  return createHmac('sha256', Buffer.from(String(findNamedValue(client, KEY_NAME)), 'hex'))
    .update(mailbox)
    .digest('base64url');
}
