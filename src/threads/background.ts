/**
 * The work outside HTTP, such as updating segments, and launching, enqueueing and delivering mail. It is done in steps, so that a test can
 * run one step at a time.
 */

import { continueJobs } from '../audience/bulk/jobs.ts';
import { continueUndos } from '../audience/import/undo.ts';
import { emptyLogAfterErasure } from '../audience/person/erase.ts';
import { continueIndexing } from '../audience/search/search-index.ts';
import { followActivity } from '../audience/segments/follow-activity.ts';
import { recomputeDueSegments } from '../audience/segments/recompute.ts';
import { continueSunsets } from '../audience/sunset/daily-check.ts';
import { continueBackfills } from '../automations/backfill.ts';
import { DateEntries } from '../automations/date-entries.ts';
import { NewMails, takeDueSteps } from '../automations/enrolment.ts';
import { applyMembershipChanges } from '../automations/membership-changes.ts';
import { continueMoves } from '../automations/move-enrolments.ts';
import { followTimeZone } from '../automations/waits.ts';
import { UnusedAttachments } from '../campaigns/attachments.ts';
import { Launcher } from '../campaigns/launch.ts';
import { completeFinishedSends } from '../campaigns/status.ts';
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import { isTransientSqliteError } from '../database/write-lock.ts';
import { continueReclassifying } from '../delivery/feedback/earlier-hits.ts';
import { OldEvents } from '../delivery/feedback/old-events.ts';
import type { Tokens } from '../delivery/links/tokens.ts';
import type { ResolveMx } from '../delivery/pacing/domain-groups.ts';
import { Pacing } from '../delivery/pacing/pacing.ts';
import { enqueueRecipients, mailingsToEnqueue } from '../delivery/queue/enqueue-recipients.ts';
import { FailingSteps, forgetFailingSteps } from '../delivery/queue/failing-steps.ts';
import { Heartbeat, holdForSettings, noteMailWaits, sendingHeldReason } from '../delivery/queue/holds.ts';
import { continueEarlierMails } from '../delivery/queue/ledger/earlier-mails.ts';
import { Mailings } from '../delivery/queue/mailings.ts';
import { MailWatch } from '../delivery/reporting/mail-watch.ts';
import { CourierHandoffs, type CourierHandoffsDeps } from '../delivery/sending/courier-handoffs.ts';
import type { Handoffs, HandoffsDeps } from '../delivery/sending/handoffs.ts';
import { Rates } from '../delivery/sending/rates.ts';
import { removeOldSentMails, SentMails } from '../delivery/sending/sent-mails.ts';
import { DeliveryWorker } from '../delivery/sending/worker.ts';
import { OldMails } from '../delivery/transactional/old-mails.ts';
import { TransactionalWorker } from '../delivery/transactional/worker.ts';
import type { Courier } from '../delivery/transport/courier.ts';
import { hasRelay, linksFault, verificationRequired } from '../delivery/transport/relays/in-use.ts';
import { AbTestDecisions } from '../delivery/variants/decision.ts';
import { WarmUps } from '../delivery/warm-up/warm-ups.ts';
import { Canaries } from '../delivery/watch/canary.ts';
import { DomainCounts } from '../delivery/watch/domain-counts.ts';
import type { Sentence } from '../errors/sentences.ts';
import { FeedWork } from '../feeds/polling.ts';
import { OldRequests } from '../forms/old-requests.ts';
import { HoldLog, type KnownHolds } from '../installation/list-holds.ts';
import type { Log } from '../log.ts';
import { type Clock, steadyTime } from '../time/clock.ts';
import { FailedWork } from '../time/failed-work.ts';
import { nextWorkAt } from './next-work.ts';

interface BackgroundDeps {
  db: Db;
  config: Config;
  clock: Clock;
  /** The courier for outgoing mail. With sender nodes it sends only transactional mail. */
  courier: Courier;
  /** Creates the hand-offs that give claims to sender nodes. */
  openNodes?(deps: HandoffsDeps): Handoffs;
  /** Resolves MX records. If absent, only the mailbox providers' own domains are recognized. */
  resolveMx?: ResolveMx;
  tokens: Tokens;
  /** The origin of links, without a trailing slash. */
  publicUrl(): string;
  log: Log;
  /** The holds that an earlier thread has logged. If absent, holds that exist at the start are not logged. */
  knownHolds?: KnownHolds | undefined;
}

