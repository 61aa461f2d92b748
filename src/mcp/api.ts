/** Calls the API of a service over HTTP with a pair of keys, for the tools of `sendlark mcp`. */
import { fetch } from 'undici';

const TIMEOUT_MS = 30_000;
/** The maximum length of a response. A language model could not read a longer one. */
const MAX_ANSWER_CHARACTERS = 200_000;
/**
 * A field of responses whose URL shows a mail to anyone who has it. The field is removed, so that the language model does not get the URL.
 */
const SECRET_FIELD = 'design_url';

/** A running service and the key pair with which its API is called. */
export interface Service {
  /** The origin of the service, such as https://mail.example.com. */
  url: string;
  publicKey: string;
  secretKey: string;
}

/** Thrown if the service refuses a request or fails. The message says why, in words for the language model. */
export class ToolError extends Error {}

/** The parameters of a request or the fields of a record, by name. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reads records by a GET request with these parameters. Throws a ToolError. */
export function readRecords(service: Service, path: string, fields: Fields): Promise<Fields> {
  const query = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  return request(service, query.size === 0 ? path : `${path}?${query}`, { method: 'GET' });
}

/** Sends a POST request with these fields, which changes data, or reads with parameters that are too long for a URL. Throws a ToolError. */
export function post(service: Service, path: string, fields: Fields): Promise<Fields> {
  const headers = { 'content-type': 'application/json' };
  return request(service, path, { method: 'POST', headers, body: JSON.stringify(fields) });
}

async function request(
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
  const { status, message, errors } = parse(text);
  if (status === 'success') return Object(message);
  if (errors === undefined) throw new ToolError(`${url} does not answer as Sendlark does: check SENDLARK_URL`);
  throw new ToolError(typeof errors === 'string' ? errors : JSON.stringify(errors));
}

/** Returns the fields of an answer; none if the answer is not JSON. */
function parse(text: string): Fields {
  try {
    const visible: unknown = JSON.parse(text, (name, value: unknown) => (name === SECRET_FIELD ? undefined : value));
    return Object(visible);
  } catch {
    return {};
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
