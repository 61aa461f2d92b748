/** E-mail addresses: which are accepted, and their normalized form, which is equal for two spellings of one address. */
import { setImmediate } from 'node:timers/promises';
import { domainToASCII, domainToUnicode } from 'node:url';
import { fold } from '../../database/functions/fold.ts';

export interface Address {
  /** The address as given, without white space around it. */
  address: string;
  /** The address in lower case, with the domain in ASCII form: the same for all spellings of one mailbox. */
  normalized: string;
  /** The domain of `normalized`. */
  domain: string;
}

/** A list is accepted or refused as a whole: the result has either every address, or the invalid ones. */
type AddressList = { addresses: Address[] } | { bad: string[]; tooMany: boolean };

const MAX_ADDRESS_LENGTH = 254;
const MAX_LOCAL_LENGTH = 64;
/** The number of addresses of a list that are parsed in one or two milliseconds. */
const PARTS_AT_ONCE = 500;
const LOCAL = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/**
 * Two or more labels of letters, digits and inner hyphens. The last label is not a number, because `a@1.2.3.4` would name an IPv4 address.
 */
const DOMAIN = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?!(?:\d+|0x[\da-f]*)$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/;
/** A possible address within a longer text. It must begin where a word begins, because the end of a longer word is not an address. */
const IN_TEXT =
  /(?<![\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-])[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\p{L}\p{N}\p{M}.-]{0,252}[\p{L}\p{N}\p{M}]/gu;
/**
 * A possible address after marks such as quotation marks. Many of these marks may also be part of an address; `IN_TEXT` finds
 * the address that includes them.
 */
