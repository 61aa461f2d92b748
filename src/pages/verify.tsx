/**
 * The page that confirms a sender address. The verification mail links to it; only its button confirms, because mail scanners open links.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { page } from '../http/pages/document.tsx';
import { messagePage, pageRoute } from '../http/pages/layout.ts';
import { chooseWords } from '../http/pages/words/index.ts';
import type { Deps } from '../operations/deps.ts';
import { findSenderByLink, verifySender } from '../senders/senders.ts';

interface Link {
  Params: { token: string };
}

/** Registers the page on which a sender's address is confirmed. */
export async function verifyPage(app: FastifyInstance, { config, db, clock, tokens, wake }: Deps): Promise<void> {
  const find = (token: string) => findSenderByLink(db, tokens, token, clock.now());

  pageRoute<Link>(app, '/verify/:token', (request, reply) => {
    const sender = find(request.params.token);
    if (sender === null) return messagePage(reply.code(404), 'outdatedLink');
    if (sender.is_verified === 1) return confirmed(reply, sender.from_email);
    const { verify: text, language } = chooseWords(reply);
    return page(
      reply,
      text.title,
      <>
        <p class="from">{text.kind}</p>
        <h1>{text.title}</h1>
        <p>{text.somebody}</p>
        <p>
          <strong>{sender.from_email}</strong>
        </p>
        <p class="quiet">{text.warning}</p>
        <form method="post">
          <button type="submit">{text.confirm}</button>
        </form>
      </>,
      language,
    );
  });

  app.post<Link>('/verify/:token', (request, reply) => {
    const sender = find(request.params.token);
    if (sender === null) return messagePage(reply.code(404), 'outdatedLink');
    if (sender.is_verified === 0) {
      verifySender(db, sender, request.ip, clock.now(), config.SCHEDULE_GRACE_MINUTES);
      wake();
    }
    return confirmed(reply, sender.from_email);
  });
}

function confirmed(reply: FastifyReply, email: string): FastifyReply {
  const { verify: text, language } = chooseWords(reply);
  return page(
    reply,
    text.doneTitle,
    <>
      <p class="from">{text.kind}</p>
      <h1>{text.doneTitle}</h1>
      <p class="notice" role="status">
        {text.done(email)}
      </p>
      <p class="quiet">{text.close}</p>
    </>,
    language,
  );
}
