/** One check of one endpoint: asks, judges what holds for every answer, and gathers what does not fit. */
import { isDeepStrictEqual } from 'node:util';
import type { World } from '../support/account-records.ts';
import type { Answer, Caller, CallOptions, TestApp } from '../support/app.ts';
import type { Tables } from '../support/tables.ts';
import { compareErrors, type Expected } from './errors.ts';
import { callOptions, changed, describe, validValues } from './requests.ts';
import type { Changes, Endpoint, Method } from './types.ts';

/** Where the checks take place: an application with two filled accounts. */
export interface Place {
  app: TestApp;
  /** The records of account one, which asks, and of account two. */
  own: World;
  other: World;
  tables: Tables;
}

export class Probe {
  readonly endpoint: Endpoint;
  readonly method: Method;
  readonly place: Place;
  readonly problems: string[] = [];
  cases = 0;

  constructor(endpoint: Endpoint, method: Method, place: Place) {
    this.endpoint = endpoint;
    this.method = method;
    this.place = place;
  }

  get world(): World {
    return this.place.own;
  }

  /** The endpoint's valid request with changes. */
  valid(changes: Changes = {}): CallOptions {
    return callOptions(this.endpoint, changed(validValues(this.endpoint, this.world), changes));
  }

  report(what: string | CallOptions, problems: string[]): void {
    if (problems.length === 0) return;
    const request = typeof what === 'string' ? what : describe(what, this.valid());
    for (const problem of problems) this.problems.push(`${this.method} ${this.endpoint.path} ${request}: ${problem}`);
  }

  /** Asks as account one unless told; every answer must have the envelope and stay out of caches. */
  async ask(options: CallOptions, caller: Caller = this.place.app.one): Promise<Answer> {
    this.cases++;
    const answer = await caller.call(this.method, this.endpoint.path, options);
    const exempt = answer.status === 200 && 'csv' in this.endpoint.success;
    this.report(options, [...(exempt ? [] : envelopeProblems(answer)), ...this.#cacheProblems(answer)]);
    return answer;
  }

  /** The request must be refused with this status and these errors, and must have changed nothing. */
  async refused(
    options: CallOptions,
    status: number,
    errors: Expected | Record<string, Expected | string[]>,
    caller?: Caller,
  ): Promise<Answer> {
    const answer = await this.ask(options, caller);
    const body: unknown = answer.body;
    const given = typeof body === 'object' && body !== null && 'errors' in body ? body.errors : undefined;
    this.report(options, [
      ...(answer.status === status ? [] : [`status ${answer.status}, not ${status}`]),
      ...compareErrors(errors, given),
    ]);
    this.unchanged(options);
    return answer;
  }

  /** Two answers must not be told apart. */
  identical(what: string, one: Answer, two: Answer): void {
    const visible = ({ status, headers: { date, ...headers }, text }: Answer) => ({ status, headers, text });
    if (isDeepStrictEqual(visible(one), visible(two))) return;
    this.report(what, [`${one.status} ${one.text} can be told from ${two.status} ${two.text}`]);
  }

  /** No table may have changed; whatever did is put back. */
  unchanged(what: string | CallOptions): void {
    const tables = this.place.tables.changed();
    if (tables.length > 0) this.report(what, [`changed ${tables.join(', ')}`]);
    this.place.tables.rewind();
  }

  #cacheProblems({ status, headers }: Answer): string[] {
    const control = headers['cache-control'];
    if (this.endpoint.cacheable && status === 200)
      return headers.etag && control !== 'no-store' ? [] : ['cannot be cached'];
    return control === 'no-store' ? [] : [`Cache-Control is ${control}`];
  }
}

/** What is wrong with the envelope: `status`, and exactly one of `message` and `errors`. */
export function envelopeProblems({ status, headers, body, text }: Answer): string[] {
  if (!/^application\/json\b/.test(String(headers['content-type'])))
    return [`Content-Type is ${headers['content-type']}`];
  const [first, second, ...more] = Object.keys(Object(body)).sort().reverse();
  const keys = first === 'status' && (second === 'message' || second === 'errors') && more.length === 0;
  const said = body?.status === (status === 200 ? 'success' : 'failed');
  const carried = status === 200 || second === 'errors';
  return keys && said && carried ? [] : [`no envelope in ${status} ${text.slice(0, 120)}`];
}
