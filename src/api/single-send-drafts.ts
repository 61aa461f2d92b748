/** Composing a single send (additions): a draft with a name only, changes that do not queue it, and what it is and would reach now. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { Deps } from '../deps.ts';
import { withinShare } from '../http/account-share.ts';
import {
  choice,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  MAX_TEMPLATE_CHARACTERS,
  nullable,
  plainText,
  stringList,
  successWith,
  text,
  unchangedSince,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { requireSingleSend } from '../single-sends/actions.ts';
import { changerName, contentSource, countDraftAudience, createDraft, saveDraft } from '../single-sends/drafts.ts';
import { singleSendErrors } from '../single-sends/single-sends.ts';
import { mailWarnings } from '../templates/content-warnings.ts';
import { ContentWarnings } from './content-warnings.ts';
import { capOption } from './mail-caps.ts';
import { canaryOptions } from './result-limits.ts';
import { sendCode } from './shown-mails.ts';

const tags = ['Single sends'];

const ByUtr = Type.Object({ utr: identifier('The single send.') });

const NewDraft = Type.Object({ single_send_name: line({ minLength: 1 }) });
const template = (description: string) => Type.Optional(text({ maxLength: MAX_TEMPLATE_CHARACTERS, description }));
const targets = (description: string) =>
  Type.Optional(Type.Unsafe<string[]>({ ...stringList({ description }), empty: [] }));
const record = (description: string) => Type.Optional(integer({ description }));
const Changes = Type.Object({
  utr: identifier('The single send.'),
  unchanged_since: unchangedSince(),
  single_send_name: Type.Optional(line({ minLength: 1 })),
  subject: Type.Optional(line()),
  preheader: Type.Optional(line()),
  sender_id: record('Id of the sender.'),
  unsubscribe_group_id: record('Id of the unsubscribe group.'),
  recipient_id: targets('Targets: contacts_<contact type id> or segments_<segment id>.'),
  exclude_specific_recipient_id: targets('Targets whose recipients get nothing.'),
  template_id: record('Id of the template.'),
  template_json: template("MJML's JSON form; template_html is then left empty."),
  template_html: template('HTML; template_json is then left empty.'),
  ...canaryOptions,
  ...capOption,
});

const Draft = Type.Object({
  utr: Type.String(),
  single_send_name: Type.String(),
  subject: Type.String(),
  preheader: Type.String(),
  sender_id: integer(),
  unsubscribe_group_id: integer(),
  recipient_id: Type.Array(Type.String()),
  exclude_specific_recipient_id: Type.Array(Type.String()),
  template_id: integer(),
  content: choice('none', 'template', 'json', 'html'),
  html_size: integer({ description: 'Bytes of the HTML that it was given; 0 without any.' }),
  status: integer(),
  held_reason: nullable(Type.String()),
  tracking: zeroOrOne(),
  variants: integer({ description: 'How many variants its A/B test has, A included; 1 without a test.' }),
  canary_percent: integer({ description: 'So many percent of the recipients get it first; 0: everybody at once.' }),
  canary_minutes: integer({ description: 'How many minutes the rest waits after them.' }),
  ignores_caps: zeroOrOne(),
  schedule_type: integer(),
  schedule_date: Type.String(),
  schedule_time: Type.String(),
  local_time: zeroOrOne(),
  time_zone: Type.String(),
  recall_seconds: integer(),
  updated_at: isoTimestampSchema(),
  changed_by: nullable(Type.String()),
  warnings: ContentWarnings,
});

export const singleSendDraftRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db, config } = deps;

  app.post(
    '/single/send/draft',
    {
      schema: {
        tags,
        summary: 'Begin a single send as a draft that has only a name (addition)',
        description: 'It gets a sender and a group of the account, and is queued when update has given it everything.',
        body: NewDraft,
        response: successWith({ utr: Type.String() }),
      },
    },
    async (request) => {
      const utr = createDraft(deps, request.accountId, request.body.single_send_name, request.actor);
      return { status: 'success' as const, message: { utr } };
    },
  );

  app.post(
    '/single/send/save',
    {
      schema: {
        tags,
        summary: 'Change parts of a single send without queuing it (addition)',
        description: 'What is not given stays. A draft stays a draft and may lack anything; a queued one stays queued.',
        body: Changes,
        response: successWith({ updated_at: isoTimestampSchema() }),
      },
      config: {
        check: check(Changes, ({ utr: _, unchanged_since: __, ...given }, errors, { accountId }) => {
          for (const [field, problem] of singleSendErrors(deps, accountId, given))
            if (!errors.has(field)) errors.add(field, problem);
        }),
      },
    },
    async (request) => {
      const { utr, unchanged_since: since, ...changes } = request.body;
      const updated_at = saveDraft(deps, request.accountId, utr, changes, {
        ...request.actor,
        unchangedSince: since,
      });
      return { status: 'success' as const, message: { updated_at } };
    },
  );

  app.get(
    '/single-send/draft',
    {
      schema: {
        tags,
        summary: 'Read a single send as it is composed, without its template (addition)',
        querystring: ByUtr,
        response: successWith({ draft: Draft }),
      },
    },
    async (request) => {
      const send = requireSingleSend(db, request.accountId, request.query.utr);
      const names = (list: typeof send.recipient_id) => list.map(({ id, table }) => `${table}_${id}`);
      const draft = {
        ...send,
        recipient_id: names(send.recipient_id),
        exclude_specific_recipient_id: names(send.exclude_specific_recipient_id),
        content: contentSource(db, send),
        html_size: Buffer.byteLength(send.template_html ?? ''),
        variants: 1 + (send.ab_test?.variants.length ?? 0),
        changed_by: changerName(db, send),
        tracking: send.tracking === 0 ? (0 as const) : (1 as const),
        time_zone: config.TIME_ZONE,
        recall_seconds: config.RECALL_SECONDS,
        warnings: await mailWarnings(db, send.user_id, send),
      };
      return { status: 'success' as const, message: { draft } };
    },
  );

  app.get(
    '/single-send/html',
    {
      schema: {
        tags,
        summary: 'Read the HTML that a single send was given (addition)',
        description: 'The template_html alone, as it was written; empty without any.',
        querystring: ByUtr,
        response: plainText,
      },
    },
    async (request, reply) =>
      sendCode(reply, requireSingleSend(db, request.accountId, request.query.utr).template_html ?? ''),
  );

  app.get(
    '/single-send/audience',
    {
      schema: {
        tags,
        summary: 'Count who would get a single send now, and who not and why (addition)',
        querystring: ByUtr,
        response: successWith({
          audience: Type.Object({
            recipients: integer(),
            left_out: Type.Array(Type.Object({ reason: Type.String(), count: integer() })),
            with_zone: integer({ description: 'Of the recipients, those whose own time zone is known.' }),
          }),
        }),
      },
    },
    async (request) => {
      const send = requireSingleSend(db, request.accountId, request.query.utr);
      const audience = await withinShare(request.accountId, () => countDraftAudience(deps, send));
      return { status: 'success' as const, message: { audience } };
    },
  );
};
