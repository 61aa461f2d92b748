/**
 * Mailings that went to a part of their people first: A/B tests that wait and that were decided, and first parts that
 * wait and that held the rest.
 */

import { DELIVERY_STATE } from '../../../src/database/schema/index.ts';
import { sentence } from '../../../src/errors/sentences.ts';
import { stored } from '../../../src/errors/stored.ts';
import { isoTimestamp } from '../../../src/time/clock.ts';
import { HOUR_MS } from '../../../src/units.ts';
import type { TestApp } from '../app.ts';
import type { Naming } from './filled-account.ts';

const GROUP = 1000;
const FIRST_PART = 1000;
const BOUNCED = "550 5.1.1 The email account that you tried to reach doesn't exist";

/** What is shown, by the name of its screen, with the name of the single send. */
export const TRIALS = {
  tested: 'Books for long evenings',
  won: 'New in November',
  undecided: 'A reading with Zoë',
  waiting: 'Annual book fair',
  stopped: 'To everybody since 2019',
} as const;
type Trial = keyof typeof TRIALS;

/**
 * Turns single sends that were sent, given by their utrs, into these mailings. The background must not run afterwards,
 * because it would continue them.
 */
export function fillTrials(app: TestApp, naming: Naming, utrs: Readonly<Record<Trial, string>>): void {
  const mailingOf = app.db
    .prepare<[string], number>(
      "SELECT m.id FROM mailings m JOIN single_sends s ON s.id = m.owner_id WHERE m.owner_kind = 'single' AND s.utr = ?",
    )
    .pluck();
  const ids = Object.fromEntries(Object.entries(utrs).map(([trial, utr]) => [trial, mailingOf.get(utr) ?? 0]));
  const { tested = 0, won = 0, undecided = 0, waiting = 0, stopped = 0 } = ids;
  if (Math.min(tested, won, undecided, waiting, stopped) === 0) throw new Error('a single send was not launched');
  const now = app.clock.now().getTime();
  addTestPeople(app);
  const subjects = ['Books for long evenings', 'What we read when it is dark at four', 'Seven books and a blanket'];
  addTest(app, tested, naming, { subjects, opened: [212, 261, 224], clicked: [31, 44, 29], triedAt: now });
  const clicked = [38, 81];
  addTest(app, won, naming, {
    subjects: subjects.slice(0, 2),
    opened: [240, 276],
    clicked,
    triedAt: now - 5 * HOUR_MS,
  });
  decide(app, won, { verdict: 'winner', winner: 1, better_than: '[0]', clicked });
  const even = [41, 44];
  addTest(app, undecided, naming, {
    subjects: subjects.slice(1),
    opened: [231, 226],
    clicked: even,
    triedAt: now - 5 * HOUR_MS,
  });
  decide(app, undecided, { verdict: 'no_difference', winner: 0, better_than: '[]', clicked: even });
  addFirstPart(app, naming, waiting, 12);
  addFirstPart(app, naming, stopped, 118);
  const results = { results: FIRST_PART, bounces: 118 };
  app.db
    .prepare(
      "UPDATE mailings SET state = 'held', acknowledged_state = 'held', held_code = 'too_many_bounces', held_reason = ? WHERE id = ?",
    )
    .run(stored(sentence('held_too_many_bounces', results)), stopped);
}

/** Addresses of people who have left since, for the test groups. */
function addTestPeople(app: TestApp): void {
  app.db.exec(`
    WITH RECURSIVE n(at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM n WHERE at + 1 < ${3 * GROUP})
    INSERT INTO addresses (user_id, normalized_email) SELECT 1, 'trial' || at || '@example.org' FROM n`);
}

interface Tried {
  subjects: readonly string[];
  /** How many people of each variant opened and clicked. */
  opened: readonly number[];
  clicked: readonly number[];
  triedAt: number;
}

