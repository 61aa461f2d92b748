/** Tells where mail may travel without TLS: on this machine and within a private network. */
import { BlockList, isIP } from 'node:net';

/** Addresses of private networks (RFC 1918, 3927, 4193, 4291, 6598). */
const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  PRIVATE.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  PRIVATE.addSubnet(network, prefix, 'ipv6');

/** Matches names that do not exist on the Internet: single labels, as containers have them, and reserved domains (RFC 2606, 6762, 8375). */
const PRIVATE_NAME = /^[^.]+$|\.(?:localhost|internal|local|lan|home\.arpa|test)$/;

/** Returns true if a host is on this machine or in a private network, judged only by its address or name. */
export function isPrivateHost(host: string): boolean {
  const version = isIP(host);
  return version === 0 ? PRIVATE_NAME.test(host) : PRIVATE.check(host, version === 6 ? 'ipv6' : 'ipv4');
}
