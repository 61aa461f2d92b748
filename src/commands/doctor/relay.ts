/** Checks whether each relay answers, and which extensions it offers (RFC 5321, 4.1.1.1). Sends no mail and no password. */
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Database } from 'better-sqlite3';
import type { Config } from '../../config.ts';
import { relaysInUse } from '../../delivery/transport/relays/in-use.ts';
import { SmtpConnection } from '../../delivery/transport/smtp/connection.ts';
import { handshake } from '../../delivery/transport/smtp/handshake.ts';
import { type Relay, relayName } from '../../delivery/transport/smtp/relay-urls.ts';
import { RFC_TIMEOUTS } from '../../delivery/transport/smtp/timeouts.ts';
import type { CheckResult, Finding } from '../../installation/health-checks/finding.ts';
import { missingRelay } from '../../installation/health-checks/service.ts';
import { talkSmtp } from '../../installation/health-checks/smtp-talk.ts';

const TIMEOUT_MS = 10_000;
const NAME = 'SMTP server';
const EHLO_NAME = 'doctor.invalid';
const SILENT = `no answer within ${TIMEOUT_MS / 1000} s`;
const REACH_ADVICE = 'Check host, port and firewall; many hosters block port 25, use 587 or 465.';
const TLS_ADVICE =
  'Mail crosses the network under TLS with a valid certificate only; ?tls=off behind the port is for an SMTP server on your own network.';

/** Returns a finding for each relay in use, or one finding if the relays cannot be read or none is set up. Never rejects. */
export async function relayChecks(client: Database, config: Config): Promise<Finding[]> {
  const missing = missingRelay(client, config);
  if (missing !== null) return [{ name: NAME, ...missing }];
  try {
    const relays = relaysInUse(client, config);
    const nameOf = (relay: Relay) => (relays.length === 1 ? NAME : `${NAME} ${relayName(relay)}`);
    return await Promise.all(relays.map(async (relay) => ({ name: nameOf(relay), ...(await relayCheck(relay)) })));
  } catch (error) {
    return [{ name: NAME, state: 'fail', found: reasonOf(error) }];
  }
}

/** Returns the relays in use; an empty list if SMTP_URL cannot be parsed, which `relayChecks` reports. */
export function configuredRelays(client: Database, config: Config): Relay[] {
  try {
    return relaysInUse(client, config);
  } catch {
    return [];
  }
}

async function relayCheck(relay: Relay): Promise<CheckResult> {
  const name = relayName(relay);
  try {
    const offers = await ehlo(relay);
    const offer = `${name} answers and offers ${offers.join(', ') || 'nothing'}`;
    if (relay.tls === 'off' && !relay.local) {
      return { state: 'warn', found: offer, advice: ['Without TLS, mail travels in the clear.'] };
    }
    const fault = relay.tls === 'required' || relay.tls === 'offered' ? await tlsFault(relay) : null;
    return fault === null
      ? { state: 'ok', found: offer }
      : { state: 'fail', found: `${offer}, but takes no mail: ${fault}`, advice: [TLS_ADVICE] };
  } catch (error) {
    return { state: 'fail', found: `${name} does not answer: ${reasonOf(error)}`, advice: [REACH_ADVICE] };
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || String(Object(error).code) : String(error);
}

/** Returns the names of the extensions that the relay offers. Without implicit TLS, these are the ones that it offers before STARTTLS. */
async function ehlo({ host, port, tls, verify }: Relay): Promise<string[]> {
  const isTls = tls === 'implicit';
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const socket = isTls
    ? connectTls({ host, port, ...servername, rejectUnauthorized: verify })
    : connectTcp({ host, port });
  return talkSmtp(socket, isTls ? 'secureConnect' : 'connect', TIMEOUT_MS, async (ask) => {
    await ask('', '220');
    const [, ...offers] = await ask(`EHLO ${EHLO_NAME}`, '250');
    return offers.map((line) => line.slice(4).split(' ')[0]?.toUpperCase() ?? '');
  });
}

/** Connects as the courier does, but does not log in. Returns why the connection fails; null if it succeeds. */
async function tlsFault(relay: Relay): Promise<string | null> {
  const connection = new SmtpConnection(
    relay,
    () => performance.now(),
    () => undefined,
  );
  const timer = setTimeout(() => connection.fail(new Error(SILENT)), TIMEOUT_MS);
  const result = await handshake(connection, { ...relay, login: null }, EHLO_NAME, RFC_TIMEOUTS, TIMEOUT_MS);
  clearTimeout(timer);
  if ('kind' in result) return result.reply;
  connection.quit(RFC_TIMEOUTS.quit);
  return null;
}
