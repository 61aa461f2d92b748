/**
 * The events that are being delivered to one endpoint: events of one lane one after the other, events of different lanes
 * concurrently. After several failures in a row an endpoint gets one event at a time until one succeeds.
 */
import type { KeyObject } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { english } from '../errors/stored.ts';
import type { Clock } from '../time/clock.ts';
import type { Resolve } from './addresses.ts';
import { type DisabledCode, type Endpoint, eventIdPrefix, openSecret } from './endpoints.ts';
import { EventWindow, type Item } from './event-window.ts';
import { type Answer, MAX_CONNECTIONS, Requests } from './requests.ts';
import { secretKey, signedHeaders } from './signature.ts';
import {
  type Attempt,
  blockedLanes,
  dueEvents,
  dueManualEvents,
  KEPT_ATTEMPTS,
  type Progress,
  readEvents,
  type StoredEvent,
} from './store.ts';

interface QueueDeps {
  client: Database;
  clock: Clock;
  /** True if endpoints may be in private networks. */
  allowPrivate: boolean;
  resolve?: Resolve | undefined;
  /** Returns true if another request may begin. Each request that begins calls `began` and `ended`. */
  mayBegin(): boolean;
  began(): void;
  ended(): void;
}

/** This number of failures in a row makes an endpoint a failing one. */
const FAILING_AFTER = 5;
const READ_AT_ONCE = 200;
/** No more requests begin while the results of this number of attempts could not be written, for example because the disk is full. */
const MAX_UNRECORDED = 5000;
const GONE = 410;

/** How often an event was tried before, and since when. */
interface Tried {
  attempts: number;
  failed_since: number | null;
  is_manual: 0 | 1;
}

export class EndpointQueue {
  readonly #deps: QueueDeps;
  #endpoint: Endpoint;
  #requests: Requests;
  #prefix: string;
  #keys: KeyObject[] = [];
  #wanted: ReadonlySet<string> = new Set();
  readonly #window: EventWindow;
  #failures: number;
  #blocked: Set<number>;
  /** The waiting events that are being sent, or whose result is not on disk yet, by id and kind. */
  readonly #trying = new Set<string>();
  #running = 0;
  /** True if the last read did not reach the end. */
  #hasMore = false;
  readonly #attempts = new UnwrittenAttempts();
  #waits: Progress['waits'][number][] = [];
  #ended: Progress['ended'][number][] = [];
  #recovered = false;
  #disable: DisabledCode | null = null;
  #isStopped = false;
  #recordedPosition: number;

  constructor(deps: QueueDeps, endpoint: Endpoint) {
    this.#deps = deps;
    this.#endpoint = endpoint;
    this.#requests = this.#open(endpoint.url);
    this.#prefix = eventIdPrefix(deps.client);
    this.#window = new EventWindow(endpoint.position);
    this.#recordedPosition = endpoint.position;
    this.#failures = endpoint.failures;
    this.#blocked = new Set(blockedLanes(deps.client, endpoint.id));
    this.update(endpoint);
  }

  /** Applies changes of the endpoint. */
  update(endpoint: Endpoint): void {
    if (endpoint.url !== this.#endpoint.url) {
      void this.#requests.close();
      this.#requests = this.#open(endpoint.url);
    }
    const isEnabledAgain = this.#endpoint.state === 'disabled' && endpoint.state === 'enabled';
    if (isEnabledAgain) {
      this.#failures = 0;
      // Some of the waiting events may have been removed meanwhile.
      this.#blocked = new Set(blockedLanes(this.#deps.client, endpoint.id));
    }
    this.#endpoint = endpoint;
    this.#wanted = new Set(endpoint.events);
    const isRotated = endpoint.previous_until > this.#deps.clock.now().getTime();
    this.#keys = [endpoint.sealed_secret, isRotated ? endpoint.previous_sealed_secret : null]
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
    const isIdle = this.#attempts.count + attempts.length + this.#waits.length + this.#ended.length === 0;
    if (isIdle && this.#window.position === this.#recordedPosition && this.#disable === null) return null;
    return {
      endpointId: this.#endpoint.id,
      position: this.#window.position,
      failures: this.#failures,
      takenAt: this.#attempts.takenAt,
      failedAt: this.#attempts.failedAt,
      attempts,
      waits: this.#waits,
      ended: this.#ended,
      recovered: this.#recovered,
      disable: this.#disable,
    };
  }

  /** Call this when the progress is on disk, in the same turn of the event loop. `free` are the lanes without waiting events. */
  recorded(free: readonly number[]): void {
    for (const lane of free) this.#blocked.delete(lane);
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

  /** Begins no more requests. Resolves when the running ones have ended. */
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
    const most = this.#isFailing() ? 1 : MAX_CONNECTIONS;
    const isRecording = this.#attempts.count < MAX_UNRECORDED;
    return !this.#isStopped && isRecording && this.#running < most && this.#deps.mayBegin();
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
      this.#begin(event, event.attempts + 1, (answer, at) => this.#retried(event, event, answer, at));
    }
  }

