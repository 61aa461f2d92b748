/** Sending a single send again to those who did not open it (additions). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { Deps } from '../deps.ts';
import { withinShare } from '../http/account-share.ts';
import { identifier, integer, line, successWith } from '../http/requests/schemas.ts';
import { countUnopened, resendToUnopened } from '../single-sends/resend.ts';

const tags = ['Single sends'];

const ByUtr = Type.Object({ utr: identifier('The single send.') });
const ResendBody = Type.Object({ ...ByUtr.properties, subject: line() });

export const singleSendResendRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  app.get(
    '/single-send/unopened',
    {
      schema: {
        tags,
        summary: 'Count who got a finished single send and did not open it (addition)',
        description:
          'Only those who may get mail of its group now. Opens and clicks of machines do not count as opening it.',
        querystring: ByUtr,
        response: successWith({ count: integer() }),
      },
    },
    async ({ accountId, query }) => {
      const count = await withinShare(accountId, () => countUnopened(deps, accountId, query.utr));
      return { status: 'success' as const, message: { count } };
    },
  );

  app.post(
    '/single/send/resend',
    {
      schema: {
        tags,
        summary: 'Make a draft to those who got a finished single send and did not open it (addition)',
        description:
          'It has the content of the single send and the given subject. Its targets are segments with the rule that somebody got it and did not open it, so whoever opens it before the draft is sent gets nothing.',
        body: ResendBody,
        response: successWith({ utr: Type.String() }),
      },
    },
    async ({ accountId, body, actor }) => {
      const utr = await resendToUnopened(deps, accountId, body, actor);
      deps.wake();
      return { status: 'success' as const, message: { utr } };
    },
  );
};
