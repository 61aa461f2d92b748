/** Applies the messages of a stream to the database, each once and in order. */
import { setTimeout } from 'node:timers/promises';
import { type ConsumerMessages, DeliverPolicy, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { SqliteError } from 'better-sqlite3';
import type { Db } from '../../database/open.ts';
import type { WriteLock } from '../../database/write-lock.ts';
import { withAnnouncedWrite } from '../../database/write-turns.ts';
import { findPlace, type Place, savePlace } from './place.ts';

/** Messages applied in one transaction, at most; it stays within a few milliseconds. */
const BATCH = 25;
const RETRY_MS = 1000;
const LOCK_WAIT_MS = 60_000;

interface Following {
  connection: NatsConnection;
  db: Db;
  lock: WriteLock;
  stream: string;
  /**
   * Applies one message, within a transaction; may give what is to be done after it. What it throws other than an error of the disk
   * means that the message cannot be applied.
   */
  apply(text: string): (() => void) | null;
  /** Called when everything up to this sequence is in the database. */
  applied(sequence: number): void;
  log(fields: Record<string, unknown>, text: string): void;
  signal: AbortSignal;
}

/** Follows the stream until the signal is aborted. Never throws: whatever fails is tried again from the place in the database. */
export async function follow(following: Following): Promise<void> {
  const { connection, signal, log, stream } = following;
  const current: Current = { messages: null };
  const stop = () => void current.messages?.close();
  signal.addEventListener('abort', stop);
  void onReconnect(connection, stop);
  while (!signal.aborted) {
    try {
      await followOnce(following, current);
    } catch (error) {
      if (!signal.aborted) log({ stream, err: String(error) }, 'what nodes reported cannot be read; trying again');
    }
    await setTimeout(RETRY_MS, null, { signal }).catch(() => undefined);
  }
}

interface Current {
  messages: ConsumerMessages | null;
}

async function onReconnect(connection: NatsConnection, then: () => void): Promise<void> {
  for await (const { type } of connection.status()) if (type === 'reconnect') then();
}

/** Follows until something goes wrong or the connection is made anew, since the servers may have lost messages meanwhile. */
async function followOnce(following: Following, current: Current): Promise<void> {
  const { connection, stream, signal, applied } = following;
  const place = await currentPlace(following);
  applied(place.sequence);
  const consumer = await jetstream(connection).consumers.get(stream, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: place.sequence + 1,
  });
  const messages = await consumer.consume({ max_messages: 4 * BATCH });
  current.messages = messages;
  try {
    let batch: JsMsg[] = [];
    for await (const message of messages) {
      if (signal.aborted) return;
      batch.push(message);
      if (batch.length < BATCH && message.info.pending > 0) continue;
      await applyAll(following, place.made, batch);
      batch = [];
    }
  } finally {
    current.messages = null;
    await messages.close();
  }
}

/** Where to go on: the place in the database, unless the stream was made anew or has lost its end. */
async function currentPlace({ connection, db, stream }: Following): Promise<Place> {
  const manager = await jetstreamManager(connection);
  const { created, state } = await manager.streams.info(stream);
  const stored = findPlace(db.$client, stream);
  const made = String(created);
  if (stored === null || stored.made !== made) return { made, sequence: 0 };
  return { made, sequence: Math.min(stored.sequence, state.last_seq) };
}

/** Applies messages in one transaction; if one of them cannot be applied, each in its own, and that one is logged and left out. */
async function applyAll(following: Following, made: string, messages: readonly JsMsg[]): Promise<void> {
  const { db, lock, stream, apply, applied, log } = following;
  const write = async (some: readonly JsMsg[], use: Following['apply']) => {
    const transaction = db.$client.transaction(() => {
      const afterwards = some.map((message) => use(message.string()));
      savePlace(db.$client, stream, { made, sequence: some.at(-1)?.seq ?? 0 });
      return afterwards;
    });
    const afterwards = await lock.write(() => withAnnouncedWrite(() => transaction.immediate()), LOCK_WAIT_MS);
    for (const then of afterwards) then?.();
  };
  try {
    await write(messages, apply);
  } catch (error) {
    if (isOfDisk(error)) throw error;
    for (const message of messages) {
      try {
        await write([message], apply);
      } catch (cause) {
        if (isOfDisk(cause)) throw cause;
        log(
          { stream, sequence: message.seq, err: String(cause) },
          'a report of a node cannot be applied and is left out',
        );
        await write([message], () => null);
      }
    }
  }
  applied(messages.at(-1)?.seq ?? 0);
}

/** Whether a write failed for a reason that passes: a taken lock, a full or failing disk. */
function isOfDisk(error: unknown): boolean {
  return error instanceof SqliteError && !error.code.startsWith('SQLITE_CONSTRAINT') && error.code !== 'SQLITE_ERROR';
}
