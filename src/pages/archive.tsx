/** The public archive of an account: the list of its mails, its feed, and the pages of its mails. */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  findPublicArchive,
  findPublishedContent,
  findPublishedMail,
  listPublished,
  type PublicArchive,
  type PublishedMail,
} from '../campaigns/archive/archive.ts';
import { type ArchiveFrame, archivePage } from '../campaigns/archive/archive-page.ts';
import { escapeHtml } from '../delivery/content/merge.ts';
import { matchesEtag } from '../http/etags.ts';
import { publicDocument, publicPolicy } from '../http/pages/document.tsx';
import { pageRoute, unknownPage } from '../http/pages/layout.ts';
import { chooseWords, type PageWords } from '../http/pages/words/index.ts';
import type { Deps } from '../operations/deps.ts';
import { publicBrand } from '../templates/brand/brand.ts';
import { MEBIBYTE } from '../units.ts';
import { BytesCache } from './bytes-cache.ts';
import { COPY_POLICY } from './web-copy.ts';

const PAGE_SIZE = 50;
const FEED_SIZE = 20;
/** The maximum size of the cache of mail copies. Copies are cached because making a large one takes tens of milliseconds. */
const COPY_CACHE_BYTES = 16 * MEBIBYTE;

type BySlug = { Params: { slug: string } };

/** Registers the pages of public archives and their Atom feeds. */
export async function archivePages(app: FastifyInstance, { db, config, publicUrl }: Deps): Promise<void> {
  const client = db.$client;
  const copies = new BytesCache(COPY_CACHE_BYTES);
  // The content of a sent mail never changes, so its copy is made once for the same frame.
  const findCopy = ({ token }: PublishedMail, frame: ArchiveFrame) =>
    copies.get(JSON.stringify([token, frame]), () => {
      const content = findPublishedContent(client, token);
      return content && Buffer.from(archivePage(content, frame));
    });
  const urlOf = ({ slug }: PublicArchive) => `${publicUrl()}/archive/${slug}`;

  pageRoute<BySlug & { Querystring: { page?: unknown } }>(app, '/archive/:slug', (request, reply) => {
    const archive = findPublicArchive(client, request.params.slug);
    const number = pageNumber(request.query.page);
    if (archive === null) return unknownPage(reply);
    const mails = listPublished(client, archive.user_id, PAGE_SIZE + 1, (number - 1) * PAGE_SIZE);
    if (mails.length === 0) return unknownPage(reply);
    const words = chooseWords(reply);
    const title = archive.title || words.archive.title;
    const url = urlOf(archive);
    const canonical = number === 1 ? url : `${url}?page=${number}`;
    const links = (
      <>
        <link rel="canonical" href={canonical} />
        <link rel="alternate" type="application/atom+xml" title={title} href={`${url}/feed.xml`} />
      </>
    );
    const head = { title, language: words.language, isListed: true, more: links };
    const content = listContent(url, title, mails, number, words, config.TIME_ZONE);
    const brand = publicBrand(db, archive.user_id);
    reply.header('content-security-policy', publicPolicy(brand));
    return sendTagged(reply, 'text/html; charset=utf-8', publicDocument(head, content, brand));
  });

  pageRoute<BySlug>(app, '/archive/:slug/feed.xml', (request, reply) => {
    const archive = findPublicArchive(client, request.params.slug);
    if (archive === null) return unknownPage(reply);
    const title = archive.title || chooseWords(reply).archive.title;
    const mails = listPublished(client, archive.user_id, FEED_SIZE, 0);
    return sendTagged(reply, 'application/atom+xml; charset=utf-8', atomFeed(urlOf(archive), title, mails));
  });

  pageRoute<{ Params: { slug: string; token: string } }>(app, '/archive/:slug/:token', (request, reply) => {
    const archive = findPublicArchive(client, request.params.slug);
    if (archive === null) return unknownPage(reply);
    const mail = findPublishedMail(client, archive.user_id, request.params.token);
    const words = chooseWords(reply);
    const list = urlOf(archive);
    const canonical = `${list}/${request.params.token}`;
    const copy =
      mail &&
      findCopy(mail, {
        title: mail.title,
        canonical,
        preferences: `${publicUrl()}/u/shared`,
        list,
        back: archive.title || words.archive.title,
      });
    if (!copy) return unknownPage(reply);
    reply.headers({ 'content-security-policy': COPY_POLICY, link: `<${canonical}>; rel="canonical"` });
    return sendTagged(reply, 'text/html; charset=utf-8', copy);
  });
}

