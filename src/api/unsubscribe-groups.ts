/** Unsubscribe groups and the addresses unsubscribed from them. */
import { randomInt } from 'node:crypto';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, eq, isNotNull, sql } from 'drizzle-orm';
import Type from 'typebox';
import { isAddress } from '../audience/contacts/address-rows.ts';
import { resubscribeAll, unsubscribeAll } from '../audience/long-lists.ts';
import { isoTimestamp } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { ownedBy, ownedRecord, requireOwnedIds } from '../database/ownership.ts';
import { readRecord, recordObject, totalBytes } from '../database/record-json.ts';
import { SINGLE_SEND_STATUS, unsubscribeGroups, unsubscribers } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { conflict, notFound } from '../failure.ts';
import { sendList, sendRecord } from '../http/list-response.ts';
import {
  addressListQuery,
  done,
  flag,
  identifier,
  identifiers,
  integer,
  line,
  listQuery,
  nullable,
  reference,
  stamps,
  successWith,
  text,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { sentence } from '../sentences.ts';
import { AddressList, checkAddressList, readAddressList } from './address-list.ts';

const tags = ['Unsubscribe groups'];

const UnsubscribeGroup = Type.Object({
  id: integer(),
  user_id: integer(),
  rand_id: Type.String(),
  group_name: Type.String(),
  description: Type.String(),
  is_display: zeroOrOne(),
  ...stamps,
});
const ListedGroup = Type.Object({ ...UnsubscribeGroup.properties, unsubscribe_clients_count: integer() });

/** One entry of a group's list or of the global list. */
export const Unsubscriber = Type.Object({
  id: integer(),
  user_id: integer(),
  unsubscribe_groups_id: nullable(integer()),
  email_address: Type.String(),
  ...stamps,
});

const GroupBody = Type.Object({
  group_name: line(),
  description: text(),
  is_display: flag('1: shown on the preference page.'),
});
/** What stands in the way of deleting a group. */
const Uses = Type.Object({
  single_sends: integer({ description: 'Drafts, and single sends that wait or run.' }),
  automations: integer(),
});
const ById = Type.Object({ id: identifier('The unsubscribe group.') });

export const unsubscribeGroupRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  const record = recordObject(UnsubscribeGroup, unsubscribeGroups);
  const listed = recordObject(ListedGroup, unsubscribeGroups);
  const recipient = recordObject(Unsubscriber, unsubscribers);
  const isOwnedGroup = (id: number | undefined, accountId: number) =>
    db
      .select({ id: unsubscribeGroups.id })
      .from(unsubscribeGroups)
      .where(ownedRecord(unsubscribeGroups, id, accountId))
      .get() !== undefined;

  app.get(
    '/unsubscribes-groups',
    {
      schema: {
        tags,
        summary: 'List the groups',
        querystring: listQuery,
        response: successWith({ unsubscribesGroups: Type.Array(ListedGroup) }),
      },
    },
    (request, reply) => {
      const where = ownedBy(unsubscribeGroups, request.accountId);
      const bytes = totalBytes(unsubscribeGroups.description);
      const source = { record: listed, from: sql`${unsubscribeGroups}`, where, id: unsubscribeGroups.id, bytes };
      sendList(reply, db, 'unsubscribesGroups', source, request.query);
    },
  );

  app.post(
    '/unsubscribes-groups/save',
    { schema: { tags, summary: 'Add a group', body: GroupBody, response: done } },
    async (request, reply) => {
      const now = isoTimestamp(clock.now());
      const rand_id = String(randomInt(1_000_000_000, 10_000_000_000));
      const { id } = db
        .insert(unsubscribeGroups)
        .values({ ...request.body, user_id: request.accountId, rand_id, created_at: now, updated_at: now })
        .returning({ id: unsubscribeGroups.id })
        .get();
      reply.header('location', `/api/unsubscribes-groups/details?id=${id}`);
      return { status: 'success' as const, message: 'Saved Successfully' };
    },
  );

  app.get(
    '/unsubscribes-groups/details',
    {
      schema: {
        tags,
        summary: 'Read a group',
        querystring: ById,
        response: successWith({ unsubscribesGroup: UnsubscribeGroup }),
      },
    },
    (request, reply) => {
      const where = ownedRecord(unsubscribeGroups, request.query.id, request.accountId);
      const json = readRecord(db, record, sql`${unsubscribeGroups}`, where);
      if (json === undefined) throw notFound();
      sendRecord(reply, 'unsubscribesGroup', json);
    },
  );

  app.post(
    '/unsubscribes-groups/update',
    { schema: { tags, summary: 'Change a group', querystring: ById, body: GroupBody, response: done } },
    async (request) => {
      const { changes } = db
        .update(unsubscribeGroups)
        .set({ ...request.body, updated_at: isoTimestamp(clock.now()) })
        .where(ownedRecord(unsubscribeGroups, request.query.id, request.accountId))
        .run();
      if (changes === 0) throw notFound();
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  app.get(
    '/unsubscribes-groups/uses',
    {
      schema: {
        tags,
        summary: 'Count what a group is used for (addition)',
        querystring: ById,
        response: successWith({
          uses: Uses,
        }),
      },
    },
    async ({ query, accountId }) => {
      const uses = countUses(db, accountId, requireGroup(query.id, accountId));
      return { status: 'success' as const, message: { uses } };
    },
  );

  app.delete(
    '/unsubscribes-groups/delete',
    {
      schema: {
        tags,
        summary: 'Delete a group (addition)',
        description:
          'Refused with 409 while a single send that is not finished or an automation uses it. Links in mails that were sent go on working, and who left it stays recorded.',
        querystring: ById,
        response: done,
      },
    },
    async ({ query, accountId }) => {
      db.transaction(
        (tx) => {
          const id = requireGroup(query.id, accountId);
          const uses = countUses(db, accountId, id);
          if (uses.single_sends + uses.automations > 0) throw conflict(sentence('group_used', uses));
          const now = isoTimestamp(clock.now());
          tx.update(unsubscribeGroups)
            .set({ deleted_at: now, updated_at: now })
            .where(eq(unsubscribeGroups.id, id))
            .run();
        },
        { behavior: 'immediate' },
      );
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  function requireGroup(given: unknown, accountId: number): number {
    const where = ownedRecord(unsubscribeGroups, given, accountId);
    const group = db.select({ id: unsubscribeGroups.id }).from(unsubscribeGroups).where(where).get();
    if (group === undefined) throw notFound();
    return group.id;
  }

  const ManualBody = Type.Object({ unsubscribe_groups_id: reference(), email_address: AddressList });
  app.post(
    '/unsubscribes-groups/manually-add',
    {
      schema: {
        tags,
        summary: 'Unsubscribe addresses from a group',
        description: 'They get no more mail of this group, and keep getting that of others.',
        body: ManualBody,
        response: done,
      },
      config: {
        check: check(ManualBody, async (body, errors, { accountId }) => {
          await checkAddressList(body.email_address, errors);
          errors.reference('unsubscribe_groups_id', () => isOwnedGroup(body.unsubscribe_groups_id, accountId));
        }),
      },
    },
    async (request) => {
      const { unsubscribe_groups_id: groupId, email_address } = request.body;
      const change = { accountId: request.accountId, groupId, source: 'api' as const, now: isoTimestamp(clock.now()) };
      await unsubscribeAll(db, change, await readAddressList(email_address));
      return { status: 'success' as const, message: 'Added Successfully' };
    },
  );

  app.get(
    '/unsubscribes-groups/recipients-list',
    {
      schema: {
        tags,
        summary: 'List the addresses unsubscribed from a group',
        querystring: Type.Object({ groupId: identifier('The unsubscribe group.'), ...addressListQuery.properties }),
        response: successWith({ recipients: Type.Array(Unsubscriber) }),
      },
    },
    (request, reply) => {
      const groupId = requireGroup(request.query.groupId, request.accountId);
      const where = and(
        eq(unsubscribers.user_id, request.accountId),
        eq(unsubscribers.unsubscribe_groups_id, groupId),
        isAddress(unsubscribers.address_id, request.accountId, request.query.email),
      );
      const source = { record: recipient, from: sql`${unsubscribers}`, where, id: unsubscribers.id };
      sendList(reply, db, 'recipients', source, request.query);
    },
  );

  const inGroup = (accountId: number) =>
    and(ownedBy(unsubscribers, accountId), isNotNull(unsubscribers.unsubscribe_groups_id));

  app.delete(
    '/unsubscribes-groups/recipients-delete',
    {
      schema: {
        tags,
        summary: "Remove an address from a group's list",
        querystring: Type.Object({ id: identifier('The recipient.') }),
        response: done,
      },
    },
    async (request) => {
      const ids = await requireOwnedIds(db, unsubscribers, [request.query.id], inGroup(request.accountId), notFound());
      await resubscribeAll(db, ids, isoTimestamp(clock.now()));
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  app.post(
    '/unsubscribes-groups/recipients-bulk-delete',
    {
      schema: {
        tags,
        summary: "Remove several addresses from a group's list",
        body: Type.Object({ strIds: identifiers('Recipient ids.') }),
        response: done,
      },
    },
    async (request) => {
      const ids = await requireOwnedIds(db, unsubscribers, request.body.strIds, inGroup(request.accountId), notFound());
      await resubscribeAll(db, ids, isoTimestamp(clock.now()));
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};

/** The drafts, queued and running single sends and the automations of the account that have this group. */
function countUses(db: Db, accountId: number, groupId: number): { single_sends: number; automations: number } {
  return db.get(sql`
    SELECT (SELECT count(*) FROM single_sends WHERE user_id = ${accountId} AND status <> ${SINGLE_SEND_STATUS.completed}
        AND unsubscribe_group_id = ${groupId}) AS single_sends,
      (SELECT count(*) FROM automations WHERE user_id = ${accountId} AND deleted_at IS NULL
        AND unsubscribe_group_id = ${String(groupId)}) AS automations`);
}
