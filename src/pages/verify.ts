/** Confirming a sender address: the link of the verification mail leads here, the button does the work. */
import type { FastifyInstance } from 'fastify';
import { senderOfLink, verifySender } from '../campaigns/senders.ts';
import type { Deps } from '../deps.ts';
import { html, page } from './layout.ts';

export async function verifyPage(app: FastifyInstance, { db, clock, tokens, wake }: Deps): Promise<void> {
  const find = (token: string) => senderOfLink(db, tokens, token, clock.now());

  app.get<{ Params: { token: string } }>('/verify/:token', (request, reply) => {
    const sender = find(request.params.token);
    if (sender === null) return outdated(reply);
    if (sender.is_verified === 1)
      return page(reply, 'Already confirmed', html`<p>${sender.from_email} is confirmed.</p>`);
    return page(
      reply,
      'Confirm this address',
      html`<p>Mail may then be sent from <strong>${sender.from_email}</strong>.</p><form method="post"><button>Confirm</button></form>`,
    );
  });

  app.post<{ Params: { token: string } }>('/verify/:token', (request, reply) => {
    const sender = find(request.params.token);
    if (sender === null) return outdated(reply);
    verifySender(db, sender, clock.now());
    wake();
    return page(reply, 'Confirmed', html`<p>Mail can now be sent from ${sender.from_email}.</p>`);
  });
}

function outdated(reply: Parameters<typeof page>[0]) {
  return page(
    reply.code(404),
    'This link does not work',
    html`<p>It is incomplete, too old, or the sender was changed since. Ask for a new verification mail.</p>`,
  );
}
