/** Operations of the contract for single sends: they list, read, create, change and preview single sends with all their fields. */
import { and, eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { listCustomFields } from '../../audience/fields/custom-fields.ts';
import { targetProblem } from '../../audience/segments/broken-rules.ts';
import { checkedTargets } from '../../audience/segments/segments.ts';
import { ownedBy, recordUtr } from '../../database/ownership.ts';
import { readRecord, recordObject, totalBytes } from '../../database/record-json.ts';
import { senders, singleSends } from '../../database/schema/index.ts';
import { freezeText } from '../../delivery/compiling/freeze.ts';
import { show } from '../../delivery/compiling/show.ts';
import { ContentError } from '../../delivery/content/compiled-content.ts';
import { PREFERENCES, WEB_COPY } from '../../delivery/content/placeholders.ts';
import { findContactFields, mergeValues } from '../../delivery/content/values.ts';
import { notFound } from '../../errors/failure.ts';
import type { Said } from '../../errors/sentences.ts';
import { withinShare } from '../../http/account-share.ts';
import {
  flag,
  idAsText,
  identifier,
  integer,
  line,
  listQuery,
  nullable,
  optionalFlag,
  reference,
  said,
  stamps,
  stringList,
  trackingFlag,
  unchangedSince,
} from '../../http/requests/schemas.ts';
import type { Deps } from '../../operations/deps.ts';
import { type Context, listOperation, operation, recordOperation } from '../../operations/operation.ts';
import { mailWarnings } from '../../templates/content-warnings.ts';
import { withTemplateCopied } from '../../templates/mail-content.ts';
import { ContentWarnings } from '../../templates/operations.ts';
import { countDraftAudience, createSingleSend, type SingleSendInput, singleSendColumns } from '../single-sends.ts';
import { requeue } from '../status.ts';
import { addSingleSendErrors, canaryOptions, capOption, changeSingleSend, targets, templateCode } from './drafts.ts';
import { MailForContact } from './shown-mails.ts';

const Targets = Type.Array(
  Type.Object({
    id: idAsText(),
    table: Type.String({
      description: 'contacts if the id is that of a contact type; segments if it is that of a segment.',
    }),
  }),
);

/** The record of a single send. Its counters are those of its mailing. */
export const SingleSend = Type.Object({
  id: integer(),
  user_id: integer(),
  template_id: integer(),
  recipient_id: Targets,
  exclude_specific_recipient_id: Targets,
  sender_id: integer(),
  unsubscribe_group_id: integer(),
  single_send_name: Type.String(),
  from_sender: Type.String({ description: 'The From address.' }),
  reply_to: Type.String({ description: 'The Reply-To address.' }),
  sender_name: nullable(Type.String(), 'The From name; null if no sender is chosen yet.'),
  sender_address: nullable(Type.String(), 'The postal address of the sender; null if no sender is chosen yet.'),
  subject: Type.String(),
  preheader: Type.String(),
  schedule_type: integer(),
  schedule_date: Type.String(),
  schedule_time: Type.String(),
  status: integer({
    description: '0: saved, not queued; 1: queued; 2: being sent; 3: done, every recipient is in a final state.',
  }),
  utr: Type.String(),
  template_json: nullable(Type.String()),
  template_html: nullable(Type.String()),
  triggered: integer(),
  delivered: integer(),
  unique_opens: integer(),
  total_opens: integer(),
  bounces: integer(),
  unsubscribes: integer(),
  unique_open_token: Type.Record(Type.String(), Type.String(), {
    description: 'The open tokens of recipients who opened the e-mail, by recipient id; at most 1 000.',
  }),
  sent_at: Type.String(),
  ...stamps,
});

/** The parameters with which a single send is created. A change has the same parameters and `utr`. */
const NewSingleSend = Type.Object({
  template_id: reference(),
  ...templateCode,
  sender_id: reference(),
  unsubscribe_group_id: reference(),
  single_send_name: line(),
  subject: line(),
  preheader: line(),
  recipient_id: stringList({
    minItems: 1,
    description: 'Targets: contacts_<contact type id> or segments_<segment id>.',
  }),
  exclude_specific_recipient_id: targets('Targets whose recipients get nothing.'),
  schedule_type: flag('0: at once, 1: at schedule_date and schedule_time.'),
  schedule_date: Type.Optional(line({ description: 'y-m-d' })),
  schedule_time: Type.Optional(line({ description: 'HH:MM[:SS]' })),
  local_time: optionalFlag(
    'Addition. 1, only with a schedule: each recipient gets the e-mail at that date and time in their own time zone; 0 (default): all recipients get it at the same moment.',
  ),
  best_hour: optionalFlag(
    'Addition. 1: each recipient gets the e-mail at their best hour within 24 hours after the start, by the hours at which they opened and clicked earlier e-mails; 0 (default): all recipients get it at the start.',
  ),
  tracking: trackingFlag(),
  ...canaryOptions,
  ...capOption,
});
const ByUtr = { utr: identifier('The single send.') };
const Utr = Type.Object({ utr: Type.String() });

const Preview = Type.Object({
  audience: Type.Object({
    recipients: integer({ description: 'The number of contacts who would get the e-mail.' }),
    left_out: Type.Array(Type.Object({ reason: said(), count: integer() })),
  }),
  mail: nullable(MailForContact, 'The e-mail for one of the recipients; null if it cannot be shown.'),
  problem: nullable(said()),
  placeholders_without_value: Type.Array(Type.String()),
  warnings: ContentWarnings,
});

/** Adds the SQL function `open_token`, which makes the tokens in `unique_open_token`. */
export function addOpenToken({ db, tokens }: Deps): void {
  db.$client.function(
    'open_token',
    { deterministic: true },
    (delivery, mailing, address, group, user, email) =>
      tokens.recipient({
        delivery: Number(delivery),
        mailing: Number(mailing),
        address: Number(address),
        group: Number(group),
        user: Number(user),
        email: String(email),
      }).open,
  );
}

/** The maximum number of open tokens in the record of a single send. */
const MAX_OPEN_TOKENS = 1000;
/** The approximate size of an open token in bytes. */
const TOKEN_BYTES = 60;

const counter = (name: string) => sql`ifnull(${sql.raw(`mailings.${name}`)}, 0)`;
const from = sql`${singleSends} LEFT JOIN mailings ON mailings.owner_kind = 'single' AND mailings.owner_id = ${singleSends.id}`;
const record = recordObject(SingleSend, singleSends, {
  recipient_id: sql`json(${singleSends.recipient_id})`,
  exclude_specific_recipient_id: sql`json(${singleSends.exclude_specific_recipient_id})`,
  triggered: counter('triggered'),
  delivered: counter('delivered'),
  unique_opens: counter('unique_opens'),
  total_opens: counter('total_opens'),
  bounces: counter('bounces'),
  unsubscribes: counter('unsubscribes'),
  // SQLite treats the JSON of a subquery as text unless it is passed through json() again.
  unique_open_token: sql`json((SELECT json_group_object(CAST(id AS TEXT), token) FROM (
      SELECT id, open_token(id, mailing_id, address_id, ${singleSends.unsubscribe_group_id}, ${singleSends.user_id},
        (SELECT normalized_email FROM addresses WHERE addresses.id = address_id)) AS token
      FROM deliveries WHERE mailing_id = mailings.id AND opened_at IS NOT NULL ORDER BY opened_at DESC, id DESC LIMIT ${sql.raw(`${MAX_OPEN_TOKENS}`)})))`,
});
const columnBytes = totalBytes(singleSends.template_json, singleSends.template_html, singleSends.recipient_id);
const tokenBytes = sql`${sql.raw(`${TOKEN_BYTES}`)} * min(${sql.raw(`${MAX_OPEN_TOKENS}`)}, ${counter('unique_opens')})`;
const bytes = sql`${columnBytes} + ${tokenBytes}`;

export const listSingleSends = listOperation({
  name: 'List the single sends',
  role: 'viewer',
  input: listQuery,
  as: 'singleSends',
  record: SingleSend,
  select: ({ accountId }, part) => ({
    record,
    from,
    where: ownedBy(singleSends, accountId),
    id: singleSends.id,
    bytes,
    part,
  }),
});

/** Returns the record as JSON text. */
export const readSingleSend = operation({
  name: 'Read a single send',
  role: 'viewer',
  input: Type.Object(ByUtr),
  run({ db, accountId }, { utr }) {
    const where = and(ownedBy(singleSends, accountId), eq(singleSends.utr, recordUtr(utr)));
    const json = readRecord(db, record, from, where);
    if (json === undefined) throw notFound('Record not found');
    return json;
  },
});

export const addSingleSend = operation({
  name: 'Create a single send, sent at once or on a schedule',
  description:
    'The single send is queued. If it cannot be sent when it is due, it is held, and its report says why. The Location header of the answer has its URL.',
  role: 'editor',
  input: NewSingleSend,
  output: Utr,
  check: addSingleSendErrors,
  run(context, input) {
    const utr = createSingleSend(context, context.accountId, input, context.actor);
    context.wake();
    return { utr };
  },
});

export const updateSingleSend = operation({
  name: 'Change a single send that has not been sent',
  description: 'Takes the same parameters as POST /single/send/create, and queues the single send again.',
  role: 'editor',
  input: Type.Object({ ...ByUtr, unchanged_since: unchangedSince(), ...NewSingleSend.properties }),
  output: Utr,
  check: addSingleSendErrors,
  run(context, { utr: requestedUtr, unchanged_since, ...input }) {
    const { utr } = changeSingleSend(context, { utr: requestedUtr, unchanged_since }, input, {
      columnsOf: (copied) => singleSendColumns(context, context.accountId, copied),
      store: ({ id }, changed) => requeue(context.db, id, changed),
    });
    context.wake();
    return { utr };
  },
});

export const previewSingleSend = recordOperation({
  name: 'Preview the audience and the e-mail of a single send',
  description:
    'Sends and saves nothing. Returns the number of contacts who would get the e-mail and of those who would be skipped, with the reasons, and the e-mail for one contact.',
  role: 'editor',
  input: NewSingleSend,
  as: 'preview',
  record: Preview,
  check: addSingleSendErrors,
  async json(context, input) {
    const { db, accountId } = context;
    const { audience, mail, ...fields } = await withinShare(accountId, () =>
      preview(context, withTemplateCopied(db, accountId, input)),
    );
    const lastFields = JSON.stringify({ ...fields, warnings: await mailWarnings(db, accountId, input) });
    return `{"audience":${JSON.stringify(audience)},"mail":${mail},${lastFields.slice(1)}`;
  },
});

/** Returns the audience of a single send, and its mail as JSON for one recipient, without tracking. */
async function preview(context: Context, input: SingleSendInput) {
  const { db, config, accountId } = context;
  const included = checkedTargets(input.recipient_id);
  const excluded = checkedTargets(input.exclude_specific_recipient_id ?? []);
  const { contact_id, recipients, left_out } = await countDraftAudience(context, {
    user_id: accountId,
    recipient_id: included,
    exclude_specific_recipient_id: excluded,
    unsubscribe_group_id: input.unsubscribe_group_id,
    ignores_caps: input.ignores_caps ?? 0,
  });
  const audience = { recipients, left_out };
  const withoutMail = (problem: Said) => ({ audience, mail: null, problem, placeholders_without_value: [] });
  const sender = db.select().from(senders).where(eq(senders.id, input.sender_id)).get();
  if (sender === undefined) throw new Error('a sender passed the check and is gone');
  const code = { template_json: input.template_json || null, template_html: input.template_html || null };
  const frozen = await freezeText(db, config, { ...input, ...code, tracking: 0 }, sender);
  if ('problem' in frozen) return withoutMail(frozen.problem);
  const person = contact_id === null ? undefined : findContactFields(db.$client, contact_id);
  const values: Record<string, string> = {
    ...(person && mergeValues(person, listCustomFields(db, accountId), '')),
    [PREFERENCES]: `${context.publicUrl()}/u/preview`,
    [WEB_COPY]: `${context.publicUrl()}/w/preview`,
  };
  try {
    const { json, withoutValue } = await show(accountId, { frozen: frozen.frozen, variant: 0, values, hasHtml: true });
    return {
      audience,
      mail: `{"contact_id":${contact_id},${json.slice(1)}`,
      problem: targetProblem(db, [...included, ...excluded]),
      placeholders_without_value: [...withoutValue],
    };
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    return withoutMail(error.said);
  }
}
