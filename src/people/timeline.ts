/**
 * Everything that is recorded about one person, as a list of moments. First the times of all moments are read, a little at a time, with
 * other requests answered in between; then what the newest of them are.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { isoTimestamp } from '../clock.ts';
import { mailedMoments, mailedSlices, type Place } from './mailed-moments.ts';
import { type Moment, type MomentRow, moment } from './moments.ts';
import { RECORDED } from './recorded-moments.ts';

/** The most moments of an export. */
export const MAX_MOMENTS = 20_000;
/** Moments that are read in full at once. */
const AT_ONCE = 100;

interface Range {
  /** The key of a moment: only moments before it. */
  before?: string | undefined;
  limit: number;
}

/** A moment, or where to read it. Its time is in epoch milliseconds, since numbers are sorted much faster than texts. */
interface Found {
  at: number;
  source: string;
  id: number;
  moment: Moment | null;
}

/** The newest `limit` moments of an address of the account, or those before the moment with the key `before`, newest first. */
export async function personTimeline(
  client: Database,
  accountId: number,
  addressId: number,
  range: Range,
): Promise<Moment[]> {
  const moments: Moment[] = [];
  for await (const some of timelineSlices(client, accountId, addressId, range)) moments.push(...some);
  return moments;
}

/** The same moments, some at a time. */
export async function* timelineSlices(
  client: Database,
  accountId: number,
  addressId: number,
  { before, limit }: Range,
): AsyncGenerator<Moment[]> {
  let found: Found[] = [];
  // Done after each slice: to add a few to what is in order takes a fraction of a millisecond, to sort all at the end tens of them.
  const keepNewest = () => {
    found = found.sort(newestFirst).slice(0, limit);
  };
  const given = { account: accountId, address: addressId };
  RECORDED.forEach((text, at) => {
    const source = at.toString(36);
    for (const row of client.prepare<unknown[], MomentRow>(text).all(given)) {
      const key = keyOf(row.at, source, row.id);
      if (before === undefined || key < before)
        found.push({ at: epochTime(row.at), source, id: row.id, moment: moment(key, row) });
    }
  });
  for (const slice of mailedSlices(client, accountId, addressId, limit, before === undefined ? null : bound(before))) {
    for (const { source, id, at } of slice) found.push({ at: epochTime(at), source, id, moment: null });
    keepNewest();
    await setImmediate();
  }
  keepNewest();
  for (let at = 0; at < found.length; at += AT_ONCE) {
    const some = found.slice(at, at + AT_ONCE).map((one) => ({ ...one, key: keyOf(one.at, one.source, one.id) }));
    const read = mailedMoments(
      client,
      accountId,
      some.filter((one) => one.moment === null),
    );
    yield some.flatMap((one) => one.moment ?? read.get(one.key) ?? []);
    await setImmediate();
  }
}

function newestFirst(a: Found, b: Found): number {
  return b.at - a.at || (a.source === b.source ? b.id - a.id : a.source < b.source ? 1 : -1);
}

function epochTime(at: number | string): number {
  return typeof at === 'number' ? at : Date.parse(at);
}

/** The key of a moment: different for each of a person, and ascending in time. `at` is in epoch milliseconds or an ISO timestamp. */
function keyOf(at: number | string, source: string, id: number): string {
  const time = typeof at === 'number' ? isoTimestamp(new Date(at)) : at;
  return `${time} ${source}${String(id).padStart(16, '0')}`;
}

/** Reads a key. A malformed one is before everything. */
function bound(key: string): Place {
  const [time = '', rest = ''] = key.split(' ', 2);
  return { at: Date.parse(time) || 0, source: rest.slice(0, 1), id: Number(rest.slice(1)) || 0 };
}
