/** Serves the preview pictures of the built-in templates from `data/templates`. */
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { READ, unknownPage } from './page-layout.ts';

const FOLDER = new URL('../../data/templates/', import.meta.url);
const NAME = /^[a-z0-9][\w-]{0,100}\.png$/i;

export async function imagePages(app: FastifyInstance): Promise<void> {
  app.route<{ Params: { name: string } }>({
    method: READ,
    url: '/images/templates/:name',
    handler: async (request, reply) => {
      const { name } = request.params;
      const picture = NAME.test(name) ? await readFile(new URL(name, FOLDER)).catch(() => null) : null;
      if (picture === null) return unknownPage(reply);
      return reply.header('cache-control', 'public, max-age=31536000, immutable').type('image/png').send(picture);
    },
  });
}
