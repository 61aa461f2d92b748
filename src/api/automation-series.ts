/** An automation as it is composed (additions): its mails in their order, each as a person would see it, tests, and who waits for which. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type, { type Static } from 'typebox';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { requireAutomation } from '../automations/automations.ts';
import { requireMail } from '../automations/changes.ts';
import { peopleInSeries, seriesMails } from '../automations/series.ts';
import { listWaiting } from '../automations/waiting.ts';
import { AUTOMATION_STATUS } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { designToken } from '../designs/designs.ts';
import { inShowingTurn, withinShare } from '../http/account-share.ts';
import { changesNothing } from '../http/callers.ts';
import { AddressList, checkTestAddresses, readAddressList } from '../http/requests/address-list.ts';
import {
  choice,
  done,
  email,
  identifier,
  integer,
  isoTimestampSchema,
  nullable,
  plainText,
  stamps,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { CompiledDrafts } from '../single-sends/compiled-drafts.ts';
import { changerName } from '../single-sends/drafts.ts';
import { checkShownMail, type ShowDeps, showMail, showMailHtml } from '../single-sends/shown-mail.ts';
import { queueTestMail, testMailMessage } from '../single-sends/test-mail.ts';
import { WAITING_TYPES } from './automation-schedules.ts';
import { CheckedMailRecord, checkedRecord, ShownMailRecord, sendCode, sendShown, shownParts } from './shown-mails.ts';

const tags = ['Automations'];
const DEFAULT_ROWS = 50;

const ByUtr = Type.Object({ utr: identifier('The automation.') });
const MailQuery = Type.Object({ utr: identifier('The schedule.'), email: Type.Optional(email()) });
const TestBody = Type.Object({ utr: identifier('The schedule.'), email_address: AddressList });
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
  const drafts = new CompiledDrafts();

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

  app.get(
    '/automations/schedule/mail',
    {
      schema: {
        tags,
        summary: 'Read a mail of an automation as a person of its target would see it (addition)',
        description: 'In the HTML each tracked link has its number as data-link. Nothing is counted.',
        querystring: Type.Object({ ...MailQuery.properties, ...shownParts }),
        response: successWith({ mail: ShownMailRecord }),
      },
    },
    async (request, reply) => {
      const show = () => showMail(...shownTo(request), request.query.html !== 0);
      return sendShown(reply, await inShowingTurn(request.accountId, show));
    },
  );

  app.get(
    '/automations/schedule/mail/html',
    {
      schema: {
        tags,
        summary: 'Read the HTML of a mail of an automation as a person of its target would see it (addition)',
        description: 'The html of `/automations/schedule/mail` as it is; empty where the mail cannot be shown.',
        querystring: MailQuery,
        response: plainText,
      },
    },
    async (request, reply) =>
      sendCode(reply, await inShowingTurn(request.accountId, () => showMailHtml(...shownTo(request)))),
  );

  app.get(
    '/automations/schedule/check',
    {
      schema: {
        tags,
        summary: 'Check a mail of an automation as a person of its target would see it (addition)',
        description: 'Says what may keep people from reading it. The code of the mail is not in the answer.',
        querystring: MailQuery,
        response: successWith({ checked: CheckedMailRecord }),
      },
    },
    async (request) => {
      // The share holds for the compiling of a draft, too.
      const check = () => checkShownMail(...shownTo(request, (work) => work()));
      const checked = checkedRecord(await withinShare(request.accountId, check));
      return { status: 'success' as const, message: { checked } };
    },
  );

  app.get(
    '/automations/schedule/html',
    {
      schema: {
        tags,
        summary: 'Read the HTML that a mail of an automation was given (addition)',
        description: 'The template_html alone, as it was written; empty without any.',
        querystring: Type.Object({ utr: identifier('The schedule.') }),
        response: plainText,
      },
    },
    async (request, reply) => {
      const { schedule } = requireMail(db, request.accountId, request.query.utr);
      return sendCode(reply, schedule.template_html);
    },
  );

  /** What a request asks to see: the mail, and the person of its target. Reads the mail, so a turn is asked for first. */
  function shownTo(
    { accountId, query }: { accountId: number; query: Static<typeof MailQuery> },
    compile: ShowDeps['compile'] = (work) => withinShare(accountId, work),
  ) {
    const { schedule, automation } = requireMail(db, accountId, query.utr);
    const { automation_for: id, automation_for_table: table } = automation;
    const isTarget = table === 'contacts' || table === 'segments';
    const source = {
      ...schedule,
      single_send: null,
      recipient_id: isTarget ? [{ id: String(id), table } as const] : [],
      exclude_specific_recipient_id: [],
    };
    const showing = { ...deps, drafts, compile };
    return [showing, source, query.email === undefined ? null : parseAddress(query.email)] as const;
  }

  app.post(
    '/automations/schedule/test',
    {
      schema: {
        tags,
        summary: 'Send a test of a mail of an automation (addition)',
        description: 'To ten addresses at most. Tests count in no report.',
        body: TestBody,
        response: done,
      },
      config: {
        check: check(TestBody, ({ email_address }, errors) => checkTestAddresses(email_address, errors)),
      },
    },
    async (request) => {
      const { utr, email_address } = request.body;
      const addresses = await readAddressList(email_address);
      await withinShare(request.accountId, async () => {
        const { schedule, automation } = requireMail(db, request.accountId, utr);
        const tested = { ...schedule, unsubscribe_group_id: Number(automation.unsubscribe_group_id) };
        await queueTestMail(deps, tested, addresses);
      });
      return { status: 'success' as const, message: testMailMessage(db.$client, deps.config) };
    },
  );

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
