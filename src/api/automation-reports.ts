/** The light list of automations, the report of one, and a forecast of its mails for one person (additions). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { requireAutomation } from '../automations/automations.ts';
import { forecastFor } from '../automations/forecast.ts';
import { automationReport } from '../automations/report.ts';
import { AUTOMATION_STATES, listAutomationSummaries } from '../automations/summaries.ts';
import { HELD_CODES } from '../database/schema/index.ts';
import { COMMON_HELD_CODES } from '../delivery/queue/held.ts';
import type { Deps } from '../deps.ts';
import {
  choice,
  email,
  flag,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { sentenceCode } from '../sentences.ts';

const tags = ['Automations'];
const DEFAULT_ROWS = 50;

const HeldCode = nullable(choice(...HELD_CODES, ...COMMON_HELD_CODES));

const Summary = Type.Object({
  id: integer(),
  utr: Type.String(),
  automation_name: Type.String(),
  state: choice(...AUTOMATION_STATES),
  held_code: HeldCode,
  held_reason: nullable(Type.String()),
  live_at: nullable(Type.String()),
  created_at: Type.String(),
  mails: integer({ description: 'Number of mails in the series.' }),
  waiting: integer({ description: 'People who wait for their next mail.' }),
  finished: integer({ description: 'People who had every mail.' }),
  left: integer({ description: 'People who left before the end.' }),
  triggered: integer(),
  ended: integer({ description: 'Mails with a final state.' }),
  delivered: integer(),
  kept: integer(),
  unmeasured: integer(),
  people_opens: integer(),
  people_clicks: integer(),
  bounces: integer(),
  unsubscribes: integer(),
});
const SummariesQuery = Type.Object({
  utr: identifier('Only this automation.'),
  state: Type.Optional(choice(...AUTOMATION_STATES)),
  search: Type.Optional(line({ description: 'Only those with this text in the name.' })),
  limit: Type.Optional(integer({ minimum: 1, maximum: 200, description: 'At most this many; 50 by default.' })),
  before_id: Type.Optional(integer({ description: 'Only those with a lower id: next_before_id of the page before.' })),
});

const Report = Type.Object({
  status: integer(),
  held_code: HeldCode,
  held_reason: nullable(Type.String()),
  people: Type.Array(
    Type.Object({
      state: Type.String(),
      reason: nullable(Type.String()),
      reason_code: nullable(Type.String()),
      count: integer(),
    }),
  ),
  mails: Type.Array(
    Type.Object({
      utr: nullable(Type.String()),
      subject: Type.String(),
      triggered: integer(),
      delivered: integer(),
      kept: integer(),
      unmeasured: integer(),
      unique_opens: integer(),
      people_opens: integer(),
      total_opens: integer(),
      bounces: integer(),
      unsubscribes: integer(),
      waiting: integer({ description: 'Number of people whose next mail this is.' }),
      tracking: nullable(zeroOrOne()),
      waiting_type: nullable(choice('instantly', 'hours', 'days')),
      waiting_period: nullable(integer()),
      next_due_at: nullable(isoTimestampSchema()),
    }),
  ),
});

const Preview = Type.Object({
  state: choice('waiting', 'finished', 'left', 'outside'),
  reason: nullable(Type.String()),
  reason_code: nullable(Type.String()),
  entered_at: nullable(isoTimestampSchema()),
  mails: Type.Array(
    Type.Object({
      utr: Type.String(),
      subject: Type.String(),
      sent_at: nullable(isoTimestampSchema()),
      due_at: nullable(isoTimestampSchema()),
    }),
  ),
});

const ByUtr = Type.Object({ utr: identifier('The automation.') });
const ByPerson = Type.Object({
  ...ByUtr.properties,
  email: Type.Optional(email()),
  if_live: Type.Optional(
    Type.Unsafe<0 | 1>({ ...flag('1: as if it went live now, so that one that is not live can be tried.'), empty: 0 }),
  ),
});

export const automationReportRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  app.get(
    '/automations/summaries',
    {
      schema: {
        tags,
        summary: 'List the automations, newest first, with their people and results (addition)',
        description:
          'A page that is filtered may hold fewer records than the limit, even none, though next_before_id says that more follow.',
        querystring: SummariesQuery,
        response: successWith({
          summaries: Type.Array(Summary, { description: 'The automations.' }),
          next_before_id: nullable(integer()),
        }),
      },
    },
    async (request) => {
      const { utr, state, search, limit = DEFAULT_ROWS, before_id: beforeId } = request.query;
      const { accountId } = request;
      const id = utr === undefined ? undefined : requireAutomation(db, accountId, utr, 'Record not found').id;
      const filter = { accountId, id, states: state && [state], search, beforeId, limit };
      return { status: 'success' as const, message: listAutomationSummaries(db.$client, filter) };
    },
  );

  app.get(
    '/automations/report',
    {
      schema: {
        tags,
        summary: 'Read the report of an automation (addition)',
        querystring: ByUtr,
        response: successWith({ report: Report }),
      },
    },
    async (request) => {
      const automation = requireAutomation(db, request.accountId, request.query.utr, 'Record not found');
      const report = automationReport(db, automation);
      const people = report.people.map((group) => ({ ...group, reason_code: sentenceCode(group.reason) }));
      return { status: 'success' as const, message: { report: { ...report, people } } };
    },
  );

  app.get(
    '/automations/preview',
    {
      schema: {
        tags,
        summary: 'Preview what one person receives from an automation, and when (addition)',
        description: 'Without email: what anybody receives who enters now.',
        querystring: ByPerson,
        response: successWith({ preview: Preview }),
      },
    },
    async (request) => {
      const { utr, email: address = null, if_live } = request.query;
      const automation = requireAutomation(db, request.accountId, utr, 'Record not found');
      const forecast = forecastFor(db, automation, address, {
        now: clock.now().getTime(),
        isTakenAsLive: if_live === 1,
      });
      const preview = { ...forecast, reason_code: sentenceCode(forecast.reason) };
      return { status: 'success' as const, message: { preview } };
    },
  );
};
