/** Keeps the erasures of people in JetStream, so that neither a report of a node nor an older backup brings an erased person back. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { erasePerson } from '../../audience/person/erase.ts';
import { recordedWrites, removeRecordedWrite } from '../../audience/unfinished-writes.ts';
import type { Db } from '../../database/open.ts';
import type { WriteLock } from '../../database/write-lock.ts';
import type { ErasedContact } from '../../delivery/feedback/preference-choice.ts';
import { sentence } from '../../errors/sentences.ts';
import type { Clock } from '../../time/clock.ts';
import { erasedSubject, personSubjects } from '../feedback-messages.ts';
import { STREAM } from '../streams.ts';

const ERASING_WAIT_MS = 10_000;

interface ErasureDeps {
  connection: NatsConnection;
  db: Db;
  lock: WriteLock;
  clock: Clock;
}

/** Carries out the recorded erasures. Throws if NATS or the database fails; the records of unfinished erasures then stay. */
export async function keepErased({ connection, db, lock, clock }: ErasureDeps): Promise<void> {
  const client = db.$client;
  for (const { id, given } of recordedWrites(client, 'erase-again')) {
    const { account, address }: ErasedContact = JSON.parse(given);
    await erasePerson(db, clock, account, address, { userId: null, name: sentence('actor_operator'), address: '' });
    await lock.write(() => removeRecordedWrite(client, id), ERASING_WAIT_MS);
  }
  for (const { id, given } of recordedWrites(client, 'erase-choices')) {
    const erased: ErasedContact = JSON.parse(given);
    const manager = await jetstreamManager(connection, { checkAPI: false });
    // The marker is published before the choices are removed. The controller then removes a choice that was made meanwhile with an old link
    // when it reads that choice.
    const mark = JSON.stringify({ address: erased.address });
    const { seq } = await jetstream(connection).publish(erasedSubject(erased), mark);
    await manager.streams.purge(STREAM.consents, { filter: personSubjects(erased), seq });
    await lock.write(() => removeRecordedWrite(client, id), ERASING_WAIT_MS);
  }
}
