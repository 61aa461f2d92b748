/** The rules for URLs of endpoints. An account must not be able to reach addresses that only this machine or its network can reach. */
import { lookup as lookupWithSystem } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const DNS_TIMEOUT_MS = 3000;
const DNS_TRIES = 2;

/** IPv4 addresses that are not public (RFC 6890), and the metadata service of Azure. */
const REFUSED_IPV4 = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  REFUSED_IPV4.addSubnet(network, prefix, 'ipv4');

/** The range of all public IPv6 addresses, 2000::/3. Mapped, translated and private addresses are outside it. */
const GLOBAL_IPV6 = new BlockList();
GLOBAL_IPV6.addSubnet('2000::', 3, 'ipv6');
/** Addresses in 2000::/3 that are not public. */
const REFUSED_IPV6 = new BlockList();
for (const [network, prefix] of [
  // Special purposes, such as Teredo.
  ['2001::', 23],
  // Documentation.
  ['2001:db8::', 32],
  // 6to4: the address contains an IPv4 address.
  ['2002::', 16],
  // Documentation.
  ['3fff::', 20],
] as const)
  REFUSED_IPV6.addSubnet(network, prefix, 'ipv6');

/** Returns true if a text is an IP address that is reachable from the whole Internet. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !REFUSED_IPV4.check(address, 'ipv4');
  // An address with a zone, such as fe80::1%eth0, is local.
  if (version !== 6 || address.includes('%')) return false;
  return GLOBAL_IPV6.check(address, 'ipv6') && !REFUSED_IPV6.check(address, 'ipv6');
}

/**
 * Returns why an endpoint may not have this URL: it is no HTTP URL, is not encrypted, contains a user name or password, or leads to
 * a private address. Returns null if nothing is wrong with it before its host name is resolved.
 */
export function urlFault(text: string, allowPrivate: boolean): 'url' | 'plain' | 'login' | 'private' | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '' || url.hash !== '') return 'url';
  if (url.username !== '' || url.password !== '') return 'login';
  const host = hostOf(url);
  if (!allowPrivate && (isIP(host) === 0 ? isPrivateName(host) : !isPublicAddress(host))) return 'private';
  return url.protocol === 'http:' && !allowPrivate ? 'plain' : null;
}

/**
 * Returns the host without the brackets of an IPv6 address. `URL` has already converted other forms of an IPv4 address, such as
 * 0x7f.1, to four numbers.
 */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** Returns true for names of one label, and for names reserved for this machine and private networks (RFC 6761, 6762, 8375). */
function isPrivateName(host: string): boolean {
  return /^[^.]+\.?$|\.(?:localhost|internal|local|lan|home\.arpa)\.?$/i.test(host);
}

/** Thrown for a name that resolves to an address which is not public. */
export class PrivateAddressError extends Error {
  readonly code = 'EPRIVATE';
}

/** Resolves a name to all its addresses. */
export type Resolve = (host: string) => Promise<string[]>;

/**
 * Resolves a name with a query to the DNS. `dns.lookup` would occupy one of the few threads of this process that also read files, for
 * as long as the owner of the name likes.
 */
export async function resolveWithDns(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (addresses.length === 0 && failed !== undefined) throw failed.reason;
  return addresses;
}

/**
 * Returns the function with which a connection resolves its host name. The name is resolved once, and the connection uses the
 * checked addresses, so a second DNS answer changes nothing. If one address is not public, all are refused.
 */
export function checkedLookup(resolve: Resolve = resolveWithDns): LookupFunction {
  return (host, options, callback) => {
    resolve(host)
      .then((addresses) => {
        if (addresses.length === 0 || !addresses.every(isPublicAddress))
          throw new PrivateAddressError('the name leads to an address that is not public');
        return addresses.map((address) => ({ address, family: isIP(address) }));
      })
      .then(
        (addresses) => {
          if (options.all) callback(null, addresses);
          else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, '', 0),
      );
  };
}

/** The lookup of an installation that allows private addresses. It uses the system's resolver, including its hosts file. */
export const systemLookup: LookupFunction = lookupWithSystem;
