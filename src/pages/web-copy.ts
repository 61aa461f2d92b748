/**
 * The web copy of a recipient's mail, without links that act in the recipient's name. A sandbox gives the page an opaque origin, so that
 * the HTML of an account never runs as part of this site.
 */
import type { FastifyInstance } from 'fastify';
import { showWebCopy } from '../delivery/compiling/show.ts';
import type { Values } from '../delivery/content/merge.ts';
import { OPEN_URL, PREFERENCES, WEB_COPY } from '../delivery/content/placeholders.ts';
import { limitPerKey } from '../http/account-share.ts';
import { pageRoute, unknownLink } from '../http/pages/layout.ts';
import type { RecipientSource } from './recipient-source.ts';

/**
 * The Content-Security-Policy of a mail shown as a page: no scripts and no forms, in an opaque origin. Images and styles load from any
 * origin, and links work.
 */
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

/**
 * The maximum number of readers of an account's mails who wait. The mails of an account are shown one at a time, so that readers of
 * other accounts wait for at most one mail.
 */
const MAX_READERS = 100;
/** The maximum number of readers who wait with the links of one recipient, so that nobody can block the other readers with one link. */
const MAX_OF_RECIPIENT = 10;

/** Registers the page that shows a mail in the browser. */
export async function webCopyPage(app: FastifyInstance, source: RecipientSource): Promise<void> {
  const inTurnOfAccount = limitPerKey({ most: MAX_READERS });
  const inTurnOfRecipient = limitPerKey({ most: MAX_OF_RECIPIENT });
  pageRoute<{ Params: { token: string } }>(app, '/w/:token', async (request, reply) => {
    const { token } = request.params;
    const ids = await source.readLink('web', token);
    if (!ids) return unknownLink(reply);
    const show = async () => {
      const mail = await source.readMail(ids, token);
      if (mail === null) return null;
      const values: Values = {
        ...(await source.readValues(ids, 'web', token)),
        // A copy may be forwarded, and other readers must not unsubscribe the recipient or see the recipient's choices.
        [PREFERENCES]: `${source.publicUrl()}/u/shared`,
        [WEB_COPY]: `${source.publicUrl()}/w/${token}`,
        // Viewing the copy does not count as an open.
        [OPEN_URL]: '',
      };
      return showWebCopy(ids.user, { ...mail, values });
    };
    const shown = await inTurnOfRecipient(ids.address, () => inTurnOfAccount(ids.user, show));
    if (shown === null) return unknownLink(reply);
    return reply
      .headers({ 'content-security-policy': COPY_POLICY, 'x-robots-tag': 'noindex' })
      .type('text/html; charset=utf-8')
      .send(shown);
  });
}
