/** Finding single sends (additions): a short list, newest first, and the recipients of one by what happened to them. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type, { type Static } from 'typebox';
import { fold } from '../database/fold.ts';
import { eventsRemovedTime } from '../delivery/feedback/old-events.ts';
import { keptMails } from '../delivery/reporting/kept-mails.ts';
import { exportRecipients, findRecipients } from '../delivery/reporting/recipients.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { chooseEncoding, encodeStream } from '../http/content-encoding.ts';
import {
  choice,
  csvFile,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  ShownDeliveryState,
  successWith,
  text,
} from '../http/requests/schemas.ts';
import { sentenceCode } from '../sentences.ts';
import { findSingleSendMailing, requireSingleSend } from '../single-sends/actions.ts';
import { FINISHED, SHOWN_STATE, SHOWN_STATES } from '../single-sends/shown-state.ts';

const tags = ['Single sends'];
const DEFAULT_ROWS = 50;
/**
 * Single sends looked at for a page of a filtered list, about 10 ms. A page is cut by this and not only by its limit, so the answer says
 * where to go on; with `order=newest` of other lists the last record says it.
 */
const MAX_EXAMINED = 1000;

const Summary = Type.Object({
  id: integer(),
  utr: Type.String(),
  single_send_name: Type.String(),
  subject: Type.String(),
  state: choice(...SHOWN_STATES),
  held_reason: nullable(Type.String()),
  starts_at: Type.String(),
  created_at: Type.String(),
  recipients: integer(),
  finished: integer(),
  delivered: integer(),
  kept: integer(),
  unmeasured: integer(),
  unique_opens: integer(),
  unique_clicks: integer(),
  people_opens: integer(),
  people_clicks: integer(),
  bounces: integer(),
  unsubscribes: integer(),
});
const SummariesQuery = Type.Object({
  utr: identifier('Only this single send.'),
  state: Type.Optional(choice(...SHOWN_STATES)),
  search: Type.Optional(line({ description: 'Only those with this text in the name or the subject.' })),
  limit: Type.Optional(integer({ minimum: 1, maximum: 200, description: 'At most this many; 50 by default.' })),
  before_id: Type.Optional(integer({ description: 'Only those with a lower id: next_before_id of the page before.' })),
});

const Recipient = Type.Object({
  id: integer(),
  email: Type.String(),
  contact_id: nullable(integer()),
  state: ShownDeliveryState,
  attempts: integer(),
  reply: nullable(Type.String()),
  reason_code: nullable(Type.String()),
  opens: integer(),
  clicks: integer(),
  updated_at: nullable(Type.String()),
});
const FilterQuery = Type.Object({
  utr: identifier('The single send.'),
  state: Type.Optional(ShownDeliveryState),
  reason: Type.Optional(text({ maxLength: 200, description: 'Only those with this reason, as the report tells it.' })),
  link: Type.Optional(integer({ description: 'Only those who clicked the link with this number in the report.' })),
  search: Type.Optional(line({ description: 'Only those whose address begins so.' })),
});
const FindQuery = Type.Object({
  ...FilterQuery.properties,
  limit: Type.Optional(integer({ minimum: 1, maximum: 200, description: 'At most this many; 50 by default.' })),
  after: Type.Optional(line({ description: 'Where to go on: next of the page before.' })),
});

