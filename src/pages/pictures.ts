/** The pictures of the library at the addresses that mails contain: without keys, and the same bytes for ever. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { READ } from '../http/pages/layout.ts';
import type { RecipientSource, StoredPicture } from './recipient-source.ts';

/** The browser shows the bytes as the picture they are, or not at all; opened by themselves they can load and run nothing. */
const HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
};

export async function picturePages(app: FastifyInstance, source: RecipientSource): Promise<void> {
  // The name at the end is for people; the id alone says which picture it is.
  app.route<{ Params: { public_id: string } }>({
    method: READ,
    url: '/pictures/:public_id/:name',
    handler: async (request, reply) => {
      const { public_id } = request.params;
      const picture = await source.findPicture(public_id);
      if (picture === null) return unknown(reply);
      const etag = `"${picture.hash}"`;
      reply.headers({ ...HEADERS, etag });
      if (isUnchanged(request.headers['if-none-match'], etag)) return reply.code(304).send();
      const headers = { 'content-type': `image/${picture.kind}`, 'content-length': picture.size };
      if (request.method === 'HEAD') return reply.headers(headers).send(null);
      const first = picture.part(0);
      if (first?.length === picture.size) return reply.headers(headers).send(first);
      // One part after the other, each when the client has taken the one before: whole pictures for clients that take their time would fill the memory.
      const parts = Readable.from(partsOf(picture), { highWaterMark: 1 });
      return reply.headers(headers).send(parts);
    },
  });
}

/** The bytes of a picture. Throws where it is deleted meanwhile: what was sent cannot be taken back. */
function* partsOf({ part, size }: StoredPicture): Generator<Buffer> {
  for (let number = 0, sent = 0; sent < size; number++) {
    const bytes = part(number);
    if (bytes === undefined) throw new Error('A picture was deleted while it was sent');
    sent += bytes.length;
    yield bytes;
  }
}

function unknown(reply: FastifyReply): FastifyReply {
  return reply
    .code(404)
    .header('cache-control', 'no-store')
    .type('text/plain; charset=utf-8')
    .send('There is no such picture.\n');
}

/** Whether a client has what the tag names (RFC 9110, 13.1.2). */
function isUnchanged(given: string | undefined, etag: string): boolean {
  return (given ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*');
}
