/**
 * Operations for the home screen (additions to the contract): what is set up, what is running or held, the results of the last
 * mailings, and how the audience changes.
 */
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
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
import { lastBackupAt } from '../../installation/backups/files.ts';
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
import { VERSION } from '../../version.ts';
import { FINISHED, isHeld, SHOWN_STATE, SHOWN_STATES } from '../status.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_CAMPAIGNS = 50;
const LAST_MAILINGS = 5;

const Campaign = Type.Object({
  kind: { ...choice('single_send', 'automation'), description: 'single_send or automation.' },
  utr: Type.String(),
  name: Type.String({ description: 'The name its owner gave it.' }),
  state: {
    ...choice(...SHOWN_STATES, 'live'),
    description:
      'Its state. preparing: its recipients are being enqueued; cancelling: recipients still wait for their final state.',
  },
  held_code: nullable(choice(...HELD_CODES, ...COMMON_HELD_CODES)),
  held_reason: nullable(said(), 'Why it is held; null when it is not.'),
  recipients: integer({ description: 'Recipients so far; the number grows while the state is preparing.' }),
  finished: integer(),
  delivered: integer(),
  kept: integer(),
  starts_at: nullable(Type.String(), 'When it starts or started, UTC; null for an automation.'),
  waits_for_choice: zeroOrOne(
    '1: every e-mail of its A/B test was tried, and the rest waits until a user chooses a variant.',
  ),
});
const Mailing = Type.Object({
  utr: Type.String(),
  name: Campaign.properties.name,
  subject: Type.String(),
  state: { ...Campaign.properties.state, ...choice(...SHOWN_STATES) },
  sent_at: Type.String(),
  delivered: integer(),
  kept: integer(),
  unmeasured: integer(),
  unique_opens: integer(),
  unique_clicks: integer(),
  people_opens: integer(),
  people_clicks: integer(),
  bounces: integer(),
  unsubscribes: integer(),
});
const Day = Type.Object({
  day: Type.String({ description: 'The day, UTC, YYYY-MM-DD.' }),
  added: integer({ description: 'Contacts that were created that day, including those deleted since.' }),
  deleted: integer({ description: 'Contacts deleted that day.' }),
  unsubscribed: integer({ description: 'Addresses that unsubscribed from a group or from all mail.' }),
  suppressed: integer({ description: 'Addresses that were suppressed after a bounce or a complaint.' }),
});
const Month = Type.Object({
  month: Type.String({ description: 'The month, UTC, such as 2026-01.' }),
  contacts: integer({ description: 'How many contacts there were at its end, or are now in the present month.' }),
});
const contacts = integer({ description: 'Number of contacts.' });
const Setup = Type.Object({
  contacts,
  senders: integer({ description: 'Number of senders.' }),
  verified_senders: integer({ description: 'Number of senders whose address is confirmed.' }),
  has_design: zeroOrOne('1: there is a single send or an e-mail of an automation that has content.'),
  has_sent: zeroOrOne('1: at least one e-mail of a campaign was handed over.'),
  courier: choice(...COURIERS),
  public_url: zeroOrOne('1: there is a public address, so that links lead to the service from everywhere.'),
  signed_domains: integer({ description: 'Domains of senders that have a DKIM key.' }),
  unsigned_domains: integer({ description: 'Domains of senders that have no DKIM key.' }),
  relay: Type.Object(
    {
      state: {
        ...choice(...RELAY_STATES),
        description:
          'The last result. none: no SMTP server is configured; nodes: no SMTP server is configured, but sender nodes send campaigns; untried: no mail was handed over yet; answers: sendlark doctor reached it; works: it accepted an e-mail; fails: it could not be used.',
      },
      seen_at: { ...nullable(isoTimestampSchema()), description: 'When that was, UTC; null where nothing was seen.' },
      has_worked: { ...zeroOrOne(), description: '1: an SMTP server has taken an e-mail before.' },
    },
    { description: 'Whether mail gets out, as far as was seen.' },
  ),
  dns: Type.Object(
    {
      state: {
        ...choice(...DNS_STATES),
        description:
          'none: there is no sender; unknown: a domain was not checked with its present settings; weak: nothing failed, with remarks.',
      },
      seen_at: { ...nullable(isoTimestampSchema()), description: 'When sendlark doctor asked the DNS, UTC.' },
      domain: { ...nullable(Type.String()), description: 'A domain in this state; null where there is no sender.' },
      checks: Type.Array(choice(...DOMAIN_CHECKS), { description: 'The checks of that domain that did not pass.' }),
    },
    { description: 'Whether the domains of the senders are authenticated, as sendlark doctor saw them last.' },
  ),
});
const Health = Type.Object({
  version: Type.String({ description: 'The release.' }),
  background: {
    ...choice('running', 'stalled'),
    description: 'running, or stalled: then nothing is sent until a restart.',
  },
  sending: {
    ...choice('on', 'held'),
    description: 'held: nothing is sent before the operator releases it or the cause is gone.',
  },
  held_reason: nullable(said(), 'Why it is held; null when it is not.'),
  waits_reason: nullable(
    said(),
    'Why mail waits although nothing is held, for example because there is no sender node; null when it is sent.',
  ),
  clock: {
    ...choice('right', 'wrong'),
    description: 'wrong: before this release was made, or a day or more before the service last ran.',
  },
  free_bytes: integer(),
  last_backup_at: nullable(Type.String()),
});
const Overview = Type.Object({
  setup: { ...Setup, description: 'How far the installation is set up.' },
  campaigns: Type.Array(Campaign, {
    description: 'What is to be sent, is being sent or is held: single sends, the newest first, then automations.',
  }),
  last_mailings: Type.Array(Mailing, {
    description: 'The five single sends that were launched last, the newest first.',
  }),
  audience: Type.Object(
    {
      contacts,
      days: Type.Array(Day, { description: 'The last 30 days, the oldest first; the last is today.' }),
      months: Type.Array(Month, {
        description:
          'The last twelve months, the oldest first; the last is the present one. Contacts that were in a list which is deleted do not count.',
      }),
    },
    { description: 'The contacts of the account and how their number changed over 30 days and twelve months.' },
  ),
  health: { ...Health, description: 'Whether the service can do its work.' },
});
export type Overview = Static<typeof Overview>;
/** A campaign that is waiting to be sent, being sent or held. */
export type Campaign = Static<typeof Campaign>;
/** A single send that was launched, with its counters. */
export type Mailing = Static<typeof Mailing>;

