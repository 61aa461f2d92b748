/** Removes what erased people chose from JetStream. */
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { forgetWrite, notedWrites } from '../../audience/unfinished-writes.ts';
import type { Db } from '../../database/open.ts';
import type { WriteLock } from '../../database/write-lock.ts';
import { consentSubject } from '../feedback-messages.ts';
import { STREAM } from '../streams.ts';

const LOCK_WAIT_MS = 10_000;

/** Removes what was noted since the last call. Throws while NATS or the database cannot do it; the note stays then. */
export async function eraseChoices({ connection, db, lock }: Erasing): Promise<void> {
  for (const { id, given } of notedWrites(db.$client, 'erase-choices')) {
    const { account, address }: { account: number; address: number } = JSON.parse(given);
    const manager = await jetstreamManager(connection);
    await manager.streams.purge(STREAM.consents, { filter: consentSubject(account, address) });
    await lock.write(() => forgetWrite(db.$client, id), LOCK_WAIT_MS);
  }
}

interface Erasing {
  connection: NatsConnection;
  db: Db;
  lock: WriteLock;
}
