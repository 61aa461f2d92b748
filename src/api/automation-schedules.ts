/** The mails of an automation, which the contract calls schedules. */
import { randomUUID } from 'node:crypto';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { insertSchedule, requireAutomation, requireRoomForMail } from '../automations/automations.ts';
import { moveOrNote, untilMoved } from '../automations/moves.ts';
import { movesTo } from '../automations/places.ts';
import { deleteSchedule } from '../automations/schedule-deletion.ts';
import { isoTimestamp } from '../clock.ts';
import { ownedRecord } from '../database/ownership.ts';
import { recordObject, totalBytes } from '../database/record-json.ts';
import { automationSchedules, senders } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { designToken } from '../designs/designs.ts';
import { sendList } from '../http/list-response.ts';
import {
  choice,
  done,
  identifier,
  integer,
  line,
  listQuery,
  MAX_TEMPLATE_CHARACTERS,
  reference,
  stamps,
  successWith,
  text,
  trackingFlag,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { changesNothing } from '../operations/callers.ts';
import { templateErrors } from '../single-sends/single-sends.ts';
import { hasTemplate, withTemplateCopied } from '../templates/mail-content.ts';

const tags = ['Automations'];

/** What a waiting time is counted in. */
export const WAITING_TYPES = choice('instantly', 'days', 'hours');
export const MAX_WAITING_PERIOD = 10_000;

const Schedule = Type.Object({
  id: integer(),
  user_id: integer(),
  automation_id: integer(),
  sender_id: integer(),
  subject: Type.String(),
  waiting_period: integer(),
  waiting_type: WAITING_TYPES,
  utr: Type.String(),
  template_id: integer(),
  preview_img: Type.String(),
  template_json: Type.String(),
  template_html: Type.String(),
  ...stamps,
  design_url: Type.String(),
  image: Type.String(),
});

const ScheduleBody = Type.Object({
  utr: identifier('The automation.'),
  sender_id: reference(),
  subject: line(),
  waiting_period: integer({
    maximum: MAX_WAITING_PERIOD,
    description: 'Days or hours to wait; 1 for an instant mail.',
  }),
  waiting_type: WAITING_TYPES,
  template_id: reference(),
  preview_img: line({ description: "The template's preview_image." }),
  template_json: Type.Optional(text({ maxLength: MAX_TEMPLATE_CHARACTERS })),
  template_html: Type.Optional(text({ maxLength: MAX_TEMPLATE_CHARACTERS })),
  tracking: trackingFlag(),
});

export const automationScheduleRoutes: FastifyPluginAsyncTypebox<Deps> = async (
  app,
  { db, clock, tokens, publicUrl, wake },
) => {
  db.$client.function('design_token', (utr, user) =>
    designToken(tokens, 'schedule', String(utr), Number(user), clock.now()),
  );

  app.get(
    '/automations/schedule',
    {
      schema: {
        tags,
        summary: 'List the mails of an automation',
        querystring: Type.Object({ utr: identifier('The automation.'), ...listQuery.properties }),
        response: successWith({ automation_schedules: Type.Array(Schedule) }),
      },
    },
    (request, reply) => {
      const automation = requireAutomation(db, request.accountId, request.query.utr, 'Record not found');
      const record = recordObject(Schedule, automationSchedules, {
        design_url: changesNothing(request)
          ? sql`''`
          : sql`${`${publicUrl()}/design/`} || design_token(${automationSchedules.utr}, ${request.actor.userId ?? 0})`,
        image: sql`${`${publicUrl()}/images/templates/`} || ${automationSchedules.preview_img}`,
      });
      const where = eq(automationSchedules.automation_id, automation.id);
      const bytes = totalBytes(automationSchedules.template_json, automationSchedules.template_html);
      const source = { record, from: sql`${automationSchedules}`, where, id: automationSchedules.id, bytes };
      sendList(reply, db, 'automation_schedules', source, request.query);
    },
  );

  app.post(
    '/automations/schedule/create',
    {
      schema: {
        tags,
        summary: 'Add a mail to an automation',
        description: 'It waits from the mail before it, the first one from the moment a person enters.',
        body: ScheduleBody,
        response: done,
      },
      config: {
        check: check(ScheduleBody, (body, errors, { accountId }) => {
          const { sender_id, template_id } = body;
          if (sender_id !== undefined) {
            const where = ownedRecord(senders, sender_id, accountId);
            errors.reference(
              'sender_id',
              () => db.select({ id: senders.id }).from(senders).where(where).get() !== undefined,
            );
          }
          if (template_id !== undefined) {
            errors.reference('template_id', () => hasTemplate(db, accountId, template_id));
          }
          for (const [field, problem] of templateErrors(body)) if (!errors.has(field)) errors.add(field, problem);
        }),
      },
    },
    async (request) => {
      const {
        utr,
        template_json = '',
        template_html = '',
        ...given
      } = withTemplateCopied(db, request.accountId, request.body);
      const automation = requireAutomation(db, request.accountId, utr, 'Record not found');
      const now = isoTimestamp(clock.now());
      await untilMoved(db.$client, automation.id);
      db.transaction(
        () => {
          requireRoomForMail(db, automation.id);
          const { position } = insertSchedule(db, {
            ...given,
            template_json,
            template_html,
            user_id: request.accountId,
            automation_id: automation.id,
            utr: randomUUID(),
            changed_by: request.actor.userId,
            created_at: now,
            updated_at: now,
          });
          moveOrNote(db.$client, automation.id, movesTo(db.$client, automation.id, position));
        },
        { behavior: 'immediate' },
      );
      wake();
      await untilMoved(db.$client, automation.id);
      return { status: 'success' as const, message: 'Schedule Added' };
    },
  );

  app.delete(
    '/automations/schedule/delete',
    {
      schema: {
        tags,
        summary: 'Delete a mail of an automation',
        querystring: Type.Object({ utr: identifier('The schedule.') }),
        response: done,
      },
    },
    async (request) => {
      await deleteSchedule({ db, wake }, request.accountId, request.query.utr);
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};
