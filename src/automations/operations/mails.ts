/**
 * Operations for the mails of automations, which the contract calls schedules: listing, adding and deleting them, their waiting
 * contacts, previews, checks and tests.
 */
import { randomUUID } from 'node:crypto';
import { and, eq, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { variantNumber } from '../../campaigns/operations/drafts.ts';
import {
  CheckedMailRecord,
  checkedMail,
  LastTestRecord,
  readTestAddresses,
  ShownMailRecord,
  shownMailHtml,
  shownMailJson,
  shownParts,
} from '../../campaigns/operations/shown-mails.ts';
import { templateErrors } from '../../campaigns/single-send-errors.ts';
import { findLastTest, queueTestMail, testMailMessage } from '../../campaigns/test-mail.ts';
import { isOwned } from '../../database/ownership.ts';
import { recordObject, totalBytes } from '../../database/record-json.ts';
import { automationSchedules, senders } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { POSITION } from '../../delivery/queue/enrolment-state.ts';
import { withinShare } from '../../http/account-share.ts';
import { AddressList, checkTestAddresses } from '../../http/requests/address-list.ts';
import {
  choice,
  DEFAULT_ROWS,
  email as emailSchema,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  listQuery,
  MAX_TEMPLATE_CHARACTERS,
  nullable,
  pageLimit,
  reference,
  stamps,
  text,
  trackingFlag,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import { isReadOnly } from '../../operations/callers.ts';
import type { Deps } from '../../operations/deps.ts';
import { type Context, listOperation, operation, recordOperation } from '../../operations/operation.ts';
import { designToken } from '../../templates/designs/designs.ts';
import { asVersion } from '../../templates/languages/versions.ts';
import { hasTemplate, withTemplateCopied } from '../../templates/mail-content.ts';
import { isoTimestamp } from '../../time/clock.ts';
import {
  deleteMail,
  insertSchedule,
  requireAutomation,
  requireMail,
  requireRoomForStep,
  shownSource,
} from '../automations.ts';
import { moveOrStore, movesTo, untilMovesDone } from '../move-enrolments.ts';
import { ByUtr, WAITING_TYPES } from './automations.ts';

/** The longest wait before a step, in days or hours. */
export const MAX_WAITING_PERIOD = 10_000;

/**
 * The maximum number of enrolments examined for a page, which takes some milliseconds. If many enrolments are at other steps, a page
 * of the contacts who wait for a mail can be shorter than its limit.
 */
const MAX_EXAMINED = 20_000;

/** The input of an operation on one mail of an automation. */
export const ByMail = Type.Object({ utr: identifier('The schedule.') });

const Schedule = Type.Object({
  id: integer(),
  user_id: integer(),
  automation_id: integer({ description: 'The id of the automation of the e-mail.' }),
  sender_id: integer(),
  subject: Type.String(),
  waiting_period: integer(),
  waiting_type: choice(...WAITING_TYPES),
  utr: Type.String(),
  template_id: integer(),
  preview_img: Type.String(),
  template_json: Type.String(),
  template_html: Type.String(),
  ...stamps,
  design_url: Type.String(),
  image: Type.String({ description: 'URL of the preview picture.' }),
});

/** Adds the SQL function `design_token`, with which the list of mails makes the links to the design pages of the mails. */
export function addDesignToken({ db, tokens, clock }: Pick<Deps, 'db' | 'tokens' | 'clock'>): void {
  db.$client.function('design_token', (utr, user) =>
    designToken(tokens, 'schedule', String(utr), Number(user), clock.now()),
  );
}

export const listSchedules = listOperation({
  name: 'List the e-mails of an automation',
  role: 'viewer',
  input: Type.Object({ ...ByUtr.properties, ...listQuery.properties }),
  as: 'automation_schedules',
  record: Schedule,
  select(context, { utr, ...part }) {
    const { db, accountId, actor, publicUrl } = context;
    const automation = requireAutomation(db, accountId, utr);
    return {
      record: recordObject(Schedule, automationSchedules, {
        design_url: isReadOnly(context)
          ? sql`''`
          : sql`${`${publicUrl()}/design/`} || design_token(${automationSchedules.utr}, ${actor.userId ?? 0})`,
        image: sql`${`${publicUrl()}/images/templates/`} || ${automationSchedules.preview_img}`,
      }),
      from: sql`${automationSchedules}`,
      where: and(eq(automationSchedules.automation_id, automation.id), eq(automationSchedules.kind, 'mail')),
      id: automationSchedules.id,
      bytes: totalBytes(automationSchedules.template_json, automationSchedules.template_html),
      part,
    };
  },
});

/** Returns the columns that every new mail and step of an automation has, with a new utr. */
export function newStep({ clock, accountId, actor }: Context, automation_id: number) {
  const now = isoTimestamp(clock.now());
  return {
    user_id: accountId,
    automation_id,
    utr: randomUUID(),
    changed_by: actor.userId,
    created_at: now,
    updated_at: now,
  };
}

/** Adds the field errors of a mail's sender, template and code. */
export function checkMail(
  { db, accountId }: Context,
  input: { sender_id?: number; template_id?: number; template_json?: string; template_html?: string },
  errors: FieldErrorCollector,
): void {
  const { sender_id, template_id } = input;
  if (sender_id !== undefined) errors.reference('sender_id', () => isOwned(db, senders, sender_id, accountId));
  if (template_id !== undefined) errors.reference('template_id', () => hasTemplate(db, accountId, template_id));
  for (const [field, problem] of templateErrors(input)) if (!errors.has(field)) errors.add(field, problem);
}

export const addSchedule = operation({
  name: 'Add an e-mail to an automation',
  description:
    'The waiting time begins when the contact gets the e-mail before this one; for the first e-mail, when the contact enters.',
  role: 'editor',
  input: Type.Object({
    ...ByUtr.properties,
    sender_id: reference(),
    subject: line(),
    waiting_period: integer({
      maximum: MAX_WAITING_PERIOD,
      description: 'The number of days or hours to wait; 1 for an instant e-mail.',
    }),
    waiting_type: choice(...WAITING_TYPES),
    template_id: reference(),
    preview_img: line({ description: "The template's preview_image." }),
    template_json: Type.Optional(text({ maxLength: MAX_TEMPLATE_CHARACTERS })),
    template_html: Type.Optional(text({ maxLength: MAX_TEMPLATE_CHARACTERS })),
    tracking: trackingFlag(),
  }),
  check: checkMail,
  async run(context, { utr, ...fields }) {
    const { db, accountId, wake } = context;
    const automation_id = requireAutomation(db, accountId, utr).id;
    await untilMovesDone(db.$client, automation_id);
    const columns = {
      template_json: '',
      template_html: '',
      ...withTemplateCopied(db, accountId, fields),
      ...newStep(context, automation_id),
    };
    inTransaction(db, () => {
      requireRoomForStep(db, automation_id);
      const { position } = insertSchedule(db, columns);
      moveOrStore(db.$client, automation_id, movesTo(db.$client, automation_id, position));
    });
    wake();
    await untilMovesDone(db.$client, automation_id);
  },
});

export const deleteSchedule = operation({
  name: 'Delete an e-mail of an automation',
  role: 'editor',
  input: ByMail,
  run: (context, { utr }) => deleteMail(context, context.accountId, utr),
});

const Waiting = Type.Object({
  id: integer({ description: "Id of the contact's address." }),
  email: Type.String(),
  contact_id: nullable(integer()),
  waiting_since: isoTimestampSchema(
    'When the wait for the e-mail began: when the contact entered or took the step before.',
  ),
  due_at: isoTimestampSchema(),
  is_queued: zeroOrOne('1: the e-mail is queued for the contact.'),
});
/** A contact who waits for a mail. */
export type Waiting = Static<typeof Waiting>;

export const listWaiting = operation({
  name: 'List the contacts who wait for an e-mail of an automation (addition)',
  role: 'viewer',
  input: Type.Object({
    ...ByMail.properties,
    limit: pageLimit('contacts'),
    after_id: Type.Optional(
      integer({ description: 'next_after_id of the previous page, for the contacts after that page.' }),
    ),
  }),
  output: Type.Object({
    people: Type.Array(Waiting),
    next_after_id: nullable(integer(), 'The after_id of the next page; null on the last page.'),
  }),
  run({ db, accountId }, { utr, limit = DEFAULT_ROWS, after_id: after = 0 }) {
    const { $client: client } = db;
    const { automation_id: automation, position } = requireMail(db, accountId, utr).schedule;
    const { places } = movesTo(client, automation, position);
    const rows = client
      .prepare<Record<string, number>, { id: number; is_waiting: 0 | 1 }>(`
        SELECT address_id AS id, state = 'active' AND ${POSITION} >= @low AND ${POSITION} < @high AS is_waiting
        FROM enrolments e WHERE automation_id = @automation AND address_id > @after ORDER BY address_id, run DESC LIMIT ${MAX_EXAMINED}`)
      .all({ automation, low: places?.low ?? 0, high: position, after });
    const waiting = rows.filter(({ is_waiting }) => is_waiting === 1);
    const page = waiting.slice(0, limit);
    const people = client
      .prepare<
        Record<string, string | number>,
        Omit<Waiting, 'waiting_since' | 'due_at'> & { since: number; due: number }
      >(`
        SELECT e.address_id AS id, ifnull(c.email, a.normalized_email) AS email, c.id AS contact_id, e.waiting_since AS since, e.due_at AS due, e.delivery_id IS NOT NULL AS is_queued
        FROM json_each(@ids) j CROSS JOIN enrolments e ON e.automation_id = @automation AND e.address_id = j.value AND e.state = 'active' CROSS JOIN addresses a ON a.id = e.address_id
          LEFT JOIN contacts c ON c.id = e.contact_id AND c.deleted_at IS NULL
        ORDER BY e.address_id`)
      .all({ automation, ids: JSON.stringify(page.map(({ id }) => id)) })
      .map(({ since, due, ...person }) => ({
        ...person,
        waiting_since: isoTimestamp(new Date(since)),
        due_at: isoTimestamp(new Date(due)),
      }));
    if (waiting.length > limit) return { people, next_after_id: page.at(-1)?.id ?? null };
    return { people, next_after_id: rows.length === MAX_EXAMINED ? (rows.at(-1)?.id ?? null) : null };
  },
});

const versionNumber = variantNumber(
  'The number of the version in another language; 0 or absent: the e-mail itself (addition).',
);
const PreviewChoice = Type.Object({
  ...ByMail.properties,
  email: Type.Optional(emailSchema()),
  variant: versionNumber,
});

/** Returns how to find the mail that is shown or checked, and the address of the recipient whose values it gets. */
function previewOf({ db, accountId }: Context, { utr, email, variant = 0 }: Static<typeof PreviewChoice>) {
  const find = () => {
    const { schedule, automation } = requireMail(db, accountId, utr);
    return shownSource(db, automation, schedule, variant);
  };
  return { find, email };
}

export const showAutomationMail = recordOperation({
  name: 'Read an e-mail of an automation as a contact of its target would see it (addition)',
  description: 'In the HTML each tracked link has its number as data-link. No open or click is counted.',
  role: 'viewer',
  input: Type.Object({ ...PreviewChoice.properties, ...shownParts }),
  as: 'mail',
  record: ShownMailRecord,
  json: (context, { html, ...choice }) => shownMailJson(context, previewOf(context, choice), html !== 0),
});

export const showAutomationMailHtml = operation({
  name: 'Read the HTML of an e-mail of an automation as a contact of its target would see it (addition)',
  description: 'The same html as in `/automations/schedule/mail`; empty if the e-mail cannot be shown.',
  role: 'viewer',
  input: PreviewChoice,
  run: (context, choice) => shownMailHtml(context, previewOf(context, choice)),
});

export const checkAutomationMail = operation({
  name: 'Check an e-mail of an automation as a contact of its target would see it (addition)',
  description: 'Returns the findings that may keep contacts from reading the e-mail, without the code of the e-mail.',
  role: 'viewer',
  input: PreviewChoice,
  output: Type.Object({ checked: CheckedMailRecord }),
  run: async (context, choice) => ({ checked: await checkedMail(context, previewOf(context, choice)) }),
});

export const readAutomationMailCode = operation({
  name: 'Read the template code of an e-mail of an automation (addition)',
  description: 'Returns only the template_html, as it was written; empty if the e-mail has none.',
  role: 'viewer',
  input: ByMail,
  run: ({ db, accountId }, { utr }) => requireMail(db, accountId, utr).schedule.template_html,
});

export const testAutomationMail = operation({
  name: 'Send a test of an e-mail of an automation (addition)',
  description:
    'Sends to ten addresses at most. A key pair without the scope `everything` can send tests only to addresses of senders and contacts. Tests count in no report.',
  role: 'editor',
  input: Type.Object({ ...ByMail.properties, email_address: AddressList, variant: versionNumber }),
  check: (_context, { email_address }, errors) => checkTestAddresses(email_address, errors),
  async run(context, { utr, email_address, variant = 0 }) {
    const { db, config, accountId } = context;
    const addresses = await readTestAddresses(context, email_address);
    await withinShare(accountId, async () => {
      const { schedule, automation } = requireMail(db, accountId, utr);
      const tested = {
        ...asVersion(db, schedule, variant),
        kind: 'schedule' as const,
        unsubscribe_group_id: Number(automation.unsubscribe_group_id),
      };
      await queueTestMail(context, tested, addresses);
    });
    return testMailMessage(db.$client, config);
  },
});

/** Used by the check of a mail of an automation. */
export const readLastMailTest = operation({
  name: 'Read when an e-mail of an automation was tested last',
  role: 'viewer',
  input: ByMail,
  output: Type.Object({ test: LastTestRecord }),
  run: ({ db, accountId }, { utr }) => ({
    test: findLastTest(db, accountId, { kind: 'schedule', id: requireMail(db, accountId, utr).schedule.id }),
  }),
});
