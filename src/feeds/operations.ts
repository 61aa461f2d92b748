/**
 * Operations for feeds whose items are sent as mail (additions to the contract): listing, adding, changing, switching,
 * releasing and deleting them, and a preview of their next mail.
 */
import Type, { type Static } from 'typebox';
import { parseScheduleTime } from '../campaigns/schedule.ts';
import { singleSendErrors } from '../campaigns/single-send-errors.ts';
import type { Db } from '../database/open.ts';
import { recordId } from '../database/ownership.ts';
import { FEED_RHYTHMS, FEED_STATES, type LanguageVersion } from '../database/schema/index.ts';
import { inTransaction, writeAndWake } from '../database/transaction.ts';
import { notFound } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import { withinShare } from '../http/account-share.ts';
import {
  choice,
  flag,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  optionalIdentifier,
  reference,
  said,
  stamps,
  stringList,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { type Context, operation } from '../operations/operation.ts';
import {
  shownVersions,
  Versions,
  versionInput,
  versionLanguage,
  withoutVersion,
  withVersion,
} from '../templates/languages/operations.ts';
import { MAX_LANGUAGES } from '../templates/languages/versions.ts';
import { isoTimestamp } from '../time/clock.ts';
import { isTimeZone } from '../time/zones.ts';
import { urlFault } from '../webhooks/addresses.ts';
import type { FeedItem } from './feed-item.ts';
import {
  addFeed,
  changeFeed,
  countWaiting,
  type Feed as FeedRow,
  feedsOf,
  findFeed,
  findFeedTemplate,
  newItems,
  releaseFeed,
  removeFeed,
  setActive,
  storeLanguages,
} from './feeds.ts';
import { issueOf, MAX_DIGEST_ITEMS, nextItems } from './issues.ts';
import { pollResult } from './poll-results.ts';

const MAX_URL_CHARACTERS = 2000;
const FIRST_WEEKDAY = 1;
const LAST_WEEKDAY = 7;
const RHYTHM = 'item: an e-mail for each item; daily, weekly: a digest.';

const ById = Type.Object({ id: identifier('The feed.') });

const Feed = Type.Object({
  id: integer(),
  feed_name: Type.String({ description: 'The internal name of the feed.' }),
  url: Type.String({ description: 'The URL of the feed.' }),
  sender_id: integer({ description: 'Id of the sender of the e-mails.' }),
  unsubscribe_group_id: integer({ description: 'Id of the topic (unsubscribe group) of the e-mails.' }),
  recipient_id: Type.Array(Type.String(), {
    description: 'Targets of the e-mails: contacts_<contact type id> or segments_<segment id>.',
  }),
  exclude_specific_recipient_id: Type.Array(Type.String(), { description: 'Targets whose recipients get nothing.' }),
  template_id: integer({ description: 'Id of the template of the e-mails; 0: a plain list of the items.' }),
  subject: Type.String({ description: 'The subject of the e-mails, with merge tags.' }),
  languages: Type.Array(Type.String(), {
    description: 'The languages in which the e-mails have versions, as ISO 639-1 codes.',
  }),
  rhythm: { ...choice(...FEED_RHYTHMS), description: RHYTHM },
  weekday: integer({ description: 'The day of a weekly digest; 1 is Monday.' }),
  time_of_day: Type.String({ description: 'The time of a digest, HH:MM.' }),
  time_zone: Type.String({ description: 'The time zone of `time_of_day` and of dates in e-mails.' }),
  state: { ...choice(...FEED_STATES), description: 'held: new items wait until a user sends or skips them.' },
  held_reason: nullable(said('Why the feed is held.')),
  feed_title: Type.String({ description: 'The title in the feed; empty before the feed was read.' }),
  waiting: integer({ description: 'The number of items that have not been sent yet.' }),
  read_at: nullable(isoTimestampSchema(), 'When the feed was last read, UTC; null: never.'),
  failure: said('Why the feed could not be read the last time; empty if it was read.'),
  next_mail_at: nullable(
    isoTimestampSchema(),
    'When the next digest is made, UTC; null if each item has an e-mail, or while the feed is not active.',
  ),
  ...stamps,
});

const SaveInput = Type.Object({
  id: optionalIdentifier('The feed to change; if absent, a feed is added.'),
  feed_name: line({ description: 'The internal name of the feed.' }),
  url: Type.String({
    maxLength: MAX_URL_CHARACTERS,
    format: 'one-line',
    description: 'The URL of the feed: https, and a public address unless WEBHOOK_PRIVATE_ADDRESSES says otherwise.',
  }),
  sender_id: reference(),
  unsubscribe_group_id: reference(),
  recipient_id: stringList({
    minItems: 1,
    description: 'Targets: contacts_<contact type id> or segments_<segment id>.',
  }),
  exclude_specific_recipient_id: Type.Optional(
    Type.Unsafe<string[]>({ ...stringList({ description: 'Targets whose recipients get nothing.' }), empty: [] }),
  ),
  template_id: Type.Optional(
    Type.Unsafe<number>({
      ...integer({ description: 'Id of the template of the e-mails; 0: a plain list.' }),
      empty: 0,
    }),
  ),
  subject: line({
    description: 'The subject, with merge tags: ((item_title)), ((feed_title)), ((items_count)) and those of contacts.',
  }),
  rhythm: { ...choice(...FEED_RHYTHMS), description: RHYTHM },
  weekday: Type.Optional(
    Type.Unsafe<number>({
      ...integer({
        minimum: FIRST_WEEKDAY,
        maximum: LAST_WEEKDAY,
        description: 'The day of a weekly digest; 1 is Monday.',
      }),
      empty: FIRST_WEEKDAY,
    }),
  ),
  time_of_day: Type.Optional(line({ description: 'The time of a digest, HH:MM; 08:00 if absent.' })),
  time_zone: Type.Optional(line({ description: 'The time zone, such as Europe/Berlin; that of schedules if absent.' })),
});

const Preview = Type.Object({
  is_sample: zeroOrOne('1: no item is new, so the e-mail shows the newest ones as a sample.'),
  items: integer({ description: 'The number of items in the e-mail.' }),
  new_items: integer({
    description: 'The number of items that are new or wait; with the rhythm item, each gets its own mail.',
  }),
  subject: Type.String({ description: 'The subject; merge tags of contacts are not filled in.' }),
  html: Type.String({ description: 'The e-mail; merge tags of contacts are not filled in.' }),
  problem: nullable(said('Why there is nothing to show.')),
});

export type Feed = Static<typeof Feed>;
export type Preview = Static<typeof Preview>;

export const listFeeds = operation({
  name: 'List the feeds whose items are sent as mail (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ feeds: Type.Array(Feed, { description: 'The feeds.' }) }),
  run: ({ db, accountId }) => ({ feeds: feedsOf(db, accountId).map((feed) => feedRecord(db, feed)) }),
});

/** For the screen of a feed. */
export const readFeed = operation({
  name: 'Read a feed',
  role: 'viewer',
  input: ById,
  run: (context, { id }) => feedRecord(context.db, requireFeed(context, id)),
});

export const saveFeed = operation({
  name: 'Add a feed or change one (addition)',
  description:
    'Items that are in the feed when it is first read are not sent, only those that appear later. A changed `url` is read as a new feed.',
  role: 'editor',
  input: SaveInput,
  output: Type.Object({ id: integer() }),
  check(context, input, errors) {
    const { url = '', time_of_day: time = '', time_zone: zone = '', template_id, ...mail } = input;
    const fault = url === '' ? null : urlFault(url, allowsPrivate(context));
    if (fault !== null) errors.add('url', FAULTS[fault]);
    if (time !== '' && !isTimeOfDay(time)) errors.add('time_of_day', sentence('feed_time'));
    if (zone !== '' && !isTimeZone(zone)) errors.add('time_zone', sentence('feed_zone', { name: zone }));
    const references = template_id === undefined || template_id === 0 ? mail : { ...mail, template_id };
    for (const [field, text] of singleSendErrors(context, context.accountId, references)) errors.add(field, text);
  },
  run(context, { id, exclude_specific_recipient_id = [], template_id = 0, weekday = FIRST_WEEKDAY, ...fields }) {
    const { db, clock, config, accountId } = context;
    const url = new URL(fields.url).href;
    const time_of_day = fields.time_of_day || '08:00';
    const time_zone = fields.time_zone || config.TIME_ZONE;
    const input = { ...fields, exclude_specific_recipient_id, template_id, weekday, url, time_of_day, time_zone };
    return writeAndWake(context, () => {
      if (id === undefined) return { id: addFeed(db, accountId, input, clock.now()) };
      const feed = requireFeed(context, id);
      changeFeed(db, feed, input, clock.now());
      return { id: feed.id };
    });
  },
});

export const switchFeed = operation({
  name: 'Pause or resume a feed (addition)',
  description: 'A paused feed is not read. Items that appear meanwhile are new when it is resumed.',
  role: 'editor',
  input: Type.Object({ ...ById.properties, is_active: flag('1: resume; 0: pause.') }),
  run: (context, { id, is_active }) =>
    writeAndWake(context, () => setActive(context.db, requireFeed(context, id), is_active === 1, context.clock.now())),
});

export const decideFeed = operation({
  name: 'Send or skip the waiting items of a held feed (addition)',
  description: 'After that, the feed is active again. Skipped items are never sent.',
  role: 'editor',
  input: Type.Object({
    ...ById.properties,
    what: { ...choice('send', 'skip'), description: 'What to do with the waiting items.' },
  }),
  run: (context, { id, what }) =>
    writeAndWake(context, () => releaseFeed(context.db, requireFeed(context, id), what, context.clock.now())),
});

export const deleteFeed = operation({
  name: 'Delete a feed (addition)',
  description: 'Campaigns that were made from the feed stay.',
  role: 'editor',
  input: ById,
  run: (context, { id }) => writeAndWake(context, () => removeFeed(context.db, requireFeed(context, id))),
});

export const previewFeed = operation({
  name: 'Read a feed now and show what would be sent (addition)',
  description:
    'Nothing is sent or stored. The answer takes as long as the server of the feed needs, 20 seconds at most.',
  role: 'viewer',
  input: ById,
  output: Type.Object({ preview: Preview }),
  async run(context, { id }) {
    const feed = requireFeed(context, id);
    const read = () => readPreview(context.db, feed, allowsPrivate(context));
    return { preview: await withinShare(context.accountId, read) };
  },
});

export const listFeedLanguages = operation({
  name: 'List the versions of the e-mails of a feed in other languages (addition)',
  role: 'viewer',
  input: ById,
  output: Versions,
  run(context, { id }) {
    const { recipient_id: targets, exclude_specific_recipient_id: excluded, ...feed } = requireFeed(context, id);
    return shownVersions(context, feed.languages, { targets, excluded, groupId: feed.unsubscribe_group_id });
  },
});

export const saveFeedLanguage = operation({
  name: 'Add or change the version of the e-mails of a feed in a language (addition)',
  description: `The e-mails of a feed can have ${MAX_LANGUAGES} versions, with merge tags of the feed in the subject, the preview text and the template. The items themselves stay as they are in the feed.`,
  role: 'editor',
  input: Type.Object({ ...ById.properties, ...versionInput }),
  output: Type.Object({ updated_at: isoTimestampSchema() }),
  run: (context, { id, ...fields }) =>
    changeLanguages(context, id, ({ languages }) => withVersion(context, languages, fields)),
});

export const removeFeedLanguage = operation({
  name: 'Remove the version of the e-mails of a feed in a language (addition)',
  role: 'editor',
  input: Type.Object({ ...ById.properties, language: versionLanguage }),
  output: Type.Object({ updated_at: isoTimestampSchema() }),
  run: (context, { id, language }) =>
    changeLanguages(context, id, ({ languages }) => withoutVersion(languages, language)),
});

/** Replaces the versions of the mails of a feed by those that `change` returns. */
function changeLanguages(
  context: Context,
  id: unknown,
  change: (feed: FeedRow) => LanguageVersion[] | null,
): { updated_at: string } {
  const { db, clock } = context;
  return inTransaction(db, () => {
    const feed = requireFeed(context, id);
    return { updated_at: storeLanguages(db, feed, change(feed), clock.now()) };
  });
}

/** Why a URL is refused, by its fault. */
const FAULTS = {
  url: sentence('feed_address'),
  plain: sentence('feed_plain'),
  login: sentence('webhook_login'),
  private: sentence('webhook_private'),
} as const;

const isTimeOfDay = (text: string) => /^\d\d:\d\d$/.test(text) && parseScheduleTime(text) !== null;

const allowsPrivate = ({ config }: Context) => config.WEBHOOK_PRIVATE_ADDRESSES === 'allow';

function requireFeed({ db, accountId }: Context, id: unknown): FeedRow {
  const feed = findFeed(db, accountId, recordId(id));
  if (feed === undefined) throw notFound();
  return feed;
}

function feedRecord(db: Db, feed: FeedRow): Feed {
  const { recipient_id, exclude_specific_recipient_id, languages, read_at, issue_at, ...columns } = feed;
  const hasNext = issue_at !== null && feed.state === 'active' && feed.rhythm !== 'item';
  return {
    ...columns,
    recipient_id: recipient_id.map(({ table, id }) => `${table}_${id}`),
    exclude_specific_recipient_id: exclude_specific_recipient_id.map(({ table, id }) => `${table}_${id}`),
    languages: (languages ?? []).map(({ language }) => language),
    waiting: countWaiting(db.$client, feed.id),
    read_at: read_at === null ? null : isoTimestamp(new Date(read_at)),
    next_mail_at: hasNext ? isoTimestamp(new Date(issue_at)) : null,
  };
}

/** The number of items in a sample digest without new items. */
const SAMPLE_ITEMS = 5;

/** Returns the mail of a feed's new and waiting items, or a sample with its newest items; or why there is no mail. */
async function readPreview(db: Db, feed: FeedRow, allowPrivate: boolean): Promise<Preview> {
  const nothing = { is_sample: 0, items: 0, new_items: 0, subject: '', html: '' } as const;
  const template = findFeedTemplate(db, feed);
  if (template === null) return { ...nothing, problem: sentence('feed_no_template') };
  // These modules are imported only here, because undici takes 10 MB and 50 ms of CPU to load.
  const [{ fetchFeed, NO_VERSION }, { readFeed }] = await Promise.all([
    import('./fetch-feed.ts'),
    import('./read-feed.ts'),
  ]);
  const result = await pollResult(await fetchFeed(feed.url, NO_VERSION, { allowPrivate }), readFeed);
  if (result.kind === 'failed') return { ...nothing, problem: result.reason };
  const listed = result.kind === 'read' ? result.feed.items : [];
  // Before the first read no item is new, because the first read only remembers them.
  const fresh = feed.is_begun === 0 ? [] : newItems(db.$client, feed.id, listed);
  const waiting = nextItems(db.$client, feed).map(({ item }) => item);
  const isSample = fresh.length + waiting.length === 0;
  const isDigest = feed.rhythm !== 'item';
  const unsent = isDigest ? [...fresh, ...waiting] : [...waiting, ...fresh.toReversed()];
  const next: FeedItem[] = isSample ? listed.slice(0, SAMPLE_ITEMS) : unsent;
  const items = next.slice(0, isDigest ? MAX_DIGEST_ITEMS : 1);
  if (items.length === 0) return { ...nothing, problem: sentence('feed_empty') };
  const { title: feed_title, language: feed_language } =
    result.kind === 'read' ? result.feed : { title: feed.feed_title, language: feed.feed_language };
  const issue = issueOf({ ...feed, feed_title, feed_language }, template, items);
  if (issue === null) return { ...nothing, problem: sentence('feed_mail_large') };
  const new_items = fresh.length + countWaiting(db.$client, feed.id);
  const { subject, html } = issue;
  return { is_sample: isSample ? 1 : 0, items: items.length, new_items, subject, html, problem: null };
}
