/** What the soak asks the service for, and how long each kind of request took. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { KEYS } from '../bench/measure.ts';

const HEADERS = { PublicKey: KEYS.PUBLIC_KEY, SecretKey: KEYS.SECRET_KEY };

export class Client {
  /** Milliseconds of each answer by operation. */
  readonly times = new Map<string, number[]>();
  readonly failures: string[] = [];
  readonly #origin: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(origin: string) {
    this.#origin = origin;
  }

  /**
   * Sends a request, measures the time until the answer is complete, and returns the answer. An answer other than 2xx
   * is recorded as a failure.
   */
  async ask(operation: string, method: string, path: string, form?: Record<string, string>): Promise<string> {
    const started = performance.now();
    const answer = await this.open(method, path, form);
    let text = '';
    for await (const piece of answer) if (text.length < 1e6) text += piece;
    this.#note(operation, started, answer.statusCode, text);
    return text;
  }

  /**
   * Sends a POST as `ask` does, and returns the message of its answer. Throws if the request fails, because later
   * requests depend on it.
   */
  async must<T>(path: string, form: Record<string, string>): Promise<T> {
    const failed = this.failures.length;
    const text = await this.ask('set-up', 'POST', `/api${path}`, form);
    if (this.failures.length > failed) throw new Error(this.failures.at(-1));
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
    this.#note('import', started, answer.status, await answer.text());
  }

  /** Returns the answer as a stream once its headers have arrived. */
  open(method: string, path: string, form?: Record<string, string>): Promise<IncomingMessage> {
    const body = form && new URLSearchParams(form).toString();
    const type = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
    const options = { method, agent: this.#agent, headers: { ...HEADERS, ...type } };
    return new Promise((resolve, reject) => {
      request(`${this.#origin}${path}`, options, resolve).on('error', reject).end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #note(operation: string, started: number, status = 0, text = ''): void {
    const times = this.times.get(operation) ?? [];
    times.push(performance.now() - started);
    this.times.set(operation, times);
    if (status < 200 || status > 299) this.failures.push(`${operation}: ${status} ${text.slice(0, 200)}`);
  }
}

/** Calls `work` so many times a second until `isOver`, each call after the one before it. */
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
