/**
 * Delivers events to one endpoint. Events of one lane are sent one after the other, events of different lanes concurrently. After
 * several failures in a row the endpoint gets one event at a time until an attempt succeeds.
 */
import type { KeyObject } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { english } from '../errors/stored.ts';
import type { Clock } from '../time/clock.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../units.ts';
import type { Resolve } from './addresses.ts';
import { type DisabledCode, type Endpoint, eventIdPrefix, openSecret } from './endpoints.ts';
import { EventWindow, type Item } from './event-window.ts';
import { type Answer, MAX_CONNECTIONS, Requests } from './requests.ts';
import { secretKey, signedHeaders } from './signature.ts';
import {
  blockedLanes,
  dueEvents,
  dueManualEvents,
  type Progress,
  readEvents,
  type StoredEvent,
  type WaitingEvent,
} from './store.ts';
import { UnwrittenAttempts } from './unwritten-attempts.ts';

interface QueueDeps {
  client: Database;
  clock: Clock;
  /** True if endpoints may be in private networks. */
  allowPrivate: boolean;
  resolve?: Resolve | undefined;
  /** Returns true if another request may begin. */
  mayBegin(): boolean;
  /** Called when a request begins. */
  began(): void;
  /** Called when a request ends. */
  ended(): void;
}

/** The number of failures in a row after which an endpoint counts as failing. */
const FAILING_AFTER = 5;
/** The maximum number of events in one read. */
const READ_AT_ONCE = 200;
/** No more requests begin while the results of so many attempts are not written, for example because the disk is full. */
const MAX_UNRECORDED = 5000;

export class EndpointQueue {
  readonly #deps: QueueDeps;
  #endpoint: Endpoint;
  #requests: Requests;
  readonly #eventIdPrefix: string;
  /** The keys that sign events: the present one and, for a day after a rotation, the previous one. */
  #keys: KeyObject[] = [];
  #wantedTypes: ReadonlySet<string> = new Set();
  readonly #window: EventWindow;
  /** The number of failures in a row. */
  #failures: number;
  /** The lanes in which an event waits for a retry. */
  #blockedLanes: Set<number>;
  /** The waiting events that are being sent, or whose result is not on disk yet, by `keyOf`. */
  readonly #trying = new Set<string>();
  /** The number of running requests. */
  #running = 0;
  /** True if the account has more events than the last read returned. */
  #hasMore = false;
  // These fields collect the progress since the last record.
  readonly #attempts = new UnwrittenAttempts();
  #waits: Progress['waits'][number][] = [];
  #ended: Progress['ended'][number][] = [];
  #recovered = false;
  /** Why the endpoint must be disabled; null if it stays enabled. */
  #disable: DisabledCode | null = null;
  /** The position in the last record. */
  #recordedPosition: number;
  #isStopped = false;

  constructor(deps: QueueDeps, endpoint: Endpoint) {
    this.#deps = deps;
    this.#endpoint = endpoint;
    this.#requests = this.#open(endpoint.url);
    this.#eventIdPrefix = eventIdPrefix(deps.client);
    this.#window = new EventWindow(endpoint.position);
    this.#recordedPosition = endpoint.position;
    this.#failures = endpoint.failures;
    this.#blockedLanes = new Set(blockedLanes(deps.client, endpoint.id));
    this.update(endpoint);
  }

