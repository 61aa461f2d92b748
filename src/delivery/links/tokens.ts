/**
 * Signed tokens in the links of mails. A token contains the ids it acts on, so it needs no lookup table and works even after other records
 * are deleted. The signature also covers the recipient's address: when an id is assigned again after a restore, an old link must not act on
 * another contact.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { findNamedValue } from '../../database/named-values.ts';
import { derivedLinkSecrets, deriveKey, linkSecrets, rootSecrets } from './secrets.ts';
import { addressCipher, type Hmac, hmacSha512 } from './token-crypto.ts';

/** The records that a recipient's links refer to. */
export interface RecipientIds {
  delivery: number;
  mailing: number;
  address: number;
  /** The unsubscribe group of the mail; 0 if it has none. */
  group: number;
  user: number;
  /** The recipient's normalized address, which the signature covers. A token contains it only in mails of sender nodes, and encrypted. */
  email: string;
}

/** Database lookups about the contacts that tokens refer to. */
export interface ContactLookup {
  /** Returns the normalized form of one of the account's addresses; undefined if the database does not have it. */
  findEmail(address: number, user: number): string | undefined;
  /** The largest ids that are accepted without a signed address, because earlier releases did not sign it. */
  unsigned: { deliveries: number; mailings: number; addresses: number };
  /**
   * Returns the account and the unsubscribe group of a mailing; undefined if the database does not have the mailing. The group is 0 if
   * there is none. If this function is present, new click tokens are short.
   */
  findMailing?(mailing: number): Pick<RecipientIds, 'user' | 'group'> | undefined;
  /** True if new tokens include the encrypted address, for readers without a database. */
  sealsAddress?: boolean;
}

/**
 * What a token is for. Each purpose uses its own 128 bits of one HMAC-SHA512, so that a recipient costs a single HMAC while a token works
 * for one purpose only.
 */
export type Purpose = 'open' | 'click' | 'unsubscribe' | 'web';
const PART_BYTES = 16;
/** Where the part of each purpose begins in the HMAC, in bytes. */
const PART_START: Readonly<Record<Purpose, number>> = {
  open: 0,
  click: PART_BYTES,
  unsubscribe: 2 * PART_BYTES,
  web: 3 * PART_BYTES,
};
/**
 * The number of bytes of a short click token's signature. A mail has a click token in each of its links, so a click token names only the
 * delivery, the mailing and the address, and is signed with the first 12 bytes of its part: 16 characters of base64url, without unused
 * bits. The account and the group are looked up by the mailing. The signature covers the same text as in long tokens, which earlier
 * releases and sender nodes create.
 */
const CLICK_BYTES = 12;
const CLICK_TOKEN = /^([0-9a-z]{1,11})-([0-9a-z]{1,11})-([0-9a-z]{1,11})\.[\w-]{16}$/;
/** The character before the encrypted address; base64url does not use it. */
const SEAL_MARK = '~';

/** Returns true for a token that contains the encrypted address of its recipient, so that a sender node can check it. */
export function hasSealedAddress(token: string): boolean {
  return token.includes(SEAL_MARK);
}

/** Other purposes for which the link secrets sign: links that all recipients share, and the hash that identifies a contact in JetStream. */
type LinkPurpose = 'shared' | 'person';
const LINK_PURPOSES: readonly string[] = ['shared', 'person'] satisfies LinkPurpose[];

/** The tokens that can be created and read with the link secrets alone, as on a sender node. */
export interface LinkTokens {
  /** Returns the four tokens of one recipient. */
  recipient(ids: RecipientIds): Record<Purpose, string>;
  /**
   * Returns the ids in a recipient's token for this purpose; null if the token is not ours or the contact is no longer known. `email` is
   * the normalized address of a contact that the database lacks, such as one added after the restored backup was made.
   */
  readRecipient(purpose: Purpose, token: string, email?: string): RecipientIds | null;
  /** Returns a token for another purpose: the text, encoded but not encrypted, and its signature. */
  sign(purpose: LinkPurpose, text: string): string;
  /** Returns the text in a token for another purpose; null if the token is not ours. */
  read(purpose: LinkPurpose, token: string): string | null;
}

