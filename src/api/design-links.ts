/** Revoking links to design pages (addition). The links work without keys, so an owner who shared one can make it invalid. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { recordUtr } from '../database/ownership.ts';
import type { Deps } from '../deps.ts';
import { revokeDesignLinks } from '../designs/designs.ts';
import { notFound } from '../failure.ts';
import { done, identifier } from '../http/requests/schemas.ts';

const tags = ['Design pages'];

const Revoked = Type.Object({ utr: identifier('The single send, or the schedule of an automation.') });

export const designLinkRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  app.post(
    '/design-links/revoke',
    {
      schema: {
        tags,
        summary: 'Revoke the links to the design page of a mail (addition)',
        description: 'All its links stop working. From then on design_url is a new one.',
        body: Revoked,
        response: done,
      },
    },
    async (request) => {
      const revoked = revokeDesignLinks(
        db,
        { accountId: request.accountId, utr: recordUtr(request.body.utr) },
        clock.now(),
      );
      if (revoked === 0) throw notFound('Record not found');
      return { status: 'success' as const, message: 'Revoked Successfully' };
    },
  );
};
