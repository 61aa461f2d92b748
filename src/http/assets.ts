/** Serves the files of the design page and its editor. Each is read and compressed once and kept in memory. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { READ, unknownPage } from './page-layout.ts';

const require = createRequire(import.meta.url);
const FOLDER = new URL('../../assets/', import.meta.url);
const JAVASCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';

/** The only files served under /assets. */
const FILES: Readonly<Record<string, { path: string | URL; type: string }>> = {
  'design.js': { path: new URL('design.js', FOLDER), type: JAVASCRIPT },
  'design.css': { path: new URL('design.css', FOLDER), type: CSS },
  'grapes.js': { path: require.resolve('grapesjs'), type: JAVASCRIPT },
  'grapes.css': { path: require.resolve('grapesjs/dist/css/grapes.min.css'), type: CSS },
  'grapes-mjml.js': { path: require.resolve('grapesjs-mjml'), type: JAVASCRIPT },
};

const compress = promisify(gzip);

export async function assetPages(app: FastifyInstance): Promise<void> {
  const kept = new Map<string, Promise<{ plain: Buffer; gzipped: Buffer }>>();

  app.route<{ Params: { name: string } }>({
    method: READ,
    url: '/assets/:name',
    handler: async (request, reply) => {
      const { name } = request.params;
      const file = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
      if (file === undefined) return unknownPage(reply);
      const content = kept.get(name) ?? load(file.path);
      kept.set(name, content);
      const { plain, gzipped } = await content;
      const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
      reply.headers({ 'cache-control': 'public, max-age=3600', vary: 'accept-encoding' }).type(file.type);
      return takesGzip ? reply.header('content-encoding', 'gzip').send(gzipped) : reply.send(plain);
    },
  });
}

async function load(path: string | URL): Promise<{ plain: Buffer; gzipped: Buffer }> {
  const plain = await readFile(path);
  return { plain, gzipped: await compress(plain) };
}
