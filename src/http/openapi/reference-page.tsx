/** The API documentation: the OpenAPI document, and a page to read it and try it out. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../operations/deps.ts';
import { documentOf } from '../pages/document.tsx';
import { builtUrls } from '../static-files.ts';
import { collectionOf } from './postman-collection.ts';

/** The page sends requests only to this server. Scalar adds its style sheet and positions to the page by script. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Registers the API reference at /docs. */
export async function referencePage(app: FastifyInstance, { publicUrl }: Deps): Promise<void> {
  // The document is built once, because writing its 260 kB takes longer than any other response to an unauthenticated client.
  let document: Buffer | undefined;
  let collection: Buffer | undefined;
  app.get('/docs/openapi.json', (_request, reply) => {
    document ??= Buffer.from(`${JSON.stringify({ ...app.swagger(), servers: [{ url: publicUrl() }] })}\n`);
    return reply.type('application/json; charset=utf-8').send(document);
  });
  app.get('/docs/postman.json', (_request, reply) => {
    collection ??= Buffer.from(`${JSON.stringify(collectionOf(Object(app.swagger()), publicUrl()))}\n`);
    return reply.type('application/json; charset=utf-8').send(collection);
  });

  const show = (_request: FastifyRequest, reply: FastifyReply) =>
    reply
      .header('content-security-policy', POLICY)
      .type('text/html; charset=utf-8')
      .send(
        documentOf(
          {
            language: 'en',
            title: 'The Sendlark API',
            more: (
              <>
                <link rel="stylesheet" href={builtUrls('reference.css').url} />
                <script defer src={builtUrls('scalar.js').url} />
                <script type="module" src={builtUrls('reference').url} />
              </>
            ),
          },
          <body>
            <main id="reference" />
            <noscript>
              <h1>The Sendlark API</h1>
              <p>
                This page needs JavaScript. The same for programs: <a href="/docs/openapi.json">openapi.json</a>
              </p>
            </noscript>
          </body>,
        ),
      );
  for (const url of ['/docs', '/docs/']) app.get(url, show);
}
