/** Counts the events of mailings by hour, by link and by device. */

import type { Database } from 'better-sqlite3';
import { BY_PERSON, DELIVERY_STATE, type deliveries, MADE_BY, type MadeBy } from '../../database/schema/index.ts';
import { HOUR_MS } from '../../units.ts';

/** An event of a mailing. */
export interface CountedEvent {
  mailing: number;
  kind: 'open' | 'click' | 'bounce' | 'unsubscribe';
  /** The number of the clicked link; null for an event other than a click. */
  link: number | null;
  by: MadeBy;
  /** The number of the device of an open or a click; null if the device was not recorded. */
  device: number | null;
  /** The time of the event in epoch milliseconds. */
  at: number;
  /** -1 subtracts the event from the counts, because someone else turned out to have made it. If absent, the event is added. */
  times?: -1;
}

/**
 * Returns a function that counts events. It writes one row for each hour, link and device, so call it once, with all events, in the
 * transaction that adds them.
 */
export function eventCounter(client: Database): (events: readonly CountedEvent[]) => void {
  const countHour = client.prepare<[ReturnType<typeof emptyHour>]>(`
    INSERT INTO mailing_hours (mailing_id, hour, opens, machine_opens, proxied_opens, clicks, machine_clicks, bounces, unsubscribes)
    VALUES (@mailing, @hour, @opens, @machine_opens, @proxied_opens, @clicks, @machine_clicks, @bounces, @unsubscribes)
    ON CONFLICT DO UPDATE SET opens = opens + excluded.opens, machine_opens = machine_opens + excluded.machine_opens,
      proxied_opens = proxied_opens + excluded.proxied_opens,
      clicks = clicks + excluded.clicks, machine_clicks = machine_clicks + excluded.machine_clicks,
      bounces = bounces + excluded.bounces, unsubscribes = unsubscribes + excluded.unsubscribes`);
  const countLink = client.prepare<[ReturnType<typeof emptyLink>]>(`
    UPDATE links SET clicks = clicks + @clicks, machine_clicks = machine_clicks + @machine_clicks
    WHERE mailing_id = @mailing AND number = @link`);
  const countDevice = client.prepare<[ReturnType<typeof emptyDevice>]>(`
    INSERT INTO mailing_devices (mailing_id, device, opens, clicks) VALUES (@mailing, @device, @opens, @clicks)
    ON CONFLICT DO UPDATE SET opens = opens + excluded.opens, clicks = clicks + excluded.clicks`);

  return (events) => {
    const hours = new Map<string, ReturnType<typeof emptyHour>>();
    const links = new Map<string, ReturnType<typeof emptyLink>>();
    const devices = new Map<string, ReturnType<typeof emptyDevice>>();
    for (const { mailing, kind, link, by, device, at, times = 1 } of events) {
      const isMachine = by === MADE_BY.machine;
      const hour = at - (at % HOUR_MS);
      const ofHour = getOrCreate(hours, `${mailing} ${hour}`, () => emptyHour(mailing, hour));
      ofHour[`${kind}s`] += times;
      if (isMachine && kind === 'open') ofHour.machine_opens += times;
      if (by === MADE_BY.proxied) ofHour.proxied_opens += times;
      if (by === MADE_BY.person && device !== null && (kind === 'open' || kind === 'click'))
        getOrCreate(devices, `${mailing} ${device}`, () => emptyDevice(mailing, device))[`${kind}s`] += times;
      if (kind !== 'click') continue;
      if (isMachine) ofHour.machine_clicks += times;
      if (link === null) continue;
      const ofLink = getOrCreate(links, `${mailing} ${link}`, () => emptyLink(mailing, link));
      ofLink.clicks += times;
      if (isMachine) ofLink.machine_clicks += times;
    }
    for (const hour of hours.values()) countHour.run(hour);
    for (const link of links.values()) countLink.run(link);
    for (const device of devices.values()) countDevice.run(device);
  };
}

function emptyHour(mailing: number, hour: number) {
  return {
    mailing,
    hour,
    opens: 0,
    machine_opens: 0,
    proxied_opens: 0,
    clicks: 0,
    machine_clicks: 0,
    bounces: 0,
    unsubscribes: 0,
  };
}

function emptyLink(mailing: number, link: number) {
  return { mailing, link, clicks: 0, machine_clicks: 0 };
}

function emptyDevice(mailing: number, device: number) {
  return { mailing, device, opens: 0, clicks: 0 };
}

function getOrCreate<T>(values: Map<string, T>, key: string, make: () => T): T {
  const value = values.get(key) ?? make();
  values.set(key, value);
  return value;
}

/** The columns of a delivery that record opens and clicks. */
export type Engagement = Pick<
  typeof deliveries.$inferSelect,
  'state' | 'opened_at' | 'opens' | 'clicks' | 'machine_hits' | 'by_person'
>;

const NO_CHANGE = {
  unique_opens: 0,
  total_opens: 0,
  unique_clicks: 0,
  people_opens: 0,
  people_clicks: 0,
  proxied_only: 0,
};
type Counter = keyof typeof NO_CHANGE;
const COUNTERS = Object.keys(NO_CHANGE) as Counter[];

/** The changes of the counters of mailings, by the id of the mailing. */
export type CounterChanges = Map<number, Record<Counter, number>>;

/** Returns the changes of a mailing's counters, which begin at zero. */
export function changesOf(changes: CounterChanges, mailing: number): Record<Counter, number> {
  const known = changes.get(mailing) ?? { ...NO_CHANGE };
  changes.set(mailing, known);
  return known;
}

/** Adds the difference between a delivery's new and old contribution to the counters of its mailing. */
export function addChange(changes: CounterChanges, mailing: number, before: Engagement, after: Engagement): void {
  const [old, now] = [contributionOf(before), contributionOf(after)];
  const change = changesOf(changes, mailing);
  for (const counter of COUNTERS) change[counter] += now[counter] - old[counter];
}

/**
 * Returns what a delivery contributes to the counters. Opens of bounced mail do not count as unique, so that `unique_opens` never exceeds
 * `delivered`.
 */
function contributionOf({ state, opened_at, opens, clicks, by_person }: Engagement): Record<Counter, number> {
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

/** Returns a function that writes changes of counters. Call it in the transaction that changes the deliveries. */
export function counterWriter(client: Database): (changes: CounterChanges) => void {
  const sets = COUNTERS.map((counter) => `${counter} = ${counter} + @${counter}`).join(', ');
  const count = client.prepare<[object]>(`UPDATE mailings SET ${sets} WHERE id = @mailing`);
  return (changes) => {
    for (const [mailing, change] of changes) {
      if (COUNTERS.some((counter) => change[counter] !== 0)) count.run({ ...change, mailing });
    }
  };
}
