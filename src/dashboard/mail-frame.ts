/** A mail's own HTML for a frame within a page. */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { prepared } from '../database/prepared.ts';
import { escapeHtml } from '../delivery/content/merge.ts';
import type { Deps } from '../deps.ts';
import { findPictureIds } from '../picture-ids.ts';
import type { Language } from './words/index.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Which of these ids are pictures in the library of the account. */
    ownPictures(accountId: number, ids: string): ReadonlySet<string>;
    /** The origins at which pictures of the library are in mails. */
    pictureOrigins(): string[];
  }
}

/** It runs nothing, sends nothing and loads nothing but pictures of this service, so that looking at it tells nobody. */
const mailHeaders = (pictures = '') => ({
  'content-security-policy': `default-src 'none'; img-src data:${pictures}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
});
const NOT_MODIFIED = 304;
const QUIET = 'body { font: 1rem/1.5 system-ui, sans-serif; padding: 2rem; color: #59645f; text-align: center; }';
/** The frame may not leave for other sites, so a link in it would lead to an error of the browser. */
const RESTING = '<style>a, area { pointer-events: none !important; }</style>';

/** The address of a picture of the library: origin, path, id. Before there was a public address, mails got one of this machine. */
const PICTURE = /(https?:\/\/[^\s"'<>()/]+)(\/pictures\/([0-9a-f]{32})\/[^\s"'<>()\\]*)/gi;
const LOCAL = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** Lets the frames below find the pictures of an account. */
export function installMailFrames(app: FastifyInstance, { db, publicUrl }: Pick<Deps, 'db' | 'publicUrl'>): void {
  app.decorate('pictureOrigins', () => [publicUrl()]);
  app.decorate('ownPictures', (accountId, ids) => {
    const find = prepared<[string, number], string>(
      db.$client,
      'SELECT public_id FROM pictures WHERE public_id IN (SELECT value FROM json_each(?)) AND user_id = ?',
    );
    return new Set(find.pluck().all(ids, accountId));
  });
}

/** Sends a mail of an account as the content of a frame. */
export function sendMailFrame(reply: FastifyReply, html: string, accountId: number): FastifyReply {
  const { shown, headers } = atRest(reply, html, accountId);
  return reply.headers(headers).type('text/html; charset=utf-8').send(shown);
}

/**
 * The same for a mail that is looked at often: the browser keeps it, asks each time whether it is still the same, and gets it again
 * only where it is not. What it is asked with is a hash of what is shown, merged for its person.
 */
export function sendKeptMailFrame(reply: FastifyReply, html: string, accountId: number): FastifyReply {
  const { shown, headers } = atRest(reply, html, accountId);
  const etag = `"${createHash('sha256').update(shown).digest('base64url')}"`;
  reply.headers({ ...headers, 'cache-control': 'private, no-cache', etag });
  if (reply.request.headers['if-none-match'] === etag) return reply.code(NOT_MODIFIED).send();
  return reply.type('text/html; charset=utf-8').send(shown);
}

/** Says in a frame why there is no mail in it. A link could not try again there: the frame sends no cookie by itself. */
export function sendEmptyFrame(reply: FastifyReply, language: Language, status: number, text: string): FastifyReply {
  return reply
    .code(status)
    .headers(mailHeaders())
    .type('text/html; charset=utf-8')
    .send(`<!doctype html><html lang="${language.code}"><style>${QUIET}</style><p>${escapeHtml(text)}</p></html>`);
}

/**
 * Takes the addresses from pictures that are neither in the mail itself nor in the library of the account, so that their alternative text
 * shows instead of a broken picture, and takes links out of the reach of mouse and keyboard. The mail as a whole can be reached, so that
 * the keyboard scrolls it. Pictures of the library are loaded from where the page is, which may not be where mails say they are.
 */
function atRest({ server, request }: FastifyReply, html: string, accountId: number) {
  const origins = server.pictureOrigins();
  const library = server.ownPictures(accountId, findPictureIds(html));
  const own = new Map<string, string>();
  for (const [address, origin = '', path = '', id = ''] of html.matchAll(PICTURE))
    if (library.has(id.toLowerCase()) && (origins.includes(origin) || LOCAL.test(origin))) own.set(address, path);
  const still = html
    .replaceAll(/(<img\b[^<>]*?\s)src=(["']?)([^"'\s<>]*)/gi, (whole, before, quote, address) =>
      own.has(address) || /^data:/i.test(address) ? whole : `${before}data-src=${quote}${address}`,
    )
    .replaceAll(PICTURE, (address) => own.get(address) ?? address)
    .replaceAll(/<(a|area)(?=\s)/gi, '<$1 tabindex="-1"')
    .replace(/<body(?=[\s>])/i, '<body tabindex="0"');
  // A proxy may ask with another name than the browser. `http:` stands for `https:` too (CSP 3, 6.7.2.8).
  const sources = own.size === 0 ? [] : [`http://${request.host}`, ...origins].map((origin) => `${origin}/pictures/`);
  return {
    shown: rested(/<body[\s>]/i.test(still) ? still : withBody(still)),
    headers: mailHeaders(sources.map((source) => ` ${source}`).join('')),
  };
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
