/**
 * Operations that compose a single send step by step: they create drafts, which may be incomplete, change them without queuing them,
 * and count their audience.
 */

import { randomUUID } from 'node:crypto';
import { asc, eq } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { checkedTargets } from '../../audience/segments/segments.ts';
import { ownedBy } from '../../database/ownership.ts';
import {
  designTemplates,
  type LinkRules,
  SINGLE_SEND_STATUS,
  type singleSends,
  unsubscribeGroups,
} from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { findLinkRules } from '../../delivery/compiling/freeze.ts';
import { linkParameters } from '../../delivery/content/link-rules.ts';
import { Failure, type FieldErrors } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { withinShare } from '../../http/account-share.ts';
import {
  choice,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  MAX_TEMPLATE_CHARACTERS,
  nullable,
  optionalFlag,
  said,
  stringList,
  text,
  unchangedSince,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { firstSenderId } from '../../senders/first-sender.ts';
import { mailWarnings } from '../../templates/content-warnings.ts';
import { MAX_LANGUAGES } from '../../templates/languages/versions.ts';
import { closeVersion, withTemplateCopied } from '../../templates/mail-content.ts';
import { ContentWarnings } from '../../templates/operations.ts';
import { isoTimestamp, NO_TIME } from '../../time/clock.ts';
import { listAttachments } from '../attachments.ts';
import { requireStillTestable, singleSendErrors } from '../single-send-errors.ts';
import {
  changerName,
  contentSource,
  countDraftAudience,
  NO_DATE,
  NO_TIME_OF_DAY,
  requireChangeable,
  requireOneClock,
  requireSingleSend,
  type SingleSendInput,
  senderColumns,
  targetNames,
} from '../single-sends.ts';
import { changeUnsent, insertDraft } from '../status.ts';

const MAX_CANARY_PERCENT = 5;
const MIN_CANARY_MINUTES = 5;
const MAX_CANARY_MINUTES = 1440;
const DEFAULT_CANARY_MINUTES = 30;

/** The maximum number of variants in addition to A, the mail itself. */
export const MAX_VARIANTS = 3;

/** Returns the schema of the optional number of a variant of an A/B test, or of a version in another language. */
export const variantNumber = (description: string) => Type.Optional(integer({ maximum: MAX_LANGUAGES, description }));

const canaryPercent = () =>
  integer({
    maximum: MAX_CANARY_PERCENT,
    description:
      'The percentage of recipients who get the e-mail first, as the first batch. The other recipients get it if the results are good. 0: all recipients get it at once.',
  });
const canaryMinutes = () =>
  integer({
    minimum: MIN_CANARY_MINUTES,
    maximum: MAX_CANARY_MINUTES,
    description: `The number of minutes that the other recipients wait after the first batch; ${DEFAULT_CANARY_MINUTES} by default.`,
  });
/** The optional parameters of the first batch (canary) of a single send. An empty text means the default. */
export const canaryOptions = {
  canary_percent: Type.Optional(Type.Unsafe<number>({ ...canaryPercent(), empty: 0 })),
  canary_minutes: Type.Optional(Type.Unsafe<number>({ ...canaryMinutes(), empty: DEFAULT_CANARY_MINUTES })),
};

/** The optional parameter with which a single send or an automation ignores the frequency caps. An empty text means 0. */
export const capOption = {
  ignores_caps: optionalFlag('Addition. 1: e-mails are sent also to contacts who have reached a frequency cap.'),
};

const utm = (name: string) =>
  Type.Optional(line({ description: `${name} of the links; it is used only if utm_mode is own.` }));
const UTM_MODES = ['account', 'off', 'own'] as const;
/** The optional parameters for the link parameters of a single send. */
const linkOptions = {
  utm_mode: Type.Optional({
    ...choice(...UTM_MODES),
    description:
      'The parameters that links get. account: those in the settings of the account; off: none; own: the utm parameters of this request.',
  }),
  utm_source: utm('utm_source'),
  utm_medium: utm('utm_medium'),
  utm_campaign: Type.Optional(
    line({
      description: 'utm_campaign of the links; empty: the name of the single send. It is used only if utm_mode is own.',
    }),
  ),
  utm_content: optionalFlag(
    '1: utm_content is the name that the block with the link has in the designer, or else the text of the link. It is used only if utm_mode is own.',
  ),
};

type SingleSend = typeof singleSends.$inferSelect;

/** The fields that a single send needs, besides recipients, to be queued. */
const NEEDED = ['single_send_name', 'subject', 'preheader', 'sender_id', 'unsubscribe_group_id'] as const;

const ByUtr = { utr: identifier('The single send.') };
const template = (description: string) => Type.Optional(text({ maxLength: MAX_TEMPLATE_CHARACTERS, description }));
/** The optional parameters for the code of a mail, which is either MJML or HTML. */
export const templateCode = {
  template_json: template('The MJML as JSON. Then template_html must be empty.'),
  template_html: template('The HTML. Then template_json must be empty.'),
};
/** Returns the schema of targets that may be absent. An empty text means none. */
export const targets = (description: string) =>
  Type.Optional(Type.Unsafe<string[]>({ ...stringList({ description }), empty: [] }));
const optionalId = (description: string) => Type.Optional(integer({ description }));
const Changes = Type.Object({
  ...ByUtr,
  unchanged_since: unchangedSince(),
  single_send_name: Type.Optional(line({ minLength: 1 })),
  subject: Type.Optional(line()),
  preheader: Type.Optional(line()),
  sender_id: optionalId('Id of the sender.'),
  unsubscribe_group_id: optionalId('Id of the topic (unsubscribe group).'),
  recipient_id: targets('Targets: contacts_<contact type id> or segments_<segment id>.'),
  exclude_specific_recipient_id: targets('Targets whose recipients get nothing.'),
  template_id: optionalId('Id of the template.'),
  ...templateCode,
  ...canaryOptions,
  ...capOption,
  ...linkOptions,
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
  html_size: integer({ description: 'The size of the HTML in bytes; 0 if the single send has no HTML of its own.' }),
  status: integer(),
  held_reason: nullable(said()),
  tracking: zeroOrOne(),
  variants: integer({
    description:
      'The number of variants of the A/B test, A included, or of language versions, the e-mail itself included; 1 if it has neither.',
  }),
  languages: Type.Array(Type.String(), { description: 'The languages of the versions, as ISO 639-1 codes.' }),
  attachments: Type.Array(
    Type.Object({
      id: integer(),
      file_name: Type.String({ description: 'The name that the file has in the e-mail.' }),
      type: Type.String({ description: 'The media type of the file.' }),
      size: integer({ description: 'The size of the file in bytes.' }),
    }),
    { description: 'The files that all recipients get.' },
  ),
  canary_percent: integer({
    description:
      'The percentage of recipients who get the e-mail first, as the first batch. 0: all recipients get it at once.',
  }),
  canary_minutes: integer({
    description: 'The number of minutes that the other recipients wait after the first batch.',
  }),
  ignores_caps: zeroOrOne(),
  utm_mode: {
    ...choice(...UTM_MODES),
    description:
      'The parameters that links get. account: those in the settings of the account; off: none; own: those of the single send.',
  },
  utm_source: Type.String({ description: 'utm_source of the links if utm_mode is own; otherwise empty.' }),
  utm_medium: Type.String({ description: 'utm_medium of the links if utm_mode is own; otherwise empty.' }),
  utm_campaign: Type.String({
    description: 'utm_campaign of the links if utm_mode is own; if empty, links get the name of the single send.',
  }),
  utm_content: zeroOrOne(
    '1: utm_content is the name that the block with the link has in the designer, or else the text of the link.',
  ),
  link_parameters: Type.String({
    description:
      'The query parameters that links get when the single send is sent, with … for the utm_content of each link; empty if links get no parameters.',
  }),
  schedule_type: integer(),
  schedule_date: Type.String(),
  schedule_time: Type.String(),
  local_time: zeroOrOne(),
  best_hour: zeroOrOne(),
  time_zone: Type.String({ description: 'The time zone of schedule_date and schedule_time.' }),
  recall_seconds: integer({
    description: 'The number of seconds that a send at once waits before it starts, in which it can be cancelled.',
  }),
  updated_at: isoTimestampSchema(),
  changed_by: nullable(Type.String()),
  warnings: ContentWarnings,
});

/** A single send that is being composed. Ids that have not been chosen are 0, and texts that have not been written are empty. */
export type Draft = Static<typeof Draft>;

const Audience = Type.Object({
  recipients: integer({ description: 'The number of contacts who would get the e-mail.' }),
  left_out: Type.Array(Type.Object({ reason: said(), count: integer() })),
  with_zone: integer({ description: 'The number of recipients whose time zone is known.' }),
});
export type Audience = Static<typeof Audience>;

export const createDraft = operation({
  name: 'Create a draft of a single send that has only a name (addition)',
  description:
    'The draft gets a sender and a topic (unsubscribe group) of the account. POST /single/send/update completes and queues it.',
  role: 'editor',
  input: Type.Object({ single_send_name: line({ minLength: 1 }) }),
  output: Type.Object({ utr: Type.String() }),
  run({ db, clock, accountId, actor: { userId } }, { single_send_name }) {
    const now = isoTimestamp(clock.now());
    const utr = randomUUID();
    const group = db
      .select({ id: unsubscribeGroups.id })
      .from(unsubscribeGroups)
      .where(ownedBy(unsubscribeGroups, accountId))
      .orderBy(asc(unsubscribeGroups.id))
      .limit(1)
      .get();
    const blank = db
      .select({ id: designTemplates.id })
      .from(designTemplates)
      .where(eq(designTemplates.is_blank, 1))
      .orderBy(asc(designTemplates.id))
      .limit(1)
      .get();
    insertDraft(db, {
      user_id: accountId,
      changed_by: userId,
      utr,
      single_send_name,
      subject: '',
      preheader: '',
      template_id: blank?.id ?? 1,
      recipient_id: [],
      exclude_specific_recipient_id: [],
      ...senderColumns(db, accountId, firstSenderId(db, accountId)),
      unsubscribe_group_id: group?.id ?? 0,
      schedule_type: 0,
      schedule_date: NO_DATE,
      schedule_time: NO_TIME_OF_DAY,
      starts_at: clock.now().getTime(),
      sent_at: NO_TIME,
      created_at: now,
      updated_at: now,
    });
    return { utr };
  },
});

export const saveDraft = operation({
  name: 'Change parts of a single send without queuing it (addition)',
  description:
    'Absent parameters keep their value. A draft stays a draft and may be incomplete; a queued single send stays queued.',
  role: 'editor',
  input: Changes,
  output: Type.Object({ updated_at: isoTimestampSchema() }),
  check(context, input, errors) {
    addSingleSendErrors(context, input, errors);
    if (input.utm_mode === 'own' && !input.utm_source) errors.add('utm_source', messages.required('utm_source'));
  },
  run(context, { utr, unchanged_since, ...input }) {
    const { db, accountId } = context;
    const { updated_at } = changeSingleSend(context, { utr, unchanged_since }, input, {
      columnsOf: ({
        recipient_id,
        sender_id,
        utm_mode,
        utm_source,
        utm_medium,
        utm_campaign,
        utm_content,
        ...plain
      }) => ({
        ...plain,
        ...(utm_mode && {
          link_rules: linkRulesOf(utm_mode, { utm_source, utm_medium, utm_campaign, utm_content }),
        }),
        ...(recipient_id && { recipient_id: checkedTargets(recipient_id) }),
        ...(sender_id !== undefined && senderColumns(db, accountId, sender_id)),
      }),
      store(before, columns) {
        // A chosen template replaces the whole content, so the present content is kept as an earlier version.
        if (input.template_id !== undefined) closeVersion(db, 'single_send', before.id);
        if (before.status === SINGLE_SEND_STATUS.queued) requireComplete({ ...before, ...columns });
        changeUnsent(db, before.id, columns);
      },
    });
    return { updated_at };
  },
});

export const readDraft = operation({
  name: 'Read a single send that is being composed, without its template (addition)',
  role: 'viewer',
  input: Type.Object(ByUtr),
  output: Type.Object({ draft: Draft }),
  async run({ db, config, accountId }, { utr }) {
    const send = requireSingleSend(db, accountId, utr);
    const { template_json: _json, template_html: html, link_rules, ...parts } = send;
    const rules = findLinkRules(db, accountId, send);
    const draft = {
      ...parts,
      recipient_id: targetNames(send.recipient_id),
      exclude_specific_recipient_id: targetNames(send.exclude_specific_recipient_id),
      content: contentSource(db, send),
      html_size: Buffer.byteLength(html ?? ''),
      variants: 1 + (send.ab_test?.variants ?? send.languages ?? []).length,
      languages: (send.languages ?? []).map(({ language }) => language),
      attachments: listAttachments(db, send.id),
      changed_by: changerName(db, send),
      tracking: send.tracking === 0 ? (0 as const) : (1 as const),
      ...shownLinkRules(link_rules),
      link_parameters: rules === null ? '' : `${linkParameters(rules)}${rules.content === 1 ? '&utm_content=…' : ''}`,
      time_zone: config.TIME_ZONE,
      recall_seconds: config.RECALL_SECONDS,
      warnings: await mailWarnings(db, accountId, send),
    };
    return { draft };
  },
});

/** The link parameters in a request. */
interface LinkInput {
  utm_source?: string | undefined;
  utm_medium?: string | undefined;
  utm_campaign?: string | undefined;
  utm_content?: 0 | 1 | undefined;
}

/** Returns the link parameters of a request in the form in which accounts and single sends store them. */
export function asLinkRules({
  utm_source = '',
  utm_medium = '',
  utm_campaign = '',
  utm_content = 0,
}: LinkInput): LinkRules {
  return { source: utm_source, medium: utm_medium, campaign: utm_campaign, content: utm_content };
}

/** Returns the link parameters of a single send as they are stored; null means those of the account. */
function linkRulesOf(mode: (typeof UTM_MODES)[number], input: LinkInput): SingleSend['link_rules'] {
  if (mode === 'own') return asLinkRules(input);
  return mode === 'off' ? 'off' : null;
}

/** Returns the stored link parameters of a single send in the form of the API. */
function shownLinkRules(rules: SingleSend['link_rules']) {
  const own = rules === 'off' ? null : rules;
  const utm_mode: (typeof UTM_MODES)[number] = rules === 'off' ? 'off' : rules === null ? 'account' : 'own';
  return {
    utm_mode,
    utm_source: own?.source ?? '',
    utm_medium: own?.medium ?? '',
    utm_campaign: own?.campaign ?? '',
    utm_content: own?.content ?? (0 as const),
  };
}

export const countAudience = operation({
  name: 'Count the contacts who would get a single send now, and those who would be skipped, with the reasons (addition)',
  role: 'viewer',
  input: Type.Object(ByUtr),
  output: Type.Object({ audience: Audience }),
  async run(context, { utr }) {
    const send = requireSingleSend(context.db, context.accountId, utr);
    return { audience: await withinShare(context.accountId, () => countDraftAudience(context, send)) };
  },
});

/** Throws 422 if a single send lacks something that it needs to be queued. */
function requireComplete(send: SingleSend): void {
  const missing: string[] = NEEDED.filter((field) => !send[field]);
  if (send.recipient_id.length === 0) missing.push('recipient_id');
  if (missing.length === 0) return;
  const errors: FieldErrors = Object.fromEntries(missing.map((field) => [field, [messages.required(field)]]));
  throw new Failure(422, errors);
}

/** Adds the field errors that the schema cannot find, such as a sender that does not exist. */
export function addSingleSendErrors(
  context: Context,
  input: Partial<SingleSendInput>,
  errors: FieldErrorCollector,
): void {
  errors.addAll(singleSendErrors(context, context.accountId, input));
}

type Columns = Partial<Omit<SingleSend, 'id' | 'status' | 'held_code' | 'held_reason'>>;
/** The input without the code and the exclusions, which `changeSingleSend` itself makes into columns. */
type Parts<Input> = Omit<Input, 'template_json' | 'template_html' | 'exclude_specific_recipient_id'>;

/**
 * Changes a single send that is a draft or queued. `columnsOf` makes columns from the input, and `store` stores all columns. Throws 404 if
 * there is no such single send; 409 if it is running or completed, or its `updated_at` is not `unchanged_since`; and 422 if the change makes
 * its A/B test impossible.
 */
export function changeSingleSend<Input extends Partial<SingleSendInput>>(
  { db, clock, config, accountId, actor }: Context,
  { utr, unchanged_since }: { utr?: unknown; unchanged_since?: string | undefined },
  input: Input,
  { columnsOf, store }: { columnsOf(parts: Parts<Input>): Columns; store(before: SingleSend, columns: Columns): void },
): { utr: string; updated_at: string } {
  const change = () => {
    const before = requireChangeable(db, accountId, utr, unchanged_since);
    const copied = withTemplateCopied(db, accountId, input);
    const { template_json, template_html, exclude_specific_recipient_id: excluded, ...parts } = copied;
    const updated_at = isoTimestamp(clock.now());
    const columns = {
      ...columnsOf(parts),
      // A new MJML or HTML template replaces both stored templates, of which only one can be used.
      ...((template_json !== undefined || template_html !== undefined) && {
        template_json: template_json || null,
        template_html: template_html || null,
      }),
      ...(excluded && { exclude_specific_recipient_id: checkedTargets(excluded) }),
      changed_by: actor.userId,
      updated_at,
    };
    requireOneClock({ ...before, ...columns });
    requireStillTestable({ db, config }, before, columns);
    store(before, columns);
    return { utr: before.utr, updated_at };
  };
  return inTransaction(db, change);
}
