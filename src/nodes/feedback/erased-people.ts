/** Keeps erased people erased: what they chose is removed from JetStream, and a restored database that still has them erases them again. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { erasePerson } from '../../audience/person/erase.ts';
import { forgetWrite, notedWrites } from '../../audience/unfinished-writes.ts';
import type { Clock } from '../../clock.ts';
import type { Db } from '../../database/open.ts';
import type { WriteLock } from '../../database/write-lock.ts';
import type { ErasedPerson } from '../../delivery/feedback/choice.ts';
import { SENTENCES } from '../../sentences.ts';
import { erasedSubject, personSubjects } from '../feedback-messages.ts';
import { STREAM } from '../streams.ts';

const LOCK_WAIT_MS = 10_000;

interface Erasing {
  connection: NatsConnection;
  db: Db;
  lock: WriteLock;
  clock: Clock;
}

/** Does what was noted since the last call. Throws while NATS or the database cannot do it; the note stays then. */
export async function keepErased({ connection, db, lock, clock }: Erasing): Promise<void> {
  const client = db.$client;
  for (const { id, given } of notedWrites(client, 'erase-again')) {
    const { account, address }: ErasedPerson = JSON.parse(given);
    await erasePerson(db, clock, account, address, { userId: null, name: SENTENCES.actor_operator, address: '' });
    await lock.write(() => forgetWrite(client, id), LOCK_WAIT_MS);
  }
  for (const { id, given } of notedWrites(client, 'erase-choices')) {
    const erased: ErasedPerson = JSON.parse(given);
    const manager = await jetstreamManager(connection, { checkAPI: false });
    // The mark is first: a choice that is made meanwhile with an old link is removed when the brain reads it.
    const mark = JSON.stringify({ address: erased.address });
    const { seq } = await jetstream(connection).publish(erasedSubject(erased), mark);
    await manager.streams.purge(STREAM.consents, { filter: personSubjects(erased), seq });
    await lock.write(() => forgetWrite(client, id), LOCK_WAIT_MS);
  }
}
