/**
 * Writes of one request that are too large for one short transaction, such as unsubscribing or deleting thousands of contacts. The whole
 * change is recorded first. After a kill the next start repeats all of it, so every step must change nothing if it was done before.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { inChunks } from '../database/bulk.ts';
import type { Db } from '../database/open.ts';
import type { unfinishedWrites } from '../database/schema/index.ts';
import { isTransientSqliteError } from '../database/write-lock.ts';
import { type Address, parseAddress } from './contacts/addresses.ts';
import { deleteContacts } from './contacts/contacts.ts';
import { addUnsubscribers, type ListChange, removeUnsubscribers } from './unsubscribes.ts';

type Kind = typeof unfinishedWrites.$inferSelect.kind;

/** How long the steps of one transaction take. With the commit, a transaction then takes less than 20 ms. */
const STEPS_MS = 4;
/** The number of items written in one step. A change of at most this number is one transaction and need not be recorded. */
const STEP_ITEMS = 100;

/** Records a change before it begins. Returns the id of the record. Call it alone or in the transaction of the first step. */
export function recordWrite(client: Database, kind: Kind, given: unknown): number {
  const insert = client.prepare<[string, string], number>(
    'INSERT INTO unfinished_writes (kind, given) VALUES (?, ?) RETURNING id',
  );
  return Number(insert.pluck().get(kind, JSON.stringify(given)));
}

/** Returns the recorded changes that are not finished, oldest first. */
export function recordedWrites(client: Database, kind: Kind): { id: number; given: string }[] {
  return client
    .prepare<[string], { id: number; given: string }>(
      'SELECT id, given FROM unfinished_writes WHERE kind = ? ORDER BY id',
    )
    .all(kind);
}

/** Removes the record of a change. Call it in the transaction of the last step. */
export function removeRecordedWrite(client: Database, id: number): void {
  client.prepare('DELETE FROM unfinished_writes WHERE id = ?').run(id);
}

/**
 * Calls `step` in short transactions until it returns false, and then `end` in the last of them. Other requests are answered in
 * between. While another process holds the lock, the function waits without a limit, because a half-finished change must not be answered.
 */
export async function finishInSteps(client: Database, id: number, step: () => boolean, end: () => void): Promise<void> {
  // Other requests have a turn first, because recording the change was a transaction of its own.
  await setImmediate();
  try {
    await inChunks(
      client,
      () => {
        const until = performance.now() + STEPS_MS;
        while (step()) if (performance.now() >= until) return true;
        end();
        return false;
      },
      Number.POSITIVE_INFINITY,
    );
  } catch (error) {
    // The record is removed, because the change would fail again at each start.
    if (!isTransientSqliteError(error) && client.open) removeRecordedWrite(client, id);
    throw error;
  }
}

/** Carries out a recorded change of items. `write` gets `count` items at a time, inside a transaction. */
export async function finishItems<T>(
  client: Database,
  id: number,
  items: readonly T[],
  write: (items: readonly T[]) => void,
  count = STEP_ITEMS,
): Promise<void> {
  let at = 0;
  const step = () => {
    write(items.slice(at, at + count));
    at += count;
    return at < items.length;
  };
  await finishInSteps(client, id, step, () => removeRecordedWrite(client, id));
}

/** Writes items: a few in one transaction, many in several. For many, the change is recorded first with its `inputs`, for the next start. */
async function writeItems<T>(
  client: Database,
  change: { kind: Kind; inputs: () => unknown },
  items: readonly T[],
  write: (items: readonly T[]) => void,
): Promise<void> {
  if (items.length <= STEP_ITEMS) write(items);
  else await finishItems(client, recordWrite(client, change.kind, change.inputs()), items, write);
}

/** The inputs that are recorded of each kind of change. */
interface Inputs {
  unsubscribe: { change: ListChange; addresses: string[] };
  resubscribe: { ids: readonly number[]; now: string };
  'delete-contacts': { ids: readonly number[]; now: string };
}

/** Adds addresses to a list of unsubscribed addresses. Resolves when all of them are on it. */
export async function unsubscribeAll(db: Db, change: ListChange, addresses: readonly Address[]): Promise<void> {
  const inputs = (): Inputs['unsubscribe'] => ({ change, addresses: addresses.map(({ address }) => address) });
  await writeItems(db.$client, { kind: 'unsubscribe', inputs }, addresses, (part) =>
    addUnsubscribers(db, change, part),
  );
}

/** Removes entries from their lists by id. The caller has checked that they belong to the account. `now` is an ISO timestamp. */
export async function resubscribeAll(db: Db, ids: readonly number[], now: string): Promise<void> {
  const inputs = (): Inputs['resubscribe'] => ({ ids, now });
  await writeItems(db.$client, { kind: 'resubscribe', inputs }, ids, (part) =>
    removeUnsubscribers(db, part, 'api', now),
  );
}

/** Deletes contacts by id. The caller has checked that they belong to the account. `now` is an ISO timestamp. */
export async function deleteAllContacts(db: Db, ids: readonly number[], now: string): Promise<void> {
  const inputs = (): Inputs['delete-contacts'] => ({ ids, now });
  await writeItems(db.$client, { kind: 'delete-contacts', inputs }, ids, (part) => deleteContacts(db, part, now));
}

/** Finishes the changes that a kill interrupted. Call it at the start, before any mail is sent. */
export async function finishInterruptedWrites(db: Db): Promise<void> {
  const client = db.$client;
  for (const { id, given } of recordedWrites(client, 'unsubscribe')) {
    const { change, addresses }: Inputs['unsubscribe'] = JSON.parse(given);
    const parsed = addresses.flatMap((address) => parseAddress(address) ?? []);
    await finishItems(client, id, parsed, (part) => addUnsubscribers(db, change, part));
  }
  for (const { id, given } of recordedWrites(client, 'resubscribe')) {
    const { ids, now }: Inputs['resubscribe'] = JSON.parse(given);
    await finishItems(client, id, ids, (part) => removeUnsubscribers(db, part, 'api', now));
  }
  for (const { id, given } of recordedWrites(client, 'delete-contacts')) {
    const { ids, now }: Inputs['delete-contacts'] = JSON.parse(given);
    await finishItems(client, id, ids, (part) => deleteContacts(db, part, now));
  }
}
