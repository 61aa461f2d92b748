/** Mail to the addresses of feedback loops, abuse and postmaster that names no mail of ours (addition): list, delete. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { desc } from 'drizzle-orm';
import Type from 'typebox';
import { recordId } from '../database/ownership.ts';
import { ROLE_MAILBOXES, roleMails } from '../database/schema/index.ts';
import { removeRoleMail } from '../delivery/feedback/bounces/kept-mails.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { choice, done, identifier, integer, isoTimestampSchema, successWith } from '../http/requests/schemas.ts';

const RoleMail = Type.Object({
  id: integer(),
  mailbox: { ...choice(...ROLE_MAILBOXES), description: 'The address it came to, without the domain.' },
  sender: Type.String({ description: 'From whom it says it is; anybody can write anything there.' }),
  subject: Type.String(),
  text: Type.String({ description: 'Its beginning, plain and without markup.' }),
  created_at: isoTimestampSchema(),
});

const tags = ['Bounces and suppressions'];
const config = { isForOperators: true } as const;

export const roleMailRoutes: FastifyPluginAsyncTypebox<Deps> = async (
  app,
  { db, config: { BOUNCE_LISTEN, BOUNCE_DOMAIN } },
) => {
  app.get(
    '/role-mails',
    {
      schema: {
        tags,
        summary: 'List the mail to fbl, abuse and postmaster that names no mail of ours (addition)',
        description: 'The newest 200 are kept.',
        response: successWith({
          addresses: Type.Array(Type.String(), {
            description: 'Where mail is taken in, feedback loops first; none where nothing listens.',
          }),
          mails: Type.Array(RoleMail, { description: 'Newest first.' }),
        }),
      },
      config,
    },
    async () => {
      const mails = db.select().from(roleMails).orderBy(desc(roleMails.id)).all();
      const addresses = BOUNCE_LISTEN === null ? [] : ROLE_MAILBOXES.map((name) => `${name}@${BOUNCE_DOMAIN}`);
      return { status: 'success' as const, message: { addresses, mails } };
    },
  );

  app.delete(
    '/role-mails/delete',
    {
      schema: {
        tags,
        summary: 'Delete a mail to fbl, abuse or postmaster (addition)',
        querystring: Type.Object({ id: identifier('The mail.') }),
        response: done,
      },
      config,
    },
    async ({ query }) => {
      if (!removeRoleMail(db.$client, recordId(query.id))) throw notFound();
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};
