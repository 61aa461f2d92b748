/**
 * Launches due single sends: checks each one, freezes its content and variants, and creates its mailing; or holds the single send with the
 * reason.
 */
import { and, asc, eq, lte, or, sql } from 'drizzle-orm';
import { targetProblem } from '../audience/segments/broken-rules.ts';
import { isRecomputing, markForRecompute } from '../audience/segments/recompute.ts';
import { missingTarget } from '../audience/segments/segments.ts';
import type { Config } from '../config.ts';
import { readMailRule } from '../database/accounts.ts';
import type { Db } from '../database/open.ts';
import { abTests, type RecordedFinding, senders, singleSends, type Variant } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { isTransientSqliteError } from '../database/write-lock.ts';
import type { Frozen } from '../delivery/compiling/freeze.ts';
import { hasAudience } from '../delivery/queue/audience-counts.ts';
import { heldOutShare, prepareBestHours } from '../delivery/queue/best-hours.ts';
import type { EnqueueProgress } from '../delivery/queue/enqueue-recipients.ts';
import { type Held, holdFor, releasedAt } from '../delivery/queue/holds.ts';
import { createMailing } from '../delivery/queue/mailing-state.ts';
import { variantName } from '../delivery/queue/variant-groups.ts';
import { isUnverified } from '../delivery/transport/relays/in-use.ts';
import { findAbTestProblem } from '../delivery/variants/test-problem.ts';
import { beginWithCanary } from '../delivery/watch/watched-mailings.ts';
import { type Said, saidBy, sentence } from '../errors/sentences.ts';
import type { Log } from '../log.ts';
import { freezeVariants, freezeVersions } from '../templates/languages/freeze-versions.ts';
import { type Clock, isoTimestamp } from '../time/clock.ts';
import { MINUTE_MS } from '../units.ts';
import { keepAttachments, listAttachments } from './attachments.ts';
import { Preparations } from './preparations.ts';
import { launchesAt } from './schedule.ts';
import { checkFailure, findingsInAll, languageCounter } from './shown-mail.ts';
import { hasStatus, holdQueuedSends, IS_TO_BE_HELD, startSend } from './status.ts';
import { allVariants, asVariant } from './variants.ts';

/**
 * The longest time in milliseconds before `starts_at` at which a single send in the recipients' own time zones is launched. It is more than
 * the largest difference between two time zones (UTC-12 and UTC+14) and a clock change.
 */
export const MAX_LEAD_MS = 28 * 60 * MINUTE_MS;

type SingleSend = typeof singleSends.$inferSelect;
/** A due single send. Its `updated_at` tells later whether it has been changed meanwhile. */
type DueSend = Pick<SingleSend, 'id' | 'user_id' | 'updated_at'>;
/** A queued single send, with the columns that decide when it is due. */
type WaitingSend = Pick<
  SingleSend,
  'id' | 'user_id' | 'updated_at' | 'starts_at' | 'local_time' | 'schedule_date' | 'schedule_time'
>;

interface LaunchDeps {
  db: Db;
  clock: Clock;
  config: Config;
  log: Log;
}

/** Prepares and launches due single sends, some at each step of the background thread. */
export class Launcher {
  readonly #deps: LaunchDeps;
  /** For each send whose segments were marked to be recomputed, its `updated_at` at that time. */
  readonly #marked = new Map<number, string>();
  readonly #preparations = new Preparations<SingleSend, Launch | Held>();
  /** Returns the single sends that are due at `now`. The statement is prepared once, because each background step runs it. */
  readonly #dueNow: (now: number) => WaitingSend[];

  constructor(deps: LaunchDeps) {
    this.#deps = deps;
    const due = deps.db
      .select({
        id: singleSends.id,
        user_id: singleSends.user_id,
        updated_at: singleSends.updated_at,
        starts_at: singleSends.starts_at,
        local_time: singleSends.local_time,
        schedule_date: singleSends.schedule_date,
        schedule_time: singleSends.schedule_time,
      })
      .from(singleSends)
      .where(
        and(
          hasStatus('queued'),
          sql`NOT ${IS_TO_BE_HELD}`,
          lte(singleSends.starts_at, sql.placeholder('latest')),
          or(lte(singleSends.starts_at, sql.placeholder('now')), eq(singleSends.local_time, 1)),
        ),
      )
      .orderBy(asc(singleSends.starts_at))
      .prepare();
    const restMs = deps.config.RECALL_SECONDS * 1000;
    this.#dueNow = (now) =>
      due.all({ now, latest: now + MAX_LEAD_MS }).filter((send) => launchesAt(send, restMs) <= now);
  }

