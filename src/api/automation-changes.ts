/** Changing automations and their mails, before and while they are live (additions). Each change can be asked about first. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { hasTargets } from '../audience/segments/targets.ts';
import { listSchedules, requireAutomation } from '../automations/automations.ts';
import {
  addMail,
  type Change,
  changeAutomation,
  changeMail,
  removeMail,
  reorderMails,
} from '../automations/changes.ts';
import { ownedRecord, recordUtr } from '../database/ownership.ts';
import { senders, unsubscribeGroups } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import {
  flag,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  MAX_TEMPLATE_CHARACTERS,
  nullable,
  stringList,
  successWith,
  text,
  trackingFlag,
  unchangedSince,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { check, type FieldErrorCollector } from '../http/requests/validation.ts';
import { capOption } from '../single-sends/operations/options.ts';
import { templateErrors } from '../single-sends/single-sends.ts';
import { hasTemplate, withTemplateCopied } from '../templates/mail-content.ts';
import type { Actor } from '../users/audit.ts';
import { MAX_WAITING_PERIOD, WAITING_TYPES } from './automation-schedules.ts';

const tags = ['Automations'];

const change = {
  unchanged_since: unchangedSince(),
  dry_run: Type.Optional(
    Type.Unsafe<0 | 1>({ ...flag('1: nothing is changed; the answer says what would happen to people.'), empty: 0 }),
  ),
};
const group = () => integer({ description: '0: not chosen yet.' });
const AutomationBody = Type.Object({
  utr: identifier('The automation.'),
  ...change,
  automation_name: Type.Optional(line({ minLength: 1 })),
  automation_for: Type.Optional(line({ description: 'contacts_<contact type id> or segments_<segment id>' })),
  unsubscribe_group_id: Type.Optional(group()),
  exit_criteria: Type.Optional(Type.Unsafe<0 | 1>(flag('1: people finish also when they leave the target.'))),
  ...capOption,
});

const template = (description: string) => Type.Optional(text({ maxLength: MAX_TEMPLATE_CHARACTERS, description }));
const record = (description: string) => integer({ description });
const mail = {
  sender_id: record('Id of the sender.'),
  subject: line({ minLength: 1 }),
  waiting_period: integer({ maximum: MAX_WAITING_PERIOD, description: 'Days or hours to wait.' }),
  waiting_type: WAITING_TYPES,
  template_id: record('Id of the template.'),
};
const optionalMail = {
  preheader: Type.Optional(line({ description: 'The text that mail programs show behind the subject.' })),
  preview_img: Type.Optional(line({ description: "The template's preview_image." })),
  template_json: template("MJML's JSON form; template_html is then left empty."),
  template_html: template('HTML; template_json is then left empty.'),
  tracking: trackingFlag(),
};
const NewMailBody = Type.Object({
  utr: identifier('The automation.'),
  ...change,
  before: Type.Optional(line({ description: 'utr of the mail it comes before; empty: the end.' })),
  ...mail,
  ...optionalMail,
});
const MailBody = Type.Object({
  utr: identifier('The schedule.'),
  ...change,
  sender_id: Type.Optional(mail.sender_id),
  subject: Type.Optional(mail.subject),
  waiting_period: Type.Optional(mail.waiting_period),
  waiting_type: Type.Optional(mail.waiting_type),
  template_id: Type.Optional(mail.template_id),
  ...optionalMail,
});
const OrderBody = Type.Object({
  utr: identifier('The automation.'),
  ...change,
  mails: stringList({ minItems: 1, description: 'The utrs of all its mails, in their new order.' }),
});
const RemovalBody = Type.Object({ utr: identifier('The schedule.'), ...change });

const Effects = Type.Object({
  people: Type.Array(
    Type.Object({
      from: nullable(Type.String()),
      to: nullable(Type.String()),
      is_queued: zeroOrOne(),
      people: integer({ description: 'Number of people.' }),
      moved: integer({ description: 'Number of them whose next mail or its time is another one.' }),
      due_now: integer({ description: 'Number of them who are due at once.' }),
      first_due_at: nullable(isoTimestampSchema()),
      last_due_at: nullable(isoTimestampSchema()),
    }),
  ),
  leaving: integer({ description: 'Number of those waiting who are outside the target and leave.' }),
});
const description = 'effects says what happens to the people who wait, by the mail they wait for before and after.';

export const automationChangeRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db } = deps;
  type Asked = { unchanged_since?: string | undefined; dry_run?: 0 | 1 | undefined };
  const changeBy = ({ userId }: Actor, { unchanged_since, dry_run }: Asked): Change => ({
    userId,
    unchangedSince: unchanged_since,
    isOnlyAsked: dry_run === 1,
  });
  const mailErrors = (
    body: { sender_id?: number; template_id?: number; template_json?: string; template_html?: string },
    errors: FieldErrorCollector,
    accountId: number,
  ) => {
    const { sender_id, template_id } = body;
    if (sender_id !== undefined) {
      const where = ownedRecord(senders, sender_id, accountId);
      errors.reference('sender_id', () => db.select().from(senders).where(where).get() !== undefined);
    }
    if (template_id !== undefined) {
      errors.reference('template_id', () => hasTemplate(db, accountId, template_id));
    }
    for (const [field, problem] of templateErrors(body)) if (!errors.has(field)) errors.add(field, problem);
  };
  const listUtrs = (accountId: number, utr: unknown) =>
    listSchedules(db, requireAutomation(db, accountId, utr, 'Record not found').id).map((schedule) => schedule.utr);

  app.post(
    '/automations/update',
    {
      schema: {
        tags,
        summary: 'Change parts of an automation (addition)',
        description: `What is not given stays. The group of a live one cannot change. ${description}`,
        body: AutomationBody,
        response: successWith({ updated_at: nullable(isoTimestampSchema()), effects: Effects }),
      },
      config: {
        check: check(AutomationBody, ({ automation_for, unsubscribe_group_id: id }, errors, { accountId }) => {
          if (automation_for) errors.reference('automation_for', () => hasTargets(db, accountId, [automation_for]));
          if (id) {
            const where = ownedRecord(unsubscribeGroups, id, accountId);
            errors.reference(
              'unsubscribe_group_id',
              () => db.select().from(unsubscribeGroups).where(where).get() !== undefined,
            );
          }
        }),
      },
    },
    async (request) => {
      const { utr, unchanged_since, dry_run, ...input } = request.body;
      const by = changeBy(request.actor, { unchanged_since, dry_run });
      const { result: updated_at, effects } = await changeAutomation(deps, request.accountId, utr, input, by);
      return { status: 'success' as const, message: { updated_at, effects } };
    },
  );

  app.post(
    '/automations/schedule/add',
    {
      schema: {
        tags,
        summary: 'Add a mail to an automation, also before others (addition)',
        description: `Before another mail it is for those who have not come past that place. ${description}`,
        body: NewMailBody,
        response: successWith({ utr: nullable(Type.String()), effects: Effects }),
      },
      config: {
        check: check(NewMailBody, (body, errors, { accountId }) => {
          mailErrors(body, errors, accountId);
          const { before } = body;
          if (before) errors.reference('before', () => listUtrs(accountId, body.utr).includes(recordUtr(before)));
        }),
      },
    },
    async (request) => {
      const { utr, unchanged_since, dry_run, ...given } = request.body;
      const {
        before,
        preheader = '',
        preview_img = '',
        template_json = '',
        template_html = '',
        ...input
      } = withTemplateCopied(db, request.accountId, given);
      const columns = { ...input, preheader, preview_img, template_json, template_html, tracking: input.tracking ?? 1 };
      const by = changeBy(request.actor, { unchanged_since, dry_run });
      const { result, effects } = await addMail(deps, request.accountId, utr, { ...columns, before }, by);
      return { status: 'success' as const, message: { utr: result, effects } };
    },
  );

  app.post(
    '/automations/schedule/update',
    {
      schema: {
        tags,
        summary: 'Change parts of a mail of an automation (addition)',
        description: `What is not given stays. People who wait for it get it as it is then, at its new time. ${description}`,
        body: MailBody,
        response: successWith({ updated_at: nullable(isoTimestampSchema()), effects: Effects }),
      },
      config: { check: check(MailBody, (body, errors, { accountId }) => mailErrors(body, errors, accountId)) },
    },
    async (request) => {
      const { utr, unchanged_since, dry_run, ...input } = request.body;
      const by = changeBy(request.actor, { unchanged_since, dry_run });
      const { result: updated_at, effects } = await changeMail(
        deps,
        request.accountId,
        utr,
        withTemplateCopied(db, request.accountId, input),
        by,
      );
      return { status: 'success' as const, message: { updated_at, effects } };
    },
  );

  app.post(
    '/automations/schedule/reorder',
    {
      schema: {
        tags,
        summary: 'Put the mails of an automation into another order (addition)',
        description: `People get what was ahead of them in the new order, and nothing twice. ${description}`,
        body: OrderBody,
        response: successWith({ updated_at: nullable(isoTimestampSchema()), effects: Effects }),
      },
      config: {
        check: check(OrderBody, ({ utr, mails = [] }, errors, { accountId }) => {
          const utrs = new Set(listUtrs(accountId, utr));
          const given = new Set(mails.map(recordUtr));
          errors.reference(
            'mails',
            () => given.size === utrs.size && mails.length === utrs.size && [...given].every((mail) => utrs.has(mail)),
          );
        }),
      },
    },
    async (request) => {
      const { utr, unchanged_since, dry_run, mails } = request.body;
      const by = changeBy(request.actor, { unchanged_since, dry_run });
      const { result: updated_at, effects } = await reorderMails(deps, request.accountId, utr, mails, by);
      return { status: 'success' as const, message: { updated_at, effects } };
    },
  );

  app.post(
    '/automations/schedule/remove',
    {
      schema: {
        tags,
        summary: 'Remove a mail of an automation, or ask what that would do (addition)',
        description: `Like its deletion: people who wait for it wait for the next. ${description}`,
        body: RemovalBody,
        response: successWith({ utr: nullable(Type.String()), effects: Effects }),
      },
    },
    async (request) => {
      const by = changeBy(request.actor, request.body);
      const { result, effects } = await removeMail(deps, request.accountId, request.body.utr, by);
      return { status: 'success' as const, message: { utr: result, effects } };
    },
  );
};
