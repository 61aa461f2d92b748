/** The connection to NATS. The client reconnects for ever; while there is no connection, callers wait or reply "later". */

import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import {
  type Authenticator,
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
} from '@nats-io/transport-node';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';

/** The wait between two attempts to reach a server. */
const RETRY_MS = 500;
/** How long an attempt may take. */
const CONNECT_MS = 3000;
/** A server that leaves two pings in a row unanswered is given up, and the next server is tried. */
const PING_MS = 5000;
const MAX_SILENT_PINGS = 2;

export interface NatsOptions {
  /**
   * The client name shown by NATS: `brain` for the controller, or `node NAME`. Each client gets its replies below a subject with its name, so
   * that NATS can keep other clients from reading them.
   */
  name: string;
  /** Ends the attempts. An established connection must be closed or drained by its owner. */
  signal: AbortSignal;
  /** Gets a line for each change: connected, lost, rejected. Never contains secrets. */
  log: Log;
}

type NatsSettings = Pick<Config, 'NATS_URL' | 'NATS_CREDENTIALS' | 'NATS_CA'>;

/**
 * Connects to NATS and retries until this succeeds. Throws a one-line Error if a file named in the settings cannot be used, and the signal's
 * reason when the signal is aborted.
 */
export async function connectNats(config: NatsSettings, { name, signal, log }: NatsOptions): Promise<NatsConnection> {
  const options = connectionOptions(config, name);
  let lastLogged = '';
  for (;;) {
    signal.throwIfAborted();
    try {
      const connection = await connect(options);
      if (signal.aborted) await connection.close();
      signal.throwIfAborted();
      log({ server: connection.getServer() }, 'connected to NATS');
      void watch(connection, log);
      return connection;
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      // The same reason is logged once.
      if (reason !== lastLogged) log({ err: reason }, 'NATS cannot be reached; trying again', 'warn');
      lastLogged = reason;
      await setTimeout(RETRY_MS, null, { signal });
    }
  }
}

/** Throws a one-line Error if a file named in the settings cannot be used, so that startup fails before anything waits for NATS. */
export function checkNatsFiles(config: NatsSettings): void {
  connectionOptions(config, 'check');
}

/** Returns the client's options. Throws a one-line Error that names the setting whose file cannot be used. */
function connectionOptions({ NATS_URL, NATS_CREDENTIALS, NATS_CA }: NatsSettings, name: string): ConnectionOptions {
  const ca = NATS_CA === '' ? undefined : readSettingFile('NATS_CA', NATS_CA);
  const authenticator = NATS_CREDENTIALS === '' ? undefined : readCredentials(NATS_CREDENTIALS);
  const isEncrypted = NATS_URL.some((url) => url.startsWith('tls:'));
  return {
    servers: NATS_URL.map((url) => url.replace(/^\w+:\/\//, '')),
    name: `sendlark ${name}`,
    inboxPrefix: ['_INBOX', ...name.split(' ')].join('.'),
    timeout: CONNECT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RETRY_MS,
    reconnectJitter: RETRY_MS / 2,
    pingInterval: PING_MS,
    maxPingOut: MAX_SILENT_PINGS,
    // While a server's configuration is being changed, it may reject us for a while.
    ignoreAuthErrorAbort: true,
    ...((isEncrypted || ca !== undefined) && { tls: ca === undefined ? {} : { ca } }),
    ...(authenticator && { authenticator }),
  };
}

/** Reads a file of credentials: a token and a seed, or only the seed of an NKey. */
function readCredentials(path: string): Authenticator {
  const text = readSettingFile('NATS_CREDENTIALS', path);
  const bytes = new TextEncoder().encode(text);
  if (text.includes('BEGIN NATS USER JWT')) return credsAuthenticator(bytes);
  const seed = /^SU[A-Z2-7]{56}$/m.exec(text)?.[0];
  if (seed === undefined) {
    throw new Error(
      'NATS_CREDENTIALS: the file has neither credentials nor the seed of a user NKey, which begins with SU',
    );
  }
  return nkeyAuthenticator(new TextEncoder().encode(seed));
}

function readSettingFile(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    throw new Error(`${setting}: the file cannot be read (${reason})`);
  }
}

/** Logs changes of the connection until it is closed. */
async function watch(connection: NatsConnection, log: NatsOptions['log']): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect')
      log({ server: status.server }, 'the connection to NATS was lost; trying again', 'warn');
    if (status.type === 'reconnect') log({ server: status.server }, 'connected to NATS again');
    if (status.type === 'error') log({ err: status.error.message }, 'NATS refused something', 'warn');
  }
}
