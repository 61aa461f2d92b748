/** The API for single sends. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { Database } from 'better-sqlite3';
import type { FastifyReply } from 'fastify';
import Type, { type Static } from 'typebox';
import { Failure } from '../errors/failure.ts';
import { sendLongCsv, sendRecord } from '../http/list-response.ts';
import { operationRoutes } from '../http/operation-routes.ts';
import { choice, csvFile, described, identifier, integer, nullable, successWith } from '../http/requests/schemas.ts';
import type { Deps } from '../operations/deps.ts';
import {
  cancelSingleSend,
  countUnopened,
  deleteSingleSend,
  deleteSingleSends,
  duplicateSingleSend,
  hideSingleSends,
  pauseSingleSend,
  resendToUnopened,
  resumeSingleSend,
  retryFailed,
} from './operations/actions.ts';
import { addAttachment, removeAttachment } from './operations/attachments.ts';
import { readBestHours } from './operations/best-hours.ts';
import { checkAnyMail } from './operations/check.ts';
import { countAudience, createDraft, readDraft, saveDraft } from './operations/drafts.ts';
import { listLanguages, removeLanguage, saveLanguage } from './operations/languages.ts';
import {
  exportRecipientsOf,
  findRecipientsOf,
  listRecipients,
  listSummaries,
  readReport,
} from './operations/reports.ts';
import { countJoined, sendToJoined } from './operations/send-to-joined.ts';
import {
  checkSingleSendMail,
  readSingleSendCode,
  showSingleSendHtml,
  showSingleSendMail,
  testSingleSend,
} from './operations/shown-mails.ts';
import {
  addOpenToken,
  addSingleSend,
  listSingleSends,
  previewSingleSend,
  readSingleSend,
  SingleSend,
  updateSingleSend,
} from './operations/single-sends.ts';
import { chooseWinner, readVariants, saveVariants } from './operations/variants.ts';
import { explainSingleSend } from './operations/why.ts';
import { requireSingleSend } from './single-sends.ts';
import { FINISHED, SHOWN_STATE, SHOWN_STATES } from './status.ts';

const TAG = 'Campaigns (single sends)';

const details = ({ utr }: { utr: string }) => `/api/single-send/details?utr=${utr}`;

/** The API for single sends. */
export const singleSendRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  addOpenToken(deps);
  const sends = operationRoutes(app, deps, TAG);
  sends.list('GET /single-send/list', listSingleSends);
  sends.read('POST /single/send/create', addSingleSend, details);
  sends.record('POST /single/send/preview', previewSingleSend);
  const one = successWith({
    singleSend: Type.Array(SingleSend, { description: 'The single send, as the only item.' }),
  });
  sends.send('GET /single-send/details', readSingleSend, one, (json, reply) =>
    sendRecord(reply, 'singleSend', `[${json}]`),
  );
  sends.read('POST /single/send/update', updateSingleSend, details);
  sends.change('GET|POST /single/send/duplicate', duplicateSingleSend, 'Duplicated Successfully', details);
  sends.change('DELETE /single/send/delete', deleteSingleSend, 'Deleted Successfully');
  sends.change('POST /single/send/bulk-delete', deleteSingleSends, 'Deleted Successfully');
  sends.change('POST /single/send/cancel?utr', cancelSingleSend, 'Cancelled Successfully');
  sends.change('POST /single/send/pause?utr', pauseSingleSend, 'Paused Successfully');
  sends.change('POST /single/send/resume?utr', resumeSingleSend, 'Resumed Successfully');
  sends.read('POST /single/send/retry-failed?utr', retryFailed);
  sends.read('POST /single/send/hide', hideSingleSends);
  sends.read('GET /single-send/report', readReport);
  sends.list('GET /single-send/recipients', listRecipients);
  sends.change('POST /single/send/test', testSingleSend, (message) => message);
  sends.read('GET /single-send/summaries', listSummaries);
  sends.read('GET /single-send/recipients/find', findRecipientsOf);
  sends.send('GET /single-send/recipients/export', exportRecipientsOf, csvFile, (csv, reply) =>
    sendLongCsv(reply, csv, 'recipients.csv'),
  );
  sends.read('GET /single-send/why', explainSingleSend);
  sends.record('GET /single-send/mail', showSingleSendMail);
  sends.code('GET /single-send/mail/html', showSingleSendHtml);
  sends.read('GET /single-send/check', checkSingleSendMail);
  sends.read('POST /check', checkAnyMail);
  sends.read('POST /single/send/draft', createDraft);
  sends.read('POST /single/send/save', saveDraft);
  sends.read('GET /single-send/draft', readDraft);
  sends.read('POST /single/send/attachments', addAttachment);
  sends.read('POST /single/send/attachments/remove', removeAttachment);
  sends.code('GET /single-send/html', readSingleSendCode);
  sends.read('GET /single-send/audience', countAudience);
  sends.read('GET /single-send/best-hours', readBestHours);
};

/** The API for sending a single send again. */
export const singleSendResendRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const resends = operationRoutes(app, deps, TAG);
  resends.read('GET /single-send/unopened', countUnopened);
  resends.read('POST /single/send/resend', resendToUnopened);
  resends.read('GET /single-send/joined', countJoined);
  resends.change('POST /single/send/joined?utr', sendToJoined, 'Queued Successfully');
};

