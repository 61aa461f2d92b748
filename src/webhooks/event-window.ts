/**
 * The window of an endpoint's events: the events that were read, from the first one that is not done. The window knows which events may
 * be sent now: the first event of each lane that is not done.
 */
import type { StoredEvent } from './store.ts';

/** The maximum number of events between the position and the last event read. */
const MAX_EVENTS = 1000;

/** An event in the window. */
export interface Item {
  event: StoredEvent;
  /** True if the event succeeded, is not asked for, or was put among the waiting events. */
  isDone: boolean;
}

export class EventWindow {
  /** The id of the last event before the first one that is not done. */
  position: number;
  /** The id of the last event that was read. */
  readTo: number;
  #items: Item[] = [];
  /** The events that may be sent now. */
  #ready: Item[] = [];
  /** The events that are not done, by lane. The first of a lane is ready or being sent. */
  readonly #lanes = new Map<number, Item[]>();

  constructor(position: number) {
    this.position = position;
    this.readTo = position;
  }

  /** Returns how many events may be sent now. */
  get readyCount(): number {
    return this.#ready.length;
  }

  /** Returns true if there is room for this number of further events. Drops the events that are done first. */
  hasRoom(count: number): boolean {
    this.advance();
    return this.#items.length + count <= MAX_EVENTS;
  }

  /** Adds the next event. An event that is done already is never sent. */
  add(item: Item): void {
    this.readTo = item.event.id;
    this.#items.push(item);
    if (item.isDone) return;
    const lane = this.#lanes.get(item.event.lane);
    if (lane !== undefined) lane.push(item);
    else {
      this.#lanes.set(item.event.lane, [item]);
      this.#ready.push(item);
    }
  }

  /** Removes and returns the next event that may be sent; undefined if there is none. */
  next(): Item | undefined {
    return this.#ready.shift();
  }

  /** Call this when an event has succeeded. The next event of its lane may be sent then. */
  succeeded(item: Item): void {
    const { lane } = item.event;
    item.isDone = true;
    const items = this.#lanes.get(lane) ?? [];
    items.shift();
    const [next] = items;
    if (next === undefined) this.#lanes.delete(lane);
    else this.#ready.push(next);
  }

  /**
   * Call this when an event has failed. This event and the later events of its lane are done, because the caller stores them as
   * waiting events. Returns the later events.
   */
  failed(item: Item): StoredEvent[] {
    const { lane } = item.event;
    const items = this.#lanes.get(lane) ?? [item];
    this.#lanes.delete(lane);
    for (const inLane of items) inLane.isDone = true;
    return items.filter((inLane) => inLane !== item).map(({ event }) => event);
  }

  /** Moves the position to the last event before the first one that is not done, and drops the events up to the position. */
  advance(): void {
    const firstOpen = this.#items.findIndex(({ isDone }) => !isDone);
    const doneCount = firstOpen === -1 ? this.#items.length : firstOpen;
    const lastDone = this.#items[doneCount - 1];
    if (lastDone === undefined) return;
    this.position = lastDone.event.id;
    this.#items.splice(0, doneCount);
  }

  /**
   * Drops all events after the last one that is done, so that they are read again later. Call this only while no event is
   * being sent.
   */
  forgetUnsent(): void {
    this.advance();
    const lastDone = this.#items.findLastIndex(({ isDone }) => isDone);
    this.readTo = this.#items[lastDone]?.event.id ?? this.position;
    this.#items.splice(lastDone + 1);
    const kept = new Set(this.#items);
    this.#ready = this.#ready.filter((item) => kept.has(item));
    for (const [lane, items] of this.#lanes) {
      const keptInLane = items.filter((item) => kept.has(item));
      if (keptInLane.length === 0) this.#lanes.delete(lane);
      else this.#lanes.set(lane, keptInLane);
    }
  }
}
