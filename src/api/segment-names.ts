/** The mails and automations that rules of segments can name (an addition). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { prepared } from '../database/prepared.ts';
import { SINGLE_SEND_STATUS } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { choice, successWith } from '../http/requests/schemas.ts';

const Named = {
  utr: Type.String(),
  name: Type.String({ description: 'The name of the single send or automation.' }),
};
const Mail = Type.Object({
  ...Named,
  subject: Type.String(),
  kind: choice('single_send', 'automation_mail'),
});

/** The newest so many single sends, automations and mails of automations are listed. */
const LISTED = 200;
/** How many of the newest single sends are looked at, since drafts are among them. */
const EXAMINED = 1000;

const MAILS = `
  SELECT * FROM (
    SELECT utr, single_send_name AS name, subject, 'single_send' AS kind FROM (
      SELECT * FROM single_sends INDEXED BY single_sends_user WHERE user_id = @account ORDER BY id DESC LIMIT ${EXAMINED})
    WHERE status >= ${SINGLE_SEND_STATUS.running} LIMIT ${LISTED})
  UNION ALL SELECT * FROM (
    SELECT s.utr, a.automation_name AS name, s.subject, 'automation_mail' AS kind
    FROM automations a INDEXED BY automations_user CROSS JOIN automation_schedules s ON s.automation_id = a.id
    WHERE a.user_id = @account AND a.deleted_at IS NULL ORDER BY a.id DESC LIMIT ${LISTED})`;
const AUTOMATIONS = `
  SELECT utr, automation_name AS name FROM automations INDEXED BY automations_user
  WHERE user_id = @account AND deleted_at IS NULL ORDER BY id DESC LIMIT ${LISTED}`;

export const segmentNameRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db }) => {
  app.get(
    '/segment/names',
    {
      schema: {
        tags: ['Segments'],
        summary: 'List the mails and automations that rules can name, the newest first (addition)',
        description:
          'Up to 200 single sends that were sent, 200 mails of automations and 200 automations. Older ones can be named too, by their utr.',
        response: successWith({ mails: Type.Array(Mail), automations: Type.Array(Type.Object(Named)) }),
      },
    },
    async ({ accountId: account }) => {
      const mails = prepared<[object], Type.Static<typeof Mail>>(db.$client, MAILS).all({ account });
      const automations = prepared<[object], { utr: string; name: string }>(db.$client, AUTOMATIONS).all({ account });
      return { status: 'success' as const, message: { mails, automations } };
    },
  );
};
