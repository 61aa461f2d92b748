/** Applies the messages of a stream to the database, each once and in order. */

import { setImmediate, setTimeout } from 'node:timers/promises';
import { type ConsumerMessages, DeliverPolicy, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { SqliteError } from 'better-sqlite3';
import type { Db } from '../../database/open.ts';
import type { WriteLock } from '../../database/write-lock.ts';
import { withAnnouncedWrite } from '../../database/write-turns.ts';
import type { Log } from '../../log.ts';
import { PROOF_HEADER } from '../change-proof.ts';
import { findPosition, type StreamPosition, savePosition } from './position.ts';

/** The number of messages read at a time. */
const BATCH = 200;
/** How long one transaction may work. With the commit it takes less than 20 ms, because other writers wait. */
const STRETCH_MS = 8;
const RETRY_MS = 1000;
const LOCK_WAIT_MS = 60_000;

interface FollowDeps {
  connection: NatsConnection;
  db: Db;
  lock: WriteLock;
  stream: string;
  /**
   * Applies one message inside a transaction. May return a function to call after the commit. `proof` came with the message; empty: the
   * message has no proof. A thrown error means that the message cannot be applied, unless it is an error of the disk or the lock.
   */
  apply(text: string, subject: string, proof: string): (() => void) | null;
  /** Called before the first message of a stream that this database does not know, because the stream is new or was created again. */
  begin?(): Promise<void>;
  /**
   * Counts a message that cannot be applied and is skipped. Called in the transaction that saves the position after the message, so that each
   * message is counted exactly once. Returns a function to call after the commit.
   */
  refuse(fields: object): () => void;
  /** Called when all messages up to this sequence are in the database. */
  onApplied(sequence: number): void;
  /** Records for `/readyz` whether the stream could be read. */
  note(stream: string, hasWorked: boolean): void;
  log: Log;
  signal: AbortSignal;
}

/** Follows the stream until the signal is aborted. Never rejects: after a failure, it continues from the position in the database. */
export async function follow(following: FollowDeps): Promise<void> {
  const { connection, signal, log, note, stream } = following;
  const current: Current = { messages: null };
  const stop = () => void current.messages?.close();
  signal.addEventListener('abort', stop);
  void onReconnect(connection, stop);
  while (!signal.aborted) {
    try {
      await followOnce(following, current);
    } catch (error) {
      note(stream, false);
      if (!signal.aborted)
        log({ stream, err: String(error) }, 'messages of nodes cannot be read; trying again', 'warn');
    }
    await setTimeout(RETRY_MS, null, { signal }).catch(() => undefined);
  }
}

/** The messages that are being read, so that reading can be stopped. */
interface Current {
  messages: ConsumerMessages | null;
}

async function onReconnect(connection: NatsConnection, then: () => void): Promise<void> {
  for await (const { type } of connection.status()) if (type === 'reconnect') then();
}

/** Follows until something fails or the connection is re-established, because the servers may have lost messages meanwhile. */
async function followOnce(following: FollowDeps, current: Current): Promise<void> {
  const { connection, stream, signal, onApplied, note } = following;
  const { last, ...position } = await currentPosition(following);
  onApplied(position.sequence);
  const consumer = await jetstream(connection).consumers.get(stream, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: position.sequence + 1,
  });
  const { num_pending: pending } = await consumer.info();
  if (pending === 0) note(stream, true);
  // Messages deleted at the end of the stream never arrive.
  if (pending === 0 && position.sequence < last) {
    const { db, lock } = following;
    await lock.write(() => savePosition(db.$client, stream, { ...position, sequence: last }), LOCK_WAIT_MS);
    onApplied(last);
  }
  // Reading ends with an error if the stream or its consumer no longer exists, so that following starts again.
  const messages = await consumer.consume({ max_messages: 2 * BATCH, abort_on_missing_resource: true });
  current.messages = messages;
  try {
    let batch: JsMsg[] = [];
    for await (const message of messages) {
      if (signal.aborted) return;
      batch.push(message);
      if (batch.length < BATCH && message.info.pending > 0) continue;
      await applyAll(following, position.made, batch);
      note(stream, true);
      batch = [];
    }
  } finally {
    current.messages = null;
    await messages.close();
  }
}

/**
 * Returns the position to continue from: the stored position, unless the stream was created again or has lost its end. Also returns the
 * stream's last sequence.
 */
async function currentPosition({
  connection,
  db,
  lock,
  stream,
  begin,
}: FollowDeps): Promise<StreamPosition & { last: number }> {
  const manager = await jetstreamManager(connection);
  const { created, state } = await manager.streams.info(stream);
  const stored = findPosition(db.$client, stream);
  const createdAt = String(created);
  const last = state.last_seq;
  if (stored?.made === createdAt) return { made: createdAt, sequence: Math.min(stored.sequence, last), last };
  await begin?.();
  const position = { made: createdAt, sequence: 0 };
  await lock.write(() => savePosition(db.$client, stream, position), LOCK_WAIT_MS);
  return { ...position, last };
}

/** Applies messages in short transactions. A message that cannot be applied is logged and skipped. */
async function applyAll(following: FollowDeps, createdAt: string, messages: readonly JsMsg[]): Promise<void> {
  const { db, lock, stream, apply, onApplied, refuse } = following;
  const write = async (from: number, end: number, use: FollowDeps['apply']) => {
    const transaction = db.$client.transaction(() => {
      const until = performance.now() + STRETCH_MS;
      const afterwards: (() => void)[] = [];
      let at = from;
      while (at < end && (at === from || performance.now() < until)) {
        const message = messages[at++];
        if (message === undefined) continue;
        const proof = message.headers?.get(PROOF_HEADER) ?? '';
        afterwards.push(use(message.string(), message.subject, proof) ?? (() => undefined));
      }
      savePosition(db.$client, stream, { made: createdAt, sequence: messages[at - 1]?.seq ?? 0 });
      return { at, afterwards };
    });
    const { at, afterwards } = await lock.write(() => withAnnouncedWrite(() => transaction.immediate()), LOCK_WAIT_MS);
    for (const then of afterwards) then();
    onApplied(messages[at - 1]?.seq ?? 0);
    return at;
  };
  for (let at = 0; at < messages.length; await setImmediate()) {
    try {
      at = await write(at, messages.length, apply);
    } catch (error) {
      if (isTemporary(error)) throw error;
      at = await applyOne(at);
    }
  }

  /** Applies the first of several messages that failed together, because it may succeed alone. If it fails, it is refused. */
  async function applyOne(at: number): Promise<number> {
    try {
      return await write(at, at + 1, apply);
    } catch (error) {
      if (isTemporary(error)) throw error;
      const { seq: sequence } = messages[at] ?? { seq: 0 };
      return write(at, at + 1, () => refuse({ stream, sequence, err: String(error) }));
    }
  }
}

/** Errors caused by the content of a message. */
const MESSAGE_ERROR = /^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG|RANGE|ERROR)/;

/** Returns true if a write failed for a temporary reason: a taken lock, a full or failing disk. */
function isTemporary(error: unknown): boolean {
  return error instanceof SqliteError && !MESSAGE_ERROR.test(error.code);
}
