/** An automation as it is composed (additions): its mails in their order, each as a person would see it, tests, and who waits for which. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { requireAutomation } from '../automations/automations.ts';
import { requireMail } from '../automations/changes.ts';
import {
  checkAutomationMail,
  readAutomationMailCode,
  showAutomationMail,
  showAutomationMailHtml,
  testAutomationMail,
} from '../automations/operations/shown-mails.ts';
import { peopleInSeries, seriesMails } from '../automations/series.ts';
import { listWaiting } from '../automations/waiting.ts';
import { AUTOMATION_STATUS } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { designToken } from '../designs/designs.ts';
import { operationRoutes } from '../http/operation-routes.ts';
import {
  choice,
  identifier,
  integer,
  isoTimestampSchema,
  nullable,
  stamps,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { changesNothing } from '../operations/callers.ts';
import { changerName } from '../single-sends/drafts.ts';
import { WAITING_TYPES } from './automation-schedules.ts';

const tags = ['Automations'];
const DEFAULT_ROWS = 50;

const ByUtr = Type.Object({ utr: identifier('The automation.') });
const WaitingQuery = Type.Object({
  utr: identifier('The schedule.'),
  limit: Type.Optional(integer({ minimum: 1, maximum: 200, description: 'At most this many; 50 by default.' })),
  after_id: Type.Optional(integer({ description: 'Only those behind this one: next_after_id of the page before.' })),
});

const SeriesMail = Type.Object({
  utr: Type.String(),
  subject: Type.String(),
  preheader: Type.String(),
  sender_id: integer(),
  waiting_period: integer(),
  waiting_type: WAITING_TYPES,
  template_id: integer(),
  preview_img: Type.String(),
  content: choice('none', 'template', 'json', 'html'),
  html_size: integer({ description: 'Bytes of the HTML that it was given; 0 without any.' }),
  tracking: zeroOrOne(),
  ...stamps,
  changed_by: nullable(Type.String()),
  design_url: Type.String(),
});
const Series = Type.Object({
  utr: Type.String(),
  automation_name: Type.String(),
  automation_for: Type.String({ description: 'contacts_<contact type id> or segments_<segment id>; empty: none yet.' }),
  unsubscribe_group_id: integer(),
  exit_criteria: integer(),
  ignores_caps: zeroOrOne(),
  automation_type: integer(),
  is_live: zeroOrOne(),
  updated_at: isoTimestampSchema(),
  changed_by: nullable(Type.String()),
  people: Type.Object({
    waiting: integer({ description: 'Number of people who are in it and wait.' }),
    due_now: integer({
      description: 'Number of them whose time has come: while it is paused, they get a mail at once when it is live.',
    }),
    queued: integer({ description: 'Number of them for whom a mail is queued.' }),
  }),
  mails: Type.Array(SeriesMail),
});

export const automationSeriesRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db, clock, tokens, publicUrl } = deps;

  app.get(
    '/automations/series',
    {
      schema: {
        tags,
        summary: 'Read an automation as it is composed, with its mails in their order (addition)',
        querystring: ByUtr,
        response: successWith({ series: Series }),
      },
    },
    async (request) => {
      const automation = requireAutomation(db, request.accountId, request.query.utr, 'Record not found');
      const { automation_for: target, automation_for_table: table } = automation;
      const now = clock.now();
      const mails = seriesMails(db, automation).map((mail) => ({
        ...mail,
        design_url: changesNothing(request)
          ? ''
          : `${publicUrl()}/design/${designToken(tokens, 'schedule', mail.utr, request.actor.userId ?? 0, now)}`,
      }));
      const series = {
        ...automation,
        automation_for: target === 0 ? '' : `${table}_${target}`,
        unsubscribe_group_id: Number(automation.unsubscribe_group_id),
        is_live: automation.status === AUTOMATION_STATUS.live ? (1 as const) : (0 as const),
        changed_by: changerName(db, automation),
        people: peopleInSeries(db, automation, now),
        mails,
      };
      return { status: 'success' as const, message: { series } };
    },
  );

  const mails = operationRoutes(app, deps, 'Automations');
  mails.record('GET /automations/schedule/mail', showAutomationMail);
  mails.code('GET /automations/schedule/mail/html', showAutomationMailHtml);
  mails.read('GET /automations/schedule/check', checkAutomationMail);
  mails.code('GET /automations/schedule/html', readAutomationMailCode);
  mails.change('POST /automations/schedule/test', testAutomationMail, (message) => message);

  app.get(
    '/automations/schedule/waiting',
    {
      schema: {
        tags,
        summary: 'List the people who wait for a mail of an automation (addition)',
        querystring: WaitingQuery,
        response: successWith({
          people: Type.Array(
            Type.Object({
              id: integer({ description: 'Id of their address, for the next page.' }),
              email: Type.String(),
              contact_id: nullable(integer()),
              waiting_since: isoTimestampSchema(),
              due_at: isoTimestampSchema(),
              is_queued: zeroOrOne(),
            }),
          ),
          next_after_id: nullable(integer()),
        }),
      },
    },
    async (request) => {
      const { utr, limit = DEFAULT_ROWS, after_id: after = 0 } = request.query;
      const { schedule } = requireMail(db, request.accountId, utr);
      return { status: 'success' as const, message: listWaiting(db.$client, schedule, { after, limit }) };
    },
  );
};
