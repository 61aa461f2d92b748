/**
 * At startup, waits until the database has every recipient choice that JetStream has, because an older database lacks later unsubscribes.
 */

import { setTimeout } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Database } from 'better-sqlite3';
import type { Log } from '../../log.ts';
import { findPosition } from '../feedback/position.ts';
import { STREAM } from '../streams.ts';

/** How often the database is compared with the stream. */
const CHECK_MS = 50;
/** The first wait, and the interval, after which the log explains why no mail is sent. */
const LOG_MS = 5000;

interface CatchUpDeps {
  connection: NatsConnection;
  client: Database;
  signal: AbortSignal;
  log: Log;
}

/**
 * Resolves once the database has every choice that the stream contained at the first check. Rejects with the signal's reason when the signal
 * is aborted.
 */
export async function untilChoicesApplied({ connection, client, signal, log }: CatchUpDeps): Promise<void> {
  let newest = Number.POSITIVE_INFINITY;
  let loggedAt = performance.now();
  for (;;) {
    let reason = 'the stream cannot be read';
    try {
      const manager = await jetstreamManager(connection, { checkAPI: false });
      const { created, state } = await manager.streams.info(STREAM.consents);
      // The sequence is smaller than at the first check if NATS has lost messages.
      newest = Math.min(newest, state.last_seq);
      const position = findPosition(client, STREAM.consents);
      const applied = position?.made === String(created) ? position.sequence : 0;
      if (position?.made === String(created) && applied >= newest) return;
      reason = `${applied} of ${newest} applied`;
    } catch (error) {
      if (signal.aborted) throw error;
      reason = String(error);
    }
    if (performance.now() - loggedAt >= LOG_MS) {
      log({ reason }, 'mail waits until every choice of recipients that NATS has is in the database', 'warn');
      loggedAt = performance.now();
    }
    await setTimeout(CHECK_MS, undefined, { signal });
  }
}
