/** The hold of all sending (addition): why nothing leaves, what waits, and its release by an operator. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { DELIVERY_STATE, SINGLE_SEND_STATUS } from '../database/schema/index.ts';
import { isReleasable, releaseSending, sendingHeldReason } from '../delivery/queue/sending-hold.ts';
import { mailWaitsReason } from '../delivery/queue/sending-wait.ts';
import type { Deps } from '../deps.ts';
import { conflict } from '../failure.ts';
import { done, integer, nullable, successWith, zeroOrOne } from '../http/requests/schemas.ts';
import { SENTENCES } from '../sentences.ts';
import { audit } from '../users/audit.ts';

const Hold = Type.Object({
  held_reason: nullable(Type.String()),
  releasable: {
    ...zeroOrOne(),
    description: '1: an operator can end it; 0: it ends with its cause, or there is none.',
  },
  waits_reason: {
    ...nullable(Type.String()),
    description: 'Why mail waits although nothing is held, such as that there is no sender node; null when it leaves.',
  },
  has_nodes: { ...zeroOrOne(), description: '1: campaign mail leaves from sender nodes.' },
  mails: integer({ description: 'Mails of all accounts that leave when it ends.' }),
  due_single_sends: integer({
    description: 'Single sends of all accounts that begin when it ends, since their time has come.',
  }),
});

export const sendingHoldRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, config, clock, wake }) => {
  const client = db.$client;
  const waiting = client.prepare<[], number>(`
    SELECT ifnull(sum((SELECT count(*) FROM deliveries d WHERE d.mailing_id = m.id AND d.state = ${DELIVERY_STATE.queued})), 0)
    FROM mailings m WHERE m.finished_at IS NULL`);
  const due = client.prepare<[number], number>(
    `SELECT count(*) FROM single_sends WHERE status = ${SINGLE_SEND_STATUS.queued} AND starts_at <= ?`,
  );

  app.get(
    '/sending/hold',
    {
      schema: {
        tags: ['Overview'],
        summary: 'Read whether all sending is held, and what waits (addition)',
        response: successWith({ hold: Type.Object(Hold.properties, { description: 'The hold of all sending.' }) }),
      },
    },
    async () => {
      const reason = sendingHeldReason(client);
      const isHeld = reason !== null;
      const hold = {
        held_reason: reason,
        releasable: isReleasable(client) ? (1 as const) : (0 as const),
        waits_reason: mailWaitsReason(client),
        has_nodes: config.NATS_URL.length > 0 ? (1 as const) : (0 as const),
        mails: isHeld ? (waiting.pluck().get() ?? 0) : 0,
        due_single_sends: isHeld ? (due.pluck().get(clock.now().getTime()) ?? 0) : 0,
      };
      return { status: 'success' as const, message: { hold } };
    },
  );

  app.post(
    '/sending/release',
    {
      schema: {
        tags: ['Installation'],
        summary: 'Let sending go on after a restore or a leap of the clock (addition)',
        description:
          'Everything that is due goes at once. A hold by settings stays. 409 where nothing is held that can be released.',
        response: done,
      },
      config: { isForOperators: true },
    },
    async ({ accountId, actor }) => {
      const release = () => {
        if (!isReleasable(client)) throw conflict(SENTENCES.sending_on);
        releaseSending(client, clock.now().getTime());
        audit(db, { accountId, actor, action: 'sending_released' }, clock.now());
      };
      db.transaction(release, { behavior: 'immediate' });
      wake();
      return { status: 'success' as const, message: 'Released Successfully' };
    },
  );
};
