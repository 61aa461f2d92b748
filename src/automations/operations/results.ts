/**
 * The operation that reads the results of an automation: whether contacts who get its mails (the treated) reach the goal more
 * often, and bring more value, than contacts in the control group, who get nothing. docs/automations.md says what is counted.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import Type, { type Static } from 'typebox';
import { HELD_OUT } from '../../delivery/queue/enrolment-state.ts';
import { type Difference, watchedDifference, watchedMeans } from '../../delivery/variants/watching.ts';
import { withinShare } from '../../http/account-share.ts';
import { integer, isoTimestampSchema, nullable } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { dayOf, isoTimestamp } from '../../time/clock.ts';
import { DAY_MS } from '../../units.ts';
import { requireAutomation } from '../automations.ts';
import { ByUtr } from './automations.ts';

/** The number of enrolments that are read without a pause, which takes a few milliseconds. */
const PAGE_ROWS = 500;
/** The number of pairs of groups that are compared: the treated with the control group. */
const PAIRS = 1;
/** The number of contacts with a value in a currency from which on their mean says something. */
const MIN_WITH_VALUE = 20;
/** The maximum number of days in the course of the shares. */
const MAX_POINTS = 60;
/** The maximum number of days that a forecast names. */
const MAX_DAYS = 365;

