/**
 * A recipient's mail in the browser, without the links that act in their name. A sandbox gives it an opaque origin, so that an
 * owner's HTML never runs as part of our site.
 */
import type { FastifyInstance } from 'fastify';
import { copy } from '../delivery/compiling/show.ts';
import { OPEN_URL, PREFERENCES, type Values, WEB_COPY } from '../delivery/content/merge.ts';
import { turns } from '../http/account-share.ts';
import { READ, unknownLink } from '../http/pages/layout.ts';
import type { RecipientSource } from './recipient-source.ts';

/** The policy of a mail that is shown as a page: no scripts and no forms, in an opaque origin. Pictures and styles load from wherever the mail has them, and links work. */
export const COPY_POLICY = [
  'sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation',
  "default-src 'none'",
  'img-src http: https: data:',
  "style-src 'unsafe-inline' https:",
  'font-src https: data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Readers of an account's mails who wait at a time. One at a time is shown theirs, so that readers of others wait for no more than that. */
const MAX_READERS = 100;
/** Of them those with the links of one recipient, so that nobody who has a link keeps others from reading. */
const MAX_OF_RECIPIENT = 10;

export async function webCopyPage(app: FastifyInstance, source: RecipientSource): Promise<void> {
  const inTurn = turns(MAX_READERS);
  const inTurnOfRecipient = turns(MAX_OF_RECIPIENT);
  app.route<{ Params: { token: string } }>({
    method: READ,
    url: '/w/:token',
    handler: async (request, reply) => {
      const { token } = request.params;
      const ids = await source.readLink('web', token);
      if (!ids) return unknownLink(reply);
      const show = async () => {
        const mail = await source.readMail(ids, token);
        if (mail === null) return null;
        const values: Values = {
          ...(await source.readValues(ids, 'web', token)),
          // A copy may be passed on. Its readers must not unsubscribe the recipient or see their choices.
          [PREFERENCES]: `${source.publicUrl()}/u/shared`,
          [WEB_COPY]: `${source.publicUrl()}/w/${token}`,
          // Viewing the copy does not count as an open.
          [OPEN_URL]: '',
        };
        return copy(ids.user, { ...mail, values });
      };
      const shown = await inTurnOfRecipient(ids.address, () => inTurn(ids.user, show));
      if (shown === null) return unknownLink(reply);
      return reply
        .headers({ 'content-security-policy': COPY_POLICY, 'x-robots-tag': 'noindex' })
        .type('text/html; charset=utf-8')
        .send(shown);
    },
  });
}
