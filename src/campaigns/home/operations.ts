/**
 * The operation for the home screen (an addition to the contract): what is set up, the campaigns that are running or held, the
 * results of the last campaigns, the growth of the audience, and the health of the service.
 */
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import { listAutomationSummaries } from '../../automations/operations/reports.ts';
import { HELD_CODES, SINGLE_SEND_STATUS } from '../../database/schema/index.ts';
import { findPublicUrl } from '../../delivery/links/public-url.ts';
import {
  COMMON_HELD_CODES,
  lastBeatAt,
  latestBeatAt,
  mailWaitsReason,
  STALLED_AFTER_MS,
  sendingHeldReason,
} from '../../delivery/queue/holds.ts';
import { keptMails } from '../../delivery/reporting/mailing-report.ts';
import { COURIERS, courierInUse } from '../../delivery/transport/relays/in-use.ts';
import { readStored } from '../../errors/stored.ts';
import { choice, integer, isoTimestampSchema, nullable, said, zeroOrOne } from '../../http/requests/schemas.ts';
import { lastBackupAt } from '../../installation/backups/last-backup.ts';
import { DOMAIN_CHECKS } from '../../installation/health-checks/doctor-findings.ts';
import {
  DNS_STATES,
  lastDnsState,
  lastRelayState,
  RELAY_STATES,
} from '../../installation/health-checks/relays-and-domains.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { senderDomain } from '../../senders/domains.ts';
import { isoTimestamp, RELEASED } from '../../time/clock.ts';
import { DAY_MS } from '../../units.ts';
import { VERSION } from '../../version.ts';
import { MailingCounters } from '../operations/reports.ts';
import { FINISHED, isHeld, SHOWN_STATE, SHOWN_STATES } from '../status.ts';
import { AudienceGrowth, monthsOf } from './audience-growth.ts';

const MAX_CAMPAIGNS = 50;
const LAST_MAILINGS = 5;
/** The number of days of which the answer has the changes. */
const DAYS = 30;

