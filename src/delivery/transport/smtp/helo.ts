/** The name we introduce ourselves with in EHLO (RFC 5321 4.1.1.1). */
import { lookup, lookupService } from 'node:dns/promises';
import { hostname } from 'node:os';

const DOMAIN = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z](?:[a-z\d-]{0,61}[a-z\d])?$/;
/** Names that mean something on one network only: a relay can't look them up. */
const PRIVATE = /(?:^|\.)(?:localhost|localdomain|local|internal|lan|home|invalid|arpa|test)$/;

/** Whether a name is a full domain name in ASCII form that others may know. */
export function isPublicName(name: string): boolean {
  return name.length <= 253 && DOMAIN.test(name) && !PRIVATE.test(name);
}

/**
 * The name for EHLO: `given`, else the host of the public address where that is a domain name, else this machine's full name.
 * Empty where there is none; the connection's own address is said then. `machineName` finds the machine's.
 */
export async function heloName(
  given: string,
  publicUrl: string,
  machineName: () => Promise<string> = fullHostname,
): Promise<string> {
  if (given !== '') return given;
  const host = URL.canParse(publicUrl) ? new URL(publicUrl).hostname : '';
  if (isPublicName(host)) return host;
  const name = (await machineName()).toLowerCase();
  return isPublicName(name) ? name : '';
}

/** The machine's name, completed as `hostname -f` does where it is short; what can't be looked up stays as it is. */
async function fullHostname(): Promise<string> {
  const name = hostname();
  if (name.includes('.')) return name;
  try {
    const { address } = await lookup(name);
    return (await lookupService(address, 25)).hostname;
  } catch {
    return name;
  }
}
