/** Sends the requests of the soak, and records how long each kind took and which failed. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { KEYS } from '../bench/measure.ts';

const HEADERS = { PublicKey: KEYS.PUBLIC_KEY, SecretKey: KEYS.SECRET_KEY };

export class Client {
  /** The milliseconds of each answer, by the name of the operation. */
  readonly times = new Map<string, number[]>();
  /** A line for each answer other than 2xx. */
  readonly failures: string[] = [];
  readonly #origin: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(origin: string) {
    this.#origin = origin;
  }

  /**
   * Sends a request and measures the time until the answer is complete. Returns the body of the answer, of which it keeps only the first
   * megabyte or so. An answer other than 2xx is recorded as a failure.
   */
  async ask(operation: string, method: string, path: string, form?: Record<string, string>): Promise<string> {
    const started = performance.now();
    const answer = await this.open(method, path, form);
    let text = '';
    for await (const piece of answer) if (text.length < 1e6) text += piece;
    this.#record(operation, started, answer.statusCode, text);
    return text;
  }

  /**
   * Sends a form as `ask` does. Returns the `message` of the answer. Throws if the request fails, because later requests depend on it.
   */
  async must<T>(path: string, form: Record<string, string>): Promise<T> {
    const failuresBefore = this.failures.length;
    const text = await this.ask('set-up', 'POST', `/api${path}`, form);
    if (this.failures.length > failuresBefore) throw new Error(this.failures.at(-1));
    return JSON.parse(text).message;
  }

  /** Uploads CSV text to a contact type. */
  async upload(typeId: number, csv: string): Promise<void> {
    const form = new FormData();
    form.set('contact_type_id', String(typeId));
    form.set('file', new Blob([csv]), 'soak.csv');
    const started = performance.now();
    const url = `${this.#origin}/api/contacts/upload-csv`;
    const answer = await fetch(url, { method: 'POST', headers: HEADERS, body: form });
    this.#record('import', started, answer.status, await answer.text());
  }

  /** Sends a request. Returns the answer as a stream, once its headers have arrived. */
  open(method: string, path: string, form?: Record<string, string>): Promise<IncomingMessage> {
    const body = form && new URLSearchParams(form).toString();
    const contentType = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
    const options = { method, agent: this.#agent, headers: { ...HEADERS, ...contentType } };
    return new Promise((resolve, reject) => {
      request(`${this.#origin}${path}`, options, resolve).on('error', reject).end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #record(operation: string, started: number, status = 0, text = ''): void {
    const times = this.times.get(operation) ?? [];
    times.push(performance.now() - started);
    this.times.set(operation, times);
    if (status < 200 || status > 299) this.failures.push(`${operation}: ${status} ${text.slice(0, 200)}`);
  }
}

/**
 * Calls `work` at most `perSecond` times a second until `isOver` returns true. Each call waits for the end of the one before. Calls that
 * are late are made up for, but not more than those of the last second.
 */
export async function repeatedly(
  perSecond: number,
  isOver: () => boolean,
  work: () => Promise<unknown>,
): Promise<void> {
  for (let due = performance.now(); !isOver(); due = Math.max(due + 1000 / perSecond, performance.now() - 1000)) {
    await setTimeout(Math.max(0, due - performance.now()));
    if (!isOver()) await work();
  }
}
