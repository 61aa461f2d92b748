/** Keeps the newest mails to the role addresses, except those about a mail of ours, as plain text for an operator to read. */
import type { Database } from 'better-sqlite3';
import { parseAddress, spellings } from '../../../audience/contacts/addresses.ts';
import { accountsWithErased, isErased } from '../../../audience/contacts/erased-addresses.ts';
import { fold } from '../../../database/functions/fold.ts';
import type { RoleMailbox } from '../../../database/schema/index.ts';
import { type Clock, isoTimestamp } from '../../../time/clock.ts';
import type { RoleMail } from './parse-bounce.ts';
import { sanitizeText } from './sanitize.ts';

/** The maximum number of mails that are kept. */
const MAX_ROWS = 200;
/** The maximum number of lines, and of characters, that are kept of the text of a mail. */
const MAX_LINES = 100;
const MAX_CHARACTERS = 4000;
/** The maximum number of characters that are kept of a line, the subject or the sender. */
const MAX_LINE = 500;
/** The maximum number of addresses of a mail that are looked up among the erased ones. */
const MAX_ADDRESSES = 20;
/** Matches an address in a text, also with the @ encoded as in a URL or in quoted-printable, and without the quotes and brackets around it. */
const ADDRESS = /[^\s\u2039\u203a()[\]{},;:"']{1,64}(?:@|[%=]40)[^\s\u2039\u203a()[\]{},;:"'@]{1,255}/g;
/** Matches characters that separate an address from other parts of a URL. */
const IN_LINKS = /[/?&=#]/;
/** Matches punctuation around an address in a sentence. */
const PUNCTUATION = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

/** Stores the beginning of a mail, and removes the oldest mails beyond `MAX_ROWS`. */
export function keepRoleMail(client: Database, mailbox: RoleMailbox, mail: RoleMail, clock: Clock): void {
  const censor = addressCensor(client);
  const row = {
    mailbox,
    sender: censor(plainLines(mail.sender, MAX_LINE)),
    subject: censor(plainLines(mail.subject, MAX_LINE)),
    text: censor(plainLines(mail.text, MAX_CHARACTERS)),
    created_at: isoTimestamp(clock.now()),
  };
  client
    .transaction(() => {
      client
        .prepare(
          'INSERT INTO role_mails (mailbox, sender, subject, text, created_at) VALUES (@mailbox, @sender, @subject, @text, @created_at)',
        )
        .run(row);
      client
        .prepare('DELETE FROM role_mails WHERE id <= (SELECT id FROM role_mails ORDER BY id DESC LIMIT 1 OFFSET ?)')
        .run(MAX_ROWS);
    })
    .immediate();
}

/** Removes a mail. Returns false if there is none with this id. */
export function removeRoleMail(client: Database, id: number): boolean {
  return client.prepare('DELETE FROM role_mails WHERE id = ?').run(id).changes > 0;
}

/** Removes the mails that contain a normalized address, in any encoding, because the contact is erased. */
export function eraseFromRoleMails(client: Database, email: string): void {
  const spellingsOfAddress = spellings(email);
  const matching = client
    .prepare<[], { id: number; text: string }>(
      "SELECT id, sender || ' ' || subject || ' ' || text AS text FROM role_mails",
    )
    .all()
    .filter(({ text }) =>
      decodings(text).some((decoded) => spellingsOfAddress.some((spelling) => fold(decoded).includes(spelling))),
    );
  for (const { id } of matching) removeRoleMail(client, id);
}

/**
 * Returns a text as it is, decoded from URL encoding (RFC 3986 2.1), and decoded from quoted-printable (RFC 2045 6.7), without duplicates.
 */
function decodings(text: string): string[] {
  const decoded = (escapes: RegExp) =>
    text.replace(escapes, (bytes) => Buffer.from(bytes.replace(/[%=]/g, ''), 'hex').toString());
  return [...new Set([text, decoded(/(?:%[\da-f]{2})+/gi), decoded(/(?:=[\da-f]{2})+/gi)])];
}

/** Returns the first lines of a text, each sanitized and cut after a whole word, so that no partial address remains. */
function plainLines(text: string, most: number): string {
  return wholeWords(text, most)
    .split('\n', MAX_LINES)
    .map((line) => sanitizeText(wholeWords(line, MAX_LINE)))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function wholeWords(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/\S*$/, '');
}

/**
 * Returns a function that removes the addresses of erased contacts from a text. To limit the cost, it removes all addresses after the
 * first `MAX_ADDRESSES` without looking them up.
 */
function addressCensor(client: Database): (text: string) => string {
  const accounts = accountsWithErased(client);
  const keptByAddress = new Map<string, boolean>();
  const isKept = (text: string) => {
    const address = parseAddress(text)?.normalized;
    if (address === undefined) return true;
    const known = keptByAddress.get(address);
    if (known !== undefined) return known;
    if (keptByAddress.size >= MAX_ADDRESSES) return false;
    const kept = !accounts.some((id) => isErased(client, id, address));
    keptByAddress.set(address, kept);
    return kept;
  };
  const addressesIn = (text: string) =>
    decodings(text)
      .flatMap((decoded) => [decoded, ...decoded.split(IN_LINKS)])
      .flatMap((part) => [part, part.replace(PUNCTUATION, '')]);
  return (text) => text.replace(ADDRESS, (match) => (addressesIn(match).every(isKept) ? match : '…'));
}
