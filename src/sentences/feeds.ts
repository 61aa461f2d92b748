/** The sentences on feeds that are sent as mail, with their codes; part of those in sentences.ts. */

export const FEED_SENTENCES = {
  // What is wrong with what an owner gave.
  feed_address: 'Give the address of a feed, such as https://example.com/feed.xml.',
  feed_plain: 'The address must begin with https://, because on its way nobody may change what is sent to people.',
  feed_zone: '{name} is no time zone such as Europe/Berlin.',
  feed_time: 'The time of day has the form 08:30.',
  feeds_many: 'An account can have {count} feeds: delete one first',
  feed_is_held: 'The feed is held: send or skip what waits first',
  feed_not_held: 'The feed is not held',

  // Why a feed could not be read.
  feed_status: 'It answered with the status {status}.',
  feed_large: 'It is larger than {size} MiB.',
  feed_redirects: 'It redirects too often.',
  feed_empty: 'The feed has no items.',
  feed_no_feed: 'What is there is no RSS, Atom or JSON feed.',

  // Why a feed is held.
  feed_many_items:
    'It turned up {count} new items at once, which is more often a mistake of the feed than news. Look at them, then send or skip them.',
  feed_all_unknown:
    'All {count} items of it are new, as when a feed gives its items other ids. Look at them, then send or skip them.',
  feed_no_template:
    'The template of its mails was deleted or has no content. Choose another one, then send or skip what waits.',
  feed_mail_large:
    'The mail of its items has more than 2 million characters. Choose a smaller template, then send or skip what waits.',
} as const;
