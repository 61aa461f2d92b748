/** Calls of the API by scripts: the keys in the headers, the message out of the envelope. */
import { fetch } from 'undici';

export interface Api {
  url: string;
  headers: Record<string, string>;
}

/** Sends a request and gives its `message`; throws an Error that has the `errors` of a failure. */
export async function call<T>({ url, headers }: Api, path: string, init: Parameters<typeof fetch>[1] = {}): Promise<T> {
  const response = await fetch(url + path, { ...init, headers });
  const answer = (await response.json()) as { status: string; message: T; errors?: unknown };
  if (answer.status !== 'success') throw new Error(`${path}: ${JSON.stringify(answer.errors)}`);
  return answer.message;
}

/** Posts a form. */
export function post<T = unknown>(api: Api, path: string, form: Record<string, string>): Promise<T> {
  return call<T>(api, path, { method: 'POST', body: new URLSearchParams(form) });
}
