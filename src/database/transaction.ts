/** Short writes, all or nothing. */
import type { Db } from './open.ts';

/** The connection within a transaction. */
type Transaction = Parameters<Parameters<Db['transaction']>[0]>[0];

/**
 * Does some work in one transaction and gives its result. The transaction takes the write lock before it reads anything (BEGIN IMMEDIATE),
 * because one that only reads at first would fail at its first write where another connection has written since. The work is undone if it
 * throws, and it must not be asynchronous.
 */
export function inTransaction<T>(db: Db, work: (tx: Transaction) => T): T {
  return db.transaction(work, { behavior: 'immediate' });
}

/** Does some work in one transaction, then wakes the background, which acts on what was written, and gives the result of the work. */
export function writeAndWake<T>({ db, wake }: { db: Db; wake(): void }, work: (tx: Transaction) => T): T {
  const result = inTransaction(db, work);
  wake();
  return result;
}
