/** Changes to as many people as one request can name, done in short transactions: all of them, also when the service is killed meanwhile. */
import type { Db } from '../database/open.ts';
import { type Address, parseAddress } from './contacts/addresses.ts';
import { deleteContacts } from './contacts/contacts.ts';
import { finishItems, notedWrites, writeItems } from './unfinished-writes.ts';
import { addUnsubscribers, type ListChange, removeUnsubscribers } from './unsubscribes.ts';

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
