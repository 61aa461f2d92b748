/** Sends the HTML of a mail as the content of a frame within a page. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { frame, listPictureIds } from '../delivery/compiling/show.ts';
import { escapeHtml } from '../delivery/content/merge.ts';
import type { FrameLook } from '../delivery/shown/mail-frame.ts';
import { Failure } from '../errors/failure.ts';
import type { Deps } from '../operations/deps.ts';
import type { Language } from './words/index.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns those of the public ids, a JSON list, that are pictures of the account's image library. */
    ownPictures(accountId: number, ids: string): ReadonlySet<string>;
    /** Returns the origins of picture URLs in mails. */
    pictureOrigins(): string[];
  }
}

/**
 * Returns the headers of a frame. The frame runs no scripts and submits no forms. It loads only pictures of this service unless the user
 * asks for others, so that nobody learns that the user looks at the mail.
 */
const mailHeaders = (pictures = '', sandbox = 'sandbox') => ({
  'content-security-policy': `default-src 'none'; img-src data:${pictures}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; ${sandbox}`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
});
/** The style of a frame without a mail. */
const NOTICE_STYLE =
  'body { font: 1rem/1.5 system-ui, sans-serif; padding: 2rem; color: #59645f; text-align: center; }';

/** The sandbox attribute of a frame whose links open in new tabs, outside the sandbox. */
export const LINKS_ALLOWED = 'allow-popups allow-popups-to-escape-sandbox';

/** Adds to `app` the functions with which frames find the pictures of an account. */
export function installMailFrames(app: FastifyInstance, { db, publicUrl }: Pick<Deps, 'db' | 'publicUrl'>): void {
  app.decorate('pictureOrigins', () => [publicUrl()]);
  app.decorate('ownPictures', (accountId, ids) => {
    const find = db.$client.prepare<[string, number], string>(
      'SELECT public_id FROM pictures WHERE public_id IN (SELECT value FROM json_each(?)) AND user_id = ?',
    );
    return new Set(find.pluck().all(ids, accountId));
  });
}

/**
 * Returns the HTML of a preview. Returns null if too many templates of the account are being compiled, and an empty text if the mail
 * cannot be made.
 */
export async function orBusy(html: Promise<string>): Promise<string | null> {
  try {
    return await html;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.status === 429) return null;
    if (error.status === 422) return '';
    throw error;
  }
}

/** Sends a mail of an account as the content of a frame. */
export async function sendMailFrame(reply: FastifyReply, html: string, accountId: number, look: FrameLook = {}) {
  const { shown, headers } = await prepareFrame(reply, html, accountId, look);
  return reply.headers(headers).type('text/html; charset=utf-8').send(shown.html);
}

/**
 * Sends a mail that is shown often as the content of a frame. The browser caches the mail and revalidates it each time with its entity tag,
 * a hash of the merged mail.
 */
export async function sendKeptMailFrame(reply: FastifyReply, html: string, accountId: number) {
  const { shown, headers } = await prepareFrame(reply, html, accountId);
  reply.headers({ ...headers, 'cache-control': 'private, no-cache', etag: shown.etag });
  if (reply.request.headers['if-none-match'] === shown.etag) return reply.code(304).send();
  return reply.type('text/html; charset=utf-8').send(shown.html);
}

/** Sends a frame which says that other mails of the account are being prepared. */
export function sendBusyFrame(reply: FastifyReply, language: Language): FastifyReply {
  return sendEmptyFrame(reply, language, 429, language.say('preview.busy'));
}

/** Sends a frame which says why it has no mail. It has no link to try again, because requests of the frame carry no cookie. */
export function sendEmptyFrame(reply: FastifyReply, language: Language, status: number, text: string): FastifyReply {
  return reply
    .code(status)
    .headers(mailHeaders())
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html><html lang="${language.code}"><style>${NOTICE_STYLE}</style><p>${escapeHtml(text)}</p></html>`,
    );
}

/** Returns the mail for a frame, and the headers of the answer. A request with `images=all` also gets the images of other sites. */
async function prepareFrame(
  { server, request }: FastifyReply,
  html: string,
  accountId: number,
  options: FrameLook = {},
) {
  const isAsked = (request.query as { images?: unknown }).images === 'all';
  const look: FrameLook = isAsked ? { images: 'all', ...options } : options;
  const origins = server.pictureOrigins();
  const library = server.ownPictures(accountId, await listPictureIds(accountId, html));
  const shown = await frame(accountId, { html, look, library, origins });
  const sandbox = look.hasLinks ? `sandbox ${LINKS_ALLOWED}` : 'sandbox';
  if (look.images === 'all' || look.images === 'counted')
    return { shown, headers: mailHeaders(' http: https:', sandbox) };
  // A proxy may use another host name than the browser. `http:` also means `https:` (CSP 3, 6.7.2.8).
  const sources = shown.hasPictures
    ? [`http://${request.host}`, ...origins].map((origin) => `${origin}/pictures/`)
    : [];
  return { shown, headers: mailHeaders(sources.map((source) => ` ${source}`).join(''), sandbox) };
}