  /**
   * Begins to prepare due single sends, at most one of each account at a time, until `shouldContinue` returns false. Then launches
   * or holds the sends that are ready. A send to segments first waits until the segments are recomputed. A send that fails is
   * held. Returns true if there is more to do. Throws if the disk fails.
   */
  async launchDue(shouldContinue: () => boolean): Promise<boolean> {
    const due = this.#dueNow(this.#deps.clock.now().getTime());
    for (const id of this.#marked.keys()) if (!due.some((send) => send.id === id)) this.#marked.delete(id);
    let hasMoved = false;
    for (const dueSend of due) {
      if (this.#preparations.isBusy(dueSend.user_id)) continue;
      if (this.#prepareOne(dueSend)) hasMoved = true;
      if (!shouldContinue()) break;
    }
    for (const { subject, take } of await this.#preparations.ready()) {
      this.#runOrHold(subject, () => {
        launch(this.#deps, subject, take);
        return true;
      });
      this.#marked.delete(subject.id);
      hasMoved = true;
    }
    return hasMoved || this.#preparations.isUnderWay;
  }

  /** Drops the sends that are being prepared. They are prepared again once sending is no longer held. */
  forget(): void {
    this.#preparations.forget();
  }

  /** Begins to prepare a send, unless it waits for its segments. Returns true if segments were marked, or the send was held. */
  #prepareOne(dueSend: DueSend): boolean {
    return this.#runOrHold(dueSend, () => {
      const send = this.#deps.db.select().from(singleSends).where(eq(singleSends.id, dueSend.id)).get();
      if (send === undefined) return false;
      const segments = [...send.recipient_id, ...send.exclude_specific_recipient_id]
        .filter(({ table }) => table === 'segments')
        .map(({ id }) => Number(id));
      if (this.#markOnce(dueSend, segments)) return true;
      if (!isRecomputing(this.#deps.db, segments, this.#deps.clock))
        this.#preparations.begin(send.user_id, send, () => prepare(this.#deps, send));
      return false;
    });
  }

  /** Runs a part of the launch of a send and returns its result. If it fails, holds the send and returns true. Throws if the disk fails. */
  #runOrHold(dueSend: DueSend, work: () => boolean): boolean {
    try {
      return work();
    } catch (error) {
      if (isTransientSqliteError(error)) throw error;
      this.#deps.log({ single_send: dueSend.id, err: String(error) }, 'a single send could not be launched', 'error');
      const held_reason = sentence('held_not_launched', { problem: saidBy(error) });
      hold(this.#deps, dueSend, { held_code: 'internal_error', held_reason });
      return true;
    }
  }

  /** Marks the segments of a send to be recomputed, once after each change of the send. Returns true if it marked them now. */
  #markOnce({ id, updated_at }: DueSend, segments: readonly number[]): boolean {
    if (segments.length === 0 || this.#marked.get(id) === updated_at) return false;
    markForRecompute(this.#deps.db, sql`id IN ${segments} AND recompute_after IS NULL`);
    this.#marked.set(id, updated_at);
    return true;
  }
}

/** A single send that is ready to be launched. `findings` is null if the content could not be checked. */
type Launch = Frozen & { variants: Variant[]; findings: RecordedFinding[] | null; progress: EnqueueProgress };

/** Launches a send that was prepared, or holds it with the reason. Does nothing if the send has been changed meanwhile. */
function launch(deps: LaunchDeps, send: SingleSend, take: () => Launch | Held): void {
  const prepared = take();
  if ('held_code' in prepared) {
    hold(deps, send, prepared);
    return;
  }
  const mailing = start(deps.db, send, prepared, deps.clock.now());
  if (mailing !== null) deps.log({ single_send: send.id, mailing }, 'campaign started');
}

/** Returns the reason if a scheduled send has missed its time by more than the grace time; otherwise null. */
function missedTime({ db, clock, config }: LaunchDeps, send: SingleSend): Held | null {
  const lateMinutes = (clock.now().getTime() - send.starts_at) / MINUTE_MS;
  if (send.schedule_type !== 1 || lateMinutes <= config.SCHEDULE_GRACE_MINUTES) return null;
  const cause = sentence(send.starts_at <= releasedAt(db.$client) ? 'missed_held' : 'missed_stopped');
  const held_reason = sentence('held_missed_time', { minutes: Math.floor(lateMinutes), cause });
  return { held_code: 'missed_time', held_reason };
}

/** Checks a send and freezes its content. Returns what its mailing is created from, or why the send cannot be launched. */
async function prepare(deps: LaunchDeps, send: SingleSend): Promise<Launch | Held> {
  const { db, clock, config } = deps;
  const missed = missedTime(deps, send);
  if (missed !== null) return missed;
  const sender = db.select().from(senders).where(eq(senders.id, send.sender_id)).get();
  if (sender === undefined || sender.deleted_at !== null) return holdFor('sender_deleted');
  if (isUnverified(db.$client, config, sender)) return holdFor('sender_unverified');
  const allTargets = [...send.recipient_id, ...send.exclude_specific_recipient_id];
  // A target can be deleted while the send is no longer queued, for example because it waits for the verification of its sender.
  const missing = missingTarget(db, allTargets);
  if (missing !== null) return { held_code: 'target_missing', held_reason: missing };
  const broken = targetProblem(db, allTargets);
  if (broken !== null) return { held_code: 'segment_broken', held_reason: broken };
  const progress: EnqueueProgress = {
    targets: send.recipient_id,
    excluded: send.exclude_specific_recipient_id,
    target: 0,
    after: 0,
    ...(send.local_time === 1 && {
      local: { date: send.schedule_date, time: send.schedule_time, zone: config.TIME_ZONE },
    }),
  };
  if (!hasAudience(db.$client, send.unsubscribe_group_id, progress)) return holdFor('no_audience');
  if (send.best_hour === 1) {
    const { utr: key, recipient_id: targets } = send;
    const when = { start: clock.now().getTime(), zone: config.TIME_ZONE };
    const evident = await prepareBestHours(db.$client, send.user_id, when);
    progress.best = { ...evident, key, held_out: heldOutShare(db.$client, targets) };
  }
  const frozen = await freezeSend(db, config, send, sender);
  if ('problem' in frozen) return { held_code: 'content_invalid', held_reason: frozen.problem };
  const findings = await findingsInAll(deps, frozen.frozen, (number) => ({
    ...asVariant(db, send, number),
    single_send: send,
  }));
  const failure = checkFailure(findings ?? []);
  // A user of the dashboard has seen the check before sending, so errors stop only sends that a program queued.
  if (failure !== null && send.changed_by === null && readMailRule(db, send.user_id, 'stops_errors') === 1)
    return { held_code: 'check_failed', held_reason: failure };
  if (findings === null) return { ...frozen, findings, progress };
  const findMissingLanguages = languageCounter(db, send.user_id);
  const audience = {
    targets: send.recipient_id,
    excluded: send.exclude_specific_recipient_id,
    groupId: send.unsubscribe_group_id,
  };
  const missingLanguages = await findMissingLanguages(send.languages, audience);
  return { ...frozen, findings: [...findings, ...missingLanguages], progress };
}

/**
 * Moves the send from queued to running and creates its mailing. Returns the id of the mailing; null if the send was changed or
 * cancelled while it was being prepared.
 */
function start(
  db: Db,
  send: SingleSend,
  { frozen, links: urls, destinations, variants, findings, progress }: Launch,
  now: Date,
): number | null {
  return inTransaction(db, () => {
    const { from_email: from_sender, reply_to, sender_name, sender_address } = frozen;
    if (!startSend(db, send, { from_sender, reply_to, sender_name, sender_address }, now)) return null;
    const mailing = {
      user_id: send.user_id,
      owner_kind: 'single' as const,
      owner_id: send.id,
      unsubscribe_group_id: send.unsubscribe_group_id,
      sender_id: send.sender_id,
      content: JSON.stringify(frozen),
      enqueue_progress: JSON.stringify(progress),
      findings,
      created_at: isoTimestamp(now),
    };
    const id = createMailing(db, mailing, urls, destinations);
    keepAttachments(db, send.id, id);
    if (send.ab_test !== null) {
      const { share, winner_by, hours } = send.ab_test;
      db.insert(abTests).values({ mailing_id: id, share, winner_by, hours, variants }).run();
    }
    if (send.canary_percent > 0) beginWithCanary(db.$client, id, send.canary_percent, send.canary_minutes);
    return id;
  });
}

/** Moves the send from queued to draft with a reason, unless it has been changed meanwhile. */
function hold({ db, clock }: LaunchDeps, { id, updated_at }: DueSend, reason: Held): void {
  const isUnchanged = and(eq(singleSends.id, id), eq(singleSends.updated_at, updated_at));
  holdQueuedSends(db, isUnchanged, reason, isoTimestamp(clock.now()));
}

/**
 * Freezes the content of a single send with its attachments, and its variants or versions. Returns the frozen content, or the
 * problem that the owner must fix first.
 */
async function freezeSend(
  db: Db,
  config: Config,
  send: SingleSend,
  sender: typeof senders.$inferSelect,
): Promise<(Frozen & { variants: Variant[] }) | { problem: Said }> {
  const problem = findAbTestProblem(db, config, send);
  if (problem !== null) return { problem: sentence(problem) };
  const attachments = listAttachments(db, send.id).map(({ id }) => id);
  const variants = allVariants(send, send.ab_test);
  const otherVariants = variants.slice(1).map(({ sender_name }, at) => ({
    source: () => asVariant(db, send, at + 1),
    sender_name: sender_name || null,
    name: variantName(at + 1),
  }));
  const result =
    send.ab_test === null
      ? await freezeVersions(db, config, send, sender)
      : await freezeVariants(db, config, send, otherVariants, sender);
  if ('problem' in result) return result;
  const frozen = { ...result.frozen, ...(attachments.length > 0 && { attachments }) };
  return { ...result, frozen, variants };
}
