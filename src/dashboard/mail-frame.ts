/** A mail's own HTML for a frame within a page. */
import type { FastifyReply } from 'fastify';

/** It runs nothing, sends nothing and loads nothing, so that looking at it tells nobody. */
const MAIL_HEADERS = {
  'content-security-policy':
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;
/** The frame may not leave for other sites, so a link in it would lead to an error of the browser. */
const RESTING = '<style>a, area { pointer-events: none !important; }</style>';

/** Sends a mail as the content of a frame. */
export function sendMailFrame(reply: FastifyReply, html: string): FastifyReply {
  return reply.headers(MAIL_HEADERS).type('text/html; charset=utf-8').send(atRest(html));
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
  return /<head\b[^<>]*>/i.test(still) ? still.replace(/<head\b[^<>]*>/i, `$&${RESTING}`) : RESTING + still;
}
