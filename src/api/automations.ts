/** Automations. Their mails are in automation-schedules.ts. */
import { randomUUID } from 'node:crypto';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { checkedTargets, hasTargets } from '../audience/segments/targets.ts';
import {
  deleteAutomations,
  duplicateAutomation,
  pauseAutomation,
  requireAutomation,
  requireAutomations,
  setLive,
} from '../automations/automations.ts';
import { insertDraft } from '../automations/status.ts';
import { isoTimestamp } from '../clock.ts';
import { ownedBy, ownedRecord, recordUtr } from '../database/ownership.ts';
import { readRecord, recordObject } from '../database/record-json.ts';
import { automations, unsubscribeGroups } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { sendList, sendRecord } from '../http/list-response.ts';
import {
  choice,
  done,
  eitherOrderQuery,
  flag,
  identifier,
  identifiers,
  integer,
  line,
  nullable,
  softStamps,
  successWith,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';

const tags = ['Automations'];

const Automation = Type.Object({
  id: integer(),
  user_id: integer(),
  automation_for: integer(),
  automation_for_table: Type.String(),
  automation_name: Type.String(),
  exit_criteria: integer(),
  unsubscribe_group_id: Type.String(),
  automation_type: integer(),
  utr: Type.String(),
  status: integer(),
  live_at: nullable(Type.String()),
  total_triggered: integer(),
  total_delivered: integer(),
  total_unique_opens: integer(),
  total_opens: integer(),
  total_bounces: integer(),
  total_unsubscribe: integer(),
  ...softStamps,
});
const ListedAutomation = Type.Object({ ...Automation.properties, automation_schedule_count: integer() });

const AutomationBody = Type.Object({
  type: choice('welcome', 'custom'),
  automation_for: Type.Optional(line({ description: 'contacts_<contact type id> or segments_<segment id>' })),
  automation_name: line(),
  unsubscribe_group_id: integer({ description: '0: not chosen yet.' }),
  exit_criteria: Type.Optional(
    Type.Unsafe<0 | 1>({
      ...flag('Addition. 0: a person finishes after the last mail, 1: also when they leave the target.'),
      empty: 0,
    }),
  ),
});
const ByUtr = Type.Object({ utr: identifier('The automation.') });

export const automationRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db, clock } = deps;
  const total = (counter: string) =>
    sql`(SELECT ifnull(sum(${sql.raw(counter)}), 0) FROM mailings WHERE automation_id = ${automations.id})`;
  const computed = {
    total_triggered: total('triggered'),
    total_delivered: total('delivered'),
    total_unique_opens: total('unique_opens'),
    total_opens: total('total_opens'),
    total_bounces: total('bounces'),
    total_unsubscribe: total('unsubscribes'),
    automation_schedule_count: sql`(SELECT count(*) FROM automation_schedules WHERE automation_id = ${automations.id})`,
  };
  const from = sql`${automations}`;

  app.get(
    '/automations',
    {
      schema: {
        tags,
        summary: 'List the automations',
        querystring: eitherOrderQuery,
        response: successWith({ automations: Type.Array(ListedAutomation) }),
      },
    },
    (request, reply) => {
      const record = recordObject(ListedAutomation, automations, computed);
      const source = { record, from, where: ownedBy(automations, request.accountId), id: automations.id };
      sendList(reply, db, 'automations', source, request.query);
    },
  );

  const groupExists = (id: number, accountId: number) =>
    db
      .select({ id: unsubscribeGroups.id })
      .from(unsubscribeGroups)
      .where(ownedRecord(unsubscribeGroups, id, accountId))
      .get() !== undefined;

  app.post(
    '/automations/create',
    {
      schema: {
        tags,
        summary: 'Create an automation',
        body: AutomationBody,
        response: successWith({ utr: Type.String() }),
      },
      config: {
        check: check(AutomationBody, ({ automation_for, unsubscribe_group_id }, errors, { accountId }) => {
          if (automation_for) errors.reference('automation_for', () => hasTargets(db, accountId, [automation_for]));
          if (unsubscribe_group_id)
            errors.reference('unsubscribe_group_id', () => groupExists(unsubscribe_group_id, accountId));
        }),
      },
    },
    async (request, reply) => {
      const { type, automation_for, automation_name, unsubscribe_group_id, exit_criteria } = request.body;
      const [target] = checkedTargets(automation_for ? [automation_for] : []);
      const now = isoTimestamp(clock.now());
      const utr = randomUUID();
      insertDraft(db, {
        user_id: request.accountId,
        automation_for: Number(target?.id ?? 0),
        automation_for_table: target?.table ?? '',
        automation_name,
        exit_criteria: exit_criteria ?? 0,
        unsubscribe_group_id: String(unsubscribe_group_id),
        automation_type: type === 'welcome' ? 1 : 2,
        utr,
        created_at: now,
        updated_at: now,
      });
      reply.header('location', `/api/automations/details?utr=${utr}`);
      return { status: 'success' as const, message: { utr } };
    },
  );

  app.get(
    '/automations/duplicate',
    {
      schema: {
        tags,
        summary: 'Duplicate an automation',
        querystring: ByUtr,
        response: successWith({ utr: Type.String() }),
      },
      config: { role: 'editor' },
    },
    async (request) => {
      const utr = duplicateAutomation(deps, request.accountId, request.query.utr);
      return { status: 'success' as const, message: { utr } };
    },
  );

  app.get(
    '/automations/details',
    {
      schema: {
        tags,
        summary: 'Read an automation',
        querystring: ByUtr,
        response: successWith({ automation: Automation }),
      },
    },
    (request, reply) => {
      const where = and(ownedBy(automations, request.accountId), eq(automations.utr, recordUtr(request.query.utr)));
      const json = readRecord(db, recordObject(Automation, automations, computed), from, where);
      if (json === undefined) throw notFound();
      sendRecord(reply, 'automation', json);
    },
  );

  app.get(
    '/automations/pause',
    {
      schema: {
        tags,
        summary: 'Pause an automation',
        description: 'Everybody keeps their place; setting it live again goes on from there.',
        querystring: ByUtr,
        response: done,
      },
      config: { role: 'editor' },
    },
    async (request) => {
      await pauseAutomation(deps, request.accountId, request.query.utr);
      return { status: 'success' as const, message: 'Automation Paused Successfully' };
    },
  );

  app.get(
    '/automations/set-live',
    {
      schema: {
        tags,
        summary: 'Set an automation live',
        description:
          'From then on everybody who joins its target enters. It needs a target, an unsubscribe group and at least one mail.',
        querystring: ByUtr,
        response: done,
      },
      config: { role: 'editor' },
    },
    async (request) => {
      await setLive(deps, request.accountId, request.query.utr);
      return { status: 'success' as const, message: 'Automation has been set live' };
    },
  );

  app.delete(
    '/automations/delete',
    { schema: { tags, summary: 'Delete an automation', querystring: ByUtr, response: done } },
    async (request) => {
      await deleteAutomations(deps, [requireAutomation(db, request.accountId, request.query.utr, 'Record not found')]);
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  app.post(
    '/automations/bulk-delete',
    {
      schema: {
        tags,
        summary: 'Delete several automations',
        body: Type.Object({ strIds: identifiers('Ids or utrs of automations.') }),
        response: done,
      },
    },
    async (request) => {
      await deleteAutomations(deps, requireAutomations(db, request.accountId, request.body.strIds));
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};
