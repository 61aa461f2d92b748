/** The global unsubscribe list: the entries that belong to no group. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, isNull, sql } from 'drizzle-orm';
import Type from 'typebox';
import { isAddress } from '../audience/contacts/address-rows.ts';
import { resubscribeAll, unsubscribeAll } from '../audience/long-lists.ts';
import { isoTimestamp } from '../clock.ts';
import { ownedBy, requireOwnedIds } from '../database/ownership.ts';
import { recordObject } from '../database/record-json.ts';
import { unsubscribers } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { sendList } from '../http/list-response.ts';
import { addressListQuery, done, identifier, identifiers, successWith } from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { AddressList, checkAddressList, readAddressList } from './address-list.ts';
import { Unsubscriber } from './unsubscribe-groups.ts';

const tags = ['Global unsubscribes'];

const ListBody = Type.Object({ email_address: AddressList });

export const globalUnsubscribeRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  const record = recordObject(Unsubscriber, unsubscribers);
  const inGlobalList = (accountId: number) =>
    and(ownedBy(unsubscribers, accountId), isNull(unsubscribers.unsubscribe_groups_id));

  app.get(
    '/global-unsubscribes',
    {
      schema: {
        tags,
        summary: 'List the globally unsubscribed addresses',
        querystring: addressListQuery,
        response: successWith({ unSubscribers: Type.Array(Unsubscriber) }),
      },
    },
    (request, reply) => {
      const { accountId, query } = request;
      const where = and(inGlobalList(accountId), isAddress(unsubscribers.address_id, accountId, query.email));
      const source = { record, from: sql`${unsubscribers}`, where, id: unsubscribers.id };
      sendList(reply, db, 'unSubscribers', source, query);
    },
  );

  app.post(
    '/global-unsubscribes/save',
    {
      schema: {
        tags,
        summary: 'Unsubscribe addresses from all mail',
        description:
          'Addresses that are on the list already stay as they are. If one of the addresses is invalid, none is added.',
        body: ListBody,
        response: done,
      },
      config: { check: check(ListBody, (body, errors) => checkAddressList(body.email_address, errors)) },
    },
    async (request) => {
      const change = {
        accountId: request.accountId,
        groupId: null,
        source: 'api' as const,
        now: isoTimestamp(clock.now()),
      };
      await unsubscribeAll(db, change, await readAddressList(request.body.email_address));
      return { status: 'success' as const, message: 'Added Successfully' };
    },
  );

  app.delete(
    '/global-unsubscribes/delete',
    {
      schema: {
        tags,
        summary: 'Remove an address from the global list',
        querystring: Type.Object({ id: identifier('The entry.') }),
        response: done,
      },
    },
    async (request) => {
      const ids = await requireOwnedIds(
        db,
        unsubscribers,
        [request.query.id],
        inGlobalList(request.accountId),
        notFound(),
      );
      await resubscribeAll(db, ids, isoTimestamp(clock.now()));
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  app.post(
    '/global-unsubscribes/bulk-delete',
    {
      schema: {
        tags,
        summary: 'Remove several addresses from the global list',
        body: Type.Object({ strIds: identifiers('Entry ids.') }),
        response: done,
      },
    },
    async (request) => {
      const ids = await requireOwnedIds(
        db,
        unsubscribers,
        request.body.strIds,
        inGlobalList(request.accountId),
        notFound(),
      );
      await resubscribeAll(db, ids, isoTimestamp(clock.now()));
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};
