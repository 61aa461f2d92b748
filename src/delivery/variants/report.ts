/** Reports an A/B test: its variants side by side, each rate with its confidence interval, and the decision. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { type abTests, BY_PERSON, DELIVERY_STATE, type Variant } from '../../database/schema/index.ts';
import { storedSql } from '../../errors/stored.ts';
import { HOUR_MS } from '../../units.ts';
import { keptMails } from '../reporting/mailing-report.ts';
import { findWinner, type Group, rateInterval } from './statistics.ts';
import { standingOf } from './watching.ts';

/** A rate from 0 to 1 with its 95 % confidence interval. `people` is the number of recipients who opened or clicked. */
interface Rate {
  people: number;
  rate: number;
  low: number;
  high: number;
}

interface ReportedVariant extends Variant {
  variant: number;
  /** The number of recipients in this variant's group. */
  recipients: number;
  /** The number of recipients of the group who got the mail. */
  delivered: number;
  /** The number of delivered mails that the test outbox kept, so that no recipient got them. */
  kept: number;
  opens: Rate;
  clicks: Rate;
  /**
   * How much lower the variant's rate is now than the highest rate, with an interval that holds at all readings together; null for the
   * variant with the highest rate.
   */
  behind: { difference: number; low: number; high: number } | null;
}

type StoredTest = typeof abTests.$inferSelect;

export interface AbTestReport
  extends Pick<StoredTest, 'share' | 'winner_by' | 'hours' | 'decided_at' | 'verdict' | 'winner' | 'rest'> {
  /**
   * The state of the test. `sending`: some mails of the test group have not been tried yet. `waiting`: the test waits for its time to pass
   * or for a user's choice.
   */
  state: 'sending' | 'waiting' | 'decided' | 'cancelled';
  /** When the test is decided, in epoch milliseconds; null if that is unknown or a user chooses. */
  decides_at: number | null;
  /** The variants that were significantly worse than the winner at the decision. */
  better_than: number[];
  /** The counts of each variant at the decision; empty before the decision, and if a user chose. */
  counted: Group[];
  /** The measure of `behind` and `worse`: the measure that decides the test, or clicks if a user chooses. */
  measured_by: 'opens' | 'clicks';
  /**
   * The variants that are significantly worse than the variant with the highest rate, at the decision if it was made by the figures,
   * otherwise now.
   */
  worse: number[];
  variants: ReportedVariant[];
}

type Row = Omit<StoredTest, 'variants' | 'better_than' | 'counted'> &
  Record<'variants' | 'better_than' | 'counted', string | null> & { is_cancelled: 0 | 1 };

/** The number of recipients that are counted without a pause. */
const PAGE_ROWS = 5000;

/**
 * Returns the report on a mailing's A/B test; null if the mailing has none. Recipients are counted in pages, so that other requests can be
 * handled in between.
 */
export async function abTestReport(client: Database, mailingId: number): Promise<AbTestReport | null> {
  const row = client
    .prepare<[number], Row>(
      "SELECT t.*, m.state = 'cancelled' AS is_cancelled FROM ab_tests t CROSS JOIN mailings m ON m.id = t.mailing_id WHERE t.mailing_id = ?",
    )
    .get(mailingId);
  if (row === undefined) return null;
  const listed: Variant[] = JSON.parse(row.variants ?? '[]');
  const { share, winner_by, hours, tried_at, decided_at, verdict, winner, rest } = row;
  const measured_by = winner_by === 'hand' ? 'clicks' : winner_by;
  const counts = [];
  for (const [variant, own] of listed.entries())
    counts.push({ ...own, variant, ...(await countVariant(client, mailingId, variant)) });
  const standing = standingOf(counts.map((variant) => variant[measured_by]));
  const variants = counts.map((count): ReportedVariant => {
    const behind = standing.behind[count.variant] ?? null;
    return { ...count, opens: rateOf(count.opens), clicks: rateOf(count.clicks), behind };
  });
  const counted: Group[] = JSON.parse(row.counted ?? '[]');
  const isTimed = winner_by !== 'hand' && tried_at !== null;
  return {
    state: stateOf(row),
    share,
    winner_by,
    hours,
    decided_at,
    verdict,
    winner,
    rest,
    variants,
    counted,
    measured_by,
    decides_at: isTimed ? tried_at + hours * HOUR_MS : null,
    better_than: JSON.parse(row.better_than ?? '[]'),
    worse: counted.length === 0 ? standing.worse : findWinner(counted).worse,
  };
}