/** Turns a mailing into a test with groups of the same size, and a rest that waits. */
function addTest(app: TestApp, mailing: number, naming: Naming, { subjects, opened, clicked, triedAt }: Tried): void {
  const count = subjects.length * GROUP;
  const variants = subjects.map((subject) => ({
    subject: naming(subject),
    preheader: 'News',
    sender_name: '',
    template_id: 0,
  }));
  app.db
    .prepare(
      "INSERT INTO ab_tests (mailing_id, share, winner_by, hours, variants, rest, tried_at) VALUES (?, 20, 'clicks', 4, ?, ?, ?)",
    )
    .run(mailing, JSON.stringify(variants), 4 * count, triedAt);
  const people = app.db
    .prepare<[number], number>("SELECT id FROM addresses WHERE normalized_email GLOB 'trial*' ORDER BY id LIMIT ?")
    .pluck()
    .all(count);
  const add = app.db.prepare(
    `INSERT INTO deliveries (mailing_id, address_id, state, attempt, updated_at, variant, by_person) VALUES (?, ?, ${DELIVERY_STATE.accepted}, 1, ?, ?, ?)`,
  );
  const addAll = app.db.transaction(() => {
    for (const [at, id] of people.entries()) {
      const [variant, place] = [at % subjects.length, Math.floor(at / subjects.length)];
      const byPerson = Number(place < (opened[variant] ?? 0)) + 2 * Number(place < (clicked[variant] ?? 0));
      add.run(mailing, id, triedAt, variant, byPerson);
    }
  });
  addAll();
  const sum = (counts: readonly number[]) => counts.reduce((one, other) => one + other);
  beUnderWay(app, mailing, {
    recipients: 5 * count,
    delivered: count,
    people_opens: sum(opened),
    people_clicks: sum(clicked),
  });
}

/** Makes a test decided since an hour ago, and the rest of its audience sent. */
function decide(
  app: TestApp,
  mailing: number,
  { clicked, ...verdict }: { verdict: string; winner: number; better_than: string; clicked: readonly number[] },
): void {
  const decided_at = app.clock.now().getTime() - HOUR_MS;
  const counted = JSON.stringify(clicked.map((successes) => ({ people: GROUP, successes })));
  app.db
    .prepare(
      `UPDATE ab_tests SET verdict = @verdict, winner = @winner, better_than = @better_than, counted = @counted, decided_at = @decided_at, is_released = 1
      WHERE mailing_id = @mailing`,
    )
    .run({ ...verdict, counted, decided_at, mailing });
  app.db
    .prepare("UPDATE mailings SET state = 'done', delivered = recipients - suppressed, finished_at = ? WHERE id = ?")
    .run(decided_at, mailing);
  app.db
    .prepare('UPDATE single_sends SET status = 3 WHERE id = (SELECT owner_id FROM mailings WHERE id = ?)')
    .run(mailing);
}

/** Makes a mailing wait after its first batch, of which this number of mails bounced at one domain. */
function addFirstPart(app: TestApp, naming: Naming, mailing: number, bounces: number): void {
  const of = (domain: string, mails: number, bad: number, rest: { complaints?: number; waiting?: number } = {}) => {
    const { complaints = 0, waiting = 0 } = rest;
    return { domain, mails, delivered: mails - bad - waiting, bounces: bad, failed: 0, complaints, waiting };
  };
  const domains = [
    of(naming('old-mail.example'), 204, bounces - 4),
    of('gmail.com', 418, 3, { complaints: 1 }),
    of('outlook.com', 163, 1),
    of('gmx.de', 97, 0, { waiting: 9 }),
    of('', 118, 0),
  ];
  app.db
    .prepare(
      "INSERT INTO watched_mailings (mailing_id, percent, minutes, stage, size, tried_at, seen) VALUES (?, 2, 30, 'waiting', ?, ?, ?)",
    )
    .run(
      mailing,
      FIRST_PART,
      app.clock.now().getTime(),
      JSON.stringify({ counted_at: isoTimestamp(app.clock.now()), domains }),
    );
  app.db
    .prepare(
      `INSERT INTO delivery_reasons (mailing_id, state, reason, count) VALUES (?, ${DELIVERY_STATE.bounced}, ?, ?)`,
    )
    .run(mailing, BOUNCED, bounces);
  beUnderWay(app, mailing, { recipients: 48_600, delivered: FIRST_PART - bounces - 9, bounces });
}

/** Makes a mailing under way to this number of recipients, with a sender whose domain is being warmed up. */
function beUnderWay(app: TestApp, mailing: number, counters: Readonly<Record<string, number>>): void {
  const set = Object.keys(counters).map((name) => `${name} = @${name}`);
  app.db
    .prepare(
      `UPDATE mailings SET state = 'sending', sender_id = NULL, finished_at = NULL, ${set.join(', ')} WHERE id = @mailing`,
    )
    .run({ ...counters, mailing });
  app.db
    .prepare('UPDATE single_sends SET status = 2 WHERE id = (SELECT owner_id FROM mailings WHERE id = ?)')
    .run(mailing);
}
