/** The report of an automation, and a forecast of its mails for one person (additions). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { requireAutomation } from '../automations/automations.ts';
import { forecastFor } from '../automations/forecast.ts';
import { automationReport } from '../automations/report.ts';
import { HELD_CODES } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import {
  choice,
  email,
  identifier,
  integer,
  isoTimestampSchema,
  nullable,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { sentenceCode } from '../sentences.ts';

const tags = ['Automations'];

const Report = Type.Object({
  status: integer(),
  held_code: nullable(choice(...HELD_CODES, 'sending_held')),
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
const ByPerson = Type.Object({ ...ByUtr.properties, email: email() });

export const automationReportRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
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
        querystring: ByPerson,
        response: successWith({ preview: Preview }),
      },
    },
    async (request) => {
      const { utr, email: address } = request.query;
      const automation = requireAutomation(db, request.accountId, utr, 'Record not found');
      const forecast = forecastFor(db, automation, address, clock.now().getTime());
      const preview = { ...forecast, reason_code: sentenceCode(forecast.reason) };
      return { status: 'success' as const, message: { preview } };
    },
  );
};
