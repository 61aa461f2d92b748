/**
 * The work of the background thread on feeds: makes the mails that are due, requests the feeds that are due, and records the
 * results. New items wait for their mail; the items of the first read are only remembered.
 */
import { eq } from 'drizzle-orm';
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import { feeds } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { type Said, sentence } from '../errors/sentences.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../time/clock.ts';
import { FailedWork } from '../time/failed-work.ts';
import type { ReadFeed } from './feed-item.ts';
import { type Feed, holdFeed, newItems } from './feeds.ts';
import type { FeedAnswer, FeedVersion } from './fetch-feed.ts';
import { dueFeeds, makeDueIssue } from './issues.ts';

const DAY_MS = 86_400_000;
/** The minimum time between two requests for a feed. */
const POLL_MS = 15 * 60_000;
/** This number of new items at once is more likely a mistake of the feed, such as new ids for all items, than news. */
const MANY_ITEMS = 50;
/** This number of items without a single known one is likely a mistake, too. Fewer may be all items of a short feed. */
const MANY_UNKNOWN = 5;

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

/** The result of requesting a feed. */
export type PollResult =
  | { kind: 'unchanged' }
  | { kind: 'read'; feed: ReadFeed; version: FeedVersion }
  | { kind: 'failed'; reason: Said; retryAfterMs: number };

/** Returns the result of a request, with the feed that `read` parses from the answer. */
export async function pollResult(
  answer: FeedAnswer,
  read: (text: string, base: string) => Promise<ReadFeed | null>,
): Promise<PollResult> {
  if (answer.kind !== 'changed') return answer;
  const { text, url, etag, last_modified } = answer;
  const feed = await read(text, url);
  if (feed === null) return { kind: 'failed', reason: sentence('feed_no_feed'), retryAfterMs: 0 };
  return { kind: 'read', feed, version: { etag, last_modified } };
}

/** Stores the result of a request in one transaction, unless the feed was changed to another URL, deleted or stopped meanwhile. */
export function recordPoll(db: Db, requested: Pick<Feed, 'id' | 'url'>, result: PollResult, now: Date): void {
  const record = () => {
    const feed = db.select().from(feeds).where(eq(feeds.id, requested.id)).get();
    if (feed === undefined || feed.url !== requested.url || feed.state !== 'active') return;
    const change = (columns: Partial<Feed>) => db.update(feeds).set(columns).where(eq(feeds.id, feed.id)).run();
    if (result.kind === 'failed') {
      const failures = feed.failures + 1;
      // The wait is 15 minutes after the first failure, and doubles with each further one, up to a day.
      const wait = Math.min(POLL_MS * 2 ** Math.min(failures - 1, 10), DAY_MS);
      const poll_at = now.getTime() + Math.max(wait, result.retryAfterMs);
      change({ failure: result.reason, failures, poll_at });
      return;
    }
    change({ failure: '', failures: 0, read_at: now.getTime() });
    if (result.kind === 'unchanged') return;
    const { title, language, items } = result.feed;
    const fresh = addItems(db, feed, items);
    change({ ...result.version, feed_title: title, feed_language: language, is_begun: 1 });
    if (feed.is_begun === 0 || fresh === 0) return;
    if (fresh >= MANY_ITEMS) holdFeed(db, feed.id, sentence('feed_many_items', { count: fresh }), now);
    else if (fresh >= MANY_UNKNOWN && fresh === items.length)
      holdFeed(db, feed.id, sentence('feed_all_unknown', { count: fresh }), now);
    else if (feed.rhythm === 'item') change({ issue_at: now.getTime() });
  };
  inTransaction(db, record);
}

/** Remembers unknown items, in reverse order, because feeds begin with the newest. Returns the number of unknown items. */
function addItems({ $client: client }: Db, feed: Feed, items: ReadFeed['items']): number {
  const add = client.prepare('INSERT INTO feed_items (feed_id, item_key, item) VALUES (?, ?, ?)');
  const fresh = newItems(client, feed.id, items);
  for (const { key, ...item } of fresh.reverse())
    add.run(feed.id, key, feed.is_begun === 0 ? null : JSON.stringify(item));
  return fresh.length;
}