/** Returns the page number in a query, from 1. Every text that is no page number means the first page. */
function pageNumber(value: unknown): number {
  return typeof value === 'string' && /^[1-9]\d{0,3}$/.test(value) ? Number(value) : 1;
}

function listContent(
  url: string,
  title: string,
  mails: readonly PublishedMail[],
  number: number,
  { archive, language }: PageWords,
  timeZone: string,
) {
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone });
  const hasMore = mails.length > PAGE_SIZE;
  return (
    <>
      <h1>{title}</h1>
      <ul class="entries">
        {mails.slice(0, PAGE_SIZE).map((mail) => (
          <li key={mail.token}>
            <a href={`${url}/${mail.token}`}>{mail.title || archive.untitled}</a>
            <small class="quiet">
              <time datetime={mail.published_at}>{day.format(new Date(mail.published_at))}</time>
            </small>
          </li>
        ))}
      </ul>
      {(number > 1 || hasMore) && (
        <nav class="pages" aria-label={archive.pages}>
          {number > 1 && (
            <a rel="prev" href={number === 2 ? url : `${url}?page=${number - 1}`}>
              {archive.newer}
            </a>
          )}
          {hasMore && (
            <a rel="next" href={`${url}?page=${number + 1}`}>
              {archive.older}
            </a>
          )}
        </nav>
      )}
      <p class="quiet">
        <a href={`${url}/feed.xml`}>{archive.feed}</a>
      </p>
    </>
  );
}

/** Returns the Atom feed of an archive with at least one mail. The XML is written as text, because JSX is for HTML. */
function atomFeed(archiveUrl: string, title: string, mails: readonly PublishedMail[]): string {
  const url = xmlText(archiveUrl);
  const entries = mails.map(
    (mail) => `<entry>
<id>${entryId(mail.token)}</id>
<title>${xmlText(mail.title)}</title>
<link rel="alternate" type="text/html" href="${url}/${mail.token}"/>
<published>${mail.published_at}</published>
<updated>${mail.published_at}</updated>
</entry>
`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${url}</id>
<title>${xmlText(title)}</title>
<author><name>${xmlText(title)}</name></author>
<link rel="self" type="application/atom+xml" href="${url}/feed.xml"/>
<link rel="alternate" type="text/html" href="${url}"/>
<updated>${mails[0]?.published_at ?? ''}</updated>
${entries.join('')}</feed>
`;
}

/**
 * Returns the id of a mail in the feed. The id must stay the same when the URL of the archive changes (RFC 4287, 4.2.6), so it is a
 * UUID made of the hash of the mail's token (RFC 9562, 5.8).
 */
function entryId(token: string): string {
  const hash = createHash('sha256').update(token).digest('hex');
  return `urn:uuid:${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/** Escapes a text, and drops the characters that XML 1.0 does not allow (2.2). */
function xmlText(text: string): string {
  return escapeHtml(text).replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
}

/** How many seconds caches may still show a mail that was withdrawn from the archive. */
const MAX_AGE_S = 300;

/** Sends a text with its entity tag; sends 304 if the client already has the text (RFC 9110, 13.1.2). */
function sendTagged(reply: FastifyReply, type: string, text: string | Buffer): FastifyReply {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  reply.headers({ etag, 'cache-control': `public, max-age=${MAX_AGE_S}` });
  if (matchesEtag(reply.request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.type(type).send(text);
}
