/**
 * A client for Sendlark in one file, without dependencies: copy it. Node 22 or newer. Its key pair needs the scope `contacts`, for `send`
 * the scope `transactional`, and for `list` the scope `read`. Only requests that can be repeated without a second effect are tried again.
 */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

export interface Options {
  /** The address of the service, such as `https://mail.example.com`. */
  url: string;
  publicKey: string;
  secretKey: string;
  /** How often a request is tried that was answered 429 or 5xx, or not at all. */
  attempts?: number;
  /** How long one attempt may take, in milliseconds. */
  timeoutMs?: number;
}

type Values = Record<string, string | number | boolean | null>;

/** A contact. Fields that are absent keep their value; empty ones clear it. */
export interface Contact {
  email: string;
  first_name?: string;
  last_name?: string;
  /** An English name, an ISO code or an id. */
  country?: string;
  city?: string;
  custom_field?: Values;
  [field: string]: unknown;
}

export interface UpsertOutcome {
  created: number;
  updated: number;
  failed: number;
  contacts: {
    email: string;
    outcome: 'created' | 'updated' | 'failed';
    contact_id: number | null;
    errors: { field: string; text: string }[];
  }[];
}

/** Somebody who agreed to get mail. One of `form_id` and `contact_type_id` is needed. */
export interface Subscription {
  email: string;
  form_id?: number;
  contact_type_id?: number;
  first_name?: string;
  last_name?: string;
  custom_field?: Record<string, string>;
  group_ids?: number[];
  consent_text?: string;
  source?: string;
  ip?: string;
}

/** What a contact did. With a `key` it is recorded once, however often it is sent. */
export interface Event {
  email?: string;
  contact_id?: number;
  name: string;
  key?: string;
  /** ISO 8601 with the zone. */
  at?: string;
  value?: number;
  currency?: string;
  properties?: Values;
}

/** An answer that is no success. */
export class SendlarkError extends Error {
  override readonly name = 'SendlarkError';
  readonly status: number;
  /** A text, or texts by field. */
  readonly errors: unknown;

  constructor(status: number, errors: unknown) {
    super(`Sendlark answered ${status}: ${typeof errors === 'string' ? errors : JSON.stringify(errors)}`);
    this.status = status;
    this.errors = errors;
  }
}

const TOO_MANY_REQUESTS = 429;
/** The number of records that one request of a list asks for. */
const PART = 1000;
const MAX_WAIT_S = 30;

export class Sendlark {
  readonly #options: Required<Options>;

  constructor(options: Options) {
    this.#options = { attempts: 4, timeoutMs: 30_000, ...options, url: options.url.replace(/\/+$/, '') };
  }

  /** Adds up to 1 000 contacts to a list, or changes those with the same address. Each has its own outcome. */
  upsert(list: number, contacts: readonly Contact[]): Promise<UpsertOutcome> {
    return this.#call('POST', '/contacts/upsert', { json: { contact_type_id: list, contacts }, repeats: true });
  }

  /** Asks somebody by mail to confirm a subscription. Do not show the state to whoever typed the address. */
  subscribe(subscription: Subscription): Promise<{ state: 'asked' | 'subscribed' | 'suppressed' }> {
    return this.#call('POST', '/contacts/subscribe', { json: subscription, repeats: true });
  }

  /**
   * Records up to 1 000 events, all of them or none. Tried again only if every event has a key.
   * @param list Contacts who are not known yet are added to this list.
   */
  record(
    events: readonly Event[],
    list?: number,
  ): Promise<{ recorded: number; repeated: number; created: number; unknown: number[] }> {
    const json = { events, ...(list !== undefined && { contact_type_id: list }) };
    return this.#call('POST', '/events', { json, repeats: events.every(({ key }) => key !== undefined) });
  }

