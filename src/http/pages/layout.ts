/** The HTML around every page, and the pages for unknown links and addresses. */
import type { FastifyReply } from 'fastify';
import type { LanguageCode } from '../../languages.ts';
import { Html, html } from './html.ts';
import { STYLE } from './style.ts';
import { chooseWords, type PageWords } from './words/index.ts';

/** The methods that show a page. Handlers make sure that a HEAD changes and counts nothing. */
export const READ: ['GET', 'HEAD'] = ['GET', 'HEAD'];

const UNLISTED = html`<meta name="robots" content="noindex">`;

/** Sends a page with this title and content, in English unless another language is given. */
export function page(reply: FastifyReply, title: string, content: Html, language: LanguageCode = 'en'): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(documentText(title, content, language, UNLISTED));
}

/** The document of a page; `head` is what its head has besides what all have. */
export function documentText(title: string, content: Html, language: LanguageCode, head: Html): string {
  return html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
${head}<meta name="color-scheme" content="light dark">
<title>${title}</title><link rel="icon" href="data:,"><style>${new Html(STYLE)}</style></head>
<body><main>
${content}
</main></body></html>
`.text;
}

/** The pages that hold a single message, by the name of that message. */
type Message = { [Name in keyof PageWords]: PageWords[Name] extends { content: Html } ? Name : never }[keyof PageWords];

/** Sends a page with a single message, in the recipient's language. */
export function messagePage(reply: FastifyReply, message: Message): FastifyReply {
  const words = chooseWords(reply);
  const { title, content } = words[message];
  return page(reply, title, content, words.language);
}

/** The page for a link that is not ours, or whose mail is not in the database, for example after an older backup was restored. */
export function unknownLink(reply: FastifyReply): FastifyReply {
  return messagePage(reply.code(404), 'unknownLink');
}

/** The page for an unknown address. It may be a link from a mail that was cut off, so the page mentions that. */
export function unknownPage(reply: FastifyReply): FastifyReply {
  return messagePage(reply.code(404), 'unknownPage');
}
