/** The large mailbox providers, and how their domains and mail servers are recognized. */

interface Provider {
  name: string;
  domains: readonly string[];
  /** The domains of the provider's mail servers. */
  servers: readonly string[];
}

const PROVIDERS: readonly Provider[] = [
  { name: 'Google', domains: ['gmail.com', 'googlemail.com'], servers: ['google.com', 'googlemail.com'] },
  {
    name: 'Microsoft',
    domains: ['outlook.com', 'hotmail.com', 'live.com', 'msn.com'],
    servers: ['protection.outlook.com', 'mx.microsoft'],
  },
  {
    name: 'Yahoo',
    domains: ['yahoo.com', 'ymail.com', 'rocketmail.com', 'aol.com'],
    servers: ['yahoodns.net'],
  },
  { name: 'Apple', domains: ['icloud.com', 'me.com', 'mac.com'], servers: ['mail.icloud.com'] },
  { name: 'Proton', domains: ['proton.me', 'protonmail.com', 'pm.me'], servers: ['protonmail.ch'] },
  { name: 'Zoho', domains: ['zohomail.com', 'zohomail.eu'], servers: ['zoho.com', 'zoho.eu', 'zoho.in'] },
  { name: 'Fastmail', domains: ['fastmail.com', 'fastmail.fm'], servers: ['messagingengine.com'] },
];

const BY_DOMAIN = new Map(PROVIDERS.flatMap(({ name, domains }) => domains.map((domain) => [domain, name] as const)));

/** The names of the providers. */
export const PROVIDER_NAMES: readonly string[] = PROVIDERS.map(({ name }) => name);

/** Returns the name of the provider that owns this domain; null if no provider does. */
export function providerOfDomain(domain: string): string | null {
  return BY_DOMAIN.get(domain) ?? null;
}

/** Returns the name of the provider that owns this domain; the domain itself if no provider does. */
export function domainGroup(domain: string): string {
  return providerOfDomain(domain) ?? domain;
}

/** Returns the provider that runs this mail server, a host name in an MX record; null if no provider does. */
export function providerOfServer(server: string): string | null {
  const name = server.toLowerCase().replace(/\.$/, '');
  const isWithin = (domain: string) => name === domain || name.endsWith(`.${domain}`);
  return PROVIDERS.find(({ servers }) => servers.some(isWithin))?.name ?? null;
}
