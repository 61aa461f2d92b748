/**
 * Runs an automation over the past. The history of the account is read (history.ts) and applied (history-player.ts) to a view of the
 * database (view.ts), where the functions of the live service take every step. The clock of the replay stops only at times at which something
 * is due.
 */
import { followActivity } from '../../audience/segments/follow-activity.ts';
import { EVENTS_FOLLOWED_TO } from '../../audience/segments/follow-events.ts';
import type { Segment } from '../../audience/segments/membership.ts';
import { isActivityRule } from '../../audience/segments/rules.ts';
import { trackingMode } from '../../audience/tracking-choice.ts';
import type { Config } from '../../config.ts';
import { writeNamedValue } from '../../database/named-values.ts';
import type { Db } from '../../database/open.ts';
import {
  AUTOMATION_STATUS,
  automations,
  BY_PERSON,
  DELIVERY_STATE,
  MADE_BY,
  type SegmentRule,
  segments as segmentsTable,
  type TrackingMode,
} from '../../database/schema/index.ts';
import type { Claim } from '../../delivery/queue/candidates.ts';
import { endReason, firstDueAt } from '../../delivery/queue/enrolment-state.ts';
import { Ledger } from '../../delivery/queue/ledger/ledger.ts';
import { createMailing } from '../../delivery/queue/mailing-state.ts';
import { fractionFor } from '../../delivery/queue/variant-groups.ts';
import { nextSendingTimeOfAccount } from '../../delivery/timing/send-window.ts';
import { notFound } from '../../errors/failure.ts';
import { stored } from '../../errors/stored.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../../units.ts';
import { type Automation, type ListedSchedule, listSchedules } from '../automations.ts';
import { DateEntries } from '../date-entries.ts';
import { NewMails, takeDueSteps } from '../enrolment.ts';
import { applyMembershipChanges } from '../membership-changes.ts';
import { markLive } from '../status.ts';
import { readHistory, type Scope, segmentsOf } from './history.ts';
import { HistoryPlayer } from './history-player.ts';

/** The clock stops only at multiples of this time (milliseconds). Whatever is due between two stops is done at the second stop. */
const STOP_MS = HOUR_MS;
/** The time in milliseconds after which a transaction on the view is committed. */
const TRANSACTION_MS = 250;
/** The progress once the history has been read, and once the view has the state at the beginning of the replay. */
const READ_SHARE = 0.05;
const START_SHARE = 0.1;
/** The maximum number of mails that are claimed at once, as in the live service. */
const MAX_CLAIMS = 500;
/** The time between sending a mail and opening it, in milliseconds. */
const OPENED_AFTER_MS = HOUR_MS;
/** The age in milliseconds from which on the live service reads an open. Until then, another hit can reveal that a machine opened the mail. */
const SETTLED_MS = MINUTE_MS;

/** What to replay. */
export interface ReplayPlan {
  automationId: number;
  /** The beginning of the replayed time, epoch milliseconds. */
  from: number;
  /** The end of the replayed time, epoch milliseconds. */
  now: number;
  /** The percentage of mails that are assumed to be opened. */
  opens: number;
  /** The percentage of mails that are assumed to be clicked. */
  clicks: number;
}

/** What was replayed, and whether the automation stopped. */
export interface Replayed {
  /** The beginning of the replayed time, epoch milliseconds. It is later than in the plan if the history was too long. */
  from: number;
  /** The end of the replayed time, epoch milliseconds. */
  to: number;
  /** True if a step depends on opens or clicks. */
  needs_opens: boolean;
  /** Why the automation stopped, in the stored form; null if it did not stop. */
  problem: string | null;
}

/** The clock of a replay, which is set by hand. Intervals are measured by the same time. */
class VirtualClock implements Clock {
  time = 0;

  now(): Date {
    return new Date(this.time);
  }

  monotonic(): number {
    return this.time;
  }
}

/** Runs an automation over the past. Afterwards the tables of the view hold what would have happened. `onProgress` gets a share from 0 to 1. */
export async function replay(
  view: Db,
  config: Config,
  plan: ReplayPlan,
  onProgress: (share: number) => void,
): Promise<Replayed> {
  return new Run(view, config, plan).run(onProgress);
}

