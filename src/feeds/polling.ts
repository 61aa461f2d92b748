/** The work of the background thread on feeds: makes the mails that are due, and requests the feeds that are due. */
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../time/clock.ts';
import { FailedWork } from '../time/failed-work.ts';
import type { Feed } from './feeds.ts';
import { dueFeeds, makeDueIssue } from './issues.ts';
import { POLL_MS, pollResult, recordPoll } from './poll-results.ts';

/** The maximum number of feeds that are requested at the same time. */
const MAX_AT_ONCE = 8;

interface FeedWorkDeps {
  db: Db;
  clock: Clock;
  config: Config;
  log: Log;
}

type DueFeed = Pick<Feed, 'id' | 'url' | 'etag' | 'last_modified'>;

/** Makes mails and requests feeds as a task of the background thread. */
export class FeedWork {
  readonly #deps: FeedWorkDeps;
  readonly #stopping = new AbortController();
  readonly #runningPolls = new Set<Promise<void>>();
  readonly #failedFeeds: FailedWork;

  constructor(deps: FeedWorkDeps) {
    this.#deps = deps;
    this.#failedFeeds = new FailedWork(deps.clock);
  }

  /** Makes due mails, at least one, until `shouldContinue` returns false, and begins due requests. Returns true if there may be more. */
  step(shouldContinue: () => boolean): boolean {
    const { db, clock, log } = this.#deps;
    let mayHaveMore = false;
    for (const id of dueFeeds(db.$client, clock.now().getTime(), this.#failedFeeds.restingIdsJson())) {
      mayHaveMore = true;
      // An error of one feed must not stop the others.
      try {
        makeDueIssue(this.#deps, id);
      } catch (error) {
        this.#failedFeeds.add(id);
        log({ feed: id, err: String(error) }, 'the mail of a feed could not be made; it is tried again', 'warn');
      }
      if (!shouldContinue()) break;
    }
    this.#beginPolls();
    return mayHaveMore;
  }

  /** True while a request is running. */
  get isUnderWay(): boolean {
    return this.#runningPolls.size > 0;
  }

  /** Resolves when no request is running. */
  async settled(): Promise<void> {
    while (this.#runningPolls.size > 0) await Promise.all(this.#runningPolls);
  }

  /** Cancels running requests. Items that they would have found are found after the next start. */
  stop(): void {
    this.#stopping.abort();
  }

  #beginPolls(): void {
    const { db, clock } = this.#deps;
    const free = MAX_AT_ONCE - this.#runningPolls.size;
    if (free <= 0) return;
    const now = clock.now().getTime();
    const due = db.$client
      .prepare<[number, number], DueFeed>(
        "SELECT id, url, etag, last_modified FROM feeds WHERE state = 'active' AND poll_at <= ? ORDER BY poll_at LIMIT ?",
      )
      .all(now, free);
    for (const feed of due) {
      // The next request is scheduled first, so that the server is not asked again at once, whatever goes wrong from here on.
      db.$client.prepare('UPDATE feeds SET poll_at = ? WHERE id = ?').run(now + POLL_MS, feed.id);
      const poll = this.#poll(feed).finally(() => this.#runningPolls.delete(poll));
      this.#runningPolls.add(poll);
    }
  }

  async #poll(feed: DueFeed): Promise<void> {
    const { db, clock, config, log } = this.#deps;
    try {
      // These modules are loaded only if there is a feed.
      const [{ fetchFeed }, { readFeed }] = await Promise.all([import('./fetch-feed.ts'), import('./read-feed.ts')]);
      const allowPrivate = config.WEBHOOK_PRIVATE_ADDRESSES === 'allow';
      const answer = await fetchFeed(feed.url, feed, { allowPrivate, signal: this.#stopping.signal });
      const result = await pollResult(answer, readFeed);
      if (!this.#stopping.signal.aborted) recordPoll(db, feed, result, clock.now());
    } catch (error) {
      log(
        { feed: feed.id, err: String(error) },
        'the answer of a feed could not be recorded; the feed is read again later',
        'warn',
      );
    }
  }
}
