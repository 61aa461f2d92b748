/**
 * At startup, waits until the database has every recipient choice that JetStream has, because an older database lacks later unsubscribes.
 */

import { setTimeout } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Database } from 'better-sqlite3';
import type { Log } from '../../log.ts';
import { findPosition } from '../feedback/place.ts';
import { STREAM } from '../streams.ts';

const LOOK_MS = 50;
/** After this time, and at these intervals, the log explains why no mail is sent. */
const SAY_MS = 5000;

interface CatchUpDeps {
  connection: NatsConnection;
  client: Database;
  signal: AbortSignal;
  log: Log;
}

/**
 * Resolves once everything is applied that the stream of choices contained at the first look. Rejects with the signal's reason when it is
 * aborted.
 */
export async function untilChoicesApplied({ connection, client, signal, log }: CatchUpDeps): Promise<void> {
  let newest = Number.POSITIVE_INFINITY;
  let saidAt = performance.now();
  for (;;) {
    let reason = 'the stream cannot be read';
    try {
      const manager = await jetstreamManager(connection, { checkAPI: false });
      const { created, state } = await manager.streams.info(STREAM.consents);
      // Smaller after NATS has lost messages.
      newest = Math.min(newest, state.last_seq);
      const place = findPosition(client, STREAM.consents);
      const applied = place?.made === String(created) ? place.sequence : 0;
      if (place?.made === String(created) && applied >= newest) return;
      reason = `${applied} of ${newest} applied`;
    } catch (error) {
      if (signal.aborted) throw error;
      reason = String(error);
    }
    if (performance.now() - saidAt >= SAY_MS) {
      log({ reason }, 'mail waits until every choice of recipients that NATS has is in the database', 'warn');
      saidAt = performance.now();
    }
    await setTimeout(LOOK_MS, undefined, { signal });
  }
}