/**
 * The time that launching or enqueueing may take in a step, in milliseconds. It is so short that the mails already claimed keep the SMTP
 * relay busy in the meantime.
 */
const TIME_SLICE_MS = 100;
/** How often holds are logged while there is work, in milliseconds. */
const HOLD_LOG_INTERVAL_MS = 1000;

export class Background {
  readonly #deps: BackgroundDeps;
  readonly #failing: FailingSteps;
  readonly #dates: DateEntries;
  readonly #feeds: FeedWork;
  readonly #failedSegments: FailedWork;
  readonly #heartbeat: Heartbeat;
  readonly #holds: HoldLog;
  readonly #mailWatch: MailWatch;
  readonly #launcher: Launcher;
  readonly #newMails = new NewMails();
  readonly #canaries: Canaries;
  readonly #domainCounts: DomainCounts;
  readonly #abTests: AbTestDecisions;
  readonly #oldEvents: OldEvents;
  readonly #oldRequests: OldRequests;
  readonly #oldMails: OldMails;
  readonly #unusedAttachments: UnusedAttachments;
  readonly #worker: DeliveryWorker;
  readonly #transactional: TransactionalWorker;
  #isStopping = false;
  #holdsLoggedAt = 0;
  /** The fault of the settings for links that was recorded last; null if there was none, undefined before the first check. */
  #linksFault: Sentence | null | undefined;

