/** The one choke point for e-mail addresses: which are accepted, how they are kept and when two are the same. */
import { domainToASCII, domainToUnicode } from 'node:url';

export interface Address {
  /** As given, trimmed. */
  address: string;
  /** Lower-case with the domain in ASCII form: the same for two spellings of one mailbox. */
  normalized: string;
  /** The domain within `normalized`. */
  domain: string;
}

/** A list is taken whole or not at all. */
export type AddressList = { addresses: Address[] } | { bad: string[]; tooMany: boolean };

const MAX_ADDRESS_LENGTH = 254;
const MAX_LOCAL_LENGTH = 64;
const LOCAL = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/** Two or more labels of letters, digits and inner hyphens; the last is not a number, which would make it an IPv4 address. */
const DOMAIN = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?!(?:\d+|0x[\da-f]*)$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/;
const NOT_ASCII = /\P{ASCII}/u;
const ASCII_NOT_IN_DOMAINS = /(?![a-z\d.-])\p{ASCII}/iu;
/** What shows nothing and is dropped by the mapping, as soft hyphens. The two joiners may be part of a name. */
const INVISIBLE = /(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/u;

/**
 * One address, or null if it is none that a mail can go to: an ASCII dot-atom of at most 64 characters (RFC 5321 4.5.3.1.1),
 * `@`, and a domain with a dot that may be internationalised (UTS #46); at most 254 characters with the domain in ASCII form (RFC
 * 3696 erratum 1690). No quoted local part, comment, display name, group or literal (decisions §2 "E-mail addresses"; trust 15, 33).
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
 * An address as header fields and SMTP commands take it: the local part as given, the domain in ASCII form, its
 * international labels as A-labels (RFC 5891, UTS #46). Null for what `parseAddress` does not take.
 */
export function asciiAddress(text: string): string | null {
  const parsed = parseAddress(text);
  return parsed && parsed.address.slice(0, parsed.address.lastIndexOf('@') + 1) + parsed.domain;
}

/** A domain in ASCII form and lower case; null when it is none that a mail can come from. */
export function asciiDomain(domain: string): string | null {
  return parseAddress(`postmaster@${domain}`)?.domain ?? null;
}

/**
 * The addresses of a comma-separated text, each once, in the order of their first mention; if any is bad, the bad ones as given
 * instead. White space around an address and empty parts (a trailing comma) mean nothing; a text of nothing else gives no bad one.
 * More than `most` addresses are `tooMany` (decisions §2 "Comma-separated lists").
 */
export function parseAddressList(text: string, most: number): AddressList {
  const addresses = new Map<string, Address>();
  const bad: string[] = [];
  let parts = 0;
  for (const part of text.split(',')) {
    const given = part.trim();
    if (given === '') continue;
    if (++parts > most) return { bad: [], tooMany: true };
    const address = parseAddress(given);
    if (address === null) bad.push(given);
    else if (!addresses.has(address.normalized)) addresses.set(address.normalized, address);
  }
  return bad.length > 0 || parts === 0 ? { bad, tooMany: false } : { addresses: [...addresses.values()] };
}

function normalizeDomain(given: string): string | null {
  const domain = NOT_ASCII.test(given) ? mapToAscii(given) : given.toLowerCase();
  if (!DOMAIN.test(domain)) return null;
  return domain.includes('xn--') && !domain.split('.').every(isGenuine) ? null : domain;
}

/** The ASCII form by UTS #46; '' where there is none. domainToASCII reads a host of a URL, so what only URLs have is refused first. */
function mapToAscii(given: string): string {
  if (ASCII_NOT_IN_DOMAINS.test(given) || INVISIBLE.test(given)) return '';
  // Node 20 and 22 map ẞ to ss, Node 24 to ß as Unicode has it since 15.1: the same on all, or a suppression would miss.
  return domainToASCII(given.replaceAll('ẞ', 'ß'));
}

/** Whether a label that claims to be Punycode is the ASCII form of something; Node 24 passes any on. */
function isGenuine(label: string): boolean {
  if (!label.startsWith('xn--')) return true;
  const unicode = domainToUnicode(label);
  return NOT_ASCII.test(unicode) && domainToASCII(unicode) === label;
}