export const singleSendListRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db }) => {
  const { $client: client } = db;

  app.get(
    '/single-send/summaries',
    {
      schema: {
        tags,
        summary: 'List the single sends, newest first, without their templates (addition)',
        description:
          'A page that is filtered may hold fewer records than the limit, even none, though next_before_id says that more follow.',
        querystring: SummariesQuery,
        response: successWith({ summaries: Type.Array(Summary), next_before_id: nullable(integer()) }),
      },
    },
    async (request) => {
      const { utr, state, search = '', limit = DEFAULT_ROWS, before_id } = request.query;
      const only = utr === undefined ? null : requireSingleSend(db, request.accountId, utr).id;
      const rows = client
        .prepare<Record<string, string | number | null>, Static<typeof Summary> & { is_wanted: 0 | 1 }>(`
          SELECT s.id, s.utr, s.single_send_name, s.subject, ${SHOWN_STATE} AS state, ifnull(m.held_reason, s.held_reason) AS held_reason,
            strftime('%Y-%m-%dT%H:%M:%S.000000Z', s.starts_at / 1000, 'unixepoch') AS starts_at, s.created_at,
            ifnull(m.recipients, 0) AS recipients, ifnull(${FINISHED}, 0) AS finished, ifnull(m.delivered, 0) AS delivered, ${keptMails('m')} AS kept,
            ifnull(m.unmeasured, 0) AS unmeasured,
            ifnull(m.unique_opens, 0) AS unique_opens, ifnull(m.unique_clicks, 0) AS unique_clicks,
            ifnull(m.people_opens, 0) AS people_opens, ifnull(m.people_clicks, 0) AS people_clicks, ifnull(m.bounces, 0) AS bounces,
            ifnull(m.unsubscribes, 0) AS unsubscribes,
            (@search = '' OR instr(fold(s.single_send_name || char(10) || s.subject), @search) > 0)
              AND (@state IS NULL OR ${SHOWN_STATE} = @state) AS is_wanted
          FROM single_sends s INDEXED BY single_sends_user
            LEFT JOIN mailings m ON m.owner_kind = 'single' AND m.owner_id = s.id
          WHERE s.user_id = @account AND s.id < @before AND s.id >= @from ORDER BY s.id DESC LIMIT @examined`)
        .all({
          account: request.accountId,
          from: only ?? 0,
          before: only === null ? (before_id ?? Number.MAX_SAFE_INTEGER) : only + 1,
          state: state ?? null,
          search: fold(search),
          examined: state === undefined && search === '' ? limit + 1 : MAX_EXAMINED,
        });
      const wanted = rows.filter(({ is_wanted }) => is_wanted === 1);
      const summaries = wanted.slice(0, limit).map(({ is_wanted: _, ...summary }) => summary);
      const isCut = wanted.length > limit;
      const end = isCut ? summaries.at(-1) : rows.length === MAX_EXAMINED ? rows.at(-1) : undefined;
      return { status: 'success' as const, message: { summaries, next_before_id: end?.id ?? null } };
    },
  );

  /** The mailing of the account's single send; nobody is in mailing 0, which stands for one that was not launched. */
  function requireMailing(accountId: number, utr: unknown) {
    const mailing = findSingleSendMailing(db, requireSingleSend(db, accountId, utr));
    return { id: mailing?.id ?? 0, accountId };
  }

  app.get(
    '/single-send/recipients/find',
    {
      schema: {
        tags,
        summary: 'Find recipients of a single send by state, reason, link or address (addition)',
        description: 'A page may hold fewer recipients than the limit, even none, though next says that more follow.',
        querystring: FindQuery,
        response: successWith({
          recipients: Type.Array(Recipient),
          next: nullable(Type.String()),
          events_removed_before: nullable(isoTimestampSchema()),
        }),
      },
    },
    async (request) => {
      const { utr, limit = DEFAULT_ROWS, after = '', ...filter } = request.query;
      const mailing = requireMailing(request.accountId, utr);
      const { recipients, next } = findRecipients(client, mailing, filter, after, limit);
      const records = recipients.map(({ updated_at, ...recipient }) => ({
        ...recipient,
        reason_code: sentenceCode(recipient.reply),
        updated_at: updated_at === null ? null : `${new Date(updated_at).toISOString().slice(0, -1)}000Z`,
      }));
      const message = { recipients: records, next, events_removed_before: eventsRemovedTime(client) };
      return { status: 'success' as const, message };
    },
  );

  app.get(
    '/single-send/recipients/export',
    {
      schema: {
        tags,
        summary: 'Download recipients of a single send as CSV (addition)',
        querystring: FilterQuery,
        response: csvFile,
      },
    },
    async (request, reply) => {
      const { utr, ...filter } = request.query;
      const mailing = requireMailing(request.accountId, utr);
      if (mailing.id === 0) throw notFound('Record not found');
      const coding = chooseEncoding(request.headers['accept-encoding']);
      if (coding !== 'identity') reply.header('content-encoding', coding);
      reply.headers({
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="recipients.csv"',
        vary: 'Accept-Encoding',
      });
      return reply.send(encodeStream(exportRecipients(client, mailing, filter), coding));
    },
  );
};
