/** Passes a form with a file on to the API: in process, as the user who sent it, for the API reads files of any size as they come. */
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { languageOf } from './page.tsx';
import { viewerOf } from './signed-in.ts';

/** Headers that tell who asks and how the request came. */
const FORWARDED = ['host', 'cookie', 'user-agent', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'];

/** The message of the API, or why it refused the file, in the reader's language. */
export type Uploaded<Message> = { output: Message } | { status: number; problem: string };

/** Sends the form of a request to a path below /api, without keeping it in memory. Throws where the browser hung up before. */
export async function upload<Message>(request: FastifyRequest, path: string): Promise<Uploaded<Message>> {
  const { body, headers } = request;
  // The API would wait for ever for the end of a form that broke off earlier.
  if (body instanceof Readable && body.errored) throw body.errored;
  const kept = FORWARDED.filter((name) => headers[name] !== undefined).map((name) => [name, headers[name]]);
  const { statusCode: status, payload } = await request.server.inject({
    method: 'POST',
    url: `/api${path}`,
    headers: {
      ...Object.fromEntries(kept),
      'x-sendlark': 'dashboard',
      'sec-fetch-site': 'same-origin',
      'content-type': headers['content-type'] ?? '',
    },
    remoteAddress: request.socket.remoteAddress ?? request.ip,
    payload: body instanceof Readable ? body : '',
  });
  const { message, errors = '' }: { message?: Message; errors?: Record<string, string[]> | string } =
    JSON.parse(payload);
  if (message !== undefined) return { output: message };
  const texts = typeof errors === 'string' ? [errors] : Object.values(errors).flat();
  const language = languageOf(request, viewerOf(request));
  return { status, problem: texts.map((text) => language.sentence(text)).join(' ') };
}
