/**
 * A recipient's mail in the browser, without the links that act in their name. A sandbox gives it an opaque origin, so that an
 * owner's HTML never runs as part of our site.
 */
import type { FastifyInstance } from 'fastify';
import { mergeHtml, OPEN_URL, PREFERENCES, WEB_COPY } from '../delivery/content/merge.ts';
import { untracked } from '../delivery/content/web-copy.ts';
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';
import { deliveryValues } from '../delivery/queue/recipient-values.ts';
import type { Deps } from '../deps.ts';
import { READ, unknownLink } from '../http/pages/layout.ts';

/** No scripts and no forms, in an opaque origin. Pictures and styles load from wherever the mail has them, and links work. */
const POLICY = [
  'sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation',
  "default-src 'none'",
  'img-src http: https: data:',
  "style-src 'unsafe-inline' https:",
  'font-src https: data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export async function webCopyPage(app: FastifyInstance, { db, tokens, publicUrl }: Deps): Promise<void> {
  const frozenContent = db.$client
    .prepare<[number, number], string>('SELECT content FROM mailings WHERE id = ? AND user_id = ?')
    .pluck();

  app.route<{ Params: { token: string } }>({
    method: READ,
    url: '/w/:token',
    handler: (request, reply) => {
      const ids = tokens.readRecipient('web', request.params.token);
      const stored = ids && frozenContent.get(ids.mailing, ids.user);
      if (!ids || !stored) return unknownLink(reply);
      const { content, sender_name, sender_address }: FrozenContent = JSON.parse(stored);
      const values = {
        ...deliveryValues(db, ids),
        sender_name,
        sender_address,
        // A copy may be passed on. Its readers must not unsubscribe the recipient or see their choices.
        [PREFERENCES]: `${publicUrl()}/u/shared`,
        [WEB_COPY]: `${publicUrl()}/w/${request.params.token}`,
        // Viewing the copy does not count as an open.
        [OPEN_URL]: '',
      };
      return reply
        .headers({ 'content-security-policy': POLICY, 'x-robots-tag': 'noindex' })
        .type('text/html; charset=utf-8')
        .send(mergeHtml(untracked(content), values));
    },
  });
}
