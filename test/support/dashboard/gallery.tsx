/** A page with every component in every state, to be looked at and checked; it is part of the tests only. */
import type { FastifyInstance } from 'fastify';
import { conflict, invalid } from '../../../src/errors/failure.ts';
import { LinkButton } from '../../../src/ui/components/button.tsx';
import { answerError, sendErrorPage } from '../../../src/ui/error-pages.tsx';
import { setFlash } from '../../../src/ui/flash.ts';
import { Gallery } from '../../../src/ui/gallery.tsx';
import { sendBarePage, sendPage } from '../../../src/ui/page.tsx';
import type { Viewer } from '../../../src/ui/viewer.ts';

export const VIEWER: Viewer = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  role: 'owner',
  isOperator: true,
  accountId: 1,
  language: null,
  shortcuts: true,
  colourScheme: 'system',
};

/** Registers the gallery at `/gallery`, and error pages at `/gallery/errors/:status`. */
export async function gallery(app: FastifyInstance): Promise<void> {
  app.get('/gallery', (request, reply) =>
    sendPage(
      request,
      reply,
      VIEWER,
      {
        title: 'Components',
        section: 'campaigns',
        action: <LinkButton href="#new" icon="plus" label="New campaign" />,
      },
      <Gallery />,
    ),
  );
  app.get('/gallery/bare', (request, reply) => sendBarePage(request, reply, 'Sign in', <h1>Sign in</h1>));
  app.setErrorHandler<Error>((error, request, reply) => answerError(error, request, reply, VIEWER));
  app.addContentTypeParser('application/x-www-form-urlencoded', (_request, body, done) => {
    body.resume();
    done(null);
  });
  app.post('/gallery', (_request, reply) => {
    setFlash(reply, 'good', 'home.step.people.done', { count: 1200 });
    return reply.code(303).redirect('/gallery');
  });
  app.get('/gallery/conflict', () => {
    throw conflict('It is in use');
  });
  app.get('/gallery/invalid', () => {
    throw invalid('a', 'A <b>.');
  });
  app.get<{ Params: { status: number } }>('/gallery/errors/:status', (request, reply) =>
    sendErrorPage(request, reply, VIEWER, Number(request.params.status)),
  );
}
