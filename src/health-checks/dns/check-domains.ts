/** Asks the DNS about the domains that senders write from. */
import { Resolver } from 'node:dns/promises';
import type { Relay } from '../../delivery/transport/smtp/relay-urls.ts';
import type { SenderDomain } from '../../senders/domains.ts';
import { type SeenDomain, seenDomain } from '../doctor-findings.ts';
import type { Finding } from '../finding.ts';
import { checkDomain, checkReturnPath } from './sender-domain.ts';

const PATIENCE_MS = 3000;

/** A resolver that asks the servers of this machine, or this one (ADDRESS[:PORT]). */
export function dnsResolver(server?: string): Resolver {
  const resolver = new Resolver({ timeout: PATIENCE_MS, tries: 2 });
  if (server !== undefined) resolver.setServers([server]);
  return resolver;
}

interface DomainChecks {
  /** The finding of each return path, once. */
  spf: Finding[];
  /** The findings of each domain beside that of its return path. */
  perDomain: Finding[][];
  /** All findings of each domain, to be kept. */
  seen: SeenDomain[];
}

/** Checks SPF, DKIM, DMARC and alignment of all domains at once; nothing is thrown. `now` is epoch milliseconds. */
export async function checkDomains(
  resolver: Resolver,
  domains: readonly SenderDomain[],
  relays: Relay[],
  now: number,
): Promise<DomainChecks> {
  const returnPaths = [...new Set(domains.map(({ returnPath }) => returnPath))];
  const spf = await Promise.all(returnPaths.map((domain) => checkReturnPath(resolver, domain, relays)));
  const spfOf = ({ returnPath }: SenderDomain) => spf[returnPaths.indexOf(returnPath)];
  const perDomain = await Promise.all(domains.map((domain) => checkDomain(resolver, domain, spfOf(domain))));
  const seen = domains.map((domain, at) => {
    const findings = [spfOf(domain), ...(perDomain[at] ?? [])].filter((finding) => finding !== undefined);
    return seenDomain(domain, findings, now);
  });
  return { spf, perDomain, seen };
}
