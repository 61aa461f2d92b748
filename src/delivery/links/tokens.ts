/**
 * Signed tokens in the links of mails. A token contains the ids it acts on, so it needs no lookup table and works even after other
 * records are deleted. The signature also covers the person's address, so that after a restore, when an id is handed out again, an
 * old link does not act on another person.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { findNamedValue } from '../../database/named-values.ts';
import { sealing } from './sealed-address.ts';
import { derivedLinkSecrets, deriveKey, linkSecrets, rootSecrets } from './secrets.ts';

/** What the links of a recipient refer to. */
export interface RecipientIds {
  delivery: number;
  mailing: number;
  address: number;
  /** 0: a mail without an unsubscribe group. */
  group: number;
  user: number;
  /** The normalized address. The signature covers it; the token contains it only sealed, and only in mails of sender nodes. */
  email: string;
}

/** What the database knows of the people that tokens refer to. */
export interface KnownPeople {
  /** The normalized form of an account's address, or undefined when the database does not know it. */
  findEmail(address: number, user: number): string | undefined;
  /** The largest ids accepted without a signed address: those handed out by earlier releases, whose tokens did not sign it. */
  unsigned: { deliveries: number; mailings: number; addresses: number };
  /** Whether new tokens carry the address, sealed, for readers without a database. */
  sealsAddress?: boolean;
}

/** Each purpose uses its own 128 bits of one HMAC-SHA512: a recipient costs one HMAC, and a token works for one purpose only. */
export type Purpose = 'open' | 'click' | 'unsubscribe' | 'web';
const PARTS: readonly Purpose[] = ['open', 'click', 'unsubscribe', 'web'];
const PART_BYTES = 16;
/** The length of a part in base64url. */
const PART_CHARACTERS = 22;
/** Stands before the sealed address; base64url does not contain it. */
const SEAL_MARK = '~';

/** What is signed with the link secrets besides the links of one recipient: links that all recipients share, and the name of a person in JetStream. */
type LinkPurpose = 'shared' | 'person';
const LINK_PURPOSES: readonly string[] = ['shared', 'person'] satisfies LinkPurpose[];

/** What can be made and read with the link secrets, as on a sender node. */
export interface LinkTokens {
  /** The four tokens of one recipient. */
  recipient(ids: RecipientIds): Record<Purpose, string>;
  /**
   * The ids in a recipient's token for this purpose, or null when the token is not ours or its person is no longer known. `email` is the
   * normalized address for a person the database does not know, such as one who was added after a restored backup was made.
   */
  readRecipient(purpose: Purpose, token: string, email?: string): RecipientIds | null;
  /** A token for anything else: the text, encoded but not encrypted, and its signature. */
  sign(purpose: LinkPurpose, text: string): string;
  /** The text in such a token, or null when the token is not ours. */
  read(purpose: LinkPurpose, token: string): string | null;
}

/** What only the service itself makes and reads: for every other purpose there is a key that no node has. */
export interface Tokens extends LinkTokens {
  sign(purpose: string, text: string): string;
  read(purpose: string, token: string): string | null;
  /** The text in a token that an earlier release signed with a secret that nodes have, too, so that a node can forge it; or null. */
  readForgeable(purpose: string, token: string): string | null;
}

/** Tokens signed with the secrets in this database. */
export function openTokens(client: Database): Tokens {
  const emailOf = client
    .prepare<[number, number], string>('SELECT normalized_email FROM addresses WHERE id = ? AND user_id = ?')
    .pluck();
  const known = {
    findEmail: (address: number, user: number) => emailOf.get(address, user),
    unsigned: unsignedLimits(client),
  };
  return createTokens(rootSecrets(client), known, linkSecrets(client));
}

/** The largest ids that links and return paths of earlier releases may refer to; their signatures do not cover the address. */
export function unsignedLimits(client: Database): KnownPeople['unsigned'] {
  const stored = findNamedValue(client, 'unsigned_addresses_up_to');
  return stored === null ? { deliveries: 0, mailings: 0, addresses: 0 } : JSON.parse(stored);
}

/**
 * Signs with the first of the secrets and accepts all of them. What earlier releases signed with a root secret itself stays valid: nodes
 * never had the root secrets of an installation.
 */
export function createTokens(
  roots: readonly string[],
  known: KnownPeople,
  links: readonly string[] = derivedLinkSecrets(roots),
): Tokens {
  const ofLinks = createLinkTokens([...links, ...roots], known);
  const early = textSigner(roots);
  const given = textSigner(links);
  const signers = new Map<string, TextSigner>();
  const signerOf = (purpose: string): TextSigner => {
    const signer = signers.get(purpose) ?? textSigner(roots.map((root) => deriveKey(root, purpose)));
    signers.set(purpose, signer);
    return signer;
  };
  return {
    ...ofLinks,
    sign: (purpose, text) =>
      isLinkPurpose(purpose) ? ofLinks.sign(purpose, text) : signerOf(purpose).sign(purpose, text),
    read: (purpose, token) =>
      isLinkPurpose(purpose)
        ? ofLinks.read(purpose, token)
        : (signerOf(purpose).read(purpose, token) ?? early.read(purpose, token)),
    readForgeable: (purpose, token) => given.read(purpose, token),
  };
}

function isLinkPurpose(purpose: string): purpose is LinkPurpose {
  return LINK_PURPOSES.includes(purpose);
}

interface TextSigner {
  sign(purpose: string, text: string): string;
  read(purpose: string, token: string): string | null;
}