const comparison = {
  difference: nullable(
    Type.Number(),
    'The share or value of a contact who gets the e-mails, minus that of a contact of the control group; null if too little is known.',
  ),
  low: nullable(
    Type.Number(),
    'The lower end of the 95% interval of the difference. The interval holds however often the results are read.',
  ),
  high: nullable(Type.Number(), 'The upper end of this interval.'),
  days_more: nullable(
    integer(),
    'About how many more days it takes until the difference is certain, if it stays as large and as many contacts enter. 0: it is certain now; null: no forecast is possible.',
  ),
};
const Results = Type.Object({
  hold_out: integer({ description: 'The percentage of entering contacts who get nothing now.' }),
  since: nullable(
    isoTimestampSchema(),
    'Contacts whose first entry was after this time are compared; null if the automation never had a control group.',
  ),
  treated: integer({ description: 'The number of contacts who entered for the first time and get the e-mails.' }),
  held_out: integer({
    description: 'The number of contacts of the control group, who entered for the first time and get nothing.',
  }),
  goal: nullable(
    Type.Object({
      treated: integer({ description: 'The number of contacts with the e-mails who reached the goal.' }),
      held_out: integer({ description: 'The number of contacts of the control group who reached the goal.' }),
      ...comparison,
      days: Type.Array(
        Type.Object({
          day: Type.String({ description: 'YYYY-MM-DD, UTC.' }),
          treated: Type.Number({
            description: 'The share of the contacts with the e-mails who had reached the goal by the end of the day.',
          }),
          held_out: Type.Number({ description: 'The same share in the control group.' }),
          low: Type.Number({ description: 'The lower end of the interval of the difference on this day.' }),
          high: Type.Number({ description: 'The upper end of this interval.' }),
        }),
        {
          description: `The course of the shares: at most ${MAX_POINTS} days, evenly spread, from the first day with contacts in both groups to today.`,
        },
      ),
    }),
    'The contacts of both groups who reached the goal after they entered; null if the automation has no goal.',
  ),
  values: Type.Array(
    Type.Object({
      currency: Type.String({
        description: 'The code of the currency (ISO 4217); empty for events with a value but no currency.',
      }),
      treated: Type.Number({
        description: 'The value of all events of the contacts with the e-mails since they entered.',
      }),
      held_out: Type.Number({ description: 'The same value in the control group.' }),
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

/** What is counted of a group of contacts. */
interface Counts {
  people: number;
  /** The number of contacts who reached the goal. */
  reached: number;
  /** The number of contacts who entered on each day. The keys are days since 1970 (UTC). */
  enteredOn: Map<number, number>;
  /** The number of contacts who reached the goal on each day. The keys are days since 1970 (UTC). */
  reachedOn: Map<number, number>;
  /** For each currency the number of contacts with a value (`givers`), and the sum of their values and of the squares of these values. */
  values: Map<string, { givers: number; sum: number; squares: number }>;
}

const newCounts = (): Counts => ({
  people: 0,
  reached: 0,
  enteredOn: new Map(),
  reachedOn: new Map(),
  values: new Map(),
});

/** Returns the number of the UTC day of a moment, counted from 1970-01-01. */
const dayNumber = (moment: number) => Math.floor(moment / DAY_MS);
const addTo = (counts: Map<number, number>, day: number) => counts.set(day, (counts.get(day) ?? 0) + 1);

function comparedGoal(treated: Counts, held: Counts, elapsed: number) {
  const group = ({ people, reached: successes }: Counts) => ({ people, successes });
  const isKnown = treated.people > 0 && held.people > 0;
  const difference = isKnown ? watchedDifference(group(treated), group(held), PAIRS) : null;
  return { treated: treated.reached, held_out: held.reached, ...compared(difference, elapsed) };
}

/**
 * Returns the shares of both groups that had reached the goal at the end of each day, from the first day with contacts in both groups.
 * `now`: epoch milliseconds.
 */
function daysOf(treated: Counts, held: Counts, now: number) {
  if (treated.people === 0 || held.people === 0) return [];
  const first = Math.max(...[treated, held].map(({ enteredOn }) => Math.min(...enteredOn.keys())));
  const last = dayNumber(now);
  // The clock was set back since the first entry.
  if (last < first) return [];
  const step = Math.ceil((last - first + 1) / MAX_POINTS);
  const upTo = (counts: Map<number, number>, end: number) =>
    [...counts].reduce((sum, [day, count]) => sum + (day <= end ? count : 0), 0);
  const groupOn = ({ enteredOn, reachedOn }: Counts, day: number) => ({
    people: upTo(enteredOn, day),
    successes: upTo(reachedOn, day),
  });
  const days = Array.from({ length: Math.ceil((last - first + 1) / step) }, (_, at) => last - at * step).reverse();
  return days.map((day) => {
    const treatedOn = groupOn(treated, day);
    const heldOn = groupOn(held, day);
    const { low, high } = watchedDifference(treatedOn, heldOn, PAIRS);
    return {
      day: dayOf(day * DAY_MS),
      treated: treatedOn.successes / treatedOn.people,
      held_out: heldOn.successes / heldOn.people,
      low,
      high,
    };
  });
}

function comparedValues(currency: string, treated: Counts, held: Counts, elapsed: number) {
  const valuesOf = ({ people, values }: Counts) => ({
    people,
    ...(values.get(currency) ?? { givers: 0, sum: 0, squares: 0 }),
  });
  const treatedValues = valuesOf(treated);
  const heldValues = valuesOf(held);
  const isKnown = treatedValues.givers + heldValues.givers >= MIN_WITH_VALUE;
  return {
    treated: treatedValues.sum,
    held_out: heldValues.sum,
    ...compared(isKnown ? watchedMeans(treatedValues, heldValues) : null, elapsed),
  };
}

/** Returns a difference in the form of the API. `elapsed` is the number of days since the first entry that counts. */
function compared(measured: Difference | null, elapsed: number) {
  if (measured === null) return { difference: null, low: null, high: null, days_more: null };
  const { difference, low, high } = measured;
  if (low > 0 || high < 0) return { ...measured, days_more: 0 };
  // On the first day, nobody knows how many contacts enter per day. A difference of 0 never becomes certain.
  if (elapsed < 1 || difference === 0) return { ...measured, days_more: null };
  // The interval becomes half as wide with four times as many contacts, which takes four times as many days.
  const days = Math.ceil(elapsed * (((high - low) / (high + low)) ** 2 - 1));
  return { ...measured, days_more: days <= MAX_DAYS ? Math.max(1, days) : null };
}

/** The run of a contact in the automation. Times are epoch milliseconds; `goal_at` is null if the contact has not reached the goal. */
interface Entry {
  address_id: number;
  run: number;
  entered_at: number;
  is_held: 0 | 1;
  goal_at: number | null;
}

/**
 * Counts the contacts whose first entry was at or after `since` (epoch milliseconds), and of these the contacts who reached the goal after
 * it, and the value of their events after it. Counts in pages, so that other requests are handled in between.
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
  const groupOf = ({ is_held }: { is_held: 0 | 1 }) => (is_held === 1 ? held : treated);
  let last: Pick<Entry, 'address_id' | 'run'> | undefined = { address_id: 0, run: 0 };
  while (last !== undefined) {
    const rows: Entry[] = page.all({ automation, address: last.address_id, run: last.run, held: HELD_OUT });
    const first = rows.filter(({ run, entered_at }) => run === 1 && entered_at >= since);
    for (const entry of first) {
      const counts = groupOf(entry);
      counts.people++;
      addTo(counts.enteredOn, dayNumber(entry.entered_at));
      if (entry.goal_at === null) continue;
      counts.reached++;
      addTo(counts.reachedOn, dayNumber(entry.goal_at));
    }
    for (const { currency, value, ...contact } of values.all(JSON.stringify(first))) {
      const { values: groupValues } = groupOf(contact);
      const { givers, sum, squares } = groupValues.get(currency) ?? { givers: 0, sum: 0, squares: 0 };
      groupValues.set(currency, { givers: givers + 1, sum: sum + value, squares: squares + value ** 2 });
    }
    last = rows.length < PAGE_ROWS ? undefined : rows.at(-1);
    await setImmediate();
  }
  return { treated, held };
}