/** All tokens, including those that only the service creates and reads: their keys are not shared with sender nodes. */
export interface Tokens extends LinkTokens {
  sign(purpose: string, text: string): string;
  read(purpose: string, token: string): string | null;
  /**
   * Returns the text in a token of an earlier release; null if the token is not ours. It was signed with a secret that sender nodes share,
   * so they could forge it.
   */
  readForgeable(purpose: string, token: string): string | null;
}

/** Creates tokens with the secrets in this database. */
export function openTokens(client: Database): Tokens {
  const emailOf = client
    .prepare<[number, number], string>('SELECT normalized_email FROM addresses WHERE id = ? AND user_id = ?')
    .pluck();
  const mailingOf = client.prepare<[number], Pick<RecipientIds, 'user' | 'group'>>(
    'SELECT user_id AS user, ifnull(unsubscribe_group_id, 0) AS "group" FROM mailings WHERE id = ?',
  );
  const known: ContactLookup = {
    findEmail: (address, user) => emailOf.get(address, user),
    findMailing: (mailing) => mailingOf.get(mailing),
    unsigned: unsignedLimits(client),
  };
  return createTokens(rootSecrets(client), known, linkSecrets(client));
}

/** Returns the largest ids that links and return paths of earlier releases may refer to. Their signatures do not cover the address. */
export function unsignedLimits(client: Database): ContactLookup['unsigned'] {
  const stored = findNamedValue(client, 'unsigned_addresses_up_to');
  return stored === null ? { deliveries: 0, mailings: 0, addresses: 0 } : JSON.parse(stored);
}

/**
 * Creates tokens that are signed with the newest secret, and accepts those of all secrets. Signatures that earlier releases made with a
 * root secret itself stay valid, because sender nodes never had the root secrets.
 */
export function createTokens(
  roots: readonly string[],
  known: ContactLookup,
  links: readonly string[] = derivedLinkSecrets(roots),
): Tokens {
  const linkTokens = createLinkTokens([...links, ...roots], known);
  const earlierSigner = textSigner(roots);
  const forgeable = textSigner(links);
  const signers = new Map<string, TextSigner>();
  const signerOf = (purpose: string): TextSigner => {
    const signer = signers.get(purpose) ?? textSigner(roots.map((root) => deriveKey(root, purpose)));
    signers.set(purpose, signer);
    return signer;
  };
  return {
    ...linkTokens,
    sign: (purpose, text) =>
      isLinkPurpose(purpose) ? linkTokens.sign(purpose, text) : signerOf(purpose).sign(purpose, text),
    read: (purpose, token) =>
      isLinkPurpose(purpose)
        ? linkTokens.read(purpose, token)
        : (signerOf(purpose).read(purpose, token) ?? earlierSigner.read(purpose, token)),
    readForgeable: (purpose, token) => forgeable.read(purpose, token),
  };
}

function isLinkPurpose(purpose: string): purpose is LinkPurpose {
  return LINK_PURPOSES.includes(purpose);
}

interface TextSigner {
  sign(purpose: string, text: string): string;
  read(purpose: string, token: string): string | null;
}

/** Returns a signer that signs texts with the first secret and accepts signatures of all secrets. */
function textSigner(secrets: readonly string[]): TextSigner {
  const keys = secrets.map((secret) => createSecretKey(secret, 'utf8'));
  const macOf = (key: KeyObject, purpose: string, text: string) =>
    createHmac('sha256', key).update(`${purpose}:${text}`).digest().toString('base64url', 0, PART_BYTES);
  return {
    sign(purpose, text) {
      const [newest] = keys;
      if (newest === undefined) throw new Error('tokens need a secret');
      return `${Buffer.from(text).toString('base64url')}.${macOf(newest, purpose, text)}`;
    },
    read(purpose, token) {
      const [body, mac] = splitToken(token);
      const text = Buffer.from(body, 'base64url').toString();
      if (Buffer.from(text).toString('base64url') !== body) return null;
      return anyMatches(keys, mac, (key) => macOf(key, purpose, text)) ? text : null;
    },
  };
}

