/**
 * Large mailbox providers. Each limits mail to all of the domains it serves together, so these domains are one group. A provider is known by its
 * own domains, and for domains of others by where their MX records lead, as the providers tell their customers to set them:
 * Google https://support.google.com/a/answer/174125, Microsoft https://learn.microsoft.com/microsoft-365/enterprise/external-domain-name-system-records,
 * Yahoo https://senders.yahooinc.com, Apple https://support.apple.com/102374, Proton https://proton.me/support/custom-domain,
 * Zoho https://www.zoho.com/mail/help/adminconsole/configure-email-delivery.html, Fastmail https://www.fastmail.help/hc/articles/360060591153.
 */
interface Provider {
  name: string;
  domains: readonly string[];
  /** What the names of its mail servers end with. */
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

/** The provider whose own domain this is; null if it is nobody's. */
export function providerOfDomain(domain: string): string | null {
  return BY_DOMAIN.get(domain) ?? null;
}

/** The provider that has this mail server, a name of an MX record; null if none has. */
export function providerOfServer(server: string): string | null {
  const name = server.toLowerCase().replace(/\.$/, '');
  const isAt = (end: string) => name === end || name.endsWith(`.${end}`);
  return PROVIDERS.find(({ servers }) => servers.some(isAt))?.name ?? null;
}