function stateOf({ winner, is_cancelled, tried_at }: Row): AbTestReport['state'] {
  if (winner !== null) return 'decided';
  if (is_cancelled === 1) return 'cancelled';
  return tried_at === null ? 'sending' : 'waiting';
}

interface CountGroup {
  state: number;
  by_person: number;
  is_unmeasured: number;
}

/** The number of recipients of a page, the id of the last of them, and how many of their mails the outbox kept. */
interface Page {
  count: number;
  last: number | null;
  kept: number;
}

const OF_VARIANT =
  'FROM deliveries INDEXED BY deliveries_variant WHERE mailing_id = @mailing AND variant = @variant AND (state, by_person, is_unmeasured)';

/**
 * Counts the recipients of a variant and their results, in the order of the index. A recipient whose mail is sent or opened meanwhile moves
 * forward in that order and can be counted twice.
 */
async function countVariant(client: Database, mailingId: number, variant: number) {
  const findNext = client.prepare<[object], CountGroup>(
    `SELECT state, by_person, is_unmeasured ${OF_VARIANT} > (@state, @by_person, @is_unmeasured) ORDER BY 1, 2, 3 LIMIT 1`,
  );
  const countPage = client.prepare<[object], Page>(`
      SELECT count(*) AS count, max(id) AS last, total(reply IS ${storedSql('kept_in_outbox')}) AS kept FROM (
      SELECT id, iif(@has_kept, reply, NULL) AS reply ${OF_VARIANT} = (@state, @by_person, @is_unmeasured) AND id > @after ORDER BY id LIMIT ${PAGE_ROWS})`);
  const counts = { recipients: 0, delivered: 0, kept: 0, measured: 0, known: 0, opened: 0, clicked: 0 };
  // Replies are not in the index, so they are read only if the outbox kept mails.
  const has_kept = client
    .prepare<[number], number>(`SELECT ${keptMails('m')} > 0 FROM mailings m WHERE m.id = ?`)
    .pluck()
    .get(mailingId);
  const key = { mailing: mailingId, variant };
  let group = findNext.get({ ...key, state: -1, by_person: 0, is_unmeasured: 0 });
  while (group !== undefined) {
    let after = 0;
    let page: Page | undefined;
    do {
      page = countPage.get({ ...key, ...group, after, has_kept });
      if (group.state === DELIVERY_STATE.accepted) counts.kept += page?.kept ?? 0;
      addToCounts(counts, group, page?.count ?? 0);
      after = page?.last ?? 0;
      await setImmediate();
    } while (page?.count === PAGE_ROWS);
    group = findNext.get({ ...key, ...group });
  }
  const { recipients, delivered, kept, measured, known, opened, clicked } = counts;
  // A recipient who was counted twice may have become a success that no group has.
  const groupOf = (people: number, successes: number): Group => ({ people, successes: Math.min(people, successes) });
  return { recipients, delivered, kept, opens: groupOf(known, opened), clicks: groupOf(measured, clicked) };
}

function addToCounts(
  counts: Record<'recipients' | 'delivered' | 'measured' | 'known' | 'opened' | 'clicked', number>,
  { state, by_person, is_unmeasured }: CountGroup,
  count: number,
): void {
  counts.recipients += count;
  if (state !== DELIVERY_STATE.accepted) return;
  counts.delivered += count;
  if (is_unmeasured === 0) counts.measured += count;
  // If only image loads by a proxy are known, it is unknown whether the recipient opened the mail.
  const isProxied = (by_person & (BY_PERSON.opened | BY_PERSON.proxied)) === BY_PERSON.proxied;
  if (is_unmeasured === 0 && !isProxied) counts.known += count;
  if ((by_person & BY_PERSON.opened) !== 0) counts.opened += count;
  if ((by_person & BY_PERSON.clicked) !== 0) counts.clicked += count;
}

function rateOf({ people, successes }: Group): Rate {
  return {
    people: successes,
    rate: people === 0 ? 0 : successes / people,
    ...rateInterval({ people, successes }),
  };
}