  /**
   * Sends a transactional mail once, with the fields of `POST /transactional/send`, and returns its `utr`.
   * @param key The Idempotency-Key. Give one that follows from your order to send once also over restarts of your program.
   */
  send(mail: Record<string, unknown>, key: string = randomUUID()): Promise<{ utr: string }> {
    return this.#call('POST', '/transactional/send', {
      json: mail,
      repeats: true,
      headers: { 'Idempotency-Key': key },
    });
  }

  /** Reads a list such as `/contacts/list`, whose records are under `name`, part by part. */
  async *list<Item extends { id: number }>(path: string, name: string, query: Values = {}): AsyncGenerator<Item> {
    let after: number | undefined;
    for (;;) {
      const part = { ...query, limit: PART, ...(after !== undefined && { after_id: after }) };
      const message = await this.#call<Record<string, Item[]>>('GET', path, { query: part, repeats: true });
      const items = message[name] ?? [];
      yield* items;
      after = items.at(-1)?.id;
      if (after === undefined || items.length < PART) return;
    }
  }

  async #call<T>(
    method: string,
    path: string,
    given: { json?: unknown; query?: Values; headers?: Record<string, string>; repeats: boolean },
  ): Promise<T> {
    const { url, publicKey, secretKey, attempts, timeoutMs } = this.#options;
    const search = new URLSearchParams(Object.entries(given.query ?? {}).map(([name, value]) => [name, String(value)]));
    for (let attempt = 1; ; attempt++) {
      const isLast = !given.repeats || attempt >= attempts;
      let waitS = 2 ** (attempt - 1);
      try {
        const response = await fetch(`${url}/api${path}${search.size > 0 ? `?${search}` : ''}`, {
          method,
          headers: {
            PublicKey: publicKey,
            SecretKey: secretKey,
            ...(given.json !== undefined && { 'Content-Type': 'application/json' }),
            ...given.headers,
          },
          ...(given.json !== undefined && { body: JSON.stringify(given.json) }),
          signal: AbortSignal.timeout(timeoutMs),
          // The keys go to no other address, and a POST does not become a GET.
          redirect: 'manual',
        });
        const body = await response.json().catch(() => null);
        if (response.ok && body?.status === 'success') return body.message;
        const { status } = response;
        // A page of a proxy, or an answer that was cut off, is no success.
        const mayPass = response.ok || status === TOO_MANY_REQUESTS || status >= 500;
        if (isLast || !mayPass) throw new SendlarkError(status, body?.errors ?? 'no JSON of Sendlark');
        waitS = Number(response.headers.get('retry-after')) || waitS;
      } catch (error) {
        if (isLast || error instanceof SendlarkError) throw error;
      }
      await setTimeout(Math.min(waitS, MAX_WAIT_S) * 1000);
    }
  }
}

const TOLERANCE_S = 300;
const MIN_KEY_BYTES = 16;

/**
 * Returns the event of a webhook's request. Throws if the request was not signed with this secret within five minutes, or if the secret is
 * none of a webhook: with an empty or short one anybody could sign.
 * @param body The body as it arrived, before any parsing.
 * @param secret As it was shown, with `whsec_`.
 */
export function verifyWebhook(
  body: string | Buffer,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  secret: string,
  now: number = Date.now(),
): { type: string; timestamp: string; data: Record<string, unknown> } {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    String(headers[name] ?? ''),
  );
  const isRecent = Math.abs(now / 1000 - Number(timestamp)) <= TOLERANCE_S;
  const encoded = secret.trim().replace(/^whsec_/, '');
  const key = Buffer.from(encoded, 'base64');
  if (key.length < MIN_KEY_BYTES || key.toString('base64') !== encoded)
    throw new Error('the secret is not that of a webhook');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  const isSigned = (signatures ?? '').split(' ').some((one) => {
    const given = Buffer.from(one.startsWith('v1,') ? one.slice('v1,'.length) : '', 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isSigned || !isRecent) throw new Error('the webhook is not signed, or not recently');
  return JSON.parse(String(body));
}
