/** The frame of every page. */
import type { FastifyReply } from 'fastify';
import { Html, html } from './html.ts';
import { STYLE } from './style.ts';

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

/** What a link that is not ours gets. */
export function unknownLink(reply: FastifyReply): FastifyReply {
  return page(
    reply.code(404),
    'This link does not work',
    html`<h1>This link does not work</h1>
<p>It is incomplete or was changed on its way. Please open it from the mail again.</p>`,
  );
}
