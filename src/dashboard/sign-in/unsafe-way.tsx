/** The page for somebody who tries to sign in over plain http from another machine. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { languageOf, sendBarePage } from '../page.tsx';
import { SignInPanel } from './panel.tsx';

const FORBIDDEN = 403;

/** Says why nobody can sign in this way, and how to put TLS in front. */
export function sendUnsafeWay(request: FastifyRequest, reply: FastifyReply) {
  const language = languageOf(request, null);
  const title = language.say('unsafe.title');
  return sendBarePage(
    request,
    reply.code(FORBIDDEN),
    title,
    <SignInPanel title={title}>
      <p>{language.say('unsafe.why')}</p>
      <p>{language.say('unsafe.cure')}</p>
      <p>{language.say('unsafe.tunnel')}</p>
    </SignInPanel>,
  );
}