/** The growth of each account's audience. Each request continues the count. */
const growthOf = new WeakMap<Context['db'], AudienceGrowth>();

export const readOverview = operation({
  name: 'Read what is set up, what is under way and how the audience changes (addition)',
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

/** Returns a finding with its time in the form of records. */
function seenAt<Seen extends { at: number | null }>({ at, ...seen }: Seen) {
  return { ...seen, seen_at: at === null ? null : isoTimestamp(new Date(at)) };
}

/** Returns the campaigns that are waiting to be sent, being sent or held: the newest single sends first, then the automations. */
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

function lastMailings(client: Database, accountId: number): Mailing[] {
  return client
    .prepare<[number], Mailing>(`
      SELECT s.utr, s.single_send_name AS name, s.subject, ${SHOWN_STATE} AS state, s.sent_at, m.delivered, ${keptMails('m')} AS kept, m.unmeasured, m.unique_opens, m.unique_clicks,
        m.people_opens, m.people_clicks, m.bounces, m.unsubscribes
      FROM mailings m INDEXED BY mailings_user CROSS JOIN single_sends s ON s.id = m.owner_id
      WHERE m.user_id = ? AND m.owner_kind = 'single' ORDER BY m.id DESC LIMIT ${LAST_MAILINGS}`)
    .all(accountId);
}

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

/** One day (UTC) of an account's audience. */
type AudienceDay = Static<typeof Day>;

type AudienceChange = 'added' | 'unsubscribed' | 'suppressed';

const DAYS = 30;
const MONTHS = 12;
/** The number of days that are counted, which covers all months. */
const YEAR_DAYS = 366;
/** The number of rows read at once, which takes about 2 ms. Then other requests are answered. */
const PAGE_ROWS = 2000;
/** Deletions can be undone, so they are counted again, but at most this often. */
const DELETIONS_FRESH_MS = 30_000;

/** The tables whose ids ascend in time, and which of their rows count. */
const SOURCES: Record<AudienceChange, { table: string; counts: string }> = {
  added: { table: 'contacts', counts: 'true' },
  // A complaint is also a suppression, and counts only as that.
  unsubscribed: { table: 'consent_log', counts: "action = 'unsubscribed' AND source <> 'complaint'" },
  suppressed: { table: 'suppressions', counts: 'true' },
};

/** Returns how many contacts there were at the end of each of the last months, from how many there are now and what changed on each day. */
function monthsOf(contacts: number, days: readonly AudienceDay[]): Static<typeof Month>[] {
  const atEnd = new Map<string, number>();
  let count = contacts;
  for (const { day, added, deleted } of days.toReversed()) {
    const month = day.slice(0, 7);
    if (!atEnd.has(month)) atEnd.set(month, count);
    // Contacts that were deleted with their list are not in the counts of a day, so the count could fall below zero.
    count = Math.max(0, count - added + deleted);
  }
  return [...atEnd]
    .map(([month, contacts]) => ({ month, contacts }))
    .reverse()
    .slice(-MONTHS);
}

/** Counts growth and losses. Keep one instance for as long as the connection. */
class AudienceGrowth {
  readonly #client: Database;
  /** Counts by account and day. */
  readonly #counts = new Map<string, Record<AudienceChange, number>>();
  /** The highest counted id of each table. */
  readonly #counted = new Map<AudienceChange, number>();
  readonly #deletions = new Map<number, { at: number; byDay: Map<string, number> }>();
  #counting: Promise<void> | null = null;

  constructor(client: Database) {
    this.#client = client;
  }

  /** Returns the account's last 366 days up to `now` (epoch milliseconds), oldest first. */
  async lastDays(accountId: number, now: number): Promise<AudienceDay[]> {
    const first = dayOf(now - (YEAR_DAYS - 1) * DAY_MS);
    this.#counting ??= this.#countNew(first).finally(() => {
      this.#counting = null;
    });
    await this.#counting;
    const deleted = await this.#deletedByDay(accountId, first, now);
    return Array.from({ length: YEAR_DAYS }, (_, at) => {
      const day = dayOf(now - (YEAR_DAYS - 1 - at) * DAY_MS);
      const counts = this.#counts.get(`${accountId} ${day}`) ?? { added: 0, unsubscribed: 0, suppressed: 0 };
      return { day, ...counts, deleted: deleted.get(day) ?? 0 };
    });
  }

  async #countNew(firstDay: string): Promise<void> {
    for (const key of this.#counts.keys()) if (key.slice(key.indexOf(' ') + 1) < firstDay) this.#counts.delete(key);
    for (const [name, { table, counts }] of Object.entries(SOURCES) as [
      AudienceChange,
      (typeof SOURCES)[AudienceChange],
    ][]) {
      const page = this.#client.prepare<
        [number],
        { user_id: number; day: string; count: number; rows: number; last: number }
      >(`
        SELECT user_id, substr(created_at, 1, 10) AS day, sum(${counts}) AS count, count(*) AS rows, max(id) AS last
        FROM (SELECT * FROM ${table} WHERE id > ? ORDER BY id LIMIT ${PAGE_ROWS}) GROUP BY 1, 2`);
      let after = this.#counted.get(name) ?? this.#lastBefore(table, firstDay);
      for (let isCut = true; isCut; ) {
        const groups = page.all(after);
        for (const { user_id, day, count } of groups) {
          const key = `${user_id} ${day}`;
          const known = this.#counts.get(key) ?? { added: 0, unsubscribed: 0, suppressed: 0 };
          known[name] += count;
          if (day >= firstDay) this.#counts.set(key, known);
        }
        after = Math.max(after, ...groups.map(({ last }) => last));
        this.#counted.set(name, after);
        isCut = groups.reduce((sum, { rows }) => sum + rows, 0) === PAGE_ROWS;
        if (isCut) await setImmediate();
      }
    }
  }

  /** Returns the highest id of the rows created before a day. Uses a binary search, because later rows have higher ids. */
  #lastBefore(table: string, day: string): number {
    const next = this.#client.prepare<[number], { id: number; created_at: string }>(
      `SELECT id, created_at FROM ${table} WHERE id > ? ORDER BY id LIMIT 1`,
    );
    let low = 0;
    let high = this.#client.prepare<[], number>(`SELECT ifnull(max(id), 0) FROM ${table}`).pluck().get() ?? 0;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = next.get(middle);
      if (row !== undefined && row.created_at < day) low = row.id;
      else high = middle;
    }
    return low;
  }

  async #deletedByDay(accountId: number, firstDay: string, now: number): Promise<Map<string, number>> {
    const known = this.#deletions.get(accountId);
    if (known !== undefined && Math.abs(now - known.at) < DELETIONS_FRESH_MS) return known.byDay;
    const page = this.#client.prepare<
      [number, string, number],
      { day: string; count: number; moment: string; last: number }
    >(`
      SELECT substr(deleted_at, 1, 10) AS day, count(*) AS count, deleted_at AS moment, max(id) AS last
      FROM (SELECT id, deleted_at FROM contacts INDEXED BY contacts_deleted
        WHERE user_id = ? AND deleted_at IS NOT NULL AND (deleted_at, id) > (?, ?) ORDER BY deleted_at, id LIMIT ${PAGE_ROWS})
      GROUP BY deleted_at ORDER BY deleted_at`);
    const byDay = new Map<string, number>();
    for (let after: [string, number] = [firstDay, 0], isCut = true; isCut; ) {
      const groups = page.all(accountId, ...after);
      for (const { day, count } of groups) byDay.set(day, (byDay.get(day) ?? 0) + count);
      const last = groups.at(-1);
      if (last !== undefined) after = [last.moment, last.last];
      isCut = groups.reduce((sum, { count }) => sum + count, 0) === PAGE_ROWS;
      if (isCut) await setImmediate();
    }
    this.#deletions.set(accountId, { at: now, byDay });
    return byDay;
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