const Campaign = Type.Object({
  kind: { ...choice('single_send', 'automation'), description: 'single_send or automation.' },
  utr: Type.String(),
  name: Type.String({ description: 'The internal name of the campaign.' }),
  state: {
    ...choice(...SHOWN_STATES, 'live'),
    description:
      'The state of the campaign. preparing: the recipients are being enqueued; cancelling: recipients still wait for their final state.',
  },
  held_code: nullable(choice(...HELD_CODES, ...COMMON_HELD_CODES)),
  held_reason: nullable(said(), 'Why the campaign is held; null if it is not held.'),
  recipients: integer({
    description: 'The number of recipients so far; it grows while the state is preparing.',
  }),
  finished: integer(),
  delivered: integer(),
  kept: integer(),
  starts_at: nullable(Type.String(), 'When the campaign starts or started, UTC; null for an automation.'),
  waits_for_choice: zeroOrOne(
    '1: every e-mail of the A/B test was tried, and the remaining recipients wait until a user chooses a variant.',
  ),
});
const Mailing = Type.Object({
  utr: Type.String(),
  name: Campaign.properties.name,
  subject: Type.String(),
  state: { ...Campaign.properties.state, ...choice(...SHOWN_STATES) },
  sent_at: Type.String(),
  ...MailingCounters,
});
const Day = Type.Object({
  day: Type.String({ description: 'The day, UTC, YYYY-MM-DD.' }),
  added: integer({
    description: 'The number of contacts who were created that day, including those who have been deleted since.',
  }),
  deleted: integer({ description: 'The number of contacts who were deleted that day.' }),
  unsubscribed: integer({
    description: 'The number of addresses that unsubscribed from a topic or from all mail that day.',
  }),
  suppressed: integer({
    description: 'The number of addresses that were suppressed after a bounce or a complaint that day.',
  }),
});
const Month = Type.Object({
  month: Type.String({ description: 'The month, UTC, such as 2026-01.' }),
  contacts: integer({
    description: 'The number of contacts at the end of the month; for the present month, the number now.',
  }),
});
const contacts = integer({ description: 'The number of contacts.' });
const Setup = Type.Object({
  contacts,
  senders: integer({ description: 'The number of senders.' }),
  verified_senders: integer({ description: 'The number of senders whose address is confirmed.' }),
  has_design: zeroOrOne('1: a single send or an e-mail of an automation has content.'),
  has_sent: zeroOrOne('1: at least one e-mail of a campaign was handed to the courier.'),
  courier: choice(...COURIERS),
  public_url: zeroOrOne('1: a public address is set, so that links in e-mails work from everywhere.'),
  signed_domains: integer({ description: "The number of senders' domains with a DKIM key." }),
  unsigned_domains: integer({ description: "The number of senders' domains without a DKIM key." }),
  relay: Type.Object(
    {
      state: {
        ...choice(...RELAY_STATES),
        description:
          'The last result. none: no SMTP server is configured; nodes: no SMTP server is configured, but sender nodes send campaigns; untried: no e-mail was handed over yet; answers: sendlark doctor reached the SMTP server; works: the SMTP server accepted an e-mail; fails: the SMTP server could not be used.',
      },
      seen_at: {
        ...nullable(isoTimestampSchema()),
        description: 'The time of the last result, UTC; null if there is no result yet.',
      },
      has_worked: { ...zeroOrOne(), description: '1: an SMTP server has accepted an e-mail before.' },
    },
    { description: 'Whether the SMTP server accepts mail, by the last result.' },
  ),
  dns: Type.Object(
    {
      state: {
        ...choice(...DNS_STATES),
        description:
          'none: the account has no sender; unknown: a domain has not been checked with its present settings; weak: no check failed, but some have remarks.',
      },
      seen_at: { ...nullable(isoTimestampSchema()), description: 'When sendlark doctor asked the DNS, UTC.' },
      domain: { ...nullable(Type.String()), description: 'A domain in this state; null if the account has no sender.' },
      checks: Type.Array(choice(...DOMAIN_CHECKS), { description: 'The checks of that domain that did not pass.' }),
    },
    { description: 'Whether the domains of the senders are authenticated, by the last check of sendlark doctor.' },
  ),
});
const Health = Type.Object({
  version: Type.String({ description: 'The release of Sendlark.' }),
  background: {
    ...choice('running', 'stalled'),
    description: 'stalled: the background thread does not work, so nothing is sent until a restart.',
  },
  sending: {
    ...choice('on', 'held'),
    description: 'held: nothing is sent until the operator releases sending or the cause is gone.',
  },
  held_reason: nullable(said(), 'Why sending is held; null if it is not held.'),
  waits_reason: nullable(
    said(),
    'Why mail waits although sending is not held, for example because no sender node is connected; null if no mail waits.',
  ),
  clock: {
    ...choice('right', 'wrong'),
    description:
      'wrong: the clock shows a time before this release was made, or a day or more before the service last ran.',
  },
  free_bytes: integer(),
  last_backup_at: nullable(Type.String()),
});
const Overview = Type.Object({
  setup: { ...Setup, description: 'How far the installation is set up.' },
  campaigns: Type.Array(Campaign, {
    description:
      'The campaigns that wait to be sent, are being sent or are held: the newest single sends, then automations.',
  }),
  last_mailings: Type.Array(Mailing, {
    description: 'The five single sends that were launched last, the newest first.',
  }),
  audience: Type.Object(
    {
      contacts,
      days: Type.Array(Day, { description: `The last ${DAYS} days, from the oldest to today.` }),
      months: Type.Array(Month, {
        description:
          'The last twelve months, from the oldest to the present one. Contacts of lists that have been deleted do not count.',
      }),
    },
    { description: `The contacts of the account, and how their number changed over ${DAYS} days and twelve months.` },
  ),
  health: { ...Health, description: 'Whether the service can do its work.' },
});
export type Overview = Static<typeof Overview>;
/** A campaign that is waiting to be sent, being sent or held. */
export type Campaign = Static<typeof Campaign>;
/** A single send that was launched, with its counters. */
export type Mailing = Static<typeof Mailing>;

/** The counts of the audience's growth, by database. Each request continues them. */
const growthOf = new WeakMap<Context['db'], AudienceGrowth>();