  #read(): void {
    if (!this.#window.hasRoom(READ_AT_ONCE)) return;
    const events = readEvents(this.#deps.client, this.#endpoint.user_id, this.#window.readTo, READ_AT_ONCE);
    this.#hasMore = events.length === READ_AT_ONCE;
    for (const event of events) {
      const isWanted = this.#wanted.has(event.type);
      const isBlocked = isWanted && this.#blocked.has(event.lane);
      this.#window.add({ event, isDone: !isWanted || isBlocked });
      if (isBlocked) this.#wait(event, 0, null, null);
    }
  }

  #send(): void {
    while (this.#mayBegin()) {
      const item = this.#window.next();
      if (item === undefined) return;
      this.#begin(item.event, 1, (answer, at) => this.#sent(item, answer, at));
    }
  }

  #begin(event: StoredEvent, attempt: number, then: (answer: Answer, at: number) => void): void {
    const at = this.#deps.clock.now().getTime();
    const started = performance.now();
    const when = new Date(event.created_at).toISOString();
    const body = `{"type":"${event.type}","timestamp":"${when}","data":${inEnglish(event.data)}}`;
    const headers = signedHeaders(this.#keys, `${this.#prefix}${event.id}`, at, body);
    this.#running++;
    this.#deps.began();
    this.#requests.post(headers, body, (answer) => {
      this.#running--;
      this.#deps.ended();
      const { isSuccess, status, reply } = answer;
      const took_ms = Math.round(performance.now() - started);
      const is_success = isSuccess ? 1 : 0;
      this.#attempts.add({ event_id: event.id, type: event.type, attempt, is_success, status, reply, took_ms, at });
      then(answer, at);
      if (this.#window.readyCount === 0 && this.#hasMore && this.#takesNew()) this.#read();
      if (this.#takesNew()) this.#send();
    });
  }

  /** Processes the result of the first attempt of an event. */
  #sent(item: Item, answer: Answer, at: number): void {
    this.#count(answer);
    if (answer.isSuccess) {
      this.#window.succeeded(item);
      return;
    }
    this.#blocked.add(item.event.lane);
    this.#wait(item.event, 1, at + this.#delay(1, answer), at);
    for (const behind of this.#window.failed(item)) this.#wait(behind, 0, null, null);
  }

