/** Calls the API for scripts: sends the keys in the headers, and takes the message out of the envelope. */
import { fetch } from 'undici';

/** A service's URL, and the headers with the keys. */
export interface Api {
  url: string;
  headers: Record<string, string>;
}

/** Sends a request and returns the `message` of the answer. Throws an Error with the `errors` if the request failed. */
export async function call<T>({ url, headers }: Api, path: string, init: Parameters<typeof fetch>[1] = {}): Promise<T> {
  const response = await fetch(url + path, { ...init, headers });
  const answer = (await response.json()) as { status: string; message: T; errors?: unknown };
  if (answer.status !== 'success') throw new Error(`${path}: ${JSON.stringify(answer.errors)}`);
  return answer.message;
}

/** Posts a form and returns the `message` of the answer. */
export function post<T = unknown>(api: Api, path: string, form: Record<string, string>): Promise<T> {
  return call<T>(api, path, { method: 'POST', body: new URLSearchParams(form) });
}
