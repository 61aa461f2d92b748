/** The work of the background thread on feeds: requests those that are due, and makes the mails that are due. */

import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import { prepared } from '../database/prepared.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../time/clock.ts';
import { Retries } from '../time/retries.ts';
import { dueFeeds, makeDueIssue } from './issues.ts';
import { POLL_MS, pollResult, recordPoll } from './poll-results.ts';

/** The maximum number of concurrent requests. */
const MAX_AT_ONCE = 8;

interface FeedWorkDeps {
  db: Db;
  clock: Clock;
  config: Config;
  log: Log;
}

interface DueFeed {
  id: number;
  url: string;
  etag: string;
  last_modified: string;
}

export class FeedWork {
  readonly #deps: FeedWorkDeps;
  readonly #stopping = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  readonly #retries: Retries;

  constructor(deps: FeedWorkDeps) {
    this.#deps = deps;
    this.#retries = new Retries(deps.clock);
  }

  /** Makes due mails, at least one, until `shouldContinue` returns false, and begins due requests. Returns true if there may be more. */
  step(shouldContinue: () => boolean): boolean {
    const { db, clock, log } = this.#deps;
    let mayHaveMore = false;
    for (const id of dueFeeds(db.$client, clock.now().getTime(), this.#retries.resting())) {
      mayHaveMore = true;
      // An error of one feed must not stop the others.
      try {
        makeDueIssue(this.#deps, id);
      } catch (error) {
        this.#retries.failed(id);
        log({ feed: id, err: String(error) }, 'the mail of a feed could not be made; it is tried again', 'warn');
      }
      if (!shouldContinue()) break;
    }
    this.#beginPolls();
    return mayHaveMore;
  }

  get isUnderWay(): boolean {
    return this.#underWay.size > 0;
  }

  /** Resolves when no request is running. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Cancels running requests. Items that they would have found are found after the next start. */
  stop(): void {
    this.#stopping.abort();
  }

  #beginPolls(): void {
    const { db, clock } = this.#deps;
    const free = MAX_AT_ONCE - this.#underWay.size;
    if (free <= 0) return;
    const now = clock.now().getTime();
    const due = prepared<[number, number], DueFeed>(
      db.$client,
      "SELECT id, url, etag, last_modified FROM feeds WHERE state = 'active' AND poll_at <= ? ORDER BY poll_at LIMIT ?",
    ).all(now, free);
    for (const feed of due) {
      // The next request is scheduled first, so that the server is not asked again at once, whatever goes wrong from here on.
      prepared(db.$client, 'UPDATE feeds SET poll_at = ? WHERE id = ?').run(now + POLL_MS, feed.id);
      const poll = this.#poll(feed).finally(() => this.#underWay.delete(poll));
      this.#underWay.add(poll);
    }
  }

  async #poll(feed: DueFeed): Promise<void> {
    const { db, clock, config, log } = this.#deps;
    try {
      // Loaded only if there is a feed.
      const [{ fetchFeed }, { readFeed }] = await Promise.all([import('./fetch-feed.ts'), import('./read-feed.ts')]);
      const allowPrivate = config.WEBHOOK_PRIVATE_ADDRESSES === 'allow';
      const answer = await fetchFeed(feed.url, feed, { allowPrivate, signal: this.#stopping.signal });
      const result = await pollResult(answer, readFeed);
      if (!this.#stopping.signal.aborted) recordPoll(db, feed, result, clock.now());
    } catch (error) {
      log(
        { feed: feed.id, err: String(error) },
        'what a feed answered could not be recorded; it is asked again later',
        'warn',
      );
    }
  }
}
