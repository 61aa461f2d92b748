/** The frame of every page. */
import type { FastifyReply } from 'fastify';
import { Html, html } from './html.ts';
import { STYLE } from './page-style.ts';

/** Every page answers these; a HEAD does nothing a GET does not (trust 20). */
export const READ: ['GET', 'HEAD'] = ['GET', 'HEAD'];

/** Sends a page with this title and content. */
export function page(reply: FastifyReply, title: string, content: Html, width: 'narrow' | 'wide' = 'narrow') {
  const text = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><meta name="color-scheme" content="light dark">
<title>${title}</title><link rel="icon" href="data:,"><style>${new Html(STYLE)}</style></head>
<body><main class="${width}">
${content}
</main></body></html>
`.text;
  return reply.type('text/html; charset=utf-8').send(text);
}

/** What a link gets that is not ours or of a time the file knows nothing of: a backup may have been restored since. */
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

/** What an address gets that is none of ours. It may be a link of a mail that was cut, so the page says what to do about one. */
export function unknownPage(reply: FastifyReply): FastifyReply {
  return page(
    reply.code(404),
    'Page not found',
    html`<h1>Page not found</h1>
<p>There is no page at this address. If you came by a link, it may be incomplete.</p>`,
  );
}
