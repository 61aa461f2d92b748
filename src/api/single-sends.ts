/** Single sends: create, preview, update, list, details. Actions such as pause and delete are in single-send-actions.ts. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { ownedBy, recordUtr } from '../database/ownership.ts';
import { readRecord, recordObject, totalBytes } from '../database/record-json.ts';
import { singleSends } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { withinShare } from '../http/account-share.ts';
import { sendList, sendRecord } from '../http/list-response.ts';
import {
  flag,
  identifier,
  integer,
  line,
  listQuery,
  MAX_TEMPLATE_CHARACTERS,
  nullable,
  reference,
  stamps,
  stringList,
  successWith,
  text,
  trackingFlag,
  unchangedSince,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { canaryOptions, capOption } from '../single-sends/operations/options.ts';
import { previewSingleSend } from '../single-sends/preview.ts';
import {
  createSingleSend,
  type SingleSendInput,
  singleSendErrors,
  updateSingleSend,
} from '../single-sends/single-sends.ts';
import { mailWarnings } from '../templates/content-warnings.ts';
import { withTemplateCopied } from '../templates/mail-content.ts';
import { ContentWarnings } from '../templates/operations.ts';

const tags = ['Single sends'];

const Targets = Type.Array(Type.Object({ id: Type.String(), table: Type.String() }));

/** The record of a single send. Its counters are those of its mailing. */
export const SingleSend = Type.Object({
  id: integer(),
  user_id: integer(),
  template_id: integer(),
  recipient_id: Targets,
  exclude_specific_recipient_id: Targets,
  sender_id: integer(),
  unsubscribe_group_id: integer(),
  single_send_name: Type.String(),
  from_sender: Type.String(),
  reply_to: Type.String(),
  sender_name: nullable(Type.String()),
  sender_address: nullable(Type.String()),
  subject: Type.String(),
  preheader: Type.String(),
  schedule_type: integer(),
  schedule_date: Type.String(),
  schedule_time: Type.String(),
  status: integer(),
  utr: Type.String(),
  template_json: nullable(Type.String()),
  template_html: nullable(Type.String()),
  triggered: integer(),
  delivered: integer(),
  unique_opens: integer(),
  total_opens: integer(),
  bounces: integer(),
  unsubscribes: integer(),
  unique_open_token: Type.Record(Type.String(), Type.String()),
  sent_at: Type.String(),
  ...stamps,
});

const template = (description: string) => Type.Optional(text({ maxLength: MAX_TEMPLATE_CHARACTERS, description }));

/** The body of create. Update adds `utr`. */
const SingleSendBody = Type.Object({
  template_id: reference(),
  template_json: template("MJML's JSON form; template_html is then left empty."),
  template_html: template('HTML; template_json is then left empty.'),
  sender_id: reference(),
  unsubscribe_group_id: reference(),
  single_send_name: line(),
  subject: line(),
  preheader: line(),
  recipient_id: stringList({
    minItems: 1,
    description: 'Targets: contacts_<contact type id> or segments_<segment id>.',
  }),
  exclude_specific_recipient_id: Type.Optional(
    Type.Unsafe<string[]>({ ...stringList({ description: 'Targets whose recipients get nothing.' }), empty: [] }),
  ),
  schedule_type: flag('0: at once, 1: at schedule_date and schedule_time.'),
  schedule_date: Type.Optional(line({ description: 'y-m-d' })),
  schedule_time: Type.Optional(line({ description: 'HH:MM[:SS]' })),
  local_time: Type.Optional(
    Type.Unsafe<0 | 1>({
      ...flag(
        'Addition: 1 with a schedule: each recipient gets it at that date and time in their own time zone; 0 (default): all at the same moment.',
      ),
      empty: 0,
    }),
  ),
  tracking: trackingFlag(),
  ...canaryOptions,
  ...capOption,
});
const SingleSendUpdateBody = Type.Object({
  utr: identifier('The single send.'),
  unchanged_since: unchangedSince(),
  ...SingleSendBody.properties,
});
/** The answer of `preview`, an addition. */
const Preview = Type.Object({
  audience: Type.Object({
    recipients: integer(),
    left_out: Type.Array(Type.Object({ reason: Type.String(), count: integer() })),
  }),
  mail: nullable(
    Type.Object({
      contact_id: nullable(integer()),
      subject: Type.String(),
      html: Type.String(),
      text: Type.String({ description: 'The beginning of the text part, of 100 000 characters at most.' }),
      text_length: integer({ description: 'The characters of the whole text part.' }),
    }),
  ),
  problem: nullable(Type.String()),
  placeholders_without_value: Type.Array(Type.String()),
  warnings: ContentWarnings,
});
const Utr = successWith({ utr: Type.String() });

