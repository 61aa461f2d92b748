/** Who has unsubscribed: the entries of the groups' lists and of the list for all mail. */
import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import Type from 'typebox';
import { ownedBy, requireOwnedIds } from '../../database/ownership.ts';
import { type ListPart, recordObject } from '../../database/record-json.ts';
import { unsubscribers } from '../../database/schema/index.ts';
import { notFound } from '../../errors/failure.ts';
import { AddressList, checkAddressList, readAddressList } from '../../http/requests/address-list.ts';
import {
  addressListQuery,
  identifier,
  identifiers,
  integer,
  nullable,
  reference,
  stamps,
} from '../../http/requests/schemas.ts';
import { type Context, listOperation, operation, type Selection } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { isAddress } from '../contacts/address-rows.ts';
import { resubscribeAll, unsubscribeAll } from '../long-lists.ts';
import { hasGroup, requireGroup } from './groups.ts';

const Entry = Type.Object({
  id: integer(),
  user_id: integer(),
  unsubscribe_groups_id: nullable(integer()),
  email_address: Type.String(),
  ...stamps,
});
const record = recordObject(Entry, unsubscribers);

const onGlobalList = isNull(unsubscribers.unsubscribe_groups_id);
const onGroupLists = isNotNull(unsubscribers.unsubscribe_groups_id);

export const listUnsubscribedFromAll = listOperation({
  name: 'List the globally unsubscribed addresses',
  role: 'viewer',
  input: addressListQuery,
  as: 'unSubscribers',
  record: Entry,
  select: (context, part) => selectEntries(context, onGlobalList, part),
});

export const listUnsubscribedFromGroup = listOperation({
  name: 'List the addresses unsubscribed from a group',
  role: 'viewer',
  input: Type.Object({ groupId: identifier('The unsubscribe group.'), ...addressListQuery.properties }),
  as: 'recipients',
  record: Entry,
  select: (context, { groupId, ...part }) =>
    selectEntries(context, eq(unsubscribers.unsubscribe_groups_id, requireGroup(context, groupId)), part),
});

export const unsubscribeFromAll = operation({
  name: 'Unsubscribe addresses from all mail',
  description:
    'Addresses that are on the list already stay as they are. If one of the addresses is invalid, none is added.',
  role: 'editor',
  input: Type.Object({ email_address: AddressList }),
  check: (_context, { email_address }, errors) => checkAddressList(email_address, errors),
  run: (context, { email_address }) => unsubscribe(context, null, email_address),
});

export const unsubscribeFromGroup = operation({
  name: 'Unsubscribe addresses from a group',
  description: 'They get no more mail of this group, and keep getting that of others.',
  role: 'editor',
  input: Type.Object({ unsubscribe_groups_id: reference(), email_address: AddressList }),
  async check(context, { unsubscribe_groups_id: groupId, email_address }, errors) {
    await checkAddressList(email_address, errors);
    errors.reference('unsubscribe_groups_id', () => hasGroup(context, groupId));
  },
  run: (context, { unsubscribe_groups_id: groupId, email_address }) => unsubscribe(context, groupId, email_address),
});

export const removeFromGlobalList = removal('Remove an address from the global list', 'The entry.', onGlobalList);
export const removeAllFromGlobalList = removalOfSeveral(
  'Remove several addresses from the global list',
  'Entry ids.',
  onGlobalList,
);
export const removeFromGroup = removal("Remove an address from a group's list", 'The recipient.', onGroupLists);
export const removeAllFromGroup = removalOfSeveral(
  "Remove several addresses from a group's list",
  'Recipient ids.',
  onGroupLists,
);

function removal(name: string, entry: string, onLists: SQL) {
  return operation({
    name,
    role: 'editor',
    input: Type.Object({ id: identifier(entry) }),
    run: (context, { id }) => resubscribe(context, onLists, [id]),
  });
}

function removalOfSeveral(name: string, entries: string, onLists: SQL) {
  return operation({
    name,
    role: 'editor',
    input: Type.Object({ strIds: identifiers(entries) }),
    run: (context, { strIds }) => resubscribe(context, onLists, strIds),
  });
}

function selectEntries(
  { accountId }: Context,
  onList: SQL,
  { email, ...part }: ListPart & { email?: string },
): Selection {
  const where = and(ownedBy(unsubscribers, accountId), onList, isAddress(unsubscribers.address_id, accountId, email));
  return { record, from: sql`${unsubscribers}`, where, id: unsubscribers.id, part };
}

async function unsubscribe({ db, clock, accountId }: Context, groupId: number | null, list: string): Promise<void> {
  const change = { accountId, groupId, source: 'api', now: isoTimestamp(clock.now()) } as const;
  await unsubscribeAll(db, change, await readAddressList(list));
}

/** Takes entries off their lists. Throws 404, and changes nothing, unless all of them are on these lists of the caller's account. */
async function resubscribe(
  { db, clock, accountId }: Context,
  onLists: SQL,
  given: unknown[] | undefined,
): Promise<void> {
  const condition = and(ownedBy(unsubscribers, accountId), onLists);
  const ids = await requireOwnedIds(db, unsubscribers, given, condition, notFound());
  await resubscribeAll(db, ids, isoTimestamp(clock.now()));
}
