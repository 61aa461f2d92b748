/** Error pages. A signed-in user (`viewer`) gets them with the navigation, other visitors without it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Failure, textsOf } from '../errors/failure.ts';
import type { Said } from '../errors/sentences.ts';
import { logFailed, noteFailure } from '../http/errors.ts';
import { LinkButton } from './components/button.tsx';
import { languageOf, sendBarePage, sendPage } from './page.tsx';
import type { Viewer } from './viewer.ts';

type Kind = 'notFound' | 'forbidden' | 'busy' | 'request' | 'failed';

const KINDS = new Map<number, Kind>([
  [403, 'forbidden'],
  [404, 'notFound'],
  [503, 'busy'],
]);

/** Sends the error page for a status. `reasons` say why the request was refused; empty if only the status says it. */
export function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  viewer: Viewer | null,
  status: number,
  reasons: readonly Said[] = [],
) {
  const kind = KINDS.get(status) ?? (status < 500 ? 'request' : 'failed');
  const language = languageOf(request, viewer);
  const title = language.say(`error.${kind}.title`);
  const reasonText = kind === 'request' ? reasons.map((reason) => language.fullSentence(reason)).join(' ') : '';
  const content = (
    <div class="error-page">
      {viewer === null && <h1>{title}</h1>}
      <p>{reasonText || language.say(`error.${kind}.text`)}</p>
      <div class="buttons">
        <LinkButton href="/" look="plain" label={language.say('error.home')} />
      </div>
    </div>
  );
  reply.code(status);
  return viewer === null
    ? sendBarePage(request, reply, title, content)
    : sendPage(request, reply, viewer, { title, isError: true }, content);
}

/** Answers a request whose page threw an error, with the status of the error or 500. Logs errors with status 500 or above, except 503. */
export function answerError(
  error: Error & { statusCode?: number },
  request: FastifyRequest,
  reply: FastifyReply,
  viewer: Viewer | null,
) {
  const failure = error instanceof Failure ? error : null;
  if (failure !== null) noteFailure(reply, failure);
  const status = failure?.status ?? error.statusCode ?? 500;
  if (status >= 500 && status !== 503) logFailed(request, error);
  return sendErrorPage(request, reply, viewer, status, failure === null ? [] : textsOf(failure.errors));
}
