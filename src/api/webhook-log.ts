/** What a webhook was sent, a test of it, and sending an event once more (additions), for owners. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type, { type Static } from 'typebox';
import { recordId } from '../database/ownership.ts';
import type { Deps } from '../deps.ts';
import { conflict, notFound } from '../failure.ts';
import { choice, identifier, integer, isoTimestampSchema, successWith, zeroOrOne } from '../http/requests/schemas.ts';
import { sentence } from '../sentences.ts';
import type { Endpoint } from '../webhooks/endpoints.ts';
import { countManual, listAttempts, MAX_MANUAL, replayEvent, sendTest } from '../webhooks/log.ts';
import { moment, requireEndpoint } from './webhooks.ts';

const LogEntry = Type.Object({
  id: integer(),
  event_id: integer({ description: 'The number at the end of the header webhook-id.' }),
  type: Type.String({ description: 'The type of the event.' }),
  attempt: integer({ description: '1: the first attempt.' }),
  is_success: { ...zeroOrOne(), description: '1: it was taken, with a status from 200 to 299.' },
  status: integer({ description: 'The HTTP status of the answer; 0: there was none.' }),
  reply: Type.String({ description: 'What was wrong, or the beginning of the answer; empty after a success.' }),
  took_ms: integer({ description: 'Milliseconds until the end of the answer.' }),
  at: { ...isoTimestampSchema(), description: 'When the attempt began, UTC.' },
  is_kept: { ...zeroOrOne(), description: '1: the event can be sent again.' },
});

const tags = ['Webhooks'];
const config = { role: 'owner' } as const;
const ById = Type.Object({ id: identifier('The webhook.') });
const DEFAULT_LIMIT = 100;

export const webhookLogRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock, wakeWebhooks }) => {
  app.get(
    '/webhooks/log',
    {
      schema: {
        tags,
        summary: 'List what a webhook was sent (addition)',
        description: 'The newest first. The last 1 000 successful attempts and the last 1 000 failed ones are kept.',
        querystring: Type.Object({
          ...ById.properties,
          result: Type.Optional({ ...choice('all', 'failed'), description: 'failed: only attempts that failed.' }),
          limit: Type.Optional(integer({ minimum: 1, maximum: 1000, description: `${DEFAULT_LIMIT} if not given.` })),
          before_id: Type.Optional(integer({ description: 'Only entries with a lower id.' })),
          event_id: Type.Optional(integer({ description: 'Only attempts of this event.' })),
        }),
        response: successWith({ log: Type.Array(LogEntry) }),
      },
      config,
    },
    async ({ accountId, query }) => {
      const { id } = requireEndpoint(db, accountId, query.id);
      const { result, limit = DEFAULT_LIMIT, before_id: before = Number.MAX_SAFE_INTEGER, event_id } = query;
      const event = event_id === undefined ? null : recordId(event_id);
      const attempts = listAttempts(db.$client, id, { before, limit, onlyFailed: result === 'failed', event });
      const log = attempts.map(({ at, ...attempt }) => ({ ...attempt, at: moment(at) ?? '' }));
      return { status: 'success' as const, message: { log } };
    },
  );

  app.post(
    '/webhooks/test',
    {
      schema: {
        tags,
        summary: 'Send a test to a webhook (addition)',
        description:
          'An event of the type webhook.test is sent once, also to one that is switched off. The log says what came of it.',
        body: ById,
        response: successWith({ event_id: integer() }),
      },
      config,
    },
    async (request) => {
      const event_id = sendOnce(request, (endpoint, now) => sendTest(db.$client, endpoint, now));
      return { status: 'success' as const, message: { event_id } };
    },
  );

  app.post(
    '/webhooks/replay',
    {
      schema: {
        tags,
        summary: 'Send an event to a webhook once more (addition)',
        description:
          'With the same id and content as before, once, also to one that is switched off. The log says what came of it.',
        body: Type.Object({ ...ById.properties, event_id: identifier('The event, as the log names it.') }),
        response: successWith({ event_id: integer() }),
      },
      config,
    },
    async (request) => {
      const event_id = recordId(request.body.event_id);
      sendOnce(request, (endpoint, now) => {
        if (!replayEvent(db.$client, endpoint, event_id, now)) throw notFound();
      });
      return { status: 'success' as const, message: { event_id } };
    },
  );

  /** Puts a test or a replay among what is sent to the endpoint that the body names. Throws 404, and 409 while many wait. */
  function sendOnce<T>(
    { accountId, body }: { accountId: number; body: Static<typeof ById> },
    add: (endpoint: Endpoint, now: number) => T,
  ): T {
    const added = db.transaction(
      () => {
        const endpoint = requireEndpoint(db, accountId, body.id);
        const count = countManual(db.$client, endpoint.id);
        if (count >= MAX_MANUAL) throw conflict(sentence('webhook_many_waiting', { count }));
        return add(endpoint, clock.now().getTime());
      },
      { behavior: 'immediate' },
    );
    wakeWebhooks();
    return added;
  }
};