const BEHIND_MARKS =
  /[a-z\d](?<!\p{L}[.!#$%&'*+/=?^_`{|}~-]*.|\p{N}[.!#$%&'*+/=?^_`{|}~-]*.)[\w.!#$%&'*+/=?^`{|}~-]{0,63}@[\p{L}\p{N}\p{M}.-]{0,252}[\p{L}\p{N}\p{M}]/giu;
const NOT_ASCII = /\P{ASCII}/u;
const ASCII_NOT_IN_DOMAINS = /(?![a-z\d.-])\p{ASCII}/iu;
/** Invisible characters that the mapping to ASCII drops, such as soft hyphens. The two joiners may be part of a domain name. */
const INVISIBLE = /(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/u;

/**
 * Parses one address; null if it is not accepted. An accepted address is an ASCII dot-atom of at most 64 characters
 * (RFC 5321 4.5.3.1.1), `@`, and a domain with a dot, which may be internationalised (UTS #46): together at most 254
 * characters with the domain in ASCII form (RFC 3696 erratum 1690). Quoted local parts, comments, display names, groups
 * and address literals are refused.
 */
export function parseAddress(text: string): Address | null {
  const address = text.trim();
  if (address.length > MAX_ADDRESS_LENGTH) return null;
  const at = address.indexOf('@');
  const local = address.slice(0, Math.max(at, 0));
  if (local.length > MAX_LOCAL_LENGTH || !LOCAL.test(local)) return null;
  const domain = normalizeDomain(address.slice(at + 1));
  if (domain === null) return null;
  const normalized = `${local.toLowerCase()}@${domain}`;
  return normalized.length > MAX_ADDRESS_LENGTH ? null : { address, normalized, domain };
}

/**
 * Returns an address in the form for header fields and SMTP commands: the local part as given, the domain in ASCII form with
 * its international labels as A-labels (RFC 5891, UTS #46). Null for an address that `parseAddress` refuses.
 */
export function asciiAddress(text: string): string | null {
  const parsed = parseAddress(text);
  return parsed && parsed.address.slice(0, parsed.address.lastIndexOf('@') + 1) + parsed.domain;
}

/**
 * Returns the spellings that a text can have for a normalized address, case-folded: with the domain in ASCII form and, if that
 * differs, in Unicode.
 */
export function spellings(normalized: string): string[] {
  const domainAt = normalized.lastIndexOf('@') + 1;
  const unicode = normalized.slice(0, domainAt) + fold(domainToUnicode(normalized.slice(domainAt)));
  return unicode === normalized ? [normalized] : [normalized, unicode];
}

/** Returns the domain of an address. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** Returns the address that has this normalized form. */
export function fromNormalized(normalized: string): Address {
  return { address: normalized, normalized, domain: domainOf(normalized) };
}

/** Returns the normalized addresses in a text, both with and without the marks in front of them that may be part of an address. */
export function addressesIn(text: string): string[] {
  const matches = [IN_TEXT, BEHIND_MARKS].flatMap((pattern) => [...text.matchAll(pattern)]);
  return [...new Set(matches.flatMap(([address]) => parseAddress(address)?.normalized ?? []))];
}

/** Replaces every spelling of a normalized address in a text. */
export function replaceAddress(text: string, normalized: string, replacement: string): string {
  const replace = (spelling: string) => (parseAddress(spelling)?.normalized === normalized ? replacement : spelling);
  return text.replace(IN_TEXT, replace).replace(BEHIND_MARKS, replace);
}

/** Returns a domain in ASCII form and lower case; null if it cannot be the domain of an address. */
export function asciiDomain(domain: string): string | null {
  return parseAddress(`postmaster@${domain}`)?.domain ?? null;
}

/**
 * Parses a comma-separated text into addresses without repeats, in the order of their first occurrence. If any is invalid,
 * returns only the invalid ones, as they were written. White space around an address and empty parts (a trailing comma) are ignored; a
 * text without any address returns an empty `bad`. A text with more than `maxAddresses` addresses returns `tooMany`. Other requests are
 * answered after every few hundred addresses, because ten thousand take up to 40 ms.
 */
export async function parseAddressList(text: string, maxAddresses: number): Promise<AddressList> {
  const addresses = new Map<string, Address>();
  const bad: string[] = [];
  let count = 0;
  for (let from = 0, end = 0, parts = 0; end < text.length; from = end + 1) {
    const comma = text.indexOf(',', from);
    end = comma === -1 ? text.length : comma;
    if (++parts % PARTS_AT_ONCE === 0) await setImmediate();
    const part = text.slice(from, end).trim();
    if (part === '') continue;
    if (++count > maxAddresses) return { bad: [], tooMany: true };
    const address = parseAddress(part);
    if (address === null) bad.push(part);
    else if (!addresses.has(address.normalized)) addresses.set(address.normalized, address);
  }
  return bad.length > 0 || count === 0 ? { bad, tooMany: false } : { addresses: [...addresses.values()] };
}

function normalizeDomain(text: string): string | null {
  const domain = NOT_ASCII.test(text) ? mapToAscii(text) : text.toLowerCase();
  if (!DOMAIN.test(domain)) return null;
  return domain.includes('xn--') && !domain.split('.').every(isGenuine) ? null : domain;
}

/**
 * Returns the ASCII form of a domain by UTS #46; '' if there is none. `domainToASCII` parses the host of a URL, so characters
 * with a meaning only in URLs are refused first.
 */
function mapToAscii(domain: string): string {
  if (ASCII_NOT_IN_DOMAINS.test(domain) || INVISIBLE.test(domain)) return '';
  // Node 20 and 22 map ẞ to ss, Node 24 maps it to ß (Unicode 15.1). Replace it ourselves, so that an address suppressed under one
  // Node version is still recognised under another.
  return domainToASCII(domain.replaceAll('ẞ', 'ß'));
}

/** Returns true if a label that begins with `xn--` is the ASCII form of a Unicode label, because Node 24 does not check that. */
function isGenuine(label: string): boolean {
  if (!label.startsWith('xn--')) return true;
  const unicode = domainToUnicode(label);
  return NOT_ASCII.test(unicode) && domainToASCII(unicode) === label;
}
