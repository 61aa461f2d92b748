/** The API for the progress of a single send while it is sent, as server-sent events. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { Database } from 'better-sqlite3';
import type { FastifyReply } from 'fastify';
import Type, { type Static } from 'typebox';
import { Failure } from '../../errors/failure.ts';
import { choice, described, identifier, integer, nullable } from '../../http/requests/schemas.ts';
import type { Deps } from '../../operations/deps.ts';
import { SINGLE_SENDS_TAG } from '../routes.ts';
import { requireSingleSend } from '../single-sends.ts';
import { FINISHED, SHOWN_STATE, SHOWN_STATES } from '../status.ts';

/** The interval in milliseconds at which the progress is read. */
const INTERVAL_MS = 1000;
/** The number of intervals without a change after which a comment is sent, so that proxies do not close the connection. */
const COMMENT_AFTER = 15;
/**
 * The maximum number of open streams of an account. Browsers open six connections to one host, so more than a few windows of
 * one user would block each other anyway.
 */
const MAX_PER_ACCOUNT = 20;
/** The number of seconds over which the rate is measured. */
const RATE_SECONDS = 10;
/** The states in which nothing changes by itself. */
const FINAL: readonly string[] = ['cancelled', 'done', 'kept', 'draft'];

const counted = {
  state: described(choice(...SHOWN_STATES), 'The state of the single send.'),
  held_reason: nullable(Type.String()),
  recipients: integer({ description: 'The number of recipients.' }),
  finished: integer(),
  delivered: integer(),
};
type Progress = Static<Type.TObject<typeof counted>>;

/** The data of an event. */
const ProgressEvent = Type.Object(
  {
    ...counted,
    rate: Type.Number({
      minimum: 0,
      description: `The number of recipients finished per second, over the last ${RATE_SECONDS} seconds.`,
    }),
    seconds_left: {
      ...nullable(integer()),
      description: 'The number of seconds until all recipients are finished at this rate; null while none is finished.',
    },
  },
  { additionalProperties: false, description: 'The progress of a single send.' },
);

/** Registers the route of the progress. */
export const progressRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  const openStreams = new Map<FastifyReply['raw'], { accountId: number; timer: NodeJS.Timeout }>();
  const close = (stream: FastifyReply['raw']) => {
    clearInterval(openStreams.get(stream)?.timer);
    openStreams.delete(stream);
    stream.end();
  };
  app.addHook('preClose', async () => {
    for (const stream of openStreams.keys()) close(stream);
  });

  app.get(
    '/live',
    {
      schema: {
        tags: [SINGLE_SENDS_TAG],
        summary: 'Follow the progress of a single send as server-sent events (addition)',
        description: `The first event comes at once, and a further event when something has changed, at most once per second. The stream ends after a final state (${FINAL.join(', ')}); a client that connects again gets that state once. Comments keep the connection open.`,
        querystring: Type.Object({ utr: identifier('The single send.') }),
        response: {
          200: {
            description: 'Server-sent events. The schema describes the data of one event.',
            content: { 'text/event-stream': { schema: ProgressEvent } },
          },
        },
      },
    },
    (request, reply) => {
      const { accountId } = request;
      const send = requireSingleSend(db, accountId, request.query.utr);
      const openOfAccount = [...openStreams.values()].filter((stream) => stream.accountId === accountId).length;
      if (openOfAccount >= MAX_PER_ACCOUNT) throw new Failure(429, 'Too many windows follow a progress at once');
      reply.hijack();
      const stream = reply.raw;
      stream.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      const samples: { at: number; finished: number }[] = [];
      let lastText = '';
      let unchanged = 0;
      const sendProgress = () => {
        const progress = findProgress(db.$client, send.id);
        if (progress === undefined) return close(stream);
        samples.push({ at: clock.monotonic(), finished: progress.finished });
        if (samples.length > RATE_SECONDS) samples.shift();
        const event: Static<typeof ProgressEvent> = { ...progress, ...forecast(progress, samples) };
        const text = JSON.stringify(event);
        unchanged = text === lastText ? unchanged + 1 : 0;
        if (text !== lastText) stream.write(`data: ${text}\n\n`);
        else if (unchanged % COMMENT_AFTER === 0) stream.write(': still here\n\n');
        lastText = text;
        if (FINAL.includes(progress.state)) close(stream);
      };
      const tick = () => {
        try {
          request.requireCaller();
          sendProgress();
        } catch (error) {
          // The key pair or the session has ended, or the disk failed. An error that a timer throws would end the process.
          request.log.debug({ err: error }, 'a progress is followed no longer');
          close(stream);
        }
      };
      openStreams.set(stream, { accountId, timer: setInterval(tick, INTERVAL_MS) });
      stream.on('close', () => close(stream));
      sendProgress();
    },
  );
};

/** Returns the progress of a single send; undefined if it was deleted. */
function findProgress(client: Database, sendId: number): Progress | undefined {
  return client
    .prepare<[number], Progress>(`
      SELECT ${SHOWN_STATE} AS state, english(ifnull(m.held_reason, s.held_reason)) AS held_reason, ifnull(m.recipients, 0) AS recipients,
        ifnull(${FINISHED}, 0) AS finished, ifnull(m.delivered, 0) AS delivered
      FROM single_sends s LEFT JOIN mailings m ON m.owner_kind = 'single' AND m.owner_id = s.id WHERE s.id = ?`)
    .get(sendId);
}

/** Returns the number of recipients finished per second, and the seconds left at this rate (null if none was finished). */
function forecast({ recipients, finished }: Progress, samples: readonly { at: number; finished: number }[]) {
  const [first] = samples;
  const last = samples.at(-1);
  const seconds = first === undefined || last === undefined ? 0 : (last.at - first.at) / 1000;
  const rate = seconds > 0 && first && last ? Math.max(0, (last.finished - first.finished) / seconds) : 0;
  return {
    rate: Math.round(rate * 10) / 10,
    seconds_left: rate > 0 ? Math.ceil((recipients - finished) / rate) : null,
  };
}
