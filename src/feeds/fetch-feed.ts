/** Fetches a feed over HTTP: only if it has changed, limited in time and size, from checked addresses. */
import type { LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Agent } from 'undici';
import { type Said, sentence } from '../errors/sentences.ts';
import { MEBIBYTE } from '../units.ts';
import { checkedLookup, systemLookup, urlFault } from '../webhooks/addresses.ts';
import { failureText } from '../webhooks/requests.ts';

const MAX_FEED_BYTES = 2 * MEBIBYTE;
const MAX_REDIRECTS = 5;
/** The maximum time from the first request to the end of the last response. */
const TIMEOUT_MS = 20_000;
const CONNECT_TIMEOUT_MS = 5000;
const MAX_RETRY_AFTER_S = 24 * 3600;
/** The maximum length of a validator that is kept. */
const MAX_TAG = 500;
const USER_AGENT = 'Sendlark-Feeds';
const ACCEPT = 'application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5';

const unpack = promisify(gunzip);

/** The validators that a server sent for a version of a feed; empty if it sent none. */
export interface FeedVersion {
  etag: string;
  last_modified: string;
}
export const NO_VERSION: FeedVersion = { etag: '', last_modified: '' };

export type FeedAnswer =
  | { kind: 'unchanged' }
  /** `url` is the URL of the feed after redirects. */
  | ({ kind: 'changed'; text: string; url: string } & FeedVersion)
  /** `retryAfterMs` is how long the server wants no further request; 0 if it does not say. */
  | { kind: 'failed'; reason: Said; retryAfterMs: number };

interface Options {
  /** True if the feed may be at a private address. */
  allowPrivate: boolean;
  /** Cancels the request. */
  signal?: AbortSignal;
}

/** Requests a feed that is known in this version. Does not throw: errors are in the answer. */
export async function fetchFeed(url: string, known: FeedVersion, options: Options): Promise<FeedAnswer> {
  const lookup: LookupFunction = options.allowPrivate ? systemLookup : checkedLookup();
  const agent = new Agent({ connections: 1, pipelining: 0, connect: { lookup, timeout: CONNECT_TIMEOUT_MS } });
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
  try {
    return await follow(agent, url, known, signal, options.allowPrivate);
  } catch (error) {
    return failed(timeout.aborted ? sentence('webhook_silent') : failureText(error));
  } finally {
    // Requests that are still running are no longer needed.
    await agent.destroy().catch(() => undefined);
  }
}

/** Requests a URL and follows its redirects. Checks each URL on the way. */
async function follow(
  agent: Agent,
  from: string,
  known: FeedVersion,
  signal: AbortSignal,
  allowPrivate: boolean,
): Promise<FeedAnswer> {
  let url = from;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const fault = urlFault(url, allowPrivate);
    if (fault !== null) return failed(fault === 'private' ? sentence('webhook_private') : sentence('feed_plain'));
    const { origin, pathname, search } = new URL(url);
    const { statusCode, headers, body } = await agent.request({
      origin,
      path: pathname + search,
      method: 'GET',
      signal,
      headers: {
        accept: ACCEPT,
        'accept-encoding': 'gzip',
        'user-agent': USER_AGENT,
        ...(known.etag !== '' && { 'if-none-match': known.etag }),
        ...(known.last_modified !== '' && { 'if-modified-since': known.last_modified }),
      },
    });
    const header = (name: string) => String(headers[name] ?? '');
    if (statusCode === 304) return { kind: 'unchanged' };
    if (statusCode === 200) {
      const bytes = await readBody(body, header('content-encoding'));
      if (bytes === null) return failed(sentence('feed_large', { size: MAX_FEED_BYTES / 1024 / 1024 }));
      const version = { etag: validator(header('etag')), last_modified: validator(header('last-modified')) };
      return { kind: 'changed', text: decode(bytes, header('content-type')), url, ...version };
    }
    const location = header('location');
    if (![301, 302, 303, 307, 308].includes(statusCode) || !URL.canParse(location, url))
      return failed(sentence('feed_status', { status: statusCode }), retryAfterMs(header('retry-after')));
    const next = new URL(location, url);
    next.hash = '';
    url = next.href;
    body.on('error', () => undefined).destroy();
  }
  return failed(sentence('feed_redirects'));
}

/** Returns the decompressed body; null if it is too large. */
async function readBody(body: AsyncIterable<Buffer>, encoding: string): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > MAX_FEED_BYTES) return null;
    parts.push(part);
  }
  const bytes = Buffer.concat(parts);
  if (!/gzip/i.test(encoding)) return bytes;
  try {
    return await unpack(bytes, { maxOutputLength: MAX_FEED_BYTES });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Decodes the text with the encoding that the server or the document names; UTF-8 if neither names a known one. */
function decode(bytes: Buffer, contentType: string): string {
  const named =
    /charset="?([\w-]{1,40})/i.exec(contentType)?.[1] ??
    /^<\?xml[^>]{0,100}\sencoding=["']([\w-]{1,40})/.exec(bytes.toString('latin1', 0, 200))?.[1];
  try {
    // A byte order mark takes precedence over both (WHATWG Encoding, 6).
    return new TextDecoder(markedEncoding(bytes) ?? named ?? 'utf-8').decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** Returns the encoding that a byte order mark of UTF-16 names; null without such a mark. */
function markedEncoding([first, second]: Buffer): string | null {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : null;
}

/** Returns a validator for a later request; empty if it is too long to be kept. */
function validator(value: string): string {
  return value.length > MAX_TAG ? '' : value;
}

/** Parses Retry-After, which is seconds or a date (RFC 9110, 10.2.3). */
function retryAfterMs(value: string): number {
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER_S) * 1000 : 0;
}

function failed(reason: Said, waitMs = 0): FeedAnswer {
  return { kind: 'failed', reason, retryAfterMs: waitMs };
}
