/** The events of an endpoint that were read and are not done: which may be sent now, and up to where all are done. */
import type { StoredEvent } from './store.ts';

/** The most events between the position and the last one read. */
const MAX_EVENTS = 1000;

export interface Item {
  event: StoredEvent;
  /** Whether it was taken, is not asked for, or was put among those that wait. */
  isDone: boolean;
}

export class EventWindow {
  /** The last event before the first that is not done. */
  position: number;
  readTo: number;
  #items: Item[] = [];
  #ready: Item[] = [];
  /** Of each lane on its way, its items; the first is ready or being sent. */
  readonly #lanes = new Map<number, Item[]>();

  constructor(position: number) {
    this.position = position;
    this.readTo = position;
  }

  /** How many events may be sent now. */
  get readyCount(): number {
    return this.#ready.length;
  }

  /** Whether so many events more have room. */
  hasRoom(count: number): boolean {
    this.advance();
    return this.#items.length + count <= MAX_EVENTS;
  }

  /** Adds the next event; one that is done is only passed. */
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

  /** Takes the next event that may be sent. */
  next(): Item | undefined {
    return this.#ready.shift();
  }

  /** To be called when an event was taken: the next of its lane may be sent. */
  taken(item: Item): void {
    const { lane } = item.event;
    item.isDone = true;
    const items = this.#lanes.get(lane) ?? [];
    items.shift();
    const [next] = items;
    if (next === undefined) this.#lanes.delete(lane);
    else this.#ready.push(next);
  }

  /** To be called when an event was not taken: it and those behind it in its lane are done here; gives those behind it. */
  failed(item: Item): StoredEvent[] {
    const { lane } = item.event;
    const items = this.#lanes.get(lane) ?? [item];
    this.#lanes.delete(lane);
    for (const one of items) one.isDone = true;
    return items.filter((one) => one !== item).map(({ event }) => event);
  }

  /** Moves the position to the last event before which all are done. */
  advance(): void {
    const open = this.#items.findIndex(({ isDone }) => !isDone);
    const done = open === -1 ? this.#items.length : open;
    const last = this.#items[done - 1];
    if (last === undefined) return;
    this.position = last.event.id;
    this.#items.splice(0, done);
  }

  /** Drops the last events, up to one that is done, while none is being sent: they are read again later. */
  forgetUnsent(): void {
    this.advance();
    const lastDone = this.#items.findLastIndex(({ isDone }) => isDone);
    this.readTo = this.#items[lastDone]?.event.id ?? this.position;
    this.#items.splice(lastDone + 1);
    const kept = new Set(this.#items);
    this.#ready = this.#ready.filter((item) => kept.has(item));
    for (const [lane, items] of this.#lanes) {
      const still = items.filter((item) => kept.has(item));
      if (still.length === 0) this.#lanes.delete(lane);
      else this.#lanes.set(lane, still);
    }
  }
}
