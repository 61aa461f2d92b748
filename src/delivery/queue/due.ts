/**
 * What `due_at` of a queued delivery says besides a time in epoch milliseconds. The queue of a mailing is read in the order of one index,
 * (mailing_id, due_at, id), so whoever goes before or after all others has a value there that is before or after every time. A column of its
 * own for them would be in the index too, which is written for each recipient: 4 % more CPU and 6 % more file with 300 000 deliveries that were
 * written and claimed either way.
 */
export const DUE = {
  /** Recipients of a canary, before all others. */
  canary: -2,
  /** Recipients who are tried next, to compare them with those of a domain that refuses. */
  next: -1,
  /** Everybody else until the first try. */
  atOnce: 0,
  /** Who is held back until an A/B test is decided: the last moment that a date can have. */
  heldBack: 8_640_000_000_000_000,
} as const;
