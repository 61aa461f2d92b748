/** Serves static files for browsers: the files of the build, and the preview images of the built-in templates. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { DATA } from '../database/data-folder.ts';

/** The build's output (`scripts/build-browser.js`), at the same relative path from the sources, from dist and in the single executable. */
const FOLDER = new URL('../../dist/browser/', import.meta.url);
const PATH_PREFIX = '/assets/';
const TEMPLATES = new URL('templates/', DATA);

/** A script or style sheet, and the files it imports. */
interface Built {
  file: string;
  imports: string[];
}

/** The possible paths of files. @fastify/static fails on longer ones instead of answering 404. */
const PATH = /^[\w./-]{1,200}$/;

let manifest: Record<string, Built> | null = null;

/** The URLs of a script or style sheet and of the files it imports. Throws an Error that names the cure if there is no build. */
export function builtUrls(name: string): { url: string; imports: string[] } {
  manifest ??= readManifest();
  const built = manifest[name];
  if (built === undefined) throw new Error(`dist/browser has no ${name}: run npm run build`);
  return { url: PATH_PREFIX + built.file, imports: built.imports.map((file) => PATH_PREFIX + file) };
}

/** The content of a script or style sheet. Throws as `builtUrls` does. */
export function builtFile(name: string): Buffer {
  return readFileSync(new URL(`files/${builtUrls(name).url.slice(PATH_PREFIX.length)}`, FOLDER));
}

function readManifest(): Record<string, Built> {
  return JSON.parse(readFileSync(new URL('manifest.json', FOLDER), 'utf8'));
}

/** Registers the files. Browsers may cache them for a year, because the names of built files change with their content. */
export async function staticFiles(app: FastifyInstance): Promise<void> {
  // Loaded here, because the API and the pages of recipients use this file only for URLs.
  const { default: fastifyStatic } = await import('@fastify/static');
  app.addHook('onRequest', (request, reply, next) => {
    if (PATH.test(request.url.split('?', 1)[0] ?? '')) next();
    else reply.callNotFound();
  });
  const options = { decorateReply: false, index: false, immutable: true, maxAge: '365d' } as const;
  await app.register(fastifyStatic, {
    ...options,
    root: fileURLToPath(new URL('files/', FOLDER)),
    prefix: PATH_PREFIX,
    preCompressed: true,
    allowedPath: (path) => !path.endsWith('/'),
  });
  await app.register(fastifyStatic, {
    ...options,
    root: fileURLToPath(TEMPLATES),
    prefix: '/images/templates/',
    allowedPath: (path) => /\.(?:png|webp)$/.test(path),
  });
}
