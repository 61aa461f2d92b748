/** Calls the API for a page: in process, as the user who opened the page. The API treats it like any other request. */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { chooseLanguage } from './words/choose.ts';
import type { Language } from './words/index.ts';

/** An answer of the API. It has either `message` or `errors`. */
export interface ApiAnswer<Message> {
  status: number;
  /** The records under their name, or a text. */
  message?: Message;
  /** The texts of a field's errors by its name, or one text. */
  errors?: Readonly<Record<string, readonly string[]>> | string;
  /** The header of the same name: the details of the record that was made. */
  location?: string | undefined;
}

/** Headers that tell who asks and how the request came. */
const FORWARDED = ['host', 'cookie', 'user-agent', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'];

/** What describes a file. */
const FILE_HEADERS = ['content-type', 'content-disposition', 'content-length'];
type FileHeaders = Record<string, string | number | string[] | undefined>;

/** Asks the API on behalf of a request. */
export class ApiClient {
  readonly #app: FastifyInstance;
  readonly #headers: Record<string, string>;
  readonly #remoteAddress: string;
  readonly #language: Language;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(app: FastifyInstance, request: FastifyRequest) {
    this.#app = app;
    this.#remoteAddress = request.socket.remoteAddress ?? request.ip;
    const setting = request.session?.user.language || null;
    this.#language = chooseLanguage(setting, request.headers['accept-language'], undefined);
    const kept = FORWARDED.flatMap((name) => [request.headers[name]].flat().map((value) => [name, value]));
    this.#headers = {
      ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)),
      'x-sendlark': 'dashboard',
      'sec-fetch-site': 'same-origin',
    };
  }

  /** Reads records. Throws an ApiFailure where the API does not answer with success. */
  async get<Message>(path: string, query: Readonly<Record<string, string>> = {}): Promise<Message> {
    const answer = await this.#ask<Message>('GET', path + queryText(query));
    if (answer.message === undefined) throw new ApiFailure(answer);
    return answer.message;
  }

  /** Changes something; the answer says whether it was done or what is wrong with the fields. Throws an ApiFailure at 401, 403, 404 and 5xx. */
  async send<Message = string>(
    method: 'POST' | 'DELETE' | 'GET',
    path: string,
    fields: Readonly<Record<string, unknown>> = {},
  ): Promise<ApiAnswer<Message>> {
    const answer = await this.#ask<Message>(method, path, fields);
    if ([401, 403, 404].includes(answer.status) || answer.status >= 500) throw new ApiFailure(answer);
    return answer;
  }

  /** Passes on a form with a file as it comes, without keeping it in memory. Throws where the browser hung up before. */
  async upload<Message>(path: string, form: unknown, contentType: string): Promise<ApiAnswer<Message>> {
    // The API would wait for ever for the end of a form that broke off earlier.
    if (form instanceof Readable && form.errored) throw form.errored;
    const response = await this.#app.inject({
      method: 'POST',
      url: `/api${path}`,
      headers: { ...this.#headers, 'content-type': contentType },
      remoteAddress: this.#remoteAddress,
      payload: form instanceof Readable ? form : '',
    });
    return this.#answer(response);
  }

  /** Reads a file. Throws an ApiFailure where the API does not answer with success. */
  async text(path: string, query: Readonly<Record<string, string>> = {}): Promise<string> {
    await this.#nextTurn();
    const response = await this.#app.inject({
      method: 'GET',
      url: `/api${path}${queryText(query)}`,
      headers: this.#headers,
      remoteAddress: this.#remoteAddress,
    });
    if (response.statusCode !== 200) throw new ApiFailure({ status: response.statusCode });
    return response.payload;
  }

  /** Reads a file of any size, whose parts are passed on as they come. Throws an ApiFailure where the API does not answer with success. */
  async file(path: string, query: Readonly<Record<string, string>>): Promise<{ headers: FileHeaders; body: Readable }> {
    const response = await this.#app.inject({
      method: 'GET',
      url: `/api${path}${queryText(query)}`,
      headers: this.#headers,
      remoteAddress: this.#remoteAddress,
      payloadAsStream: true,
    });
    const body = response.stream();
    // Where the browser hangs up, the API stops reading too.
    body.on('close', () => response.raw.res.destroy());
    if (response.statusCode !== 200) {
      throw new ApiFailure(this.#answer({ statusCode: response.statusCode, payload: await text(body) }));
    }
    const kept = Object.entries(response.headers).filter(([name]) => FILE_HEADERS.includes(name));
    return { headers: Object.fromEntries(kept), body };
  }

  /** Lets others be answered before each request of a page, of which many would take long together. */
  #nextTurn(): Promise<unknown> {
    this.#turn = this.#turn.then(() => setImmediate());
    return this.#turn;
  }

  async #ask<Message>(method: 'GET' | 'POST' | 'DELETE', path: string, fields?: object): Promise<ApiAnswer<Message>> {
    await this.#nextTurn();
    const response = await this.#app.inject({
      method,
      url: `/api${path}`,
      headers: this.#headers,
      remoteAddress: this.#remoteAddress,
      ...(fields && method !== 'GET' && { payload: fields }),
    });
    return { ...this.#answer<Message>(response), location: response.headers.location };
  }

  /** An answer whose errors are in the reader's language. */
  #answer<Message>({ statusCode: status, payload }: { statusCode: number; payload: string }): ApiAnswer<Message> {
    const { errors, ...answer }: Omit<ApiAnswer<Message>, 'status'> = JSON.parse(payload);
    return { ...answer, status, ...(errors !== undefined && { errors: inLanguage(this.#language, errors) }) };
  }
}

type Errors = NonNullable<ApiAnswer<unknown>['errors']>;

function inLanguage(language: Language, errors: Errors): Errors {
  if (typeof errors === 'string') return language.sentence(errors);
  const fields = Object.entries(errors).map(([field, texts]) => [field, texts.map((text) => language.sentence(text))]);
  return Object.fromEntries(fields);
}

/** Thrown when the API refuses what a page needs. */
export class ApiFailure extends Error {
  readonly status: number;

  constructor({ status, errors }: ApiAnswer<unknown>) {
    super(refusalText({ errors }) || 'The API refused the request of a page');
    this.status = status;
  }
}

/** What a refused answer says: its text, or the texts of all its fields. Empty where it was not refused. */
export function refusalText({ errors }: { errors?: ApiAnswer<unknown>['errors'] | undefined }): string {
  return typeof errors === 'string'
    ? errors
    : Object.values(errors ?? {})
        .flat()
        .join(' ');
}

function queryText(query: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(query);
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}