export const readOverview = operation({
  name: 'Read the setup, the campaigns under way, the last results and the growth of the audience (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ overview: Overview }),
  async run(context) {
    const { db, clock, accountId } = context;
    const growth = growthOf.get(db) ?? new AudienceGrowth(db.$client);
    growthOf.set(db, growth);
    const year = await growth.lastDays(accountId, clock.now().getTime());
    const setup = readSetup(context);
    const overview = {
      setup,
      campaigns: campaignsUnderWay(db.$client, accountId),
      last_mailings: lastMailings(db.$client, accountId),
      audience: { contacts: setup.contacts, days: year.slice(-DAYS), months: monthsOf(setup.contacts, year) },
      health: await readHealth(context),
    };
    return { overview };
  },
});

/** SQL: true if the mail `s` has its own code, or a template that is not the blank one. */
const hasContent = `(ifnull(s.template_json, '') <> '' OR ifnull(s.template_html, '') <> ''
  OR EXISTS (SELECT 1 FROM design_templates t WHERE t.id = s.template_id AND t.is_blank = 0))`;

/** Reads how far the installation and the account are set up. */
function readSetup({ db, config, accountId }: Context): Overview['setup'] {
  const { $client: client } = db;
  const counts = client
    .prepare<{ account: number }, Pick<Overview['setup'], 'contacts' | 'has_design' | 'has_sent'>>(`
      SELECT (SELECT ifnull(sum(contacts_count), 0) FROM contact_types WHERE user_id = @account AND deleted_at IS NULL) AS contacts,
        EXISTS (SELECT 1 FROM single_sends s WHERE user_id = @account AND ${hasContent})
          OR EXISTS (SELECT 1 FROM automations a CROSS JOIN automation_schedules s ON s.automation_id = a.id
            WHERE a.user_id = @account AND ${hasContent}) AS has_design,
        EXISTS (SELECT 1 FROM mailings INDEXED BY mailings_user
          WHERE user_id = @account AND owner_kind IN ('single', 'schedule') AND triggered > 0) AS has_sent`)
    .get({ account: accountId });
  const senders = client
    .prepare<[number], { from_email: string; is_verified: number }>(
      'SELECT from_email, is_verified FROM senders WHERE user_id = ? AND deleted_at IS NULL',
    )
    .all(accountId);
  const domains = new Set(senders.map(({ from_email }) => senderDomain(from_email)));
  const keys = new Set(client.prepare<[], string>('SELECT DISTINCT domain FROM dkim_keys').pluck().all());
  const signed = [...domains].filter((domain) => domain !== null && keys.has(domain)).length;
  return {
    contacts: counts?.contacts ?? 0,
    senders: senders.length,
    verified_senders: senders.filter(({ is_verified }) => is_verified === 1).length,
    has_design: counts?.has_design ?? 0,
    has_sent: counts?.has_sent ?? 0,
    courier: courierInUse(client, config),
    public_url: findPublicUrl(client, config).source === 'none' ? 0 : 1,
    signed_domains: signed,
    unsigned_domains: domains.size - signed,
    relay: seenAt(lastRelayState(client, config)),
    dns: seenAt(lastDnsState(db, config, accountId)),
  };
}

/** Returns a result of `sendlark doctor` with its time (epoch milliseconds) as an ISO timestamp. */
function seenAt<Seen extends { at: number | null }>({ at, ...seen }: Seen) {
  return { ...seen, seen_at: at === null ? null : isoTimestamp(new Date(at)) };
}