export const singleSendRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db, wake, tokens } = deps;
  db.$client.function(
    'open_token',
    { deterministic: true },
    (delivery, mailing, address, group, user, email) =>
      tokens.recipient({
        delivery: Number(delivery),
        mailing: Number(mailing),
        address: Number(address),
        group: Number(group),
        user: Number(user),
        email: String(email),
      }).open,
  );
  const counter = (name: string) => sql`ifnull(${sql.raw(`mailings.${name}`)}, 0)`;
  const from = sql`${singleSends} LEFT JOIN mailings ON mailings.owner_kind = 'single' AND mailings.owner_id = ${singleSends.id}`;
  const record = recordObject(SingleSend, singleSends, {
    recipient_id: sql`json(${singleSends.recipient_id})`,
    exclude_specific_recipient_id: sql`json(${singleSends.exclude_specific_recipient_id})`,
    triggered: counter('triggered'),
    delivered: counter('delivered'),
    unique_opens: counter('unique_opens'),
    total_opens: counter('total_opens'),
    bounces: counter('bounces'),
    unsubscribes: counter('unsubscribes'),
    // SQLite treats the JSON of a subquery as text unless it is passed through json() again.
    unique_open_token: sql`json((SELECT json_group_object(CAST(id AS TEXT), token) FROM (
      SELECT id, open_token(id, mailing_id, address_id, ${singleSends.unsubscribe_group_id}, ${singleSends.user_id},
        (SELECT normalized_email FROM addresses WHERE addresses.id = address_id)) AS token
      FROM deliveries WHERE mailing_id = mailings.id AND opened_at IS NOT NULL ORDER BY opened_at DESC, id DESC LIMIT 1000)))`,
  });

  const columns = totalBytes(singleSends.template_json, singleSends.template_html, singleSends.recipient_id);
  // An open token has about 60 characters.
  const bytes = sql`${columns} + 60 * min(1000, ${counter('unique_opens')})`;

  app.get(
    '/single-send/list',
    {
      schema: {
        tags,
        summary: 'List the single sends',
        querystring: listQuery,
        response: successWith({ singleSends: Type.Array(SingleSend) }),
      },
    },
    (request, reply) => {
      const source = { record, from, where: ownedBy(singleSends, request.accountId), id: singleSends.id, bytes };
      sendList(reply, db, 'singleSends', source, request.query);
    },
  );

  const location = (utr: string) => `/api/single-send/details?utr=${utr}`;
  const checkFields = check(SingleSendBody, (body, errors, { accountId }) => {
    for (const [field, problem] of singleSendErrors(deps, accountId, body))
      if (!errors.has(field)) errors.add(field, problem);
  });

  app.post(
    '/single/send/create',
    {
      schema: {
        tags,
        summary: 'Create a single send, sent at once or on a schedule',
        description:
          'It is queued if it has everything it needs; otherwise it is saved and its report says what is missing. The header Location of the answer names its details.',
        body: SingleSendBody,
        response: Utr,
      },
      config: { check: checkFields },
    },
    async (request, reply) => {
      const input: SingleSendInput = request.body;
      const utr = createSingleSend(deps, request.accountId, input, request.actor);
      wake();
      reply.header('location', location(utr));
      return { status: 'success' as const, message: { utr } };
    },
  );

  app.post(
    '/single/send/preview',
    {
      schema: {
        tags,
        summary: 'Preview the audience and the mail of a single send',
        description:
          'Sends and saves nothing. Tells who would get the mail, who would not and why, and shows it for one contact.',
        body: SingleSendBody,
        response: successWith({ preview: Preview }),
      },
      config: { check: checkFields },
    },
    async (request, reply) => {
      const { audience, mail, ...rest } = await withinShare(request.accountId, () =>
        previewSingleSend(deps, request.accountId, withTemplateCopied(db, request.accountId, request.body)),
      );
      const warnings = await mailWarnings(db, request.accountId, request.body);
      const end = JSON.stringify({ ...rest, warnings });
      return sendRecord(reply, 'preview', `{"audience":${JSON.stringify(audience)},"mail":${mail},${end.slice(1)}`);
    },
  );

  app.get(
    '/single-send/details',
    {
      schema: {
        tags,
        summary: 'Read a single send',
        querystring: Type.Object({ utr: identifier('The single send.') }),
        response: successWith({ singleSend: Type.Array(SingleSend) }),
      },
    },
    (request, reply) => {
      const where = and(ownedBy(singleSends, request.accountId), eq(singleSends.utr, recordUtr(request.query.utr)));
      const json = readRecord(db, record, from, where);
      if (json === undefined) throw notFound('Record not found');
      sendRecord(reply, 'singleSend', `[${json}]`);
    },
  );

  app.post(
    '/single/send/update',
    {
      schema: {
        tags,
        summary: 'Change a single send that has not been sent',
        description: 'The same parameters as on create. Queues it again.',
        body: SingleSendUpdateBody,
        response: Utr,
      },
      config: { check: checkFields },
    },
    async (request, reply) => {
      const { utr: given, unchanged_since: since, ...input } = request.body;
      const utr = updateSingleSend(deps, request.accountId, given, input, {
        ...request.actor,
        unchangedSince: since,
      });
      wake();
      reply.header('location', location(utr));
      return { status: 'success' as const, message: { utr } };
    },
  );
};
