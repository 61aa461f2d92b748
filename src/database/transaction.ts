/** Short transactions that write everything or nothing. */
import type { Db } from './open.ts';

type Transaction = Parameters<Parameters<Db['transaction']>[0]>[0];

/**
 * Does some work in one transaction and returns its result. BEGIN IMMEDIATE takes the write lock before the first read, because
 * a transaction that only reads at first would fail at its first write if another connection has written meanwhile. If the work
 * throws, the transaction is rolled back. The work must not be asynchronous.
 */
export function inTransaction<T>(db: Db, work: (tx: Transaction) => T): T {
  return db.transaction(work, { behavior: 'immediate' });
}

/** Does some work in one transaction, then wakes the background thread, which acts on the new rows. Returns the result of the work. */
export function writeAndWake<T>({ db, wake }: { db: Db; wake(): void }, work: (tx: Transaction) => T): T {
  const result = inTransaction(db, work);
  wake();
  return result;
}
