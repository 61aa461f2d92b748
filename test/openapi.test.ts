/** The OpenAPI document: valid, complete, and true in its examples. */
import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import Schema from 'typebox/schema';
import { type Operation, operationsOf, readDocument } from './fuzz/operations.ts';
import { startApp } from './helper.ts';

/** Method and path of every API route, from Fastify's own table. */
function routesOf(table: string): string[] {
  const parents: string[] = [];
  return table.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods = ''] = /^([│├└─ ]*)(\S+)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? [];
    const depth = indent.length / 4;
    parents.length = depth;
    parents.push((parents[depth - 1] ?? '') + part);
    const path = parents[depth] ?? '';
    return methods === '' ? [] : methods.split(', ').map((method) => `${method} ${path}`);
  });
}

const titleOf = ({ method, path }: Operation) => `${method} ${path}`;

t.test('the document is valid OpenAPI 3.1', async (t) => {
  const app = await startApp(t);
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(await readDocument(app))));
  t.ok(valid, JSON.stringify(errors));
  t.equal(validator.version, '3.1');
});

t.test('the document lists exactly the routes of the API', async (t) => {
  const app = await startApp(t);
  const routes = routesOf(app.fastify.printRoutes({ commonPrefix: false }));
  t.ok(routes.length > 70, `${routes.length} routes`);
  t.strictSame(
    operationsOf(await readDocument(app))
      .map(titleOf)
      .sort(),
    routes.filter((route) => route.includes(' /api/')).sort(),
  );
});

t.test('every operation has a name of its own, a resource, a summary, and its failures', async (t) => {
  const app = await startApp(t);
  const document = await readDocument(app);
  const operations = operationsOf(document);
  t.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
  const tags = document.tags.map(({ name }) => name);
  for (const operation of operations) {
    const { operationId, summary, tag, responses } = operation;
    t.match(operationId, /^(get|post|delete)[A-Z][A-Za-z]+$/, titleOf(operation));
    t.ok(summary.length > 0 && tags.includes(tag), titleOf(operation));
    t.ok('200' in responses && '401' in responses, titleOf(operation));
  }
  t.strictSame(
    tags.filter((tag) => !operations.some((operation) => operation.tag === tag)),
    [],
    'no resource is empty',
  );
});

t.test('every parameter and body has an example, and each fits its schema', async (t) => {
  const app = await startApp(t);
  for (const operation of operationsOf(await readDocument(app))) {
    for (const { name, example, schema } of operation.parameters) {
      t.ok(Schema.Check(schema, example), `${titleOf(operation)} ${name}`);
    }
    for (const { encoding, example, schema } of operation.bodies) {
      t.ok(Schema.Check(schema, example), `${titleOf(operation)} as ${encoding}: ${JSON.stringify(example)}`);
    }
  }
});

t.test('a file is sent as a multipart form, every other body in three encodings; the sample answers CSV', async (t) => {
  const app = await startApp(t);
  const operations = operationsOf(await readDocument(app));
  const forms = ['multipart/form-data', 'application/x-www-form-urlencoded', 'application/json'];
  for (const operation of operations.filter(({ bodies }) => bodies.length > 0)) {
    const encodings = operation.bodies.map(({ encoding }) => encoding);
    t.strictSame(encodings, operation.path.endsWith('upload-csv') ? forms.slice(0, 1) : forms, titleOf(operation));
  }
  const sample = operations.find(({ path }) => path.endsWith('csv-sample/download'));
  t.match(sample?.responses['200'], { content: { 'text/csv': { schema: { type: 'string' } } } });
});

t.test('the page for readers shows every operation with its example', async (t) => {
  const app = await startApp(t);
  const { status, text } = await app.page('GET', '/docs');
  t.equal(status, 200);
  for (const { method, path } of operationsOf(await readDocument(app))) t.ok(text.includes(`${method} ${path}`));
  t.match(text, '&#34;email&#34;: &#34;zoe@example.com&#34;');
});