  constructor(deps: BackgroundDeps) {
    this.#deps = deps;
    const { SEND_RATE: perSecond, SEND_RATE_PER_DOMAIN: perDomain } = deps.config;
    forgetFailingSteps(deps.db.$client);
    this.#failing = new FailingSteps(deps.db.$client, 'background', () => deps.clock.monotonic(), deps.log);
    this.#heartbeat = new Heartbeat(deps.db.$client);
    this.#holds = new HoldLog(deps.db.$client, deps.log, deps.knownHolds);
    this.#mailWatch = new MailWatch({
      client: deps.db.$client,
      config: deps.config,
      now: () => deps.clock.now().getTime(),
      monotonic: () => deps.clock.monotonic(),
      log: deps.log,
    });
    this.#followSettings();
    // An earlier run may have recorded that mail waits for sender nodes.
    if (deps.openNodes === undefined) noteMailWaits(deps.db.$client, null);
    followTimeZone(deps.db.$client, deps.config.TIME_ZONE);
    this.#dates = new DateEntries(deps);
    this.#feeds = new FeedWork(deps);
    this.#failedSegments = new FailedWork(deps.clock);
    this.#launcher = new Launcher(deps);
    this.#canaries = new Canaries(deps.db.$client, steadyTime(deps.clock));
    this.#domainCounts = new DomainCounts(deps.db.$client, deps.clock);
    this.#abTests = new AbTestDecisions(deps.db.$client);
    this.#oldEvents = new OldEvents(deps.db.$client, deps.config.EVENTS_DAYS);
    this.#oldRequests = new OldRequests(deps.db.$client);
    this.#oldMails = new OldMails(deps.db.$client);
    this.#unusedAttachments = new UnusedAttachments(deps.db.$client);
    const warmUps = new WarmUps(deps.db.$client, deps.clock);
    const rates = new Rates(deps.clock, { perSecond, perDomain });
    const bounceDomain = deps.config.BOUNCE_DOMAIN;
    const mustBeVerified = () => verificationRequired(deps.db.$client, deps.config);
    this.#transactional = new TransactionalWorker({
      ...deps,
      client: deps.db.$client,
      rates,
      warmUps,
      bounceDomain,
      mustBeVerified,
      canSend: () => deps.openNodes === undefined || hasRelay(deps.db.$client, deps.config),
    });
    this.#worker = new DeliveryWorker({
      ...deps,
      mailings: new Mailings(deps.db, { ...deps, bounceDomain, mustBeVerified }),
      rates,
      warmUps,
      pacing: new Pacing({ client: deps.db.$client, clock: deps.clock, resolveMx: deps.resolveMx ?? null }),
      timeZone: deps.config.TIME_ZONE,
      hasNodes: deps.openNodes !== undefined,
      openHandoffs: (handoffs) => openHandoffs(deps, handoffs),
    });
  }

  /**
   * Does a part of each kind of work. Returns true if there is more to do right now. While all sending is held, a step only records results
   * and finishes cancelled mailings.
   */
  async step(): Promise<boolean> {
    try {
      return await this.#failing.watch('delivery', () => this.#step());
    } finally {
      this.#failing.write();
    }
  }

  async #step(): Promise<boolean> {
    const { db, clock } = this.#deps;
    this.#heartbeat.beat(clock.now().getTime());
    this.#followSettings();
    const isHeld = sendingHeldReason(db.$client) !== null;
    let hasMore = false;
    const part = async (name: string, work: () => Promise<boolean>) => {
      if (!this.#isStopping && (await this.#safely(name, work))) hasMore = true;
    };
    await part('places in automations', () => continueMoves(db.$client, this.#timeSlice()));
    if (!isHeld) {
      await part('what people did with their mails', () => followActivity(db, clock));
      await part('segments', () =>
        recomputeDueSegments(db, clock, this.#failedSegments, (segment, error) =>
          this.#deps.log({ segment, err: String(error) }, 'a segment could not be updated', 'warn'),
        ),
      );
      await part('sunset', () => continueSunsets(db, clock));
      await part('feeds', async () => this.#feeds.step(this.#timeSlice()));
      await part('launch', () => this.#launcher.launchDue(this.#timeSlice()));
      await part('dates in automations', async () => this.#dates.step(this.#timeSlice()));
      await part('entries in automations', async () => continueBackfills(this.#deps));
      await part('enrolment', async () => applyMembershipChanges(db.$client) > 0);
      await part('A/B tests', () => this.#abTests.step(clock.now().getTime(), clock.monotonic(), this.#timeSlice()));
      await part('automations', () => this.#takeSteps());
    } else {
      this.#launcher.forget();
      this.#newMails.forget();
    }
    const goesOn = this.#timeSlice();
    for (const { id, state } of mailingsToEnqueue(db.$client)) {
      if (isHeld && state !== 'cancelled') continue;
      await part(`enqueueing mailing ${id}`, () => enqueueRecipients(db.$client, id, goesOn));
      if (goesOn()) continue;
      hasMore = true;
      break;
    }
    await part('opens and clicks of earlier releases', () => continueReclassifying(db.$client));
    await part('mails before limits per person', () => continueEarlierMails(db.$client, clock.now().getTime()));
    await part('actions on many contacts', () =>
      continueJobs(db, clock, (job, error) =>
        this.#deps.log({ job, err: String(error) }, 'an action on many contacts failed', 'error'),
      ),
    );
    await part('undoing imports', () =>
      continueUndos(db, clock, isHeld, (id, error) =>
        this.#deps.log({ import: id, err: String(error) }, 'an import could not be undone', 'warn'),
      ),
    );
    await part('the index of the search', () => continueIndexing(db.$client));
    await part('the log of those erased', async () => {
      emptyLogAfterErasure(db.$client);
      return false;
    });
    // Old records are kept while sending is held, because the reason may be a wrong clock, by which everything may seem old.
    if (!isHeld) {
      await part('old opens and clicks', () =>
        this.#oldEvents.continueRemoval(clock.now().getTime(), clock.monotonic()),
      );
      await part('old requests of forms', async () =>
        this.#oldRequests.continueRemoval(clock.now().getTime(), clock.monotonic()),
      );
      await part('files of deleted campaigns', async () =>
        this.#unusedAttachments.remove(clock.monotonic(), this.#timeSlice()),
      );
      await part('old mails as sent', async () => removeOldSentMails(db.$client, clock.now().getTime()));
      await part('old transactional mail', async () =>
        this.#oldMails.continueRemoval(clock.now().getTime(), clock.monotonic()),
      );
    }
    // A first batch is neither chosen nor judged while nothing is sent.
    if (!isHeld) await part('canaries', () => this.#canaries.advance(this.#timeSlice()));
    await part('results by domain', () => this.#domainCounts.countOn(this.#timeSlice()));
    this.handOverTransactional();
    const isDelivering = await this.#worker.step(isHeld);
    if (!isDelivering) await this.#transactional.waitForOne(this.#worker.recordMs);
    completeFinishedSends(this.#deps);
    this.#mailWatch.look();
    const hasMoreNow = hasMore || isDelivering || this.#transactional.unfinished > 0;
    this.#logHolds(hasMoreNow);
    return hasMoreNow;
  }

  /** Takes due steps of automations. Returns true if there are more. */
  async #takeSteps(): Promise<boolean> {
    const moved = await takeDueSteps({ ...this.#deps, newMails: this.#newMails });
    return moved > 0 || this.#newMails.isUnderWay;
  }

  /** Runs steps until nothing is due. */
  async untilIdle(): Promise<void> {
    while (await this.step());
  }

  /**
   * Returns when there is work to do next, in epoch milliseconds, provided that the database is not written before. Returns at most the
   * current time while work is in progress or failing. Call it only after a step that found nothing to do.
   */
  nextWorkAt(): number {
    const { db, clock } = this.#deps;
    const now = clock.now().getTime();
    const isBusy = this.#failing.isAnyFailing || this.#feeds.isUnderWay || this.#transactional.unfinished > 0;
    return isBusy ? now : nextWorkAt(db.$client, now);
  }

  /** The holds that have been logged. */
  get knownHolds(): KnownHolds {
    return this.#holds.known;
  }

  /** Acknowledges mailings that were stopped or resumed: from then on no mail of a stopped mailing starts. */
  acknowledge(): void {
    this.#worker.acknowledge();
  }

  /** Starts due transactional mail, and records the results of other transactional mail. It may be called during a step. */
  handOverTransactional(): void {
    this.#transactional.run();
  }

  /** How often to call `record`, in milliseconds. */
  get recordMs(): number {
    return this.#worker.recordMs;
  }

  /** Writes results to disk, even while a step is busy with other work. */
  record(): void {
    this.#failing.watch('recording of results', () => this.#worker.record());
  }

  /** Stops starting work: the current step ends, and no further mail is sent. */
  stop(): void {
    this.#isStopping = true;
    this.#feeds.stop();
    this.#worker.stop();
    this.#transactional.stop();
  }

  /** Stops sending, waits up to `graceMs` milliseconds for mails in progress and records their results. */
  async close(graceMs: number): Promise<void> {
    this.stop();
    await Promise.all([
      this.#worker.close(graceMs),
      this.#transactional.finish(),
      this.#feeds.settled(),
      // With sender nodes, the courier sends only transactional mail and is closed here; otherwise the worker closes it.
      ...(this.#deps.openNodes === undefined ? [] : [this.#deps.courier.close(graceMs)]),
    ]);
    completeFinishedSends(this.#deps);
  }

  /** Applies changed SMTP relays, and holds sending if links would not work. */
  #followSettings(): void {
    const { db, config, clock, courier } = this.#deps;
    courier.refresh?.();
    const fault = linksFault(db.$client, config);
    if (fault?.code === this.#linksFault?.code && this.#linksFault !== undefined) return;
    holdForSettings(db.$client, fault, clock.now().getTime());
    this.#linksFault = fault;
  }

  /** Logs new holds once a second while there is work, and once when the work ends. */
  #logHolds(isBusy: boolean): void {
    const now = performance.now();
    if (isBusy && now - this.#holdsLoggedAt < HOLD_LOG_INTERVAL_MS) return;
    this.#holdsLoggedAt = now;
    this.#holds.logNew();
  }

  /** Starts a time slice. The returned function returns true while time is left. */
  #timeSlice(): () => boolean {
    const until = performance.now() + TIME_SLICE_MS;
    return () => !this.#isStopping && performance.now() < until;
  }

  /** Runs a part of a step. A failure is logged and must not stop delivery; the next step repeats the part. Throws if the disk fails. */
  async #safely(part: string, work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await this.#failing.watch(part, work);
    } catch (error) {
      if (isTransientSqliteError(error)) throw error;
      this.#deps.log(
        { part, err: String(error) },
        'a part of the background work failed; it will be tried again',
        'warn',
      );
      return false;
    }
  }
}

function openHandoffs({ db, clock, courier, openNodes }: BackgroundDeps, deps: HandoffsDeps): Handoffs {
  if (openNodes !== undefined) return openNodes(deps);
  const mayLeave: CourierHandoffsDeps['mayLeave'] = ({ mailing_id }) => deps.mayLeave(mailing_id);
  return new CourierHandoffs({ ...deps, courier, clock, sent: new SentMails(db.$client), mayLeave });
}
