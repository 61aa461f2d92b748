/**
 * One mail per mailbox and day, whoever asks for it with whichever form: so that forms cannot be used to flood a stranger. It is kept in
 * the file, so that a restart forgets nothing.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { Address } from '../audience/contacts/addresses.ts';
import { addNamedValue, findNamedValue } from '../database/named-values.ts';
import { prepared } from '../database/prepared.ts';

export const DAY_MS = 24 * 60 * 60 * 1000;
const KEY = 'form_mailbox_key';
/** Providers that deliver several spellings to one mailbox: their domains, and the characters that mean nothing before the at sign. */
const PROVIDERS = [
  { domains: ['gmail.com', 'googlemail.com'], ignored: '.' },
  { domains: ['proton.me', 'protonmail.com', 'protonmail.ch', 'pm.me'], ignored: '._-' },
  { domains: ['icloud.com', 'me.com', 'mac.com'], ignored: '' },
  { domains: ['yandex.ru', 'yandex.com', 'yandex.by', 'yandex.kz', 'yandex.ua', 'ya.ru'], ignored: '.-' },
] as const;
/** Where `anything@name.fastmail.com` is the mailbox of `name@fastmail.com`. */
const BY_SUBDOMAIN = /^([^.]+)\.(fastmail\.(?:com|fm))$/;

/**
 * Takes the mail that a mailbox may get within a day; false when it had one. A moment in the future, from when the clock was wrong,
 * counts only while it is nearer than a day. Call it in the transaction that queues the mail.
 */
export function takeMailOfDay(client: Database, address: Address, now: number): boolean {
  const mailbox = hashOf(client, mailboxOf(address));
  const { changes } = prepared(
    client,
    `INSERT INTO form_mailboxes (mailbox, mailed_at) VALUES (@mailbox, @now)
     ON CONFLICT (mailbox) DO UPDATE SET mailed_at = @now WHERE abs(mailed_at - @now) >= ${DAY_MS}`,
  ).run({ mailbox, now });
  return changes === 1;
}

/** Forgets mailboxes that may get another mail; gives how many. */
export function forgetMailboxes(client: Database, now: number, limit: number): number {
  return prepared(
    client,
    'DELETE FROM form_mailboxes WHERE mailbox IN (SELECT mailbox FROM form_mailboxes WHERE mailed_at <= ? LIMIT ?)',
  ).run(now - DAY_MS, limit).changes;
}

/**
 * The mailbox that an address most likely belongs to: without what follows a plus sign, and without what large providers ignore, since
 * a flood could come by as many such spellings as one likes.
 */
function mailboxOf({ normalized }: Address): string {
  const at = normalized.lastIndexOf('@');
  const domain = normalized.slice(at + 1);
  const plus = normalized.indexOf('+');
  // A plus sign at the beginning is no mark of a part.
  const local = normalized.slice(0, plus > 0 && plus < at ? plus : at);
  const [, name, provider] = BY_SUBDOMAIN.exec(domain) ?? [];
  if (name !== undefined) return `${name}@${provider}`;
  const known = PROVIDERS.find(({ domains }) => domains.some((one) => one === domain));
  if (known === undefined) return `${local}@${domain}`;
  return `${[...local].filter((character) => !known.ignored.includes(character)).join('')}@${known.domains[0]}`;
}

function hashOf(client: Database, mailbox: string): string {
  if (findNamedValue(client, KEY) === null) addNamedValue(client, KEY, randomBytes(32).toString('hex'));
  return createHmac('sha256', Buffer.from(String(findNamedValue(client, KEY)), 'hex'))
    .update(mailbox)
    .digest('base64url');
}
