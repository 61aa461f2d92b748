/**
 * The operation that reads the results of an automation: whether contacts who get its mails reach the goal more often,
 * and bring more value, than contacts in the control group, who get nothing. docs/automations.md says what is counted.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import { HELD_OUT } from '../../delivery/queue/enrolment-state.ts';
import { type Difference, watchedDifference, watchedMeans } from '../../delivery/variants/watching.ts';
import { withinShare } from '../../http/account-share.ts';
import { integer, isoTimestampSchema, nullable } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { requireAutomation } from '../automations.ts';
import { ByUtr } from './automations.ts';

const DAY_MS = 86_400_000;

/** The number of runs read without a pause: a few milliseconds. */
const PAGE_ROWS = 500;
/** With fewer contacts who have a value in a currency, their mean says nothing. */
const LEAST_WITH_VALUE = 20;
/** The number of days of the shares over time. */
const MOST_POINTS = 60;
/** The maximum number of days that a forecast names. */
const MOST_DAYS = 365;

const comparison = {
  difference: nullable(
    Type.Number(),
    'Of a contact who gets the e-mails, less that of a contact of the control group; null: too little is known.',
  ),
  low: nullable(Type.Number(), 'Where its interval of 95% begins, which holds at all readings together.'),
  high: nullable(Type.Number(), 'Where it ends.'),
  days_more: nullable(
    integer(),
    'About how many days more show a difference, if it stays as large and as many enter; 0: it is clear; null: it cannot be foretold.',
  ),
};
const Results = Type.Object({
  hold_out: integer({ description: 'How many of a hundred contacts who enter get nothing now.' }),
  since: nullable(
    isoTimestampSchema(),
    'Contacts who first entered since then are compared; null: never a control group.',
  ),
  treated: integer({ description: 'Contacts who entered for the first time and get the e-mails.' }),
  held_out: integer({ description: 'Contacts who would have entered for the first time, and get nothing.' }),
  goal: nullable(
    Type.Object({
      treated: integer({ description: 'How many of the treated reached the goal.' }),
      held_out: integer({ description: 'How many of the control group reached it.' }),
      ...comparison,
      days: Type.Array(
        Type.Object({
          day: Type.String({ description: 'YYYY-MM-DD, UTC.' }),
          treated: Type.Number({
            description: 'The share of the treated so far that had reached the goal by the end of the day.',
          }),
          held_out: Type.Number({ description: 'The same of the control group.' }),
          low: Type.Number({ description: 'Where the interval of the difference began.' }),
          high: Type.Number({ description: 'Where it ended.' }),
        }),
        {
          description: `How the shares came about: at most ${MOST_POINTS} days, evenly spread, from the first with contacts in both groups to today.`,
        },
      ),
    }),
    'The shares that reached the goal since they entered; null: the automation has none.',
  ),
  values: Type.Array(
    Type.Object({
      currency: Type.String({ description: 'ISO 4217; empty: events with a value and no currency.' }),
      treated: Type.Number({ description: 'The value of all events of the treated since they entered.' }),
      held_out: Type.Number({ description: 'The same of the control group.' }),
      ...comparison,
    }),
    { description: 'The value of events per contact, by currency.' },
  ),
});
/** The results of an automation. */
export type Results = Static<typeof Results>;

export const readResults = operation({
  name: 'Read the results of an automation against its control group (addition)',
  role: 'viewer',
  input: ByUtr,
  output: Type.Object({ results: Type.Object(Results.properties, { description: 'The results so far.' }) }),
  async run({ db, clock, accountId }, { utr }) {
    const { id, hold_out, hold_out_since: since, goal_segment_id: goal } = requireAutomation(db, accountId, utr);
    const { treated, held } =
      since === 0
        ? { treated: newCounts(), held: newCounts() }
        : await withinShare(accountId, () => countResults(db.$client, id, since));
    const now = clock.now().getTime();
    const elapsed = (now - since) / DAY_MS;
    const currencies = [...new Set([...treated.values.keys(), ...held.values.keys()])].sort();
    const results = {
      hold_out,
      since: since === 0 ? null : isoTimestamp(new Date(since)),
      treated: treated.people,
      held_out: held.people,
      goal: goal === null ? null : { ...comparedGoal(treated, held, elapsed), days: daysOf(treated, held, now) },
      values: currencies.map((currency) => ({ currency, ...comparedValues(currency, treated, held, elapsed) })),
    };
    return { results };
  },
});

interface Counts {
  people: number;
  reached: number;
  /** How many entered and how many reached the goal on each day, by the number of the day since 1970, UTC. */
  enteredOn: Map<number, number>;
  reachedOn: Map<number, number>;
  /** By currency. `givers` is the number of contacts with a value. */
  values: Map<string, { givers: number; sum: number; squares: number }>;
}

const newCounts = (): Counts => ({
  people: 0,
  reached: 0,
  enteredOn: new Map(),
  reachedOn: new Map(),
  values: new Map(),
});

const dayOf = (moment: number) => Math.floor(moment / DAY_MS);
const addTo = (counts: Map<number, number>, day: number) => counts.set(day, (counts.get(day) ?? 0) + 1);

function comparedGoal(treated: Counts, held: Counts, elapsed: number) {
  const group = ({ people, reached: successes }: Counts) => ({ people, successes });
  const isKnown = treated.people > 0 && held.people > 0;
  const difference = isKnown ? watchedDifference(group(treated), group(held), 1) : null;
  return { treated: treated.reached, held_out: held.reached, ...compared(difference, elapsed) };
}