/**
 * Returns true if one of the keys makes this signature. The encoded texts are compared, not their bytes, because base64url leaves unused
 * bits in the last character: changing these must not yield another valid token.
 */
function anyMatches<Key>(keys: readonly Key[], mac: string, expected: (key: Key) => string): boolean {
  const received = Buffer.from(mac);
  return keys.some((key) => {
    const own = Buffer.from(expected(key), 'latin1');
    return received.length === own.length && timingSafeEqual(received, own);
  });
}

/**
 * Creates the tokens in mails of sender nodes. A node has no database, so these tokens contain the encrypted address. Tokens of releases
 * that did not sign the address are not accepted.
 */
export function createNodeTokens(secrets: readonly string[]): LinkTokens {
  const unsigned = { deliveries: 0, mailings: 0, addresses: 0 };
  return createLinkTokens(secrets, { findEmail: () => undefined, unsigned, sealsAddress: true });
}

/** Creates tokens as `createTokens` does, with the link secrets alone. */
export function createLinkTokens(secrets: readonly string[], known: ContactLookup): LinkTokens {
  const { findEmail: emailOf, findMailing: mailingOf, unsigned, sealsAddress = false } = known;
  // The keys are created once, because a key given as text would be parsed again for every token.
  const hmacs = secrets.map((secret) => hmacSha512(secret));
  const ciphers = secrets.map((secret) => addressCipher(secret));
  const [newest] = hmacs;
  if (newest === undefined) throw new Error('tokens need a secret');

  /**
   * Reads a token of a contact that the database lacks. The address was encrypted with one of the secrets; the signature, which covers the
   * address, tells whether it was decrypted with the right one.
   */
  const readSealed = (
    ids: Omit<RecipientIds, 'email'>,
    mac: string,
    sealed: string,
    at: number,
  ): RecipientIds | null => {
    for (const { seal, open } of ciphers) {
      const email = open(ids, sealed);
      if (seal({ ...ids, email }) !== sealed) continue;
      const signed = signedText(recipientBody(ids), email);
      const expected = (macOf: Hmac) => macOf(signed).toString('base64url', at, at + PART_BYTES);
      if (anyMatches(hmacs, mac, expected)) return { ...ids, email };
    }
    return null;
  };

  const readShortClick = (token: string, recipientEmail: string | undefined): RecipientIds | null => {
    const [, ...texts] = CLICK_TOKEN.exec(token) ?? [];
    const [delivery, mailing, address] = texts.map((text) => Number.parseInt(text, 36));
    if (delivery === undefined || mailing === undefined || address === undefined) return null;
    const [body, mac] = splitToken(token);
    // A number may have only one spelling, so that a token has only one.
    if (body !== clickBody({ delivery, mailing, address })) return null;
    const owner = mailingOf?.(mailing);
    const email = owner === undefined ? undefined : (emailOf(address, owner.user) ?? recipientEmail);
    if (owner === undefined || email === undefined) return null;
    const ids = { delivery, mailing, address, ...owner };
    const signed = signedText(recipientBody(ids), email);
    const expected = (macOf: Hmac) => clickMac(macOf(signed));
    return anyMatches(hmacs, mac, expected) ? { ...ids, email } : null;
  };

  return {
    recipient(ids) {
      const body = recipientBody(ids);
      const mac = newest(signedText(body, ids.email));
      const sealed = sealsAddress ? `${SEAL_MARK}${ciphers[0]?.seal(ids)}` : '';
      const longToken = (purpose: Purpose) => {
        const at = PART_START[purpose];
        return `${body}.${mac.toString('base64url', at, at + PART_BYTES)}${sealed}`;
      };
      const click = mailingOf === undefined ? longToken('click') : `${clickBody(ids)}.${clickMac(mac)}`;
      return { open: longToken('open'), click, unsubscribe: longToken('unsubscribe'), web: longToken('web') };
    },
    readRecipient(purpose, token, recipientEmail) {
      if (purpose === 'click' && CLICK_TOKEN.test(token)) return readShortClick(token, recipientEmail);
      const [body, signature] = splitToken(token);
      const mark = signature.indexOf(SEAL_MARK);
      const mac = mark < 0 ? signature : signature.slice(0, mark);
      const sealed = mark < 0 ? undefined : signature.slice(mark + 1);
      const at = PART_START[purpose];
      const ids = recipientIds(body);
      if (ids === null) return null;
      const stored = emailOf(ids.address, ids.user) ?? recipientEmail;
      if (stored === undefined && sealed !== undefined) return readSealed(ids, mac, sealed, at);
      if (stored === undefined) return null;
      const isSealUnchanged =
        sealed === undefined || ciphers.some(({ seal }) => seal({ ...ids, email: stored }) === sealed);
      if (!isSealUnchanged) return null;
      const isSigned = (signed: string) =>
        anyMatches(hmacs, mac, (macOf) => macOf(signed).toString('base64url', at, at + PART_BYTES));
      const mayBeUnsigned =
        ids.delivery <= unsigned.deliveries && ids.mailing <= unsigned.mailings && ids.address <= unsigned.addresses;
      return isSigned(signedText(body, stored)) || (mayBeUnsigned && isSigned(`recipient:${body}`))
        ? { ...ids, email: stored }
        : null;
    },
    ...textSigner(secrets),
  };
}

