/** Holding single sends because of their results (addition): the canary of a send, what is told of it, and whether sends without one are held, too. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { changeAutoHold, isAutoHoldOn } from '../database/accounts.ts';
import { CANARY_STAGES } from '../database/schema/index.ts';
import { LEAST_RESULTS, LIMITS } from '../delivery/watch/limits.ts';
import type { Deps } from '../deps.ts';
import { choice, done, flag, integer, nullable, successWith, zeroOrOne } from '../http/requests/schemas.ts';
import { audit } from '../users/audit.ts';

const DomainCounts = Type.Object({
  domain: Type.String({ description: 'Empty: all domains that are not named.' }),
  mails: integer({ description: 'Mails that were handed over at least once.' }),
  delivered: integer({ description: 'Mails that were accepted and did not come back.' }),
  kept: integer({ description: 'How many of the delivered the built-in outbox took, so that nobody got them.' }),
  bounces: integer({ description: 'Mails that bounced: refused because the address does not exist, or returned.' }),
  failed: integer({ description: 'Refused for good for another reason, or given up.' }),
  complaints: integer({ description: 'Mails that their recipients complained about.' }),
  waiting: integer({ description: 'Mails that their server has put off, or that are being handed over.' }),
});
/** Of a report: what is known of a mailing that is watched. */
export const Watch = Type.Object({
  canary_percent: integer({ description: '0: it has no canary.' }),
  canary_minutes: integer({ description: 'How many minutes the rest waits after the first recipients.' }),
  canary_stage: {
    ...nullable(choice(...CANARY_STAGES)),
    description:
      'How far the canary is; released: the rest may go, also for an audience too small for one. Null without a canary.',
  },
  canary_recipients: integer({ description: 'How many people get it first; 0 before they are chosen.' }),
  continues_at: {
    ...nullable(Type.String()),
    description: 'When the rest goes by itself, UTC; null while that is not known.',
  },
  counted_at: { ...nullable(Type.String()), description: 'When the domains were counted, UTC; null before that.' },
  domains: Type.Array(DomainCounts, {
    description:
      'What came of the first part, or of a mailing that is held, by recipient domain: those with most bad results first.',
  }),
});

const Limits = Type.Object({
  auto_hold: {
    ...zeroOrOne(),
    description: '1: single sends are held when a limit is exceeded; 0: only those with a canary are.',
  },
  least_results: integer({ description: 'A send is not held before so many of its mails have a result.' }),
  limits: Type.Array(
    Type.Object({
      code: Type.String({ description: 'The held_code of a send that exceeds it.' }),
      measure: { ...choice(...LIMITS.map(({ measure }) => measure)), description: 'The counter that is compared.' },
      per_thousand: integer({ description: 'So many in a thousand results are too many.' }),
      least: integer({ description: 'So many there must be at least.' }),
    }),
    { description: 'The limits.' },
  ),
});

export const resultLimitRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  app.get(
    '/sending/limits',
    {
      schema: {
        tags: ['Single sends'],
        summary: 'Read the limits at which single sends are held (addition)',
        response: successWith({ limits: Type.Object(Limits.properties, { description: 'The limits.' }) }),
      },
    },
    async ({ accountId }) => {
      const auto_hold = isAutoHoldOn(db, accountId) ? (1 as const) : (0 as const);
      const shown = LIMITS.map(({ share, ...limit }) => ({ ...limit, per_thousand: Math.round(share * 1000) }));
      const limits = { auto_hold, least_results: LEAST_RESULTS, limits: shown };
      return { status: 'success' as const, message: { limits } };
    },
  );

  app.post(
    '/sending/limits/save',
    {
      schema: {
        tags: ['Single sends'],
        summary: 'Choose whether single sends without a canary are held, too (addition)',
        body: Type.Object({ auto_hold: flag('1: they are; 0: only those with a canary.') }),
        response: done,
      },
      config: { role: 'owner' },
    },
    async ({ accountId, actor, body }) => {
      const change = () => {
        changeAutoHold(db, accountId, body.auto_hold);
        audit(db, { accountId, actor, action: body.auto_hold === 1 ? 'auto_hold_on' : 'auto_hold_off' }, clock.now());
      };
      db.transaction(change, { behavior: 'immediate' });
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );
};