  /** Processes the result of a later attempt, a test or a replay. */
  #retried(event: StoredEvent, { attempts, failed_since, is_manual }: Tried, answer: Answer, at: number): void {
    const { id: event_id, lane } = event;
    // A test or replay that arrives shows that the endpoint works again, but one that fails says nothing about the others.
    if (is_manual === 0 || answer.isSuccess) this.#count(answer);
    if (answer.isSuccess || is_manual === 1) {
      this.#ended.push({ event_id, lane, is_manual });
      return;
    }
    const tries = attempts + 1;
    const since = failed_since ?? at;
    if (retryDelay(tries, 0) !== null) {
      this.#waits.push({
        event_id,
        lane,
        attempts: tries,
        due_at: at + this.#delay(tries, answer),
        failed_since: since,
      });
      return;
    }
    // The event is given up if the endpoint has accepted other events meanwhile. Otherwise the endpoint itself has failed for
    // three days and is disabled.
    const takesOthers = (this.#endpoint.succeeded_at ?? 0) > since || !this.#isFailing();
    if (takesOthers) this.#ended.push({ event_id, lane, is_manual });
    else {
      this.#waits.push({ event_id, lane, attempts: tries, due_at: at, failed_since: since });
      this.#disable = 'failing';
    }
  }

  #count({ isSuccess, status }: Answer): void {
    if (isSuccess) {
      this.#recovered ||= this.#isFailing();
      this.#failures = 0;
    } else this.#failures++;
    if (status === GONE) this.#disable = 'gone';
  }

  #delay(attempts: number, { retryAfterMs }: Answer): number {
    return Math.max(retryDelay(attempts, Math.random()) ?? 0, retryAfterMs);
  }

  #wait({ id, lane }: StoredEvent, attempts: number, due_at: number | null, failed_since: number | null): void {
    this.#waits.push({ event_id: id, lane, attempts, due_at, failed_since });
  }
}

function keyOf(eventId: number, isManual: 0 | 1): string {
  return `${eventId} ${isManual}`;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The waits after each failed attempt, 72 hours together. The attempt after the last wait is the last one. */
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

/** Returns the milliseconds until the next attempt after this number of failed ones; null if none follows. `random` is from 0 to 1. */
function retryDelay(attempts: number, random: number): number | null {
  const delay = DELAYS_MS[attempts - 1];
  return delay === undefined ? null : Math.round(delay * (1 + JITTER * random));
}

const LOG_MS = 1000;

/**
 * The attempts of one endpoint that are not in the log yet. Failed attempts are logged with the next record. Successful ones
 * are logged once a second while there are many, because later ones would push most of them out of the log at once. Their
 * effects are written without this delay.
 */
class UnwrittenAttempts {
  #attempts: Attempt[] = [];
  #hasFailed = false;
  #isLogDue = false;
  #loggedAt = Number.NEGATIVE_INFINITY;
  /** The number of attempts since the last record. */
  count = 0;
  /** When an event last succeeded and last failed since the last record, epoch milliseconds; null: none did. */
  takenAt: number | null = null;
  failedAt: number | null = null;

  add(attempt: Attempt): void {
    this.count++;
    if (attempt.is_success === 1) this.takenAt = attempt.at;
    else {
      this.failedAt = attempt.at;
      this.#hasFailed = true;
    }
    this.#attempts.push(attempt);
    // More successes than the log stores are not needed.
    const { length } = this.#attempts;
    if (length > KEPT_ATTEMPTS && length % KEPT_ATTEMPTS === 0)
      this.#attempts = this.#attempts.filter((attempt, at) => attempt.is_success === 0 || at >= length - KEPT_ATTEMPTS);
  }

  /** Returns the attempts to log now; all of them if no request is running. `now` is monotonic milliseconds. */
  due(now: number, isIdle: boolean): readonly Attempt[] {
    this.#isLogDue = isIdle || now - this.#loggedAt >= LOG_MS;
    if (this.#isLogDue) return this.#attempts;
    return this.#hasFailed ? this.#attempts.filter(({ is_success }) => is_success === 0) : [];
  }

  /** Call this when the attempts returned by `due` are on disk, in the same turn of the event loop. */
  written(now: number): void {
    if (this.#isLogDue) {
      this.#attempts = [];
      this.#loggedAt = now;
    } else if (this.#hasFailed) this.#attempts = this.#attempts.filter(({ is_success }) => is_success === 1);
    this.#hasFailed = false;
    this.count = 0;
    this.takenAt = null;
    this.failedAt = null;
  }
}

/**
 * Returns the data of an event as JSON. A reason or reply that triggers took from the tables is converted from its stored form to English.
 */
function inEnglish(data: string): string {
  if (!/"(?:reply|reason)":":/.test(data)) return data;
  const about: Record<string, unknown> = JSON.parse(data);
  for (const name of ['reply', 'reason']) if (typeof about[name] === 'string') about[name] = english(about[name]);
  return JSON.stringify(about);
}