  /** Applies changes of the endpoint, such as a new URL or secret. */
  update(endpoint: Endpoint): void {
    if (endpoint.url !== this.#endpoint.url) {
      void this.#requests.close();
      this.#requests = this.#open(endpoint.url);
    }
    const isEnabledAgain = this.#endpoint.state === 'disabled' && endpoint.state === 'enabled';
    if (isEnabledAgain) {
      this.#failures = 0;
      // Some waiting events may have been removed while the endpoint was disabled.
      this.#blockedLanes = new Set(blockedLanes(this.#deps.client, endpoint.id));
    }
    this.#endpoint = endpoint;
    this.#wantedTypes = new Set(endpoint.events);
    const isPreviousValid = endpoint.previous_until > this.#deps.clock.now().getTime();
    this.#keys = [endpoint.sealed_secret, isPreviousValid ? endpoint.previous_sealed_secret : null]
      .map((sealed) => (sealed === null ? null : openSecret(this.#deps.client, sealed, endpoint.id)))
      .filter((secret) => secret !== null)
      .map(secretKey);
  }

  /** Begins the requests that are due and allowed. */
  fill(): void {
    if (this.#isStopped) return;
    this.#retry();
    if (!this.#takesNew()) {
      if (this.#running === 0) this.#window.forgetUnsent();
      return;
    }
    if (this.#window.readyCount < MAX_CONNECTIONS) this.#read();
    this.#send();
  }

  /** Returns the progress to write; null if there is none. Call `recorded` when it is on disk. */
  progress(): Progress | null {
    this.#window.advance();
    const attempts = this.#attempts.due(this.#deps.clock.monotonic(), this.#running === 0);
    const isEmpty = this.#attempts.count + attempts.length + this.#waits.length + this.#ended.length === 0;
    if (isEmpty && this.#window.position === this.#recordedPosition && this.#disable === null) return null;
    return {
      endpointId: this.#endpoint.id,
      position: this.#window.position,
      failures: this.#failures,
      succeededAt: this.#attempts.succeededAt,
      failedAt: this.#attempts.failedAt,
      attempts,
      waits: this.#waits,
      ended: this.#ended,
      recovered: this.#recovered,
      disable: this.#disable,
    };
  }

  /**
   * Call this when the progress is on disk, in the same turn of the event loop. `freeLanes` are the lanes in which no event waits any
   * more.
   */
  recorded(freeLanes: readonly number[]): void {
    for (const lane of freeLanes) this.#blockedLanes.delete(lane);
    if (this.#disable !== null) this.#endpoint = { ...this.#endpoint, state: 'disabled' };
    this.#recordedPosition = this.#window.position;
    for (const { event_id } of this.#waits) this.#trying.delete(keyOf(event_id, 0));
    for (const { event_id, is_manual } of this.#ended) this.#trying.delete(keyOf(event_id, is_manual));
    this.#attempts.written(this.#deps.clock.monotonic());
    this.#waits = [];
    this.#ended = [];
    this.#recovered = false;
    this.#disable = null;
  }

  /** Begins no more requests. Resolves when the running requests have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#requests.close();
  }

  #open(url: string): Requests {
    return new Requests(url, this.#deps.allowPrivate, this.#deps.resolve);
  }

  #isOff(): boolean {
    return this.#endpoint.state === 'disabled' || this.#disable !== null;
  }

  #takesNew(): boolean {
    return !this.#isOff() && !this.#isFailing();
  }

  #isFailing(): boolean {
    return this.#failures >= FAILING_AFTER;
  }

  #mayBegin(): boolean {
    const limit = this.#isFailing() ? 1 : MAX_CONNECTIONS;
    const canRecord = this.#attempts.count < MAX_UNRECORDED;
    return !this.#isStopped && canRecord && this.#running < limit && this.#deps.mayBegin();
  }

  /** Sends waiting events that are due. A disabled endpoint gets only tests and replays. */
  #retry(): void {
    if (!this.#mayBegin()) return;
    const now = this.#deps.clock.now().getTime();
    const readDue = this.#isOff() ? dueManualEvents : dueEvents;
    const due = readDue(this.#deps.client, this.#endpoint.id, now, MAX_CONNECTIONS + this.#trying.size);
    for (const event of due) {
      if (this.#trying.has(keyOf(event.id, event.is_manual))) continue;
      if (!this.#mayBegin()) return;
      this.#trying.add(keyOf(event.id, event.is_manual));
      this.#post(event, event.attempts + 1, (answer, at) => this.#retried(event, answer, at));
    }
  }

  /** Reads the account's next events into the window. Events of blocked lanes join the waiting events. */
  #read(): void {
    if (!this.#window.hasRoom(READ_AT_ONCE)) return;
    const events = readEvents(this.#deps.client, this.#endpoint.user_id, this.#window.readTo, READ_AT_ONCE);
    this.#hasMore = events.length === READ_AT_ONCE;
    for (const event of events) {
      const isWanted = this.#wantedTypes.has(event.type);
      const isBlocked = isWanted && this.#blockedLanes.has(event.lane);
      this.#window.add({ event, isDone: !isWanted || isBlocked });
      if (isBlocked) this.#wait(event, 0, null, null);
    }
  }

  /** Sends the events of the window that may be sent now. */
  #send(): void {
    while (this.#mayBegin()) {
      const item = this.#window.next();
      if (item === undefined) return;
      this.#post(item.event, 1, (answer, at) => this.#sent(item, answer, at));
    }
  }

  /** Posts an event and logs the attempt. Calls `onAnswer` with the result and the time of the attempt in epoch milliseconds. */
  #post(event: StoredEvent, attempt: number, onAnswer: (answer: Answer, at: number) => void): void {
    const at = this.#deps.clock.now().getTime();
    const started = performance.now();
    const timestamp = new Date(event.created_at).toISOString();
    const body = `{"type":"${event.type}","timestamp":"${timestamp}","data":${inEnglish(event.data)}}`;
    const headers = signedHeaders(this.#keys, `${this.#eventIdPrefix}${event.id}`, at, body);
    this.#running++;
    this.#deps.began();
    this.#requests.post(headers, body, (answer) => {
      this.#running--;
      this.#deps.ended();
      const { isSuccess, status, reply } = answer;
      const took_ms = Math.round(performance.now() - started);
      const is_success = isSuccess ? 1 : 0;
      this.#attempts.add({ event_id: event.id, type: event.type, attempt, is_success, status, reply, took_ms, at });
      onAnswer(answer, at);
      if (this.#window.readyCount === 0 && this.#hasMore && this.#takesNew()) this.#read();
      if (this.#takesNew()) this.#send();
    });
  }

  /** Processes the result of the first attempt of an event. */
  #sent(item: Item, answer: Answer, at: number): void {
    this.#countResult(answer);
    if (answer.isSuccess) {
      this.#window.succeeded(item);
      return;
    }
    this.#blockedLanes.add(item.event.lane);
    this.#wait(item.event, 1, at + this.#delay(1, answer), at);
    for (const later of this.#window.failed(item)) this.#wait(later, 0, null, null);
  }

  /** Processes the result of a later attempt, a test or a replay. */
  #retried(event: WaitingEvent, answer: Answer, at: number): void {
    const { id: event_id, lane, attempts, failed_since, is_manual } = event;
    // A test or replay that succeeds shows that the endpoint works again, but a failed one says nothing about other events.
    if (is_manual === 0 || answer.isSuccess) this.#countResult(answer);
    if (answer.isSuccess || is_manual === 1) {
      this.#ended.push({ event_id, lane, is_manual });
      return;
    }
    const tries = attempts + 1;
    const since = failed_since ?? at;
    if (retryDelay(tries, 0) !== null) {
      this.#wait(event, tries, at + this.#delay(tries, answer), since);
      return;
    }
    // The event is given up if the endpoint has accepted other events since the first failure. Otherwise the endpoint itself has
    // failed for three days and is disabled.
    const acceptsOthers = (this.#endpoint.succeeded_at ?? 0) > since || !this.#isFailing();
    if (acceptsOthers) this.#ended.push({ event_id, lane, is_manual });
    else {
      this.#wait(event, tries, at, since);
      this.#disable = 'failing';
    }
  }

  #countResult({ isSuccess, status }: Answer): void {
    if (isSuccess) {
      this.#recovered ||= this.#isFailing();
      this.#failures = 0;
    } else this.#failures++;
    if (status === 410) this.#disable = 'gone';
  }

  /** Returns the milliseconds to wait after this number of failed attempts; at least as long as the endpoint has asked for. */
  #delay(attempts: number, { retryAfterMs }: Answer): number {
    return Math.max(retryDelay(attempts, Math.random()) ?? 0, retryAfterMs);
  }

  /** Puts an event among the waiting events. `due_at` is null for an event that waits for an earlier event of its lane. */
  #wait({ id, lane }: StoredEvent, attempts: number, due_at: number | null, failed_since: number | null): void {
    this.#waits.push({ event_id: id, lane, attempts, due_at, failed_since });
  }
}

/** Returns the key of a waiting event. One event can wait twice: for a retry, and as a replay. */
function keyOf(eventId: number, isManual: 0 | 1): string {
  return `${eventId} ${isManual}`;
}

/** The wait after each failed attempt, 72 hours in all. The attempt after the last wait is the last attempt. */
const DELAYS_MS = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  18 * HOUR_MS,
  22.4 * HOUR_MS,
];
/** Each wait is up to a tenth longer, so that events that failed together are not retried together. */
const JITTER = 0.1;

/**
 * Returns the milliseconds from the failed attempt with the number `attempts` to the next attempt; null if no attempt follows. `random`
 * is from 0 to 1.
 */
function retryDelay(attempts: number, random: number): number | null {
  const delay = DELAYS_MS[attempts - 1];
  return delay === undefined ? null : Math.round(delay * (1 + JITTER * random));
}

/**
 * Returns the data of an event, which is JSON, with its reason or reply in English. Triggers copy both from tables, which store codes.
 */
function inEnglish(data: string): string {
  if (!/"(?:reply|reason)":":/.test(data)) return data;
  const fields: Record<string, unknown> = JSON.parse(data);
  for (const name of ['reply', 'reason']) if (typeof fields[name] === 'string') fields[name] = english(fields[name]);
  return JSON.stringify(fields);
}