/**
 * Returns the shares that had reached the goal at the end of each day, from the first day with contacts in both groups.
 * `now`: epoch milliseconds.
 */
function daysOf(treated: Counts, held: Counts, now: number) {
  const entries = [treated, held].map(({ enteredOn }) => [...enteredOn.keys()]);
  if (entries.some((days) => days.length === 0)) return [];
  const first = Math.max(...entries.map((days) => days.reduce((least, day) => Math.min(least, day))));
  const last = dayOf(now);
  // The clock was set back since.
  if (last < first) return [];
  const step = Math.ceil((last - first + 1) / MOST_POINTS);
  const upTo = (counts: Map<number, number>, end: number) =>
    [...counts].reduce((sum, [day, count]) => sum + (day <= end ? count : 0), 0);
  const groupOn = ({ enteredOn, reachedOn }: Counts, day: number) => ({
    people: upTo(enteredOn, day),
    successes: upTo(reachedOn, day),
  });
  const days = Array.from({ length: Math.ceil((last - first + 1) / step) }, (_, at) => last - at * step).reverse();
  return days.map((day) => {
    const [theirs, others] = [groupOn(treated, day), groupOn(held, day)] as const;
    const { low, high } = watchedDifference(theirs, others, 1);
    return {
      day: isoTimestamp(new Date(day * DAY_MS)).slice(0, 'YYYY-MM-DD'.length),
      treated: theirs.successes / theirs.people,
      held_out: others.successes / others.people,
      low,
      high,
    };
  });
}

function comparedValues(currency: string, treated: Counts, held: Counts, elapsed: number) {
  const of = ({ people, values }: Counts) => ({
    people,
    ...(values.get(currency) ?? { givers: 0, sum: 0, squares: 0 }),
  });
  const [first, second] = [of(treated), of(held)] as const;
  const isKnown = first.givers + second.givers >= LEAST_WITH_VALUE;
  return {
    treated: first.sum,
    held_out: second.sum,
    ...compared(isKnown ? watchedMeans(first, second) : null, elapsed),
  };
}

/**
 * Returns a difference as the API has it. An interval becomes about half as wide with four times the contacts, so in
 * four times the days. Less than a day is no pace, and without any difference nothing says how many days it takes.
 */
function compared(measured: Difference | null, elapsed: number) {
  if (measured === null) return { difference: null, low: null, high: null, days_more: null };
  const { difference, low, high } = measured;
  if (low > 0 || high < 0) return { ...measured, days_more: 0 };
  if (elapsed < 1 || difference === 0) return { ...measured, days_more: null };
  const days = Math.ceil(elapsed * (((high - low) / (high + low)) ** 2 - 1));
  return { ...measured, days_more: days <= MOST_DAYS ? Math.max(1, days) : null };
}

interface Entry {
  address_id: number;
  run: number;
  entered_at: number;
  is_held: 0 | 1;
  goal_at: number | null;
}

/**
 * Counts the contacts who first entered since `since`, epoch milliseconds, each from then on: whether they reached the
 * goal, and the value of their events. Counts in pages, so that other requests can be handled in between.
 */
async function countResults(client: Database, automation: number, since: number) {
  const page = client.prepare<[object], Entry>(`SELECT address_id, run, entered_at, reason IS @held AS is_held, goal_at
      FROM enrolments INDEXED BY enrolments_person
      WHERE automation_id = @automation AND (address_id, run) > (@address, @run) ORDER BY address_id, run LIMIT ${PAGE_ROWS}`);
  const values = client.prepare<[string], { is_held: 0 | 1; currency: string; value: number }>(`
      SELECT p.value ->> 'is_held' AS is_held, ifnull(v.currency, '') AS currency, sum(v.value) AS value
      FROM json_each(?) p CROSS JOIN contact_events v INDEXED BY contact_events_person
        ON v.address_id = p.value ->> 'address_id' AND v.happened_at >= p.value ->> 'entered_at'
      WHERE v.value IS NOT NULL GROUP BY v.address_id, 2`);
  const [treated, held] = [newCounts(), newCounts()];
  const of = ({ is_held }: { is_held: 0 | 1 }) => (is_held === 1 ? held : treated);
  let last: Pick<Entry, 'address_id' | 'run'> | undefined = { address_id: 0, run: 0 };
  while (last !== undefined) {
    const rows: Entry[] = page.all({ automation, address: last.address_id, run: last.run, held: HELD_OUT });
    const first = rows.filter(({ run, entered_at }) => run === 1 && entered_at >= since);
    for (const entry of first) {
      const counts = of(entry);
      counts.people++;
      addTo(counts.enteredOn, dayOf(entry.entered_at));
      if (entry.goal_at === null) continue;
      counts.reached++;
      addTo(counts.reachedOn, dayOf(entry.goal_at));
    }
    for (const { currency, value, ...who } of values.all(JSON.stringify(first))) {
      const before = of(who).values.get(currency) ?? { givers: 0, sum: 0, squares: 0 };
      const { givers, sum, squares } = before;
      of(who).values.set(currency, { givers: givers + 1, sum: sum + value, squares: squares + value ** 2 });
    }
    last = rows.length < PAGE_ROWS ? undefined : rows.at(-1);
    await setImmediate();
  }
  return { treated, held };
}
