/**
 * The unsubscribe lists: adds addresses to the global list and to those of groups, removes them, and creates groups. Every change of a list,
 * and every subscription by a form, is written to the consent log.
 */

import { randomInt } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { unsubscribeGroups } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { addAddresses } from './contacts/address-rows.ts';
import type { Address } from './contacts/addresses.ts';

/** A change of the global unsubscribe list or of the list of a group. */
export interface ListChange {
  accountId: number;
  /** Null: the global list. */
  groupId: number | null;
  source: 'api' | 'one-click' | 'page' | 'complaint' | 'provider' | 'form';
  /** The id of the mailing whose link was used; null or absent: none was. */
  mailingId?: number | null;
  /** ISO timestamp. */
  now: string;
  /** True if existing entries are not changed, so that undoing an import does not change them either. */
  keepsExisting?: boolean;
}

/**
 * SQL: the names of an account's topics (unsubscribe groups) that an address has not unsubscribed from, one per line.
 * `account` and `address` are SQL for ids.
 */
export const topicsOf = (account: string, address: string) => `(
  SELECT group_concat(g.group_name, char(10)) FROM unsubscribe_groups g
  WHERE g.user_id = ${account} AND g.deleted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM unsubscribers u WHERE u.address_id = ${address} AND u.unsubscribe_groups_id = g.id))`;

/** An entry of an address: the group that it unsubscribed from; null: all mail. */
interface Unsubscription {
  unsubscribe_groups_id: number | null;
  group_name: string | null;
  created_at: string;
}

/** Creates an unsubscribe group. `now` is an ISO timestamp. */
export function insertGroup(
  db: Db,
  accountId: number,
  fields: Pick<typeof unsubscribeGroups.$inferInsert, 'group_name' | 'description' | 'is_display'>,
  now: string,
): { id: number } {
  const rand_id = String(randomInt(1_000_000_000, 10_000_000_000));
  return db
    .insert(unsubscribeGroups)
    .values({ ...fields, user_id: accountId, rand_id, created_at: now, updated_at: now })
    .returning({ id: unsubscribeGroups.id })
    .get();
}

/**
 * Adds addresses to a list in one transaction. For an address that is already on the list only `updated_at` changes, to record
 * the repeated request. If an import had added the entry, undoing that import then leaves it.
 */
export function addUnsubscribers(db: Db, change: ListChange, addresses: readonly Address[]): void {
  const { accountId, groupId, source, mailingId = null, now, keepsExisting = false } = change;
  const json = JSON.stringify(addresses);
  // The condition has two forms, because SQLite uses a partial index only if the condition matches it literally.
  const onList = groupId === null ? sql`unsubscribe_groups_id IS NULL` : sql`unsubscribe_groups_id = ${groupId}`;
  inTransaction(db, (tx) => {
    addAddresses(db, accountId, addresses);
    if (!keepsExisting)
      tx.run(sql`
          UPDATE unsubscribers SET updated_at = ${now} WHERE ${onList} AND address_id IN (SELECT a.id FROM json_each(${json})
            CROSS JOIN addresses a ON a.user_id = ${accountId} AND a.normalized_email = value ->> 'normalized')`);
    tx.run(sql`
        INSERT INTO consent_log (user_id, address_id, unsubscribe_groups_id, action, source, mailing_id, created_at)
        SELECT DISTINCT ${accountId}, addresses.id, ${groupId}, 'unsubscribed', ${source}, ${mailingId}, ${now}
        FROM json_each(${json}) CROSS JOIN addresses ON addresses.user_id = ${accountId} AND normalized_email = value ->> 'normalized'
        WHERE NOT EXISTS (SELECT 1 FROM unsubscribers WHERE address_id = addresses.id
          AND ${onList})`);
    tx.run(sql`
        INSERT INTO unsubscribers (user_id, unsubscribe_groups_id, address_id, email_address, created_at, updated_at)
        SELECT ${accountId}, ${groupId}, addresses.id, value ->> 'address', ${now}, ${now}
        FROM json_each(${json}) CROSS JOIN addresses ON addresses.user_id = ${accountId} AND normalized_email = value ->> 'normalized'
        WHERE true ORDER BY key
        ON CONFLICT DO NOTHING`);
  });
}