class Run {
  readonly #view: Db;
  readonly #config: Config;
  readonly #plan: ReplayPlan;
  readonly #clock = new VirtualClock();
  /** When the transaction on the view began, by `performance.now()`. */
  #transactionBegan = 0;
  /** The ids of the segments that no step changes, as JSON; null if no step changes a field or moves contacts. */
  #keptSegments: string | null = null;

  constructor(view: Db, config: Config, plan: ReplayPlan) {
    this.#view = view;
    this.#config = config;
    this.#plan = plan;
  }

  async run(onProgress: (share: number) => void): Promise<Replayed> {
    const { automationId, from, now } = this.#plan;
    const client = this.#view.$client;
    client.prepare('INSERT INTO temp.automations SELECT * FROM main.automations WHERE id = ?').run(automationId);
    // Nobody may enter before the replay begins.
    client.exec(`UPDATE temp.automations SET status = ${AUTOMATION_STATUS.draft}`);
    client
      .prepare('INSERT INTO temp.automation_schedules SELECT * FROM main.automation_schedules WHERE automation_id = ?')
      .run(automationId);
    // The replay uses the current steps, so events count also if they happened before a step was changed.
    client.exec('UPDATE temp.automation_schedules SET event_since = NULL');
    const automation = this.#automation();
    const steps = listSchedules(this.#view, automationId);
    const scope: Scope = { automation, steps, from, to: now };
    scope.from = readHistory(this.#view, scope);
    onProgress(READ_SHARE);
    const segments = segmentsOf(automation, steps);
    client
      .prepare('INSERT INTO temp.segments SELECT * FROM main.segments WHERE id IN (SELECT value FROM json_each(?))')
      .run(JSON.stringify(segments));
    client
      .prepare(
        "INSERT INTO temp.dated_fields (field_id, user_id, filled_to) SELECT trigger_field_id, user_id, NULL FROM automations WHERE trigger_kind = 'date' AND trigger_field_id IS NOT NULL",
      )
      .run();
    const player = new HistoryPlayer(this.#view, scope);
    player.start();
    onProgress(START_SHARE);
    this.#setLive(scope.from);
    this.#keepSegments(steps);
    for (const { id, kind, sender_id } of steps)
      if (kind === 'mail')
        createMailing(this.#view, {
          user_id: automation.user_id,
          owner_kind: 'schedule',
          owner_id: id,
          automation_id: automationId,
          revision: 1,
          unsubscribe_group_id: Number(automation.unsubscribe_group_id),
          sender_id,
          content: '{}',
          created_at: isoTimestamp(new Date(scope.from)),
        });
    const needs_opens = this.#needsOpens();
    await this.#passTime(player, scope, needs_opens, onProgress);
    const { status, held_reason } = this.#automation();
    const problem = status === AUTOMATION_STATUS.live || held_reason === null ? null : stored(held_reason);
    return { from: scope.from, to: this.#clock.time, needs_opens, problem };
  }

  #automation(): Automation {
    const automation = this.#view.select().from(automations).get();
    if (automation === undefined) throw notFound('Record not found');
    return automation;
  }

  /** Sets the automation live at the start of the replay, and creates the tables in which the replay takes its notes. */
  #setLive(from: number): void {
    const client = this.#view.$client;
    markLive(this.#view, this.#plan.automationId, new Date(from));
    client.exec(`
      CREATE TEMP TABLE replay_asks (address_id INTEGER, at INTEGER, reason TEXT);
      CREATE TEMP TABLE replay_waits (delivery_id INTEGER PRIMARY KEY);
      CREATE TEMP TABLE replay_hits (at INTEGER, delivery_id INTEGER, clicks INTEGER);
      CREATE INDEX temp.replay_hits_at ON replay_hits (at);
      CREATE TEMP TRIGGER replay_waits_noted AFTER UPDATE OF due_at ON deliveries WHEN new.state = ${DELIVERY_STATE.queued} AND new.due_at > old.due_at BEGIN
        INSERT INTO replay_waits VALUES (new.id) ON CONFLICT DO NOTHING;
      END;`);
    // The service need not follow events here, because the history already has the members of segments as events changed them.
    writeNamedValue(client, EVENTS_FOLLOWED_TO, String(Number.MAX_SAFE_INTEGER));
  }

  /**
   * Prepares to keep the members of all segments that no step changes. When a step changes a contact, the live functions
   * evaluate the rules of all segments by today's values. But the history already has the past members of these segments, so
   * the rules must not change them. While `replay_kept` holds the ids of these segments, triggers ignore such changes.
   */
  #keepSegments(steps: readonly ListedSchedule[]): void {
    const sets = steps.filter(({ kind }) => kind === 'set_field');
    const moves = steps.filter(({ kind }) => kind === 'move');
    if (sets.length + moves.length === 0) return;
    const byHand = steps.filter(({ kind }) => kind === 'segment_add' || kind === 'segment_remove');
    const isChanged = ({ id, contact_type_id, rules }: Pick<Segment, 'id' | 'contact_type_id' | 'rules'>) =>
      byHand.some(({ segment_id }) => segment_id === id) ||
      moves.some((move) => move.contact_type_id === contact_type_id) ||
      sets.some(({ field, field_id }) =>
        rules.some((rule) => (field_id === null ? rule.field === field : rule.customId === field_id)),
      );
    const unchanged = this.#view
      .select()
      .from(segmentsTable)
      .all()
      .filter((segment) => !isChanged(segment));
    this.#keptSegments = JSON.stringify(unchanged.map(({ id }) => id));
    this.#view.$client.exec(`
      CREATE TEMP TABLE replay_kept (segment_id INTEGER PRIMARY KEY);
      CREATE TEMP TRIGGER replay_kept_out BEFORE INSERT ON segment_recipients
      WHEN EXISTS (SELECT 1 FROM replay_kept WHERE segment_id = new.segment_id) BEGIN
        SELECT RAISE(IGNORE);
      END;
      CREATE TEMP TRIGGER replay_kept_in BEFORE DELETE ON segment_recipients
      WHEN EXISTS (SELECT 1 FROM replay_kept k CROSS JOIN segments g ON g.id = k.segment_id CROSS JOIN contacts c
        ON c.contact_type_id = g.contact_type_id AND c.address_id = old.address_id AND c.deleted_at IS NULL WHERE k.segment_id = old.segment_id) BEGIN
        SELECT RAISE(IGNORE);
      END;`);
  }

  /** Lets due enrolments take their steps. Returns the number of handled enrolments. */
  async #takeSteps(deps: Parameters<typeof takeDueSteps>[0]): Promise<number> {
    if (this.#keptSegments === null) return takeDueSteps(deps, false);
    const client = this.#view.$client;
    client.prepare<[string]>('INSERT INTO temp.replay_kept SELECT value FROM json_each(?)').run(this.#keptSegments);
    const taken = await takeDueSteps(deps, false);
    client.prepare<[]>('DELETE FROM temp.replay_kept').run();
    return taken;
  }

  /** Returns true if a segment of the automation has a rule about opens or clicks. */
  #needsOpens(): boolean {
    const rules = this.#view.$client.prepare<[], { rules: string }>('SELECT rules FROM segments').all();
    return rules.some(({ rules: text }) => {
      const parsed: SegmentRule[] = JSON.parse(text);
      return parsed.some((rule) => isActivityRule(rule) && rule.type !== 'event');
    });
  }

  /** Lets the time of the replay pass, from stop to stop, and does at each stop whatever is due. */
  async #passTime(
    player: HistoryPlayer,
    { automation, from, to }: Scope,
    needsOpens: boolean,
    onProgress: (share: number) => void,
  ): Promise<void> {
    const clock = this.#clock;
    const deps = { db: this.#view, clock, config: this.#config, log: () => undefined, newMails: new NewMails() };
    const dates = automation.trigger_kind === 'date' ? new DateEntries(deps) : null;
    const post = new Post(this.#view, automation, this.#config.TIME_ZONE, needsOpens ? this.#plan : null);
    const takeAllSteps = async () => {
      while (this.#enter() + (await this.#takeSteps(deps)) + post.deliver(clock.time) > 0);
    };
    clock.time = from;
    for (;;) {
      const before = clock.time;
      const next = Math.min(
        ...[player.nextAfter(before), this.#nextDue(automation.id), post.nextAfter(before)].flatMap((at) => at ?? []),
        ...(dates === null ? [] : [before + HOUR_MS - (before % HOUR_MS)]),
      );
      const stop = Math.max(before + 1, Math.ceil(next / STOP_MS) * STOP_MS);
      if (stop > to) break;
      clock.time = stop;
      await this.#inTransaction(async () => {
        player.play(before, stop);
        await post.open(clock);
        while (dates?.step(() => true));
        await takeAllSteps();
      });
      onProgress(START_SHARE + ((1 - START_SHARE) * (stop - from)) / (to - from));
    }
    // The history since the last stop still counts, and so does whatever is due by the end.
    await this.#inTransaction(async () => {
      player.play(clock.time, to);
      clock.time = to;
      await takeAllSteps();
    });
    if (this.#view.$client.inTransaction) this.#view.$client.exec('COMMIT');
  }

  /**
   * Does the work of one stop of the clock within a transaction over several stops. The transactions of the live functions become parts of
   * it, because each commit looks at all changed pages of the temporary tables. The transaction is committed after a short time, because
   * it keeps SQLite from moving changes of the live service from the WAL into the file.
   */
  async #inTransaction(work: () => Promise<void>): Promise<void> {
    const client = this.#view.$client;
    if (!client.inTransaction) {
      client.exec('BEGIN');
      this.#transactionBegan = performance.now();
    }
    await work();
    if (performance.now() - this.#transactionBegan > TRANSACTION_MS) client.exec('COMMIT');
  }

  /** Returns when the first enrolment of the automation is due, in epoch milliseconds; undefined if nobody waits. */
  #nextDue(automation: number): number | undefined {
    const at = this.#view.$client
      .prepare<[object], number | null>(`SELECT ${firstDueAt('@automation')}`)
      .pluck()
      .get({ automation });
    return at ?? undefined;
  }

  /** Applies the recorded changes of the automation, and notes who did not enter, and why. Returns the number of applied changes. */
  #enter(): number {
    const client = this.#view.$client;
    const asked = client.prepare(NOTE_ASKED).run().changes;
    let total = 0;
    for (let applied = -1; applied !== 0; total += applied) applied = applyMembershipChanges(client);
    if (asked > 0) client.prepare(FORGET_ENTERED).run();
    return total;
  }
}

/** SQL: records in `replay_asks` the contacts who are about to enter. `reason` is the stored reason of the goal or exit rule, or null. */
const NOTE_ASKED = `
  INSERT INTO temp.replay_asks (address_id, at, reason)
  SELECT p.address_id, p.happened_at, ${endReason('p')} FROM membership_changes p CROSS JOIN automations au ON au.id = p.automation_id
  WHERE p.change = 'joined'`;

/** SQL: removes the contacts who did enter from `replay_asks`. */
const FORGET_ENTERED = `
  DELETE FROM temp.replay_asks WHERE EXISTS (
    SELECT 1 FROM enrolments e WHERE e.automation_id = (SELECT id FROM automations) AND e.address_id = replay_asks.address_id
      AND e.entered_at = replay_asks.at)`;

/** Claims the queued mails as the live service does, and treats each mail as sent. */
class Post {
  readonly #view: Db;
  readonly #automation: Automation;
  readonly #zone: string;
  /** The percentages of mails that are assumed to be opened and clicked; null if no step depends on opens or clicks. */
  readonly #assumed: Pick<ReplayPlan, 'opens' | 'clicks'> | null;
  readonly #tracking: TrackingMode;
  readonly #ledger: Ledger;
  readonly #mailings: readonly { id: number; step: string }[];
  /** When the next sending hours begin, epoch milliseconds; 0 if mails need not wait for sending hours. */
  #quietUntil = 0;

  constructor(view: Db, automation: Automation, zone: string, assumed: Pick<ReplayPlan, 'opens' | 'clicks'> | null) {
    this.#view = view;
    this.#automation = automation;
    this.#zone = zone;
    this.#assumed = assumed;
    this.#tracking = trackingMode(view, automation.user_id);
    this.#ledger = new Ledger(view.$client, zone);
    this.#mailings = view.$client
      .prepare<[], { id: number; step: string }>(
        'SELECT m.id, s.utr AS step FROM mailings m CROSS JOIN automation_schedules s ON s.id = m.owner_id',
      )
      .all();
  }

  /** Returns the first time after a moment at which a queued mail is due or a sent mail is opened; undefined if there is none. */
  nextAfter(moment: number): number | undefined {
    const client = this.#view.$client;
    const due = client.prepare<[number, number], { at: number | null }>(
      `SELECT min(due_at) AS at FROM deliveries INDEXED BY deliveries_queue WHERE mailing_id = ? AND state = ${DELIVERY_STATE.queued} AND due_at >= ?`,
    );
    // Mails that wait for the sending hours may have been due before this moment.
    const dueFrom = this.#quietUntil > moment ? 0 : moment + 1;
    const queued = this.#mailings.flatMap(({ id }) => due.get(id, dueFrom)?.at ?? []);
    const times = queued.map((at) => Math.max(at, this.#quietUntil));
    const opened = client.prepare<[], number | null>('SELECT min(at) FROM replay_hits').pluck().get() ?? null;
    if (opened !== null) times.push(opened);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Delivers the mails that are due at `now`, epoch milliseconds. Returns how many were sent or skipped. */
  deliver(now: number): number {
    const due = this.#view.$client.prepare<[number, number], object>(
      `SELECT 1 FROM deliveries INDEXED BY deliveries_queue WHERE mailing_id = ? AND state = ${DELIVERY_STATE.queued} AND due_at <= ? LIMIT 1`,
    );
    const mailings = this.#mailings.filter(({ id }) => due.get(id, now) !== undefined);
    if (mailings.length === 0) return 0;
    const nextSendingTime = nextSendingTimeOfAccount(this.#view, this.#automation.user_id, new Date(now), this.#zone);
    this.#quietUntil = nextSendingTime?.getTime() ?? 0;
    if (nextSendingTime !== null) return 0;
    let moved = 0;
    for (const { id, step } of mailings) {
      for (let examined = MAX_CLAIMS; examined === MAX_CLAIMS; ) {
        const claimed = this.#ledger.claim(
          { id, is_canary: 0 },
          { fields: ['email'], tracking: this.#tracking },
          MAX_CLAIMS,
          now,
          now,
        );
        this.#record(claimed.claims, now);
        this.#noteHits(claimed.claims, step, now);
        examined = claimed.examined;
        moved += examined;
      }
    }
    return moved;
  }

  /** Records that the relay accepted these mails. */
  #record(claims: readonly Claim[], now: number): void {
    const results = claims.map(({ id, mailing_id, address_id, is_unmeasured }) => ({
      id,
      mailing_id,
      address_id,
      is_unmeasured,
      user_id: this.#automation.user_id,
      state: 'accepted' as const,
      reply: '',
      due_at: 0,
      suppress: false,
      in_series: true,
    }));
    this.#ledger.record(results, now, isoTimestamp(new Date(now)));
  }

  /** Notes which of these mails will be opened and clicked. Every replay chooses the same contacts for the same percentages. */
  #noteHits(claims: readonly Claim[], step: string, now: number): void {
    if (this.#assumed === null) return;
    const { opens, clicks } = this.#assumed;
    const note = this.#view.$client.prepare<[number, number, number]>('INSERT INTO temp.replay_hits VALUES (?, ?, ?)');
    for (const { id, address_id, is_unmeasured } of claims) {
      const fraction = fractionFor(address_id, `${step}.replay`) * 100;
      if (is_unmeasured === 0 && fraction < Math.max(opens, clicks))
        note.run(now + OPENED_AFTER_MS, id, fraction < clicks ? 1 : 0);
    }
  }

  /** Opens the mails that are to be opened by now, and updates the segments that depend on opens and clicks. */
  async open(clock: Clock): Promise<void> {
    if (this.#assumed === null) return;
    const client = this.#view.$client;
    const now = clock.now().getTime();
    const opened = client
      .prepare<[object]>(`
        UPDATE temp.deliveries SET by_person = by_person | iif(h.clicks = 1, ${BY_PERSON.opened | BY_PERSON.clicked}, ${BY_PERSON.opened}),
        opened_at = h.at, opens = 1, clicks = h.clicks FROM replay_hits h WHERE h.at <= @now AND deliveries.id = h.delivery_id`)
      .run({ now }).changes;
    if (opened === 0) return;
    client
      .prepare<[object]>(`INSERT INTO temp.events (mailing_id, delivery_id, kind, link_number, made_by, happened_at)
      SELECT d.mailing_id, d.id, iif(h.clicks = 1, 'click', 'open'), iif(h.clicks = 1, 1, NULL), ${MADE_BY.person}, h.at - ${SETTLED_MS}
      FROM replay_hits h CROSS JOIN deliveries d ON d.id = h.delivery_id WHERE h.at <= @now ORDER BY h.at`)
      .run({ now });
    client.prepare<[object]>('DELETE FROM temp.replay_hits WHERE at <= @now').run({ now });
    while (await followActivity(this.#view, clock));
  }
}