/** Signs texts with the first key and accepts all of them. */
function textSigner(texts: readonly string[]): TextSigner {
  const keys = texts.map((text) => createSecretKey(text, 'utf8'));
  const macOf = (key: KeyObject, purpose: string, text: string) =>
    createHmac('sha256', key).update(`${purpose}:${text}`).digest().toString('base64url', 0, PART_BYTES);
  return {
    sign(purpose, text) {
      const [newest] = keys;
      if (newest === undefined) throw new Error('tokens need a secret');
      return `${Buffer.from(text).toString('base64url')}.${macOf(newest, purpose, text)}`;
    },
    read(purpose, token) {
      const [body, mac] = split(token);
      const text = Buffer.from(body, 'base64url').toString();
      if (Buffer.from(text).toString('base64url') !== body) return null;
      return anyMatches(keys, mac, (key) => macOf(key, purpose, text)) ? text : null;
    },
  };
}

/**
 * Whether one of the keys gives this signature. The encoded texts are compared: base64url leaves unused bits in the last character, and
 * changing them must not give a valid token.
 */
function anyMatches(keys: readonly KeyObject[], mac: string, expected: (key: KeyObject) => string): boolean {
  const given = Buffer.from(mac);
  return (
    given.length === PART_CHARACTERS && keys.some((key) => timingSafeEqual(given, Buffer.from(expected(key), 'latin1')))
  );
}

/** The same with link secrets alone. */
export function createLinkTokens(texts: readonly string[], known: KnownPeople): LinkTokens {
  const { findEmail: emailOf, unsigned, sealsAddress = false } = known;
  // Created once, because a key given as text would be parsed again for every token.
  const secrets = texts.map((text) => createSecretKey(text, 'utf8'));
  const seals = texts.map((text) => sealing(text));
  const newest = secrets[0];
  if (newest === undefined) throw new Error('tokens need a secret');
  const recipientMac = (secret: KeyObject, signed: string) => createHmac('sha512', secret).update(signed).digest();

  /** Of a person whom only the token knows: the signature covers the address, so one that was sealed with another secret does not pass. */
  const unsealed = (ids: Omit<RecipientIds, 'email'>, mac: string, sealed: string, at: number): RecipientIds | null => {
    for (const { seal, open } of seals) {
      const email = open(ids, sealed);
      if (seal({ ...ids, email }) !== sealed) continue;
      const signed = signedText(recipientBody(ids), email);
      const expected = (secret: KeyObject) => recipientMac(secret, signed).toString('base64url', at, at + PART_BYTES);
      if (anyMatches(secrets, mac, expected)) return { ...ids, email };
    }
    return null;
  };

  return {
    recipient(ids) {
      const body = recipientBody(ids);
      const mac = recipientMac(newest, signedText(body, ids.email));
      const sealed = sealsAddress ? `${SEAL_MARK}${seals[0]?.seal(ids)}` : '';
      const part = (at: number) =>
        `${body}.${mac.toString('base64url', at * PART_BYTES, (at + 1) * PART_BYTES)}${sealed}`;
      return { open: part(0), click: part(1), unsubscribe: part(2), web: part(3) };
    },
    readRecipient(purpose, token, given) {
      const [body, signature] = split(token);
      const mark = signature.indexOf(SEAL_MARK);
      const mac = mark < 0 ? signature : signature.slice(0, mark);
      const sealed = mark < 0 ? undefined : signature.slice(mark + 1);
      const at = PARTS.indexOf(purpose) * PART_BYTES;
      const ids = recipientIds(body);
      if (ids === null) return null;
      const stored = emailOf(ids.address, ids.user) ?? given;
      if (stored === undefined && sealed !== undefined) return unsealed(ids, mac, sealed, at);
      if (stored === undefined) return null;
      const isSpelt = sealed === undefined || seals.some(({ seal }) => seal({ ...ids, email: stored }) === sealed);
      if (!isSpelt) return null;
      const isSigned = (signed: string) =>
        anyMatches(secrets, mac, (secret) => recipientMac(secret, signed).toString('base64url', at, at + PART_BYTES));
      const mayBeUnsigned =
        ids.delivery <= unsigned.deliveries && ids.mailing <= unsigned.mailings && ids.address <= unsigned.addresses;
      return isSigned(signedText(body, stored)) || (mayBeUnsigned && isSigned(`recipient:${body}`))
        ? { ...ids, email: stored }
        : null;
    },
    ...textSigner(texts),
  };
}

function split(token: string): [string, string] {
  const dot = token.indexOf('.');
  return dot > 0 && token.length <= 1000 ? [token.slice(0, dot), token.slice(dot + 1)] : ['', ''];
}

/** Ids and address separated by a space, which neither contains. */
function signedText(body: string, email: string): string {
  return `recipient:${body} ${email}`;
}

function recipientBody({ delivery, mailing, address, group, user }: Omit<RecipientIds, 'email'>): string {
  return [delivery, mailing, address, group, user].map((id) => id.toString(36)).join('-');
}

function recipientIds(body: string): Omit<RecipientIds, 'email'> | null {
  if (!/^[0-9a-z]{1,11}(-[0-9a-z]{1,11}){4}$/.test(body)) return null;
  const [delivery = 0, mailing = 0, address = 0, group = 0, user = 0] = body
    .split('-')
    .map((id) => Number.parseInt(id, 36));
  return { delivery, mailing, address, group, user };
}
