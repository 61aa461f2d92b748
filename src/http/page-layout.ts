/** The HTML around every page, and the pages for unknown links and addresses. */
import type { FastifyReply } from 'fastify';
import { Html, html } from './html.ts';
import { STYLE } from './page-style.ts';

/** The methods that show a page. Handlers make sure that a HEAD changes and counts nothing. */
export const READ: ['GET', 'HEAD'] = ['GET', 'HEAD'];

/** Sends a page with this title and content. */
export function page(reply: FastifyReply, title: string, content: Html): FastifyReply {
  const text = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><meta name="color-scheme" content="light dark">
<title>${title}</title><link rel="icon" href="data:,"><style>${new Html(STYLE)}</style></head>
<body><main>
${content}
</main></body></html>
`.text;
  return reply.type('text/html; charset=utf-8').send(text);
}

/** The page for a link that is not ours, or whose mail is not in the database, for example after an older backup was restored. */
export function unknownLink(reply: FastifyReply): FastifyReply {
  return page(
    reply.code(404),
    'This link is not known',
    html`<h1>This link is not known here any more</h1>
<p>It is incomplete, was changed on its way, or belongs to a mail we have no record of any more. Please open the link in the
newest mail you have from us.</p>
<p>If you want no more mail from us, please reply to the mail and say so.</p>`,
  );
}

/** The page for an unknown address. It may be a link from a mail that was cut off, so the page mentions that. */
export function unknownPage(reply: FastifyReply): FastifyReply {
  return page(
    reply.code(404),
    'Page not found',
    html`<h1>Page not found</h1>
<p>There is no page at this address. If you came by a link, it may be incomplete.</p>`,
  );
}