/**
 * Removes entries from their lists by id and logs the removal, in the same transaction. The caller has checked that the entries
 * belong to the account.
 */
export function removeUnsubscribers(
  db: Db,
  ids: readonly number[],
  source: 'api' | 'page' | 'form',
  now: string,
): void {
  const json = JSON.stringify(ids);
  inTransaction(db, (tx) => {
    tx.run(sql`
        INSERT INTO consent_log (user_id, address_id, unsubscribe_groups_id, action, source, mailing_id, created_at)
        SELECT user_id, address_id, unsubscribe_groups_id, 'resubscribed', ${source}, NULL, ${now}
        FROM unsubscribers WHERE id IN (SELECT value FROM json_each(${json}))`);
    tx.run(sql`DELETE FROM unsubscribers WHERE id IN (SELECT value FROM json_each(${json}))`);
  });
}

/** SQL: the ids of the list entries of an @address. Entries for all mail and for groups have an index each. */
const ENTRIES = `SELECT id FROM unsubscribers WHERE address_id = @address AND unsubscribe_groups_id IS NULL
  UNION ALL SELECT id FROM unsubscribers WHERE address_id = @address AND unsubscribe_groups_id IS NOT NULL`;

/** Returns what an address of the account has unsubscribed from, in the order of the entries. */
export function listUnsubscriptions(client: Database, accountId: number, addressId: number): Unsubscription[] {
  return client
    .prepare<[Record<string, number>], Unsubscription>(`
      SELECT u.unsubscribe_groups_id, g.group_name, u.created_at FROM (${ENTRIES}) e CROSS JOIN unsubscribers u ON u.id = e.id
      LEFT JOIN unsubscribe_groups g ON g.id = u.unsubscribe_groups_id
      WHERE u.user_id = @account ORDER BY u.id`)
    .all({ account: accountId, address: addressId });
}

/**
 * Removes an address from the list for all mail, and from the lists of these groups, because its owner subscribed again.
 * Returns the lists that it was on; null is all mail. Call it inside the transaction of the subscription.
 */
export function resubscribe(
  db: Db,
  {
    accountId,
    addressId,
    groupIds,
    now,
  }: { accountId: number; addressId: number; groupIds: readonly number[]; now: string },
): (number | null)[] {
  const entries = db.$client
    .prepare<[Record<string, number>], { id: number; list: number | null }>(`
      SELECT u.id, u.unsubscribe_groups_id AS list FROM (${ENTRIES}) e CROSS JOIN unsubscribers u ON u.id = e.id
      WHERE u.user_id = @account`)
    .all({ account: accountId, address: addressId })
    .filter(({ list }) => list === null || groupIds.includes(list));
  const ids = entries.map(({ id }) => id);
  if (ids.length > 0) removeUnsubscribers(db, ids, 'form', now);
  return entries.map(({ list }) => list);
}

/** The record of a subscription by a form in the consent log. */
interface Subscription {
  accountId: number;
  addressId: number;
  formId: number;
  formName: string;
  /** The text that was agreed to. */
  consentText: string;
  /** ISO timestamp. */
  askedAt: string;
  /** The network from which the form was submitted. */
  askedFrom: string;
  /** The network from which the subscription was confirmed. */
  confirmedFrom: string;
  /** When the subscription was confirmed, ISO timestamp. */
  now: string;
}

/** Writes to the consent log that an address subscribed by a form. Call it inside the transaction of the subscription. */
export function logSubscription(db: Db, input: Subscription): void {
  db.run(sql`
    INSERT INTO consent_log (user_id, address_id, action, source, form_id, form_name, consent_text, asked_at, asked_from, confirmed_from, created_at)
    VALUES (${input.accountId}, ${input.addressId}, 'subscribed', 'form', ${input.formId}, ${input.formName}, ${input.consentText}, ${input.askedAt},
      ${input.askedFrom}, ${input.confirmedFrom}, ${input.now})`);
}

/** Removes an address from every list and from the consent log, for a contact that is erased. */
export function eraseUnsubscriptions(client: Database, addressId: number): void {
  client.prepare('DELETE FROM consent_log WHERE address_id = ?').run(addressId);
  client.prepare(`DELETE FROM unsubscribers WHERE id IN (${ENTRIES})`).run({ address: addressId });
}
