/**
 * Operations for unsubscribed addresses, of all mail or of a group, and for the suppression list: addresses that bounced or
 * complained, which other systems report too.
 */

import { and, desc, eq, getTableColumns, isNotNull, isNull, lt, type SQL, sql } from 'drizzle-orm';
import Type from 'typebox';
import { ownedBy, recordId, requireOwnedIds } from '../../database/ownership.ts';
import { type ListPart, recordObject } from '../../database/record-json.ts';
import { addresses, suppressions, unsubscribers } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { lastAccepted, recordBounce } from '../../delivery/feedback/bounces/record.ts';
import { sanitizeText } from '../../delivery/feedback/bounces/sanitize.ts';
import { notFound } from '../../errors/failure.ts';
import { AddressList, checkAddressList, readAddressList } from '../../http/requests/address-list.ts';
import {
  addressListQuery,
  choice,
  DEFAULT_ROWS,
  described,
  email as emailSchema,
  identifier,
  identifiers,
  integer,
  isoTimestampSchema,
  nullable,
  reference,
  said,
  stamps,
  text,
} from '../../http/requests/schemas.ts';
import { type Context, listOperation, operation, type Selection } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { auditBy } from '../../users/audit.ts';
import { addressId, isAddress } from '../contacts/address-rows.ts';
import { parseAddress } from '../contacts/addresses.ts';
import { isErased } from '../contacts/erased-addresses.ts';
import { removeSuppression, suppressAddress } from '../suppressions.ts';
import { resubscribeAll, unsubscribeAll } from '../unfinished-writes.ts';
import { hasGroup, readGroupName, requireGroup } from './groups.ts';

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
  async run(context, { email_address }) {
    await unsubscribe(context, null, email_address);
    auditChange(context, 'contacts_unsubscribed', null);
  },
});

export const unsubscribeFromGroup = operation({
  name: 'Unsubscribe addresses from a group',
  description: 'The addresses get no more mail of this group, and still get mail of other groups.',
  role: 'editor',
  input: Type.Object({ unsubscribe_groups_id: reference(), email_address: AddressList }),
  async check(context, { unsubscribe_groups_id: groupId, email_address }, errors) {
    await checkAddressList(email_address, errors);
    errors.reference('unsubscribe_groups_id', () => hasGroup(context, groupId));
  },
  async run(context, { unsubscribe_groups_id: groupId, email_address }) {
    await unsubscribe(context, groupId, email_address);
    auditChange(context, 'contacts_unsubscribed', groupId);
  },
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
    async run(context, { id }) {
      const entry = context.db
        .select()
        .from(unsubscribers)
        .where(eq(unsubscribers.id, recordId(id)))
        .get();
      await resubscribe(context, onLists, [id]);
      auditChange(context, 'contact_resubscribed', entry?.unsubscribe_groups_id ?? null);
    },
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

/**
 * Writes to the audit log that a signed-in user changed the list of a group or, if `groupId` is null, another list. The addresses are in
 * the consent log. Requests with an API key are not audited, because they can be many.
 */
function auditChange(
  context: Context,
  action: 'contacts_unsubscribed' | 'contact_resubscribed' | 'suppression_lifted',
  groupId: number | null,
): void {
  if (context.actor.userId === null) return;
  const group = groupId === null ? undefined : readGroupName(context, groupId);
  auditBy(context, action, group);
}

/** Removes entries from their lists. Throws 404, and changes nothing, unless all of them are on these lists of the caller's account. */
async function resubscribe(
  { db, clock, accountId }: Context,
  onLists: SQL,
  input: unknown[] | undefined,
): Promise<void> {
  const condition = and(ownedBy(unsubscribers, accountId), onLists);
  const ids = await requireOwnedIds(db, unsubscribers, input, condition, notFound());
  await resubscribeAll(db, ids, isoTimestamp(clock.now()));
}

const Suppression = Type.Object({
  id: integer(),
  email_address: Type.String(),
  kind: choice('bounce', 'complaint'),
  diagnostic: said('What the receiving server said.'),
  created_at: isoTimestampSchema(),
});
const suppression = recordObject(Suppression, suppressions, {
  email_address: sql`${addresses.normalized_email}`,
  diagnostic: sql`english(${suppressions.diagnostic})`,
});

export const listSuppressed = listOperation({
  name: 'List the suppressed addresses',
  role: 'viewer',
  input: addressListQuery,
  as: 'suppressions',
  record: Suppression,
  select: ({ accountId }, { email: address, ...part }) => ({
    record: suppression,
    from: sql`${suppressions} CROSS JOIN ${addresses} ON ${addresses.id} = ${suppressions.address_id}`,
    where: and(ownedBy(suppressions, accountId), isAddress(suppressions.address_id, accountId, address)),
    id: suppressions.id,
    part,
  }),
});

/** The same list for a screen: newest entries first. */
export const readSuppressed = operation({
  name: 'Read the suppressed addresses',
  role: 'viewer',
  input: addressListQuery,
  run: ({ db, accountId }, { email: address, before_id: before, limit = DEFAULT_ROWS }) =>
    db
      .select({ ...getTableColumns(suppressions), email_address: addresses.normalized_email })
      .from(suppressions)
      .innerJoin(addresses, eq(addresses.id, suppressions.address_id))
      .where(
        and(
          ownedBy(suppressions, accountId),
          isAddress(suppressions.address_id, accountId, address),
          before === undefined ? undefined : lt(suppressions.id, before),
        ),
      )
      .orderBy(desc(suppressions.id))
      .limit(limit)
      .all(),
});

export const reportBounce = operation({
  name: 'Record a bounce or a complaint',
  description:
    'For bounces and complaints that other systems learn of. The address is suppressed: it gets no more mail.',
  role: 'editor',
  input: Type.Object({
    address: described(emailSchema(), 'The e-mail address.'),
    kind: choice('bounce', 'complaint'),
    diagnostic: Type.Optional(text({ description: 'What the provider said.' })),
  }),
  run({ db, clock, accountId }, { address: text, kind, diagnostic: rawDiagnostic = '' }) {
    const diagnostic = sanitizeText(rawDiagnostic);
    const address = parseAddress(text);
    if (address === null) throw new Error('an invalid address passed the schema');
    // An erased address gets no mail anyway, and an entry would name it again.
    if (isErased(db.$client, accountId, text)) return;
    const now = clock.now();
    const created_at = isoTimestamp(now);
    inTransaction(db, () => {
      const address_id = addressId(db, accountId, address);
      const deliveryId = lastAccepted(db.$client, accountId, address_id);
      if (deliveryId !== null)
        recordBounce(db.$client, { deliveryId, kind, suppress: true, diagnostic }, now, created_at);
      suppressAddress(db.$client, { user_id: accountId, address_id, kind, diagnostic, created_at });
    });
  },
});

export const removeFromSuppressionList = operation({
  name: 'Remove an address from the suppression list',
  role: 'editor',
  input: Type.Object({ id: identifier('The suppression.') }),
  async run(context, { id: entryId }) {
    const { db, accountId } = context;
    const ids = await requireOwnedIds(db, suppressions, [entryId], ownedBy(suppressions, accountId), notFound());
    for (const id of ids) removeSuppression(db.$client, id);
    auditChange(context, 'suppression_lifted', null);
  },
});
