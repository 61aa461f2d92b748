/**
 * The page that confirms the address of a sender. The link in a verification mail opens the page. Only a button on it confirms the
 * address, because mail scanners open links.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { sendPublicPage } from '../http/pages/document.tsx';
import { messagePage, pageRoute } from '../http/pages/layout.ts';
import { chooseWords } from '../http/pages/words/index.ts';
import type { Deps } from '../operations/deps.ts';
import { findSenderByLink, verifySender } from '../senders/verification.ts';

interface ByToken {
  Params: { token: string };
}

/** Registers the page that confirms the address of a sender. */
export async function verifyPage(app: FastifyInstance, { config, db, clock, tokens, wake }: Deps): Promise<void> {
  const findSender = (token: string) => findSenderByLink(db, tokens, token, clock.now());

  pageRoute<ByToken>(app, '/verify/:token', (request, reply) => {
    const sender = findSender(request.params.token);
    if (sender === null) return messagePage(reply.code(404), 'outdatedLink');
    if (sender.is_verified === 1) return sendConfirmed(reply, sender.from_email);
    const { verify: text, language } = chooseWords(reply);
    return sendPublicPage(
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

  app.post<ByToken>('/verify/:token', (request, reply) => {
    const sender = findSender(request.params.token);
    if (sender === null) return messagePage(reply.code(404), 'outdatedLink');
    if (sender.is_verified === 0) {
      verifySender(db, sender, request.ip, clock.now(), config.SCHEDULE_GRACE_MINUTES);
      wake();
    }
    return sendConfirmed(reply, sender.from_email);
  });
}

function sendConfirmed(reply: FastifyReply, email: string): FastifyReply {
  const { verify: text, language } = chooseWords(reply);
  return sendPublicPage(
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
