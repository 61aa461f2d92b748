/** The documentation of the API: the OpenAPI document, and a page made from it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { type Html, html } from './html.ts';
import { page } from './page-layout.ts';

interface Schema {
  $ref?: string;
  type?: string;
  description?: string;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
}

interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  parameters?: { name: string; required?: boolean; description?: string; schema?: Schema }[];
  requestBody?: { content?: Record<string, { schema?: Schema; example?: unknown }> };
}

interface Document {
  components?: { schemas?: Record<string, Schema> };
  tags?: { name: string }[];
  paths?: Record<string, Record<string, Operation>>;
}

export async function docsPage(app: FastifyInstance, { publicUrl }: Deps): Promise<void> {
  app.get('/docs/openapi.json', (_request, reply) =>
    reply.type('application/json; charset=utf-8').send({ ...app.swagger(), servers: [{ url: publicUrl() }] }),
  );

  const show = (_request: FastifyRequest, reply: FastifyReply) => {
    const { tags = [], paths = {}, components = {} }: Document = Object(app.swagger());
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    const resources = tags.map(({ name }) => {
      const own = operations.filter(({ operation }) => operation.tags?.includes(name));
      return html`<h2>${name}</h2>${own.map(({ path, method, operation }) => section(path, method, operation, components.schemas))}`;
    });
    return page(
      reply,
      'The Sendlark interface',
      html`<h1>The Sendlark interface</h1><p>Every request needs the headers <code>PublicKey</code> and <code>SecretKey</code>.
Bodies may be JSON, multipart or urlencoded. The interface implements a given contract; what Sendlark adds to it is marked “addition”. For tools: <a href="/docs/openapi.json">openapi.json</a>.
Required parameters are marked with *.</p>${resources}`,
      'wide',
    );
  };
  for (const url of ['/docs', '/docs/']) app.get(url, show);
}

function section(path: string, method: string, operation: Operation, schemas: Record<string, Schema> = {}): Html {
  const body = Object.values(operation.requestBody?.content ?? {})[0];
  const named = body?.schema?.$ref?.split('/').at(-1) ?? '';
  const schema = schemas[named] ?? body?.schema;
  const parameters = [
    ...(operation.parameters ?? []),
    ...Object.entries(schema?.properties ?? {}).map(([name, property]) => ({
      name,
      required: schema?.required?.includes(name),
      description: property.description,
      schema: property,
    })),
  ];
  const rows = parameters.map(
    ({ name, required, description, schema }) =>
      html`<tr><td><code>${name}</code>${required ? ' *' : ''}</td><td>${schema?.enum?.join(' | ') ?? schema?.type ?? ''}</td><td>${description ?? ''}</td></tr>`,
  );
  return html`<section id="${operation.operationId ?? ''}"><h3>${operation.summary ?? ''}</h3><p><code>${method.toUpperCase()} ${path}</code></p>
${rows.length > 0 ? html`<table><thead><tr><th>Parameter</th><th>Type</th><th></th></tr></thead><tbody>${rows}</tbody></table>` : null}
${body?.example === undefined ? null : html`<pre>${JSON.stringify(body.example, null, 2)}</pre>`}</section>`;
}
