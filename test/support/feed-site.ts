/** A site with a feed, on loopback. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export interface Site {
  url: string;
  /** The headers of each request, oldest first. */
  asked: IncomingHttpHeaders[];
  answer: (reply: ServerResponse, path: string) => void;
}

/** Starts a site whose feed is empty until told otherwise. */
export async function startSite(t: Test): Promise<Site> {
  const site: Site = { url: '', asked: [], answer: (reply) => reply.end(rss([])) };
  const server = createServer((request, reply) => {
    site.asked.push(request.headers);
    site.answer(reply, request.url ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  site.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed.xml`;
  return site;
}

/** The text of a feed with an item for each id. */
export const rss = (ids: readonly (number | string)[], title = 'Item') =>
  `<rss version="2.0"><channel><title>Blog</title>${ids
    .map((id) => `<item><guid>${id}</guid><title>${title} ${id}</title><link>https://blog.example/${id}</link></item>`)
    .join('')}</channel></rss>`;
