/** The page that confirms a sender address. The verification mail links to it; only its button confirms, since mail scanners open links. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Deps } from '../deps.ts';
import { html } from '../http/html.ts';
import { page, READ } from '../http/page-layout.ts';
import { findSenderByLink, verifySender } from '../senders/senders.ts';

interface Link {
  Params: { token: string };
}

export async function verifyPage(app: FastifyInstance, { config, db, clock, tokens, wake }: Deps): Promise<void> {
  const find = (token: string) => findSenderByLink(db, tokens, token, clock.now());

  app.route<Link>({
    method: READ,
    url: '/verify/:token',
    handler: (request, reply) => {
      const sender = find(request.params.token);
      if (sender === null) return outdated(reply);
      if (sender.is_verified === 1) return confirmed(reply, sender.from_email);
      return page(
        reply,
        'Confirm this address',
        html`<p class="from">Sender address</p><h1>Confirm this address</h1>
<p>Somebody wants to send mail from</p><p><strong>${sender.from_email}</strong></p>
<p class="quiet">Confirm only if this mailbox is yours and you know about it. If not, close this page: nothing happens.</p>
<form method="post"><button>Yes, confirm this address</button></form>`,
      );
    },
  });

  app.post<Link>('/verify/:token', (request, reply) => {
    const sender = find(request.params.token);
    if (sender === null) return outdated(reply);
    if (sender.is_verified === 0) {
      verifySender(db, sender, clock.now(), config.SCHEDULE_GRACE_MINUTES);
      wake();
    }
    return confirmed(reply, sender.from_email);
  });
}

function confirmed(reply: FastifyReply, email: string): FastifyReply {
  return page(
    reply,
    'Address confirmed',
    html`<p class="from">Sender address</p><h1>Address confirmed</h1>
<p class="notice" role="status">Mail can now be sent from <strong>${email}</strong>.</p><p class="quiet">You can close this page.</p>`,
  );
}

function outdated(reply: FastifyReply): FastifyReply {
  return page(
    reply.code(404),
    'This link does not work',
    html`<h1>This link does not work</h1>
<p>It is incomplete, too old, or the sender was changed since. Ask for a new verification mail.</p>`,
  );
}
