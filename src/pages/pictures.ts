/** Serves the images of the library at the URLs that mails contain. No key is needed, and the bytes at a URL never change. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { matchesEtag } from '../http/etags.ts';
import { pageRoute } from '../http/pages/layout.ts';
import type { RecipientSource, StoredPicture } from './recipient-source.ts';

/** With these headers, a browser guesses no other content type, and an image opened as a page can load and run nothing. */
const HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
};

/** Registers the URLs of images. */
export async function picturePages(app: FastifyInstance, source: RecipientSource): Promise<void> {
  // The name at the end of the URL is for people; only the id identifies the image.
  pageRoute<{ Params: { public_id: string } }>(app, '/pictures/:public_id/:name', async (request, reply) => {
    const { public_id } = request.params;
    const picture = await source.findPicture(public_id);
    if (picture === null) return sendNotFound(reply);
    const etag = `"${picture.hash}"`;
    reply.headers({ ...HEADERS, etag });
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
    const headers = { 'content-type': `image/${picture.kind}`, 'content-length': picture.size };
    if (request.method === 'HEAD') return reply.headers(headers).send(null);
    const firstPart = picture.part(0);
    if (firstPart?.length === picture.size) return reply.headers(headers).send(firstPart);
    // Each part is sent when the client has taken the previous one. Whole images for slow clients would fill the memory.
    const parts = Readable.from(partsOf(picture), { highWaterMark: 1 });
    return reply.headers(headers).send(parts);
  });
}

/** Yields the bytes of an image. Throws if the image is deleted while it is sent, because the bytes already sent cannot be taken back. */
function* partsOf({ part, size }: StoredPicture): Generator<Buffer> {
  for (let number = 0, sent = 0; sent < size; number++) {
    const bytes = part(number);
    if (bytes === undefined) throw new Error('A picture was deleted while it was sent');
    sent += bytes.length;
    yield bytes;
  }
}

function sendNotFound(reply: FastifyReply): FastifyReply {
  return reply
    .code(404)
    .header('cache-control', 'no-store')
    .type('text/plain; charset=utf-8')
    .send('There is no such picture.\n');
}
