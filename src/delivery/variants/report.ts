/** The report of an A/B test: its variants side by side, each rate with its interval, and what was decided. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { prepared } from '../../database/prepared.ts';
import { type AbTest, type abTests, DELIVERY_STATE, type Variant } from '../../database/schema/index.ts';
import { BY_PERSON } from '../feedback/by-person.ts';
import { type Group, rateInterval } from './statistics.ts';

/** A rate from 0 to 1 with its interval of 95 %. */
interface Rate {
  people: number;
  rate: number;
  low: number;
  high: number;
}

interface ReportedVariant extends Variant {
  variant: number;
  /** The recipients of the test group who are to get it, and how many of them got it. */
  recipients: number;
  delivered: number;
  opens: Rate;
  clicks: Rate;
}

export interface AbTestReport {
  /** sending: some of the test group were not tried yet; waiting: for the time or for a choice. */
  state: 'sending' | 'waiting' | 'decided' | 'cancelled';
  share: number;
  winner_by: AbTest['winner_by'];
  hours: number;
  /** When it is decided, in epoch milliseconds; null if that is not known, and when somebody chooses. */
  decides_at: number | null;
  decided_at: number | null;
  verdict: typeof abTests.$inferSelect.verdict;
  winner: number | null;
  better_than: number[];
  /** What was counted of each variant when it was decided; empty before, and where somebody chose. */
  counted: Group[];
  /** How many recipients get the winner only. */
  rest: number;
  variants: ReportedVariant[];
}

type Row = Omit<typeof abTests.$inferSelect, 'variants' | 'better_than' | 'counted'> &
  Record<'variants' | 'better_than' | 'counted', string | null> & { is_cancelled: 0 | 1 };

const HOUR_MS = 3_600_000;

/** The report of a mailing's test; null if it has none. The variants are counted one after the other, so that other requests come between them. */
export async function abTestReport(client: Database, mailingId: number): Promise<AbTestReport | null> {
  const row = prepared<[number], Row>(
    client,
    "SELECT t.*, m.state = 'cancelled' AS is_cancelled FROM ab_tests t CROSS JOIN mailings m ON m.id = t.mailing_id WHERE t.mailing_id = ?",
  ).get(mailingId);
  if (row === undefined) return null;
  const listed: Variant[] = JSON.parse(row.variants ?? '[]');
  const variants: ReportedVariant[] = [];
  for (const [variant, own] of listed.entries()) {
    variants.push({ ...own, variant, ...countVariant(client, mailingId, variant) });
    await setImmediate();
  }
  const { share, winner_by, hours, tried_at, decided_at, verdict, winner, rest } = row;
  const isTimed = winner_by !== 'hand' && tried_at !== null;
  return {
    state: stateOf(row),
    ...{ share, winner_by, hours, decided_at, verdict, winner, rest, variants },
    decides_at: isTimed ? tried_at + hours * HOUR_MS : null,
    better_than: JSON.parse(row.better_than ?? '[]'),
    counted: JSON.parse(row.counted ?? '[]'),
  };
}

function stateOf({ winner, is_cancelled, tried_at }: Row): AbTestReport['state'] {
  if (winner !== null) return 'decided';
  if (is_cancelled === 1) return 'cancelled';
  return tried_at === null ? 'sending' : 'waiting';
}

function countVariant(client: Database, mailingId: number, variant: number) {
  const { recipients, delivered, measured, opened, clicked } = prepared<
    [number, number],
    Record<'recipients' | 'delivered' | 'measured' | 'opened' | 'clicked', number>
  >(
    client,
    `SELECT count(*) AS recipients, ifnull(sum(is_delivered), 0) AS delivered,
      ifnull(sum(is_delivered AND NOT is_unmeasured), 0) AS measured,
      ifnull(sum(is_delivered AND by_person & ${BY_PERSON.opened} <> 0), 0) AS opened,
      ifnull(sum(is_delivered AND by_person & ${BY_PERSON.clicked} <> 0), 0) AS clicked
    FROM (SELECT state = ${DELIVERY_STATE.accepted} AS is_delivered, by_person, is_unmeasured FROM deliveries INDEXED BY deliveries_variant
      WHERE mailing_id = ? AND variant = ?)`,
  ).get(mailingId, variant) ?? { recipients: 0, delivered: 0, measured: 0, opened: 0, clicked: 0 };
  return { recipients, delivered, opens: rateOf(measured, opened), clicks: rateOf(measured, clicked) };
}

function rateOf(people: number, successes: number): Rate {
  return {
    people: successes,
    rate: people === 0 ? 0 : successes / people,
    ...rateInterval({ people, successes }),
  };
}