/** Returns the campaigns that wait to be sent, are being sent or are held: the newest single sends, then automations. */
function campaignsUnderWay(client: Database, accountId: number): Campaign[] {
  const launched = `mailings m INDEXED BY mailings_unfinished CROSS JOIN single_sends s ON s.id = m.owner_id
    WHERE m.finished_at IS NULL AND m.owner_kind = 'single' AND m.user_id = @account`;
  const waiting = (index: string, which: string) =>
    `single_sends s INDEXED BY ${index} LEFT JOIN mailings m ON m.owner_kind = 'single' AND m.owner_id = s.id
     WHERE s.user_id = @account AND ${which} AND m.id IS NULL`;
  const columns = `s.id, s.utr, s.single_send_name AS name, ${SHOWN_STATE} AS state,
    ifnull(m.held_code, s.held_code) AS held_code, ifnull(m.held_reason, s.held_reason) AS held_reason, ifnull(m.recipients, 0) AS recipients, ifnull(${FINISHED}, 0) AS finished,
    ifnull(m.delivered, 0) AS delivered, ${keptMails('m')} AS kept, strftime('%Y-%m-%dT%H:%M:%S.000000Z', s.starts_at / 1000, 'unixepoch') AS starts_at,
    EXISTS (SELECT 1 FROM ab_tests t WHERE t.mailing_id = m.id AND t.winner_by = 'hand' AND t.tried_at IS NOT NULL AND t.winner IS NULL
      AND t.rest > 0 AND m.state <> 'cancelled') AS waits_for_choice`;
  const sends = client
    .prepare<Record<string, unknown>, Campaign & { held_reason: string | null }>(`
      SELECT 'single_send' AS kind, utr, name, state, held_code, held_reason, recipients, finished, delivered, kept, starts_at, waits_for_choice FROM (
        SELECT ${columns} FROM ${launched}
        UNION ALL SELECT ${columns} FROM ${waiting('single_sends_due', `s.status = ${SINGLE_SEND_STATUS.queued}`)}
        UNION ALL SELECT ${columns} FROM ${waiting('single_sends_held', `s.status = ${SINGLE_SEND_STATUS.draft} AND s.held_code IS NOT NULL AND ${isHeld('s')}`)})
      ORDER BY id DESC LIMIT ${MAX_CAMPAIGNS}`)
    .all({ account: accountId })
    .map((send) => ({ ...send, held_reason: readStored(send.held_reason) }));
  const { summaries } = listAutomationSummaries(client, { accountId, states: ['live', 'held'], limit: MAX_CAMPAIGNS });
  const automations = summaries.map((summary) => ({
    kind: 'automation' as const,
    utr: summary.utr,
    name: summary.automation_name,
    state: summary.state === 'held' ? ('held' as const) : ('live' as const),
    held_code: summary.held_code,
    held_reason: summary.held_reason,
    recipients: summary.triggered,
    finished: summary.ended,
    delivered: summary.delivered,
    kept: summary.kept,
    starts_at: null,
    waits_for_choice: 0 as const,
  }));
  return [...sends, ...automations];
}

/** Returns the single sends that were launched last, newest first. */
function lastMailings(client: Database, accountId: number): Mailing[] {
  return client
    .prepare<[number], Mailing>(`
      SELECT s.utr, s.single_send_name AS name, s.subject, ${SHOWN_STATE} AS state, s.sent_at, m.delivered, ${keptMails('m')} AS kept, m.unmeasured, m.unique_opens, m.unique_clicks,
        m.people_opens, m.people_clicks, m.bounces, m.unsubscribes
      FROM mailings m INDEXED BY mailings_user CROSS JOIN single_sends s ON s.id = m.owner_id
      WHERE m.user_id = ? AND m.owner_kind = 'single' ORDER BY m.id DESC LIMIT ${LAST_MAILINGS}`)
    .all(accountId);
}

/** Reads whether the service can do its work. */
async function readHealth({ db, config, clock }: Context): Promise<Overview['health']> {
  const { $client: client } = db;
  const now = clock.now().getTime();
  const { bavail, bsize } = await statfs(dirname(resolve(config.DATABASE_PATH)));
  const heldReason = sendingHeldReason(client);
  const isRunning = Math.abs(now - lastBeatAt(client)) < STALLED_AFTER_MS;
  const isClockRight = now >= RELEASED && latestBeatAt(client) <= now + DAY_MS;
  return {
    version: VERSION,
    background: isRunning ? 'running' : 'stalled',
    sending: heldReason === null ? 'on' : 'held',
    held_reason: heldReason,
    waits_reason: mailWaitsReason(client),
    clock: isClockRight ? 'right' : 'wrong',
    free_bytes: bavail * bsize,
    last_backup_at: lastBackupAt(client),
  };
}
