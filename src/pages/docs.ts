/** The interface for readers: the OpenAPI document, and a page made from it. */
import type { FastifyInstance } from 'fastify';
import { html } from './html.ts';
import { page } from './layout.ts';

interface Schema {
  type?: string;
  description?: string;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  examples?: unknown[];
}

interface Operation {
  parameters?: { name: string; required?: boolean; description?: string; schema?: Schema }[];
  requestBody?: { content?: Record<string, { schema?: Schema }> };
}

export async function docsPage(app: FastifyInstance): Promise<void> {
  app.get('/docs/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(app.swagger()));

  app.get('/docs', (_request, reply) => {
    const { paths = {} } = app.swagger() as { paths?: Record<string, Record<string, Operation>> };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => section(path, method, operation)),
    );
    return page(
      reply,
      'The Sendlark interface',
      html`<h1>The Sendlark interface</h1><p>Every request carries the headers <code>PublicKey</code> and <code>SecretKey</code>. Bodies may be multipart,
      urlencoded or JSON. As a document for tools: <a href="/docs/openapi.json">openapi.json</a>.</p>${operations}`,
      'wide',
    );
  });
}

function section(path: string, method: string, operation: Operation) {
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const parameters = [
    ...(operation.parameters ?? []).map(({ name, required, description, schema }) => ({
      name,
      required,
      description,
      schema,
    })),
    ...Object.entries(body?.properties ?? {}).map(([name, schema]) => ({
      name,
      required: body?.required?.includes(name),
      description: schema.description,
      schema,
    })),
  ];
  const rows = parameters.map(
    ({ name, required, description, schema }) =>
      html`<tr><td><code>${name}</code>${required ? ' *' : ''}</td><td>${schema?.enum?.join(' | ') ?? schema?.type ?? ''}</td><td>${description ?? ''}</td></tr>`,
  );
  const example = body?.examples?.[0];
  return html`<section><h2><code>${method.toUpperCase()} ${path}</code></h2>
  ${rows.length > 0 ? html`<table><thead><tr><th>Parameter</th><th>Type</th><th></th></tr></thead><tbody>${rows}</tbody></table>` : null}
  ${example === undefined ? null : html`<pre>${JSON.stringify(example, null, 2)}</pre>`}</section>`;
}
