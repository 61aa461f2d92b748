/** The one choke point for e-mail addresses (decisions §2): what is accepted, and what two spellings of one person share. */
import { domainToASCII } from 'node:url';

export interface Address {
  /** As given, trimmed. */
  address: string;
  /** Lower-cased, the domain in ASCII form. */
  compared: string;
}

const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}){0,31}$/i;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** The address a text is, or null. */
export function parseAddress(text: string): Address | null {
  const address = text.trim();
  const at = address.lastIndexOf('@');
  if (address.length > 254 || at < 1 || at > 64) return null;
  const local = address.slice(0, at);
  const domain = domainToASCII(address.slice(at + 1)).toLowerCase();
  const labels = domain.split('.');
  if (!LOCAL.test(local) || labels.length < 2 || !labels.every((label) => LABEL.test(label))) return null;
  if (/^\d+$/.test(labels.at(-1) ?? '')) return null;
  const compared = `${local.toLowerCase()}@${domain}`;
  return compared.length > 254 ? null : { address, compared };
}

/** The addresses of a comma-separated list, or the parts of it that are none. */
export function parseAddressList(text: string, most: number): { addresses: Address[] } | { bad: string[] } {
  const parts = text
    .split(',', most + 1)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const parsed = parts.map(parseAddress);
  const bad = parts.filter((_, at) => parsed[at] === null);
  if (bad.length > 0 || parts.length === 0 || parts.length > most) return { bad };
  return { addresses: parsed.filter((address) => address !== null) };
}
