/** Runs operations of several requests in one transaction. */
import type { Static, TObject } from 'typebox';
import { isBusy } from '../database/write-lock.ts';
import { unavailable } from '../errors/failure.ts';
import { FieldErrorCollector, passedFields } from '../http/requests/validation.ts';
import type { Context, Operation } from './operation.ts';

/** How long a request waits for the write lock, in milliseconds. */
const LOCK_WAIT_MS = 1500;

/**
 * Runs an operation that is one write (`isOneWrite`) in one transaction with such operations of other requests. Resolves with the output
 * once the transaction is on the disk. The operation's check is repeated in the transaction, because another request may have taken the
 * same name in the meantime. Throws what the operation throws, and 503 if the write lock does not become free in time.
 */
export async function runTogether<Input extends TObject, Output>(
  operation: Operation<Input, Output>,
  context: Context,
  input: Static<Input>,
): Promise<Output> {
  let isWoken = false;
  // Wakes other threads only after the commit, because they cannot see the new rows before.
  const wake = () => {
    isWoken = true;
  };
  const work = () => {
    const errors = new FieldErrorCollector();
    requireSynchronous(operation, operation.check?.(context, passedFields(operation.input, input, errors), errors));
    errors.throwIfAny();
    return requireSynchronous(operation, operation.run({ ...context, wake }, input));
  };
  try {
    return await context.lock.writeTogether(work, LOCK_WAIT_MS);
  } catch (error) {
    throw isBusy(error) ? unavailable() : error;
  } finally {
    if (isWoken) context.wake();
  }
}

/** Returns the result of an operation. Throws if the result is a promise, so that the transaction is rolled back. */
function requireSynchronous<T>({ name }: { name: string }, result: T | Promise<T>): T {
  if (result instanceof Promise) throw new Error(`${name} is not one write`);
  return result;
}