const MAX_TOKEN_CHARACTERS = 1000;

/** Returns what is before and after the first dot of a token; two empty texts if it has no dot or is too long. */
function splitToken(token: string): [string, string] {
  const dot = token.indexOf('.');
  return dot > 0 && token.length <= MAX_TOKEN_CHARACTERS ? [token.slice(0, dot), token.slice(dot + 1)] : ['', ''];
}

/** Returns the signed text: ids and address separated by a space, which neither contains. */
function signedText(body: string, email: string): string {
  return `recipient:${body} ${email}`;
}

function clickBody({ delivery, mailing, address }: Pick<RecipientIds, 'delivery' | 'mailing' | 'address'>): string {
  return `${delivery.toString(36)}-${mailing.toString(36)}-${address.toString(36)}`;
}

function clickMac(mac: Buffer): string {
  return mac.toString('base64url', PART_START.click, PART_START.click + CLICK_BYTES);
}

function recipientBody({ delivery, mailing, address, group, user }: Omit<RecipientIds, 'email'>): string {
  return `${clickBody({ delivery, mailing, address })}-${group.toString(36)}-${user.toString(36)}`;
}

function recipientIds(body: string): Omit<RecipientIds, 'email'> | null {
  if (!/^[0-9a-z]{1,11}(-[0-9a-z]{1,11}){4}$/.test(body)) return null;
  const [delivery = 0, mailing = 0, address = 0, group = 0, user = 0] = body
    .split('-')
    .map((id) => Number.parseInt(id, 36));
  return { delivery, mailing, address, group, user };
}

/**
 * Matches a signed token in one of our URLs, or the secret that confirms a form's request. In quoted-printable, a dot at the start of a
 * line is encoded.
 */
const TOKEN =
  /(\/(?:u|o|c|w|verify|design)\/)[\w-]+(?:\.|=2E)(?:[\w-]{22}|[\w-]{16})(?:~[\w-]+)?|(\/f\/confirm\/)[\w-]{32}/g;
/** The text that replaces a removed token. */
export const HIDDEN = 'hidden';

/**
 * Removes the tokens from the links of one of our mails. With them, anyone could unsubscribe the recipient, open and click in the
 * recipient's name, or verify a sender. Soft line breaks of the body are removed first, because a token may span them.
 */
export function withoutTokens(raw: string): string {
  const end = raw.indexOf('\r\n\r\n');
  const body = raw.slice(end).replaceAll('=\r\n', '');
  return (raw.slice(0, end) + body).replaceAll(TOKEN, `$1$2${HIDDEN}`);
}