/** The API for A/B tests. */
export const singleSendVariantRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const tests = operationRoutes(app, deps, TAG);
  tests.read('GET /single-send/variants', readVariants);
  tests.read('POST /single/send/variants', saveVariants);
  tests.change('POST /single/send/variants/decide', chooseWinner, 'Decided Successfully');
  tests.read('GET /single-send/languages', listLanguages);
  tests.read('POST /single/send/languages', saveLanguage);
  tests.read('POST /single/send/languages/remove', removeLanguage);
};

const INTERVAL_MS = 1000;
/** Seconds after which a comment is sent, so that proxies do not close an idle connection. */
const STILL_HERE_AFTER = 15;
/**
 * The maximum number of open streams of an account. Browsers open six connections to one host, so more than a few windows of
 * one user would block each other anyway.
 */
const MAX_PER_ACCOUNT = 20;
const TOO_MANY_REQUESTS = 429;
/** The rate is measured over this many seconds. */
const RATE_SECONDS = 10;
/** States after which nothing changes by itself. */
const FINAL: readonly string[] = ['cancelled', 'done', 'kept', 'draft'];

const counted = {
  state: described(choice(...SHOWN_STATES), 'How far the campaign is.'),
  held_reason: nullable(Type.String()),
  recipients: integer({ description: 'How many recipients it has.' }),
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
      description: `Recipients finished a second over the last ${RATE_SECONDS} seconds.`,
    }),
    seconds_left: {
      ...nullable(integer()),
      description: 'How long the rest takes at that rate, in seconds; null while nothing moves.',
    },
  },
  { additionalProperties: false, description: 'How far a single send is.' },
);

/** The API for the progress of a single send while it is sent, as server-sent events. */
export const progressRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  const open = new Map<FastifyReply['raw'], { accountId: number; timer: NodeJS.Timeout }>();
  const close = (stream: FastifyReply['raw']) => {
    clearInterval(open.get(stream)?.timer);
    open.delete(stream);
    stream.end();
  };
  app.addHook('preClose', async () => {
    for (const stream of open.keys()) close(stream);
  });

  app.get(
    '/live',
    {
      schema: {
        tags: ['Campaigns (single sends)'],
        summary: 'Follow the progress of a single send as server-sent events (addition)',
        description: `The first event comes at once, each later one when something has changed, at most one a second. After a state that is final (${FINAL.join(', ')}) the stream ends; a client that connects again then gets that state once. Comments keep the connection open.`,
        querystring: Type.Object({ utr: identifier('The single send.') }),
        response: {
          200: {
            description: 'Server-sent events. The schema is that of each of them.',
            content: { 'text/event-stream': { schema: ProgressEvent } },
          },
        },
      },
    },
    (request, reply) => {
      const { accountId } = request;
      const send = requireSingleSend(db, accountId, request.query.utr);
      const mine = [...open.values()].filter((stream) => stream.accountId === accountId).length;
      if (mine >= MAX_PER_ACCOUNT) throw new Failure(TOO_MANY_REQUESTS, 'Too many windows follow a progress at once');
      reply.hijack();
      const stream = reply.raw;
      stream.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      const samples: { at: number; finished: number }[] = [];
      let last = '';
      let silent = 0;
      const tell = () => {
        const progress = findProgress(db.$client, send.id);
        if (progress === undefined) return close(stream);
        samples.push({ at: clock.monotonic(), finished: progress.finished });
        if (samples.length > RATE_SECONDS) samples.shift();
        const event: Static<typeof ProgressEvent> = { ...progress, ...forecast(progress, samples) };
        const text = JSON.stringify(event);
        silent = text === last ? silent + 1 : 0;
        if (text !== last) stream.write(`data: ${text}\n\n`);
        else if (silent % STILL_HERE_AFTER === 0) stream.write(': still here\n\n');
        last = text;
        if (FINAL.includes(progress.state)) close(stream);
      };
      const tick = () => {
        try {
          request.requireCaller();
          tell();
        } catch (error) {
          // The keys or the session have ended, or the disk failed. An error thrown in a timer would end the process.
          request.log.debug({ err: error }, 'a progress is followed no longer');
          close(stream);
        }
      };
      open.set(stream, { accountId, timer: setInterval(tick, INTERVAL_MS) });
      stream.on('close', () => close(stream));
      tell();
    },
  );
};

/** Returns the progress of a single send. */
function findProgress(client: Database, sendId: number): Progress | undefined {
  return client
    .prepare<[number], Progress>(`
      SELECT ${SHOWN_STATE} AS state, english(ifnull(m.held_reason, s.held_reason)) AS held_reason, ifnull(m.recipients, 0) AS recipients,
        ifnull(${FINISHED}, 0) AS finished, ifnull(m.delivered, 0) AS delivered
      FROM single_sends s LEFT JOIN mailings m ON m.owner_kind = 'single' AND m.owner_id = s.id WHERE s.id = ?`)
    .get(sendId);
}

/** Returns the recipients finished per second over the last seconds, and the seconds left at that rate; null while nothing changes. */
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
