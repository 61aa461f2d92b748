/**
 * Operations for the results of single sends: the list of single sends with counters (an addition to the contract), the report of
 * one single send, and its recipients with their results.
 */
import { and, eq, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { isAddress } from '../../audience/contacts/address-rows.ts';
import { MAX_REASON } from '../../audience/segments/rules.ts';
import { fold } from '../../database/functions/fold.ts';
import type { Db } from '../../database/open.ts';
import { recordObject } from '../../database/record-json.ts';
import {
  CANARY_STAGES,
  DELIVERY_STATE,
  DEVICE_NAMES,
  deliveries,
  HELD_CODES,
  SINGLE_SEND_STATUS,
} from '../../database/schema/index.ts';
import { eventsRemovedTime } from '../../delivery/feedback/old-events.ts';
import { pacedGroupsOf } from '../../delivery/pacing/paced-groups.ts';
import { COMMON_HELD_CODES, reportedHold } from '../../delivery/queue/holds.ts';
import { keptMails, mailingReport, type ShownDeliveryState as Shown } from '../../delivery/reporting/mailing-report.ts';
import { findRecipients, RECIPIENT_ACTIVITIES } from '../../delivery/reporting/recipients.ts';
import { exportRecipients } from '../../delivery/reporting/recipients-csv.ts';
import { findLocalWait } from '../../delivery/timing/local-times.ts';
import { nextSendingTimeOfAccount } from '../../delivery/timing/send-window.ts';
import { COURIERS, courierInUse } from '../../delivery/transport/relays/in-use.ts';
import { bestHourResults } from '../../delivery/variants/best-hour-results.ts';
import { abTestReport } from '../../delivery/variants/report.ts';
import { findWarmUpWait } from '../../delivery/warm-up/plans.ts';
import { findWatch } from '../../delivery/watch/watched-mailings.ts';
import { notFound } from '../../errors/failure.ts';
import { codeOf, readStored, storedSql } from '../../errors/stored.ts';
import {
  choice,
  DEFAULT_ROWS,
  described,
  flag,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  listQuery,
  nullable,
  pageLimit,
  ShownDeliveryState,
  said,
  text,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { type Context, listOperation, operation } from '../../operations/operation.ts';
import { WarmUpWait } from '../../senders/operations/warm-ups.ts';
import { mailWarnings } from '../../templates/content-warnings.ts';
import { ContentWarnings } from '../../templates/operations.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { findSingleSendMailing, requireSingleSend, targetNames } from '../single-sends.ts';
import { FINISHED, SHOWN_STATE, SHOWN_STATES } from '../status.ts';
import { designUrl, recordedFindings, shownFindings } from './shown-mails.ts';
import { ReportedAbTest, reportedAbTest } from './variants.ts';

/**
 * The maximum number of single sends examined for a page of a filtered or sorted list, which takes about 10 ms. A page can therefore
 * be shorter than its limit, and the answer says where to continue.
 */
const MAX_EXAMINED = 1000;

/** The counters of a mailing. */
export const MailingCounters = {
  delivered: integer(),
  kept: integer(),
  unmeasured: integer(),
  unique_opens: integer(),
  unique_clicks: integer(),
  people_opens: integer(),
  people_clicks: integer(),
  bounces: integer(),
  unsubscribes: integer(),
};
const Summary = Type.Object({
  id: integer(),
  utr: Type.String(),
  single_send_name: Type.String(),
  subject: Type.String(),
  state: {
    ...choice(...SHOWN_STATES),
    description: 'The status of the single send and the state of its sending, in one word.',
  },
  held_reason: nullable(said()),
  starts_at: Type.String(),
  created_at: Type.String(),
  updated_at: Type.String(),
  recipients: integer({ description: 'The number of recipients so far; it grows while the state is preparing.' }),
  finished: integer(),
  ...MailingCounters,
  recipient_id: Type.Array(Type.String(), {
    description: 'The targets: contacts_<contact type id> or segments_<segment id>.',
  }),
  is_hidden: { ...zeroOrOne(), description: '1: the list of the dashboard does not show the single send.' },
});

/** The orders of the list. All orders except `newest` sort only the newest 1 000 single sends. */
export const ORDERS = ['newest', 'name', 'opens', 'clicks'] as const;

const SummariesQuery = Type.Object({
  utr: identifier('Only this single send.'),
  state: Type.Optional(choice(...SHOWN_STATES)),
  target: Type.Optional(line({ description: 'Only single sends to this target, such as contacts_1.' })),
  is_hidden: Type.Optional(
    flag('0: only single sends that the list of the dashboard shows. 1: only those that it hides. Absent: all.'),
  ),
  order: Type.Optional({
    ...choice(...ORDERS),
    description:
      'newest (default): the newest first; name: by name; opens, clicks: the largest share of measured recipients who opened or clicked first. All orders except newest sort only the newest 1 000 single sends.',
  }),
  search: Type.Optional(line({ description: 'Only single sends with this text in the name or the subject.' })),
  limit: pageLimit('single sends'),
  before_id: Type.Optional(
    integer({ description: 'next_before_id of the previous page, for the single sends after that page.' }),
  ),
});

/** A single send in the list, with its counters. */
export type Summary = Static<typeof Summary>;

const recipient = {
  id: integer(),
  email: Type.String(),
  contact_id: nullable(integer()),
  state: described(ShownDeliveryState, 'The state of the e-mail. All states except queued and sending are final.'),
  attempts: integer(),
  reply: nullable(said()),
};
const Recipient = Type.Object({
  ...recipient,
  reason_code: nullable(Type.String()),
  opens: integer(),
  clicks: integer(),
  updated_at: nullable(Type.String()),
  kept_mail_id: nullable(integer(), 'The id for GET /deliveries/mail; null if the sent e-mail is not kept.'),
});
const FilterQuery = Type.Object({
  utr: identifier('The single send.'),
  state: Type.Optional(ShownDeliveryState),
  reason: Type.Optional(
    text({ maxLength: MAX_REASON, description: 'Only recipients with this reason in the report.' }),
  ),
  link: Type.Optional(integer({ description: 'Only recipients who clicked the link with this number in the report.' })),
  did: Type.Optional({
    ...choice(...RECIPIENT_ACTIVITIES),
    description: 'Only recipients who did this themselves; opens and clicks of bots do not count.',
  }),
  search: Type.Optional(line({ description: 'Only recipients whose address begins with this text.' })),
  domain: Type.Optional(line({ description: 'Only recipients whose address has this domain.' })),
});
const FindQuery = Type.Object({
  ...FilterQuery.properties,
  limit: pageLimit('recipients'),
  after: Type.Optional(line({ description: 'next of the previous page, for the recipients after that page.' })),
});

const ByUtr = Type.Object({ utr: identifier('The single send.') });
const stateNames = Object.entries(DELIVERY_STATE).map(([name, state]) => sql`WHEN ${state} THEN ${name}`);
const ListedRecipient = Type.Object({ ...recipient, opens: integer(), updated_at: nullable(Type.String()) });

const DomainCounts = Type.Object({
  domain: Type.String({ description: 'The domain of the recipients; empty for all further domains together.' }),
  mails: integer({ description: 'The number of e-mails that were handed to the SMTP server at least once.' }),
  delivered: integer({ description: 'The number of e-mails that were accepted and have not bounced.' }),
  kept: integer({
    description: 'The number of delivered e-mails that are in the test outbox, so that no recipient got them.',
  }),
  bounces: integer({
    description: 'The number of e-mails that bounced: refused because the address does not exist, or returned.',
  }),
  failed: integer({
    description: 'The number of e-mails that were refused permanently for another reason, or given up.',
  }),
  complaints: integer({ description: 'The number of e-mails about which recipients complained.' }),
  waiting: integer({
    description: 'The number of e-mails that the SMTP server deferred, or that are being handed over.',
  }),
});
/** The part of a report about a mailing that is watched because it has a first batch (canary), or because its results have limits. */
const Watch = Type.Object({
  canary_percent: integer({
    description: 'The percentage of recipients in the first batch; 0 if there is no first batch.',
  }),
  canary_minutes: integer({
    description: 'The number of minutes that the other recipients wait after the first batch.',
  }),
  canary_stage: nullable(
    choice(...CANARY_STAGES),
    'The state of the first batch. released: the other recipients may get the e-mail, or the audience is too small for a first batch. Null if there is no first batch.',
  ),
  canary_recipients: integer({
    description: 'The number of recipients in the first batch; 0 before they are chosen.',
  }),
  continues_at: nullable(
    Type.String(),
    'When sending to the other recipients begins by itself, UTC; null while this is unknown.',
  ),
  counted_at: nullable(Type.String(), 'When the results by domain were counted, UTC; null before the first count.'),
  domains: Type.Array(DomainCounts, {
    description:
      'The results of the first batch, or of a held campaign, by recipient domain. Domains with the most bad results come first.',
  }),
});

const PacedGroup = Type.Object({
  group: Type.String({ description: 'The name of a mail provider, or a domain.' }),
  per_minute: integer({ description: 'The number of e-mails per minute that it gets now, from all campaigns.' }),
  until: Type.String({
    description: 'When its last recipients may get the e-mail, if its servers accept all e-mails until then, UTC.',
  }),
});

const LocalWait = Type.Object({
  people: integer({
    description:
      'The number of recipients whose local time has not come, including those who have unsubscribed meanwhile.',
  }),
  next_at: Type.String({ description: 'When the local time of the next of these recipients comes, UTC.' }),
  last_at: Type.String({ description: 'When the local time of the last of these recipients comes, UTC.' }),
});

const HourGroup = Type.Object({
  delivered: integer({ description: 'The number of measured recipients who got the e-mail.' }),
  opened: integer({ description: 'The number of these recipients who are known to have opened the e-mail.' }),
  clicked: integer({ description: 'The number of these recipients who clicked.' }),
});
const Difference = Type.Object({
  low: Type.Number({
    description: 'The lower end of the 95% confidence interval, such as -0.01 for one percentage point less.',
  }),
  high: Type.Number({ description: 'The upper end of this interval.' }),
});
const BestHour = Type.Object({
  at_best_hour: described(HourGroup, 'Recipients who got the e-mail at their best hour.'),
  at_start: described(HourGroup, 'Recipients, chosen at random, who got the e-mail at the start.'),
  compared_at: isoTimestampSchema('When the groups can be compared, UTC: three days after the last best hour.'),
  opened_more: nullable(
    Difference,
    'The share of openers at the best hour minus their share at the start; null before compared_at.',
  ),
  clicked_more: nullable(
    Difference,
    'The share of clickers at the best hour minus their share at the start; null before compared_at.',
  ),
});
export type BestHour = Static<typeof BestHour>;

const hour = () => Type.String({ description: 'The start of the hour, UTC.' });
const hourly = (description: string) => Type.Array(Type.Object({ hour: hour(), count: integer() }), { description });
const Report = Type.Object({
  status: integer({
    description: '0: saved, not queued; 1: queued; 2: being sent; 3: done, every recipient is in a final state.',
  }),
  held_code: nullable(choice(...HELD_CODES, ...COMMON_HELD_CODES)),
  held_reason: nullable(said()),
  courier: choice(...COURIERS),
  tracking: zeroOrOne(),
  watch: nullable(
    Watch,
    'The first batch and its results. Null if the single send has no first batch and was not held because of its results.',
  ),
  paced: Type.Array(PacedGroup, {
    description:
      'Mail providers and domains that asked for fewer e-mails, so that their recipients wait while the single send is sent (addition).',
  }),
  warm_up: nullable(
    WarmUpWait,
    "The warm-up of the sender's domain, if recipients wait for another day because of it (addition).",
  ),
  waits_until: nullable(
    isoTimestampSchema(),
    'When the sending hours for which the single send waits begin (addition); null if it does not wait.',
  ),
  local_wait: nullable(
    LocalWait,
    'The recipients whose local time has not come (addition); null if no recipient waits for their local time.',
  ),
  best_hour: nullable(
    BestHour,
    'The results at the best hours compared with those at the start (addition); null if the single send was not sent at best hours.',
  ),
  states: Type.Record(Type.String(), integer(), { description: 'The numbers of recipients by state.' }),
  reasons: Type.Array(
    Type.Object({
      state: Type.Unsafe<Shown>(Type.String({ description: 'The state of these recipients.' })),
      reason: said(),
      count: integer(),
    }),
    {
      description:
        'Why recipients are in their state, the most frequent reason first. Replies that differ only in addresses and ids count as the same reason.',
    },
  ),
  opens_by_hour: hourly('The opens by hour, UTC, without those of bots.'),
  clicks_by_hour: hourly('The clicks by hour, UTC.'),
  top_links: Type.Array(
    Type.Object({ url: Type.String(), clicks: integer({ description: 'The number of clicks.' }) }),
    {
      description: 'The most clicked links.',
    },
  ),
  opens_by_class: Type.Object(
    {
      person: integer({ description: 'The number of opens without those of proxies and bots.' }),
      proxied: integer({ description: 'The number of opens by image proxies.' }),
      machine: integer({ description: 'The number of opens by bots.' }),
    },
    {
      description:
        'The opens by people, proxies and bots. A proxy loads images whether or not the recipient opens the e-mail.',
    },
  ),
  machine_opens: integer({ description: 'The number of opens by bots.' }),
  machine_clicks: integer({ description: 'The number of clicks by bots.' }),
  design_url: Type.String(),
  warnings: ContentWarnings,
  funnel: Type.Object(
    {
      recipients: integer({ description: 'The number of all recipients of the single send.' }),
      triggered: integer(),
      delivered: integer(),
      kept: integer(),
      unmeasured: integer(),
      unique_opens: integer(),
      people_opens: integer(),
      unique_clicks: integer(),
      people_clicks: integer(),
      proxied_only: integer({
        description:
          'The number of recipients for whom only a proxy loaded the images, so it is unknown whether they opened the e-mail.',
      }),
      bounces: integer(),
      failed: integer({
        description:
          'The number of recipients for whom the e-mail failed permanently, although their address may be valid.',
      }),
      suppressed: integer({
        description: 'The number of recipients who were skipped, such as those who had unsubscribed.',
      }),
      cancelled: integer({
        description: 'The number of recipients who got nothing because the single send was cancelled.',
      }),
      unsubscribes: integer(),
    },
    { description: 'The numbers of recipients from the audience to the click.' },
  ),
  hours: Type.Array(
    Type.Object({
      hour: hour(),
      opens: integer({ description: 'The number of opens in the hour, including those of proxies and bots.' }),
      machine_opens: integer({ description: 'The number of opens by bots.' }),
      proxied_opens: integer({
        description: 'The number of opens by proxies, which load images whether or not the recipient opens the e-mail.',
      }),
      clicks: integer({ description: 'The number of clicks.' }),
      machine_clicks: integer({ description: 'The number of clicks by bots.' }),
      bounces: integer(),
      unsubscribes: integer(),
    }),
    { description: 'The events by hour. Hours without any event are left out.' },
  ),
  devices: Type.Array(
    Type.Object({
      device: {
        ...choice(...DEVICE_NAMES),
        description: 'The kind of device; unknown if the user agent named none.',
      },
      opens: integer({ description: 'The number of opens by people.' }),
      clicks: integer({ description: 'The number of clicks by people.' }),
    }),
    {
      description:
        'The opens and clicks by people, by the kind of device that the user agent named (addition). A `proxy` of a mailbox provider hides the device.',
    },
  ),
  links: Type.Array(
    Type.Object({
      number: integer({ description: 'The number of the link in the e-mail.' }),
      url: Type.String(),
      clicks: integer({ description: 'The number of clicks.' }),
      machine_clicks: integer({ description: 'The number of clicks by bots.' }),
    }),
    { description: 'Every tracked link of the e-mail, in the order of the e-mail.' },
  ),
  findings: recordedFindings(
    'What the check found when the single send was launched (addition); null if it was not checked.',
  ),
  ab_test: nullable(ReportedAbTest, 'The A/B test; null if all recipients got the same e-mail.'),
});

export type Report = Static<typeof Report>;

const record = recordObject(ListedRecipient, deliveries, {
  email: sql`ifnull((SELECT email FROM contacts WHERE id = ${deliveries.contact_id} AND address_id = ${deliveries.address_id}), normalized_email)`,
  state: sql`CASE WHEN ${deliveries.state} = ${DELIVERY_STATE.accepted} AND ${deliveries.reply} = ${sql.raw(storedSql('kept_in_outbox'))} THEN 'kept' ELSE CASE ${deliveries.state} ${sql.join(stateNames, sql` `)} END END`,
  attempts: sql`${deliveries.attempt}`,
  reply: sql`english(${deliveries.reply})`,
  updated_at: sql`iif(${deliveries.updated_at} = 0, NULL, strftime('%Y-%m-%dT%H:%M:%S', ${deliveries.updated_at} / 1000, 'unixepoch') || '.000000Z')`,
});

/** SQL: the number of measured recipients of a mailing `m`, of whom it is known whether they opened the mail. */
const MEASURED = `(m.delivered - ${keptMails('m')} - m.unmeasured)`;
/** SQL: a counter as a share of the measured recipients; NULL if no recipient was measured. */
const share = (column: string) => `iif(${MEASURED} > 0, CAST(m.${column} AS REAL) / ${MEASURED}, NULL)`;

/** SQL: the ORDER BY terms of each order of the list. */
const SORTED_BY = {
  newest: 's.id DESC',
  name: 'fold(s.single_send_name), s.id DESC',
  opens: `${share('people_opens')} DESC NULLS LAST, s.id DESC`,
  clicks: `${share('people_clicks')} DESC NULLS LAST, s.id DESC`,
} satisfies Record<(typeof ORDERS)[number], string>;

export const listSummaries = operation({
  name: 'List the single sends, newest first, without their templates (addition)',
  description:
    'With a filter, a page may hold fewer records than the limit, even none. More records can follow as long as next_before_id is not null.',
  role: 'viewer',
  input: SummariesQuery,
  output: Type.Object({ summaries: Type.Array(Summary), next_before_id: nullable(integer()) }),
  run(
    { db, accountId },
    { utr, state, search = '', target, is_hidden, order = 'newest', limit = DEFAULT_ROWS, before_id },
  ) {
    const onlyId = utr === undefined ? null : requireSingleSend(db, accountId, utr).id;
    const isNewest = order === 'newest';
    const isFiltered = state !== undefined || search !== '' || target !== undefined || is_hidden !== undefined;
    const before = isNewest ? before_id : undefined;
    const rows = db.$client
      .prepare<
        Record<string, string | number | null>,
        Omit<Summary, 'held_reason' | 'recipient_id'> & {
          held_reason: string | null;
          recipient_id: string;
          is_wanted: 0 | 1;
        }
      >(`
        SELECT s.id, s.utr, s.single_send_name, s.subject, ${SHOWN_STATE} AS state, ifnull(m.held_reason, s.held_reason) AS held_reason,
          strftime('%Y-%m-%dT%H:%M:%S.000000Z', s.starts_at / 1000, 'unixepoch') AS starts_at, s.created_at, s.updated_at,
          ifnull(m.recipients, 0) AS recipients, ifnull(${FINISHED}, 0) AS finished, ifnull(m.delivered, 0) AS delivered, ${keptMails('m')} AS kept,
          ifnull(m.unmeasured, 0) AS unmeasured,
          ifnull(m.unique_opens, 0) AS unique_opens, ifnull(m.unique_clicks, 0) AS unique_clicks,
          ifnull(m.people_opens, 0) AS people_opens, ifnull(m.people_clicks, 0) AS people_clicks, ifnull(m.bounces, 0) AS bounces,
          ifnull(m.unsubscribes, 0) AS unsubscribes, s.recipient_id, s.hidden_at IS NOT NULL AS is_hidden,
          (@search = '' OR instr(fold(s.single_send_name || char(10) || s.subject), @search) > 0)
            AND (@state IS NULL OR ${SHOWN_STATE} = @state) AND (@hidden IS NULL OR (s.hidden_at IS NOT NULL) = @hidden)
            AND (@target IS NULL OR EXISTS (SELECT 1 FROM json_each(s.recipient_id) r
              WHERE r.value ->> 'table' || '_' || (r.value ->> 'id') = @target)) AS is_wanted
        FROM (SELECT id FROM single_sends INDEXED BY single_sends_user
          WHERE user_id = @account AND id < @before AND id >= @from ORDER BY id DESC LIMIT @examined) e
          CROSS JOIN single_sends s ON s.id = e.id
          LEFT JOIN mailings m ON m.owner_kind = 'single' AND m.owner_id = s.id
        ORDER BY ${SORTED_BY[order]}`)
      .all({
        account: accountId,
        from: onlyId ?? 0,
        before: onlyId === null ? (before ?? Number.MAX_SAFE_INTEGER) : onlyId + 1,
        state: state ?? null,
        search: fold(search),
        target: target ?? null,
        hidden: is_hidden ?? null,
        examined: isNewest && !isFiltered ? limit + 1 : MAX_EXAMINED,
      });
    const start = isNewest ? 0 : rows.findIndex(({ id }) => id === before_id) + 1;
    const wanted = rows.slice(start).filter(({ is_wanted }) => is_wanted === 1);
    const summaries = wanted.slice(0, limit).map(({ is_wanted: _, recipient_id, ...summary }) => ({
      ...summary,
      held_reason: readStored(summary.held_reason),
      recipient_id: targetNames(JSON.parse(recipient_id)),
    }));
    if (wanted.length > limit) return { summaries, next_before_id: summaries.at(-1)?.id ?? null };
    const mayFollow = isNewest && rows.length === MAX_EXAMINED;
    return { summaries, next_before_id: mayFollow ? (rows.at(-1)?.id ?? null) : null };
  },
});

/** The number of the last measured campaigns whose average rates are the usual rates. */
const USUAL_CAMPAIGNS = 5;

/** The usual rates of an account's campaigns, from 0 to 1. Null if no campaign was measured. */
export interface UsualRates {
  opened: number | null;
  clicked: number | null;
  delivered: number | null;
  unsubscribed: number | null;
}

/** Used by the list and the reports, which compare each campaign with the usual rates. */
export const readUsualRates = operation({
  name: 'Read the average rates of the last five measured single sends, with which another one is compared',
  role: 'viewer',
  input: Type.Object({ utr: Type.Optional(identifier('The single send that is compared, and so does not count.')) }),
  run({ db, accountId }, { utr }): UsualRates {
    const received = `(m.delivered - ${keptMails('m')})`;
    const rates = db.$client
      .prepare<[number, string], UsualRates>(`
        SELECT avg(opened) AS opened, avg(clicked) AS clicked, avg(delivered) AS delivered, avg(unsubscribed) AS unsubscribed FROM (
          SELECT ${share('people_opens')} AS opened, ${share('people_clicks')} AS clicked,
            CAST(${received} AS REAL) / m.recipients AS delivered, CAST(m.unsubscribes AS REAL) / ${received} AS unsubscribed
          FROM (SELECT id FROM single_sends INDEXED BY single_sends_user WHERE user_id = ? AND utr <> ? ORDER BY id DESC LIMIT ${MAX_EXAMINED}) s
            CROSS JOIN mailings m ON m.owner_kind = 'single' AND m.owner_id = s.id
          WHERE m.state = 'done' AND ${MEASURED} > 0 ORDER BY s.id DESC LIMIT ${USUAL_CAMPAIGNS})`)
      .get(accountId, String(utr ?? ''));
    return rates ?? { opened: null, clicked: null, delivered: null, unsubscribed: null };
  },
});

/** Used by the pages of one single send. */
export const readSummary = operation({
  name: 'Read the counters of a single send',
  role: 'viewer',
  input: ByUtr,
  async run(context, { utr }) {
    const { summaries } = await listSummaries.run(context, { utr });
    const [summary] = summaries;
    if (summary === undefined) throw notFound('Record not found');
    return summary;
  },
});

/** Returns the results at the best hours in the form of the API; null if there are none. */
function reportedBestHour({ db, clock }: Pick<Context, 'db' | 'clock'>, mailingId: number): BestHour | null {
  const results = bestHourResults(db.$client, mailingId, clock.now().getTime());
  return results && { ...results, compared_at: isoTimestamp(new Date(results.compared_at)) };
}

export const readReport = operation({
  name: 'Read the report of a single send',
  role: 'viewer',
  input: ByUtr,
  output: Type.Object({ report: Report }),
  async run(context, { utr }) {
    const { db, config, clock, accountId } = context;
    const send = requireSingleSend(db, accountId, utr);
    const mailing = findSingleSendMailing(db, send);
    const abTest = mailing === null ? null : await abTestReport(db.$client, mailing.id);
    const isUnderWay = send.status === SINGLE_SEND_STATUS.queued || send.status === SINGLE_SEND_STATUS.running;
    const isRunning = send.status === SINGLE_SEND_STATUS.running;
    // Only these mailings continue when the sending hours begin; a paused or held mailing does not.
    const mayGoOn = mailing?.state === 'sending' || mailing?.state === 'enqueueing';
    const waits = mayGoOn ? nextSendingTimeOfAccount(db, send.user_id, clock.now(), config.TIME_ZONE) : null;
    const report = {
      status: send.status,
      ...reportedHold(db.$client, [mailing, send], isUnderWay),
      courier: courierInUse(db.$client, config),
      tracking: send.tracking === 0 ? (0 as const) : (1 as const),
      watch: mailing === null ? null : findWatch(db.$client, mailing.id),
      paced: isUnderWay && mailing !== null ? pacedGroupsOf(db.$client, mailing.id, clock.now()) : [],
      warm_up: isUnderWay && mailing !== null ? findWarmUpWait(db.$client, mailing.sender_id, clock.now()) : null,
      waits_until: waits && isoTimestamp(waits),
      local_wait: isRunning && mailing !== null ? findLocalWait(db.$client, mailing.id, clock.now()) : null,
      best_hour: mailing === null || send.best_hour === 0 ? null : reportedBestHour(context, mailing.id),
      ...mailingReport(db.$client, mailing?.id ?? 0),
      ab_test: abTest && reportedAbTest(abTest),
      findings: shownFindings(mailing?.findings ?? null),
      warnings: await mailWarnings(db, send.user_id, send),
      design_url: designUrl(context, send),
    };
    return { report };
  },
});

export const listRecipients = listOperation({
  name: 'List the recipients of a single send with their results',
  role: 'viewer',
  input: Type.Object({
    ...ByUtr.properties,
    email: Type.Optional(line({ description: 'Only this address.' })),
    ...listQuery.properties,
  }),
  as: 'recipients',
  record: ListedRecipient,
  select({ db, accountId }, { utr, email, ...part }) {
    const mailing = requireMailing(db, accountId, utr);
    return {
      record,
      from: sql`${deliveries} CROSS JOIN addresses ON addresses.id = ${deliveries.address_id}`,
      where: and(eq(deliveries.mailing_id, mailing.id), isAddress(deliveries.address_id, accountId, email)),
      id: deliveries.id,
      part,
    };
  },
});

/**
 * Returns the id of the mailing of a single send; 0, which has no recipients, if the single send was not launched. Throws 404 if there is no
 * such single send.
 */
function requireMailing(db: Db, accountId: number, utr: unknown) {
  const mailing = findSingleSendMailing(db, requireSingleSend(db, accountId, utr));
  return { id: mailing?.id ?? 0, accountId };
}

export const findRecipientsOf = operation({
  name: 'Find recipients of a single send by state, reason, link or address (addition)',
  description:
    'A page may hold fewer recipients than the limit, even none. More recipients can follow as long as next is not null.',
  role: 'viewer',
  input: FindQuery,
  output: Type.Object({
    recipients: Type.Array(Recipient),
    next: nullable(Type.String()),
    events_removed_before: nullable(
      isoTimestampSchema(),
      'Single opens and clicks before this time (UTC) were removed after EVENTS_DAYS; the counts of e-mails and links still include them. Null if none was removed.',
    ),
  }),
  run({ db, accountId }, { utr, limit = DEFAULT_ROWS, after = '', ...filter }) {
    const client = db.$client;
    const { recipients, next } = findRecipients(client, requireMailing(db, accountId, utr), filter, after, limit);
    const records = recipients.map(({ updated_at, ...recipient }) => ({
      ...recipient,
      reason_code: codeOf(recipient.reply),
      updated_at: updated_at === null ? null : `${new Date(updated_at).toISOString().slice(0, -1)}000Z`,
    }));
    return { recipients: records, next, events_removed_before: eventsRemovedTime(client) };
  },
});

/** Yields the CSV file in parts. */
export const exportRecipientsOf = operation({
  name: 'Download recipients of a single send as CSV (addition)',
  role: 'viewer',
  input: FilterQuery,
  run({ db, accountId }, { utr, ...filter }) {
    const mailing = requireMailing(db, accountId, utr);
    if (mailing.id === 0) throw notFound('Record not found');
    return exportRecipients(db.$client, mailing, filter);
  },
});
