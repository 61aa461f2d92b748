/**
 * Writes of one request that are too large for one short transaction, such as unsubscribing or deleting thousands. What is to be done is
 * stored first: after a kill the next start does all of it again, so every step must change nothing where it was done already.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { inChunks } from '../database/bulk.ts';
import type { Db } from '../database/open.ts';
import { prepared } from '../database/prepared.ts';
import type { unfinishedWrites } from '../database/schema/index.ts';
import { isTransientSqliteError } from '../database/write-lock.ts';
import { type Address, parseAddress } from './contacts/addresses.ts';
import { deleteContacts } from './contacts/contacts.ts';
import { addUnsubscribers, type ListChange, removeUnsubscribers } from './unsubscribes.ts';

type Kind = typeof unfinishedWrites.$inferSelect.kind;

/** How long the steps of one transaction take, together with the commit less than 20 ms. */
const STEPS_MS = 4;
/** So many items are written in one step. A write of no more is one transaction, which needs no note. */
const STEP_ITEMS = 100;

/** Stores what is to be done; gives its id. Call it alone or in the transaction of the first step. */
export function noteWrite(client: Database, kind: Kind, given: unknown): number {
  const insert = client.prepare<[string, string], number>(
    'INSERT INTO unfinished_writes (kind, given) VALUES (?, ?) RETURNING id',
  );
  return Number(insert.pluck().get(kind, JSON.stringify(given)));
}

/** What was stored and is not done yet, oldest first. */
export function notedWrites(client: Database, kind: Kind): { id: number; given: string }[] {
  return prepared<[string], { id: number; given: string }>(
    client,
    'SELECT id, given FROM unfinished_writes WHERE kind = ? ORDER BY id',
  ).all(kind);
}

/** Removes a note. Call it in the transaction of the last step. */
export function forgetWrite(client: Database, id: number): void {
  client.prepare('DELETE FROM unfinished_writes WHERE id = ?').run(id);
}

/**
 * Calls `step` in short transactions until it returns false, and then `end` in the last of them. Other requests are answered in
 * between. While another process holds the lock this waits: what is half done must not be answered.
 */
export async function finishInSteps(client: Database, id: number, step: () => boolean, end: () => void): Promise<void> {
  // The note was a transaction of its own.
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
    // It would fail again at each start.
    if (!isTransientSqliteError(error) && client.open) forgetWrite(client, id);
    throw error;
  }
}

/** Does a noted write of items: `write` gets a hundred of them at a time, inside a transaction. */
async function finishItems<T>(
  client: Database,
  id: number,
  items: readonly T[],
  write: (items: readonly T[]) => void,
): Promise<void> {
  let at = 0;
  const step = () => {
    write(items.slice(at, at + STEP_ITEMS));
    at += STEP_ITEMS;
    return at < items.length;
  };
  await finishInSteps(client, id, step, () => forgetWrite(client, id));
}

/** Writes items: a few in one transaction, many in several, with a note of `given` for the next start. */
async function writeItems<T>(
  client: Database,
  note: { kind: Kind; given: () => unknown },
  items: readonly T[],
  write: (items: readonly T[]) => void,
): Promise<void> {
  if (items.length <= STEP_ITEMS) write(items);
  else await finishItems(client, noteWrite(client, note.kind, note.given()), items, write);
}

interface Given {
  unsubscribe: { change: ListChange; addresses: string[] };
  resubscribe: { ids: readonly number[]; now: string };
  'delete-contacts': { ids: readonly number[]; now: string };
}

/** Adds addresses to a list. Once it resolves, all of them are on it. */
export async function unsubscribeAll(db: Db, change: ListChange, addresses: readonly Address[]): Promise<void> {
  const given = (): Given['unsubscribe'] => ({ change, addresses: addresses.map(({ address }) => address) });
  await writeItems(db.$client, { kind: 'unsubscribe', given }, addresses, (some) => addUnsubscribers(db, change, some));
}

/** Removes entries from their lists by id. The caller has checked that they belong to the account. `now` is an ISO timestamp. */
export async function resubscribeAll(db: Db, ids: readonly number[], now: string): Promise<void> {
  const given = (): Given['resubscribe'] => ({ ids, now });
  await writeItems(db.$client, { kind: 'resubscribe', given }, ids, (some) =>
    removeUnsubscribers(db, some, 'api', now),
  );
}

/** Deletes contacts by id. The caller has checked that they belong to the account. `now` is an ISO timestamp. */
export async function deleteAllContacts(db: Db, ids: readonly number[], now: string): Promise<void> {
  const given = (): Given['delete-contacts'] => ({ ids, now });
  await writeItems(db.$client, { kind: 'delete-contacts', given }, ids, (some) => deleteContacts(db, some, now));
}

/** Does what a kill left of these changes. Call it at the start, before any mail is sent. */
export async function finishLongLists(db: Db): Promise<void> {
  const client = db.$client;
  for (const { id, given } of notedWrites(client, 'unsubscribe')) {
    const { change, addresses }: Given['unsubscribe'] = JSON.parse(given);
    const parsed = addresses.flatMap((address) => parseAddress(address) ?? []);
    await finishItems(client, id, parsed, (some) => addUnsubscribers(db, change, some));
  }
  for (const { id, given } of notedWrites(client, 'resubscribe')) {
    const { ids, now }: Given['resubscribe'] = JSON.parse(given);
    await finishItems(client, id, ids, (some) => removeUnsubscribers(db, some, 'api', now));
  }
  for (const { id, given } of notedWrites(client, 'delete-contacts')) {
    const { ids, now }: Given['delete-contacts'] = JSON.parse(given);
    await finishItems(client, id, ids, (some) => deleteContacts(db, some, now));
  }
}
