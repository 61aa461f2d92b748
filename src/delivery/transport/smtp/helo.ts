/** The name that we send in EHLO (RFC 5321 4.1.1.1). */
import { lookup, lookupService } from 'node:dns/promises';
import { hostname } from 'node:os';

const DOMAIN = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z](?:[a-z\d-]{0,61}[a-z\d])?$/;
/** Matches names that are valid only on a local network, which a relay cannot look up. */
const PRIVATE = /(?:^|\.)(?:localhost|localdomain|local|internal|lan|home|invalid|arpa|test)$/;

/** `lookupService` needs a port, which does not change the name that it returns. */
const SMTP_PORT = 25;

/** Returns true if a name is a full domain name in ASCII form, under a top-level domain of the public DNS. */
export function isPublicName(name: string): boolean {
  return name.length <= 253 && DOMAIN.test(name) && !PRIVATE.test(name);
}

/**
 * Returns the name for EHLO: `configured`, or else the host of `publicUrl` if it is a public domain name, or else this machine's full name.
 * Returns an empty text if none of them is a public name; the connection's IP address is then sent instead. `machineName` looks up the
 * machine's name.
 */
export async function heloName(
  configured: string,
  publicUrl: string,
  machineName: () => Promise<string> = fullHostname,
): Promise<string> {
  return configuredName(configured, publicUrl) || publicNameOf(await machineName());
}

/**
 * Returns the name for EHLO as far as the settings determine it: `configured`, or else the host of `publicUrl` if it is a public domain
 * name; otherwise an empty text.
 */
export function configuredName(configured: string, publicUrl: string): string {
  return configured || publicNameOf(URL.canParse(publicUrl) ? new URL(publicUrl).hostname : '');
}

function publicNameOf(name: string): string {
  const lower = name.toLowerCase();
  return isPublicName(lower) ? lower : '';
}

/** Returns this machine's name, completed by DNS as `hostname -f` does; the short name if the lookup fails. */
async function fullHostname(): Promise<string> {
  const name = hostname();
  if (name.includes('.')) return name;
  try {
    const { address } = await lookup(name);
    return (await lookupService(address, SMTP_PORT)).hostname;
  } catch {
    return name;
  }
}
