/** DKIM signatures (RFC 6376) with RSA-SHA256 (RFC 8301) or Ed25519-SHA256 (RFC 8463), relaxed/relaxed. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  generateKeyPairSync,
  type KeyObject,
  sign as signData,
} from 'node:crypto';
import { promisify } from 'node:util';
import type { Database, Statement } from 'better-sqlite3';

/** Matches domain labels as in RFC 5321, plus underscores, which some DNS names contain. */
const TAG_VALUE = /^[a-z\d_-]+(\.[a-z\d_-]+)*$/i;

export type KeyType = 'rsa' | 'ed25519';

/** Generates a private key in PEM (PKCS #8): RSA with 2 048 bits, or Ed25519. */
export function createDkimKey(type: KeyType): string {
  const { privateKey } =
    type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Generates an RSA key as `createDkimKey` does, but in libuv's thread pool, because it can take a second. */
export async function createDkimKeyInThreadPool(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Returns the TXT record that publishes a key: its name, its value, and both as a line of a zone file (RFC 6376 §3.6). */
export function dnsRecord(domain: string, selector: string, privateKey: string) {
  const key = signingKey(privateKey);
  const publicKey = createPublicKey(key);
  // RSA keys are published as SubjectPublicKeyInfo, Ed25519 keys as their bare 32 bytes (RFC 8463 §4).
  const bytes = publicKey.export({ type: 'spki', format: 'der' });
  const published = keyType(key) === 'rsa' ? bytes : bytes.subarray(-32);
  const name = `${selector}._domainkey.${domain}`;
  const value = `v=DKIM1; k=${keyType(key)}; p=${published.toString('base64')}`;
  // A string in a TXT record has at most 255 characters.
  const strings = value.match(/.{1,255}/g) ?? [];
  return { name, value, zone: `${name}. IN TXT ( ${strings.map((part) => `"${part}"`).join(' ')} )` };
}

interface Signer {
  /** Returns the DKIM-Signature header with its CRLF, to be put in front of the message. The message must not be dot-stuffed yet. */
  sign(message: Buffer, date: Date): string;
  /** Signs as `sign` does, but in libuv's thread pool, because an RSA signature takes a quarter of a millisecond. */
  signInThreadPool(message: Buffer, date: Date): Promise<string>;
}

/**
 * Creates a signer for the messages of a domain.
 * @param domain in ASCII form.
 * @param privateKey in PEM.
 * @throws TypeError for a key that is neither Ed25519 nor RSA with at least 2 048 bits, and for a domain or selector that is not a valid
 * tag value (RFC 6376 §3.5).
 */
export function createSigner(domain: string, selector: string, privateKey: string): Signer {
  if (!TAG_VALUE.test(domain) || !TAG_VALUE.test(selector))
    throw new TypeError('Not the domain and selector of a key.');
  const key = signingKey(privateKey);
  const type = keyType(key);
  const digest = type === 'rsa' ? 'sha256' : null;
  const identity = `v=1; a=${type}-sha256; c=relaxed/relaxed; d=${domain};`;

  /** Returns the lines of the signature header without the signature, and the data to sign. */
  function unsigned(message: Buffer, date: Date): { lines: string[]; data: Buffer } {
    const headEnd = message.indexOf('\r\n\r\n') + 2;
    const { hTagLines, canonical } = signedFields(message.toString('latin1', 0, headEnd));
    const seconds = Math.floor(date.getTime() / 1000);
    const lines = [
      identity,
      `s=${selector}; t=${seconds};`,
      ...hTagLines,
      `bh=${bodyHash(message.subarray(headEnd + 2))};`,
    ];
    const data = Buffer.from(`${canonical}dkim-signature:${lines.join(' ')} b=`, 'latin1');
    // Ed25519 signs the hash instead of the data (RFC 8463 §3).
    return { lines, data: type === 'rsa' ? data : createHash('sha256').update(data).digest() };
  }

  return {
    sign(message, date) {
      const { lines, data } = unsigned(message, date);
      return signatureField(lines, signData(digest, data, key));
    },
    signInThreadPool(message, date) {
      const { lines, data } = unsigned(message, date);
      return new Promise((resolve, reject) => {
        signData(digest, data, key, (error, signature) =>
          error ? reject(error) : resolve(signatureField(lines, signature)),
        );
      });
    },
  };
}

function signingKey(privateKey: string): KeyObject {
  const key = createPrivateKey(privateKey);
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key.asymmetricKeyType === 'ed25519' || (key.asymmetricKeyType === 'rsa' && bits >= 2048)) return key;
  throw new TypeError('A DKIM key is Ed25519, or RSA of at least 2048 bits.');
}

function keyType(key: KeyObject): KeyType {
  return key.asymmetricKeyType === 'rsa' ? 'rsa' : 'ed25519';
}

const SIGNED_FIELDS = [
  'from',
  'subject',
  'to',
  'date',
  'message-id',
  'reply-to',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'list-id',
  'feedback-id',
  'mime-version',
  'content-type',
];
/** Fields that are signed once more than they occur, so that no one can add another instance (RFC 6376 §8.15). */
const OVERSIGNED = new Set(['from', 'subject', 'to', 'date', 'reply-to']);

/** Returns the h= tag in lines, and the fields that the tag names in canonical form (RFC 6376 §3.4.2), last instance first. */
function signedFields(head: string): { hTagLines: string[]; canonical: string } {
  const instances = new Map<string, string[]>();
  for (const field of head.split(/\r\n(?![ \t])/)) {
    const colon = field.indexOf(':');
    const name = field.slice(0, colon).trimEnd().toLowerCase();
    if (!SIGNED_FIELDS.includes(name)) continue;
    const value = field
      .slice(colon + 1)
      .replace(/[ \t\r\n]+/g, ' ')
      .trim();
    instances.set(name, [`${name}:${value}\r\n`, ...(instances.get(name) ?? [])]);
  }
  const hTagLines: string[] = [];
  let line = 'h=';
  let canonical = '';
  for (const name of SIGNED_FIELDS) {
    const lines = instances.get(name) ?? [];
    canonical += lines.join('');
    const times = lines.length + (OVERSIGNED.has(name) ? 1 : 0);
    for (let time = 0; time < times; time++) {
      if (line.length + name.length > 74) {
        hTagLines.push(line);
        line = '';
      }
      line += `${name}:`;
    }
  }
  hTagLines.push(`${line.slice(0, -1)};`);
  return { hTagLines, canonical };
}

function bodyHash(body: Buffer): string {
  const text = body.toString('latin1');
  // Our own messages are already in canonical form. Checking this takes a fifth of the time that copying them would take.
  const isCanonical = !text.includes('\t') && !/ [ \r]/.test(text) && /^\S\r\n$/.test(text.slice(-3));
  return createHash('sha256')
    .update(isCanonical ? body : Buffer.from(canonicalBody(text), 'latin1'))
    .digest('base64');
}

// RFC 6376 §3.4.4: runs of blanks become one space; blanks at line ends and empty lines at the end of the body are removed.
function canonicalBody(text: string): string {
  const lines = `${text}\r\n`.replace(/[ \t]+/g, ' ').replaceAll(' \r\n', '\r\n');
  let end = lines.length;
  while (lines.endsWith('\r\n', end)) end -= 2;
  return end <= 0 ? '' : `${lines.slice(0, end)}\r\n`;
}

function signatureField(lines: string[], signature: Buffer): string {
  const parts = signature.toString('base64').match(/.{1,72}/g) ?? [];
  return `DKIM-Signature: ${[...lines, `b=${parts.join('\r\n ')}`].join('\r\n ')}\r\n`;
}

/** A key that signs mails. */
export interface DkimKey {
  domain: string;
  selector: string;
  /** The private key in PEM. */
  privateKey: string;
  signer: Signer;
}

/** Finds the signing key of a domain and caches it. */
export class DkimKeys {
  readonly #newest: Statement<[string], number>;
  readonly #key: Statement<[number], { domain: string; selector: string; private_key: string }>;
  readonly #keys = new Map<number, DkimKey>();

  constructor(client: Database) {
    this.#newest = client
      .prepare<[string], number>('SELECT max(id) FROM dkim_keys WHERE domain = ? AND awaits_record = 0')
      .pluck();
    this.#key = client.prepare('SELECT domain, selector, private_key FROM dkim_keys WHERE id = ?');
  }

  /** Returns the newest active key of a domain; null if there is none. Keys that still wait for their DNS record are ignored. */
  findKey(domain: string): DkimKey | null {
    const id = this.#newest.get(domain);
    if (!id) return null;
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    const row = this.#key.get(id);
    if (row === undefined) return null;
    const key = dkimKey(row.domain, row.selector, row.private_key);
    this.#keys.set(id, key);
    return key;
  }
}

/** Returns a key with its signer. Throws as `createSigner` does. */
export function dkimKey(domain: string, selector: string, privateKey: string): DkimKey {
  return { domain, selector, privateKey, signer: createSigner(domain, selector, privateKey) };
}
