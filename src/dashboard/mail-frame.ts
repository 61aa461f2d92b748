/** A mail's own HTML for a frame within a page. */
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { escapeHtml } from '../delivery/content/merge.ts';
import type { Language } from './words/index.ts';

/** It runs nothing, sends nothing and loads nothing, so that looking at it tells nobody. */
const MAIL_HEADERS = {
  'content-security-policy':
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;
const NOT_MODIFIED = 304;
const QUIET = 'body { font: 1rem/1.5 system-ui, sans-serif; padding: 2rem; color: #59645f; text-align: center; }';
/** The frame may not leave for other sites, so a link in it would lead to an error of the browser. */
const RESTING = '<style>a, area { pointer-events: none !important; }</style>';

/** Sends a mail as the content of a frame. */
export function sendMailFrame(reply: FastifyReply, html: string): FastifyReply {
  return reply.headers(MAIL_HEADERS).type('text/html; charset=utf-8').send(atRest(html));
}

/**
 * The same for a mail that is looked at often: the browser keeps it, asks each time whether it is still the same, and gets it again
 * only where it is not. What it is asked with is a hash of the mail, merged for its person.
 */
export function sendKeptMailFrame(reply: FastifyReply, html: string): FastifyReply {
  const etag = `"${createHash('sha256').update(html).digest('base64url')}"`;
  reply.headers({ ...MAIL_HEADERS, 'cache-control': 'private, no-cache', etag });
  if (reply.request.headers['if-none-match'] === etag) return reply.code(NOT_MODIFIED).send();
  return reply.type('text/html; charset=utf-8').send(atRest(html));
}

/** Says in a frame why there is no mail in it. A link could not try again there: the frame sends no cookie by itself. */
export function sendEmptyFrame(reply: FastifyReply, language: Language, status: number, text: string): FastifyReply {
  return reply
    .code(status)
    .headers(MAIL_HEADERS)
    .type('text/html; charset=utf-8')
    .send(`<!doctype html><html lang="${language.code}"><style>${QUIET}</style><p>${escapeHtml(text)}</p></html>`);
}

/**
 * Takes the addresses from pictures that are not in the mail itself, so that their alternative text shows instead of a broken picture,
 * and takes links out of the reach of mouse and keyboard. The mail as a whole can be reached, so that the keyboard scrolls it.
 */
function atRest(html: string): string {
  const still = html
    .replaceAll(/(<img\b[^<>]*?\s)src=(?!["']?data:)/gi, '$1data-src=')
    .replaceAll(/<(a|area)(?=\s)/gi, '<$1 tabindex="-1"')
    .replace(/<body(?=[\s>])/i, '<body tabindex="0"');
  return rested(/<body[\s>]/i.test(still) ? still : withBody(still));
}

/** Gives HTML without a body element the one that a browser would add, where the browser would add it. */
function withBody(html: string): string {
  for (const before of [/<\/head\s*>/i, /<html\b[^<>]*>/i, /<!doctype[^<>]*>/i]) {
    if (before.test(html)) return html.replace(before, '$&<body tabindex="0">');
  }
  return `<body tabindex="0">${html}`;
}

function rested(still: string): string {
  return /<head\b[^<>]*>/i.test(still) ? still.replace(/<head\b[^<>]*>/i, `$&${RESTING}`) : RESTING + still;
}
