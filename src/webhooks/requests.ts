/** Sends events to endpoints over HTTP. Time and size are limited, addresses are checked, and redirects are not followed. */
import type { LookupFunction } from 'node:net';
import { type Dispatcher as Connections, Pool } from 'undici';
import { sanitizeText } from '../delivery/feedback/bounces/sanitize.ts';
import { type Said, type Sentence, sentence } from '../errors/sentences.ts';
import { checkedLookup, type Resolve, systemLookup, urlFault } from './addresses.ts';

/** The maximum number of concurrent requests to one endpoint. */
export const MAX_CONNECTIONS = 20;
/** The maximum time from the beginning of a request to the end of its response. */
const TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 5000;
/** The maximum number of bytes of a response that are read. */
const MAX_ANSWER_BYTES = 65_536;
/** The maximum number of characters of an error response that are stored. */
const MAX_KEPT_CHARACTERS = 400;
/** The longest wait that an endpoint can ask for, in seconds. */
const MAX_RETRY_AFTER_S = 3600;
const USER_AGENT = 'Sendlark-Webhooks';

/** The result of one request. */
export interface Answer {
  isSuccess: boolean;
  /** The HTTP status of the answer; 0 if no answer came. */
  status: number;
  /** The error, in one line; empty after a success. */
  reply: Said;
  /** For how many milliseconds the endpoint asks for no further request (`Retry-After`); 0 if it does not ask. */
  retryAfterMs: number;
}

/** The connections of one endpoint. */
export class Requests {
  readonly #path: string;
  /** Null if endpoints may not have this URL. */
  readonly #pool: Pool | null;

  /** `url` must be a valid URL. If endpoints may not have this URL, each request ends with an error. */
  constructor(url: string, allowPrivate: boolean, resolve?: Resolve) {
    const { origin, pathname, search } = new URL(url);
    this.#path = pathname + search;
    const lookup: LookupFunction = allowPrivate ? systemLookup : checkedLookup(resolve);
    this.#pool =
      urlFault(url, allowPrivate) === null
        ? new Pool(origin, { connections: MAX_CONNECTIONS, connect: { lookup, timeout: CONNECT_TIMEOUT_MS } })
        : null;
  }

  /** Posts JSON with these headers, which are names and values in turn. Calls `onAnswer` once. */
  post(headers: readonly string[], body: string, onAnswer: (answer: Answer) => void): void {
    if (this.#pool === null) {
      setImmediate(() => onAnswer(failed(sentence('webhook_private'))));
      return;
    }
    const common = ['content-type', 'application/json', 'user-agent', USER_AGENT, 'accept', '*/*'];
    this.#pool.dispatch(
      { path: this.#path, method: 'POST', headers: [...common, ...headers], body },
      new AnswerReader(onAnswer),
    );
  }

  /** Lets running requests end and closes the connections. */
  async close(): Promise<void> {
    if (this.#pool?.closed === false) await this.#pool.close();
  }
}

class AnswerReader implements Connections.DispatchHandler {
  readonly #onAnswer: (answer: Answer) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Connections.DispatchController | null = null;
  #status = 0;
  #retryAfterMs = 0;
  /** The number of bytes received. */
  #received = 0;
  /** The beginning of an error response. */
  #kept = '';
  #isDone = false;

  constructor(onAnswer: (answer: Answer) => void) {
    this.#onAnswer = onAnswer;
    this.#timer = setTimeout(() => this.#end(sentence('webhook_silent'), true), TIMEOUT_MS);
  }

  onRequestStart(controller: Connections.DispatchController): void {
    this.#controller = controller;
    if (this.#isDone) controller.abort(new Error('too late'));
  }

  onResponseStart(
    _controller: Connections.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Interim responses are skipped; only the final one counts (RFC 9110 15.2).
    if (status < 200) return;
    this.#status = status;
    const seconds = Number(headers['retry-after']);
    if (seconds > 0) this.#retryAfterMs = Math.min(seconds, MAX_RETRY_AFTER_S) * 1000;
  }

  onResponseData(_controller: Connections.DispatchController, chunk: Buffer): void {
    this.#received += chunk.length;
    if (!isSuccess(this.#status) && this.#kept.length < MAX_KEPT_CHARACTERS)
      this.#kept += chunk.toString('utf8', 0, MAX_KEPT_CHARACTERS - this.#kept.length);
    // A long response is not read to its end, because the status is known already.
    if (this.#received > MAX_ANSWER_BYTES) this.#end('', true);
  }

  onResponseEnd(): void {
    this.#end('', false);
  }

  onResponseError(_controller: Connections.DispatchController, error: Error): void {
    this.#end(failureText(error), false);
  }

  /** Ends the request with its status, or with a `failure` unless that is empty. */
  #end(failure: Said, mustAbort: boolean): void {
    if (this.#isDone) return;
    this.#isDone = true;
    clearTimeout(this.#timer);
    if (failure !== '') this.#onAnswer({ ...failed(failure), status: this.#status });
    else if (isSuccess(this.#status))
      this.#onAnswer({ isSuccess: true, status: this.#status, reply: '', retryAfterMs: 0 });
    else {
      const isRedirect = this.#status >= 300 && this.#status < 400;
      const reply = isRedirect ? sentence('webhook_redirect') : sanitizeText(this.#kept);
      this.#onAnswer({ isSuccess: false, status: this.#status, reply, retryAfterMs: this.#retryAfterMs });
    }
    if (mustAbort) this.#controller?.abort(new Error('ended'));
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function failed(reply: Said): Answer {
  return { isSuccess: false, status: 0, reply, retryAfterMs: 0 };
}

/** Returns the sentence for an error of a connection. */
export function failureText(error: unknown): Sentence {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'EPRIVATE') return sentence('webhook_private');
  if (/^(ENOTFOUND|ENODATA|EAI_|ESERVFAIL|ETIMEOUT|ENONAME|EREFUSED)/.test(code)) return sentence('webhook_no_host');
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return sentence('webhook_silent');
  if (/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)$/.test(code)) return sentence('webhook_unreachable');
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)) return sentence('webhook_tls');
  return sentence('webhook_closed');
}
