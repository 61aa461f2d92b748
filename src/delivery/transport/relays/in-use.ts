/** The SMTP relays in use: the relays of the environment, or else the relays stored in the database. */
import type { Database } from 'better-sqlite3';
import type { Config } from '../../../config.ts';
import type { relays } from '../../../database/schema/index.ts';
import { type Sentence, sentence } from '../../../errors/sentences.ts';
import { findPublicUrl } from '../../links/public-url.ts';
import { isLocal, parseRelays, type Relay } from '../smtp/relay-urls.ts';
import { openPassword } from './sealing.ts';

/** The columns that determine how to connect to a relay. */
export type RelayRow = Pick<
  typeof relays.$inferSelect,
  'id' | 'host' | 'port' | 'security' | 'username' | 'sealed_password' | 'rate' | 'connections'
>;

/** The possible destinations of mail. */
export const COURIERS = ['outbox', 'smtp', 'nodes'] as const;

/** Returns where campaign mail goes: to sender nodes, to an SMTP relay, or into the outbox, so that it does not leave this machine. */
export function courierInUse(client: Database, config: Config): (typeof COURIERS)[number] {
  if (config.NATS_URL.length > 0) return 'nodes';
  return hasRelay(client, config) ? 'smtp' : 'outbox';
}

/**
 * Returns true if the account is in test mode: its mail is kept in the outbox and reaches no recipient. SMTP relays and sender nodes serve
 * the whole installation, so all its accounts leave test mode together.
 */
export function isTestMode(client: Database, config: Config): boolean {
  return courierInUse(client, config) === 'outbox';
}

/** Returns true if the service itself has an SMTP relay. */
export function hasRelay(client: Database, { SMTP_URL }: Config): boolean {
  return SMTP_URL !== '' || client.prepare('SELECT 1 FROM relays LIMIT 1').get() !== undefined;
}

/** Returns why sending is not allowed, if links in mails would point at this machine, which recipients cannot reach; null if links work. */
export function linksFault(client: Database, config: Config): Sentence | null {
  const leadsHere = findPublicUrl(client, config).source === 'none';
  return leadsHere && !isTestMode(client, config) ? sentence('held_settings') : null;
}

/**
 * Returns true if senders must be verified before their mail is sent. SENDER_VERIFICATION decides this; by default, they must be verified
 * if mail leaves this machine.
 */
export function verificationRequired(client: Database, config: Config): boolean {
  return (config.SENDER_VERIFICATION || (isTestMode(client, config) ? 'optional' : 'required')) === 'required';
}

/** Returns true if no mail may be sent from a sender yet, because the owner has to confirm the sender's address and has not done so. */
export function isUnverified(client: Database, config: Config, sender: { is_verified: number }): boolean {
  return sender.is_verified === 0 && verificationRequired(client, config);
}

/**
 * Returns the SMTP relays in order of preference; an empty list if mail stays in the outbox. Throws an Error that names SMTP_URL if that is
 * invalid.
 */
export function relaysInUse(client: Database, { SMTP_URL }: Config): Relay[] {
  return SMTP_URL === '' ? storedRelays(client) : parseRelays(SMTP_URL);
}

/** Returns the SMTP relays stored in the database, in order, whether or not the environment names others. */
export function storedRelays(client: Database): Relay[] {
  return client
    .prepare<[], RelayRow>('SELECT * FROM relays ORDER BY position, id')
    .all()
    .map((row) => relayOf(client, row));
}

/** Returns the connection settings of a row. A password that cannot be decrypted is omitted, so that the relay rejects the login. */
export function relayOf(client: Database, row: RelayRow): Relay {
  const { id, host, port, security, username, sealed_password: sealed, rate, connections } = row;
  const local = isLocal(host);
  const password = sealed === null ? '' : (openPassword(client, sealed, row) ?? '');
  return {
    host,
    port,
    // On this machine, TLS is used if it is offered, as with SMTP_URL.
    tls: security === 'implicit' ? 'implicit' : security === 'starttls' ? 'required' : local ? 'offered' : 'off',
    verify: security !== 'none',
    local,
    login: username === '' ? null : { user: username, password },
    id,
    rate,
    connections,
  };
}

/** Returns a function that reads a text which changes with each change of the stored SMTP relays. */
export function relaysRevision(client: Database): () => string {
  const read = client.prepare<[], string>("SELECT value FROM installation WHERE name = 'relays_revision'").pluck();
  return () => read.get() ?? '';
}
