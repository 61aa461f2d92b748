/** Calls the API of a service over HTTP with a pair of keys, for the tools of `sendlark mcp`. */
import { fetch } from 'undici';

const TIMEOUT_MS = 30_000;
/** A longer response would exceed what a language model can read. */
const MAX_ANSWER_CHARACTERS = 200_000;
/** A field with a URL that shows a mail to anyone who has it, so it is removed from responses. */
const HIDDEN = 'design_url';

export interface Service {
  /** The origin of the service, such as https://mail.example.com. */
  url: string;
  publicKey: string;
  secretKey: string;
}

/** Thrown if the service refuses or fails; the message tells the reason. */
export class ToolError extends Error {}

/** The values of a request by parameter. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reads records: a GET with these parameters. Throws a ToolError. */
export function readRecords(service: Service, path: string, fields: Fields): Promise<Fields> {
  const query = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  return ask(service, query.size === 0 ? path : `${path}?${query}`, { method: 'GET' });
}

/** Changes data, or asks with more than a URL holds: a POST with these fields. Throws a ToolError. */
export function change(service: Service, path: string, fields: Fields): Promise<Fields> {
  const headers = { 'content-type': 'application/json' };
  return ask(service, path, { method: 'POST', headers, body: JSON.stringify(fields) });
}

async function ask(
  { url, publicKey, secretKey }: Service,
  path: string,
  { headers, ...init }: { method: string; headers?: Record<string, string>; body?: string },
): Promise<Fields> {
  const text = await fetch(`${url}/api${path}`, {
    ...init,
    headers: { ...headers, PublicKey: publicKey, SecretKey: secretKey },
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
    .then((response) => response.text())
    .catch((error: unknown) => {
      throw new ToolError(`${url} cannot be reached: ${reasonOf(error)}`);
    });
  if (text.length > MAX_ANSWER_CHARACTERS) throw new ToolError('The answer is too long: ask for less of it');
  const { status, message, errors } = parse(text, url);
  if (status !== 'success') throw new ToolError(typeof errors === 'string' ? errors : JSON.stringify(errors));
  return Object(message);
}

function parse(text: string, url: string): Fields {
  try {
    const hidden: unknown = JSON.parse(text, (name, value: unknown) => (name === HIDDEN ? undefined : value));
    return Object(hidden);
  } catch {
    throw new ToolError(`${url} does not answer as Sendlark does: check SENDLARK_URL`);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
