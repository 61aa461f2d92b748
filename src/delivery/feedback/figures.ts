/** What the recipients of a mailing add to its counters by opening and clicking. */
import type { Database } from 'better-sqlite3';
import { BY_PERSON, DELIVERY_STATE } from '../../database/schema/index.ts';

/** What a delivery says of opens and clicks. */
export interface Reading {
  state: number;
  opened_at: number | null;
  opens: number;
  clicks: number;
  machine_hits: number;
  by_person: number;
}

const NONE = { unique_opens: 0, total_opens: 0, unique_clicks: 0, people_opens: 0, people_clicks: 0, proxied_only: 0 };
type Counter = keyof typeof NONE;
const COUNTERS = Object.keys(NONE) as Counter[];

/** Changes of counters by mailing. */
export type FigureChanges = Map<number, Record<Counter, number>>;

/** The changes of a mailing, zeros at first. */
export function changesOf(changes: FigureChanges, mailing: number): Record<Counter, number> {
  const known = changes.get(mailing) ?? { ...NONE };
  changes.set(mailing, known);
  return known;
}

/** Adds what a delivery of a mailing counts for now, and takes away what it counted for before. */
export function addChange(changes: FigureChanges, mailing: number, before: Reading, after: Reading): void {
  const [old, now] = [figuresOf(before), figuresOf(after)];
  const change = changesOf(changes, mailing);
  for (const counter of COUNTERS) change[counter] += now[counter] - old[counter];
}

/** An open of a mail that came back does not count for recipients, so that `unique_opens` never exceeds `delivered`. */
function figuresOf({ state, opened_at, opens, clicks, by_person }: Reading): Record<Counter, number> {
  const isAccepted = state === DELIVERY_STATE.accepted;
  return {
    unique_opens: Number(isAccepted && opened_at !== null),
    total_opens: opens,
    unique_clicks: Number(clicks > 0),
    people_opens: Number(isAccepted && (by_person & BY_PERSON.opened) !== 0),
    people_clicks: Number((by_person & BY_PERSON.clicked) !== 0),
    proxied_only: Number(isAccepted && by_person === BY_PERSON.proxied),
  };
}

/** Gives a function that writes changes of counters. Call it in the transaction that changes the deliveries. */
export function figureCounter(client: Database): (changes: FigureChanges) => void {
  const sets = COUNTERS.map((counter) => `${counter} = ${counter} + @${counter}`).join(', ');
  const count = client.prepare<[object]>(`UPDATE mailings SET ${sets} WHERE id = @mailing`);
  return (changes) => {
    for (const [mailing, change] of changes) {
      if (COUNTERS.some((counter) => change[counter] !== 0)) count.run({ ...change, mailing });
    }
  };
}
