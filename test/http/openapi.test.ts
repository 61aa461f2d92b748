/** The OpenAPI document: valid, complete, and true in its examples. */
import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import Schema from 'typebox/schema';
import { TEST_EVENT } from '../../src/webhooks/log.ts';
import { WEBHOOK_EVENTS } from '../../src/webhooks/operations/event-types.ts';
import { buildWorld } from '../support/account-records.ts';
import { startApp } from '../support/app.ts';
import { type Operation, operationsOf, readDocument } from '../support/openapi-operations.ts';
import { addPerson, callerOf } from '../support/people.ts';

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

/** What the tests read the document of; it takes longer to make than the application itself. */
const app = await startApp(t);

const titleOf = ({ method, path }: Operation) => `${method} ${path}`;

t.test('the document is valid OpenAPI 3.1', async (t) => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate((await app.page('GET', '/docs/openapi.json')).body);
  t.ok(valid, JSON.stringify(errors));
  t.equal(validator.version, '3.1');
});

t.test('the document lists exactly the routes of the API', async (t) => {
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
  for (const operation of operationsOf(await readDocument(app))) {
    for (const { name, example, schema } of operation.parameters) {
      t.ok(Schema.Check(schema, example), `${titleOf(operation)} ${name}`);
    }
    for (const { encoding, example, schema } of operation.bodies) {
      t.ok(Schema.Check(schema, example), `${titleOf(operation)} as ${encoding}: ${JSON.stringify(example)}`);
    }
  }
});

t.test('a file is described as a multipart form, every other body once, as JSON; the sample answers CSV', async (t) => {
  const operations = operationsOf(await readDocument(app));
  const { body } = await app.page('GET', '/docs/openapi.json');
  for (const { path, method, bodies } of operations.filter(({ bodies }) => bodies.length > 0)) {
    const { requestBody } = body.paths[path][method.toLowerCase()];
    const expected = /\/(upload-csv|imports\/look|pictures\/upload|backups\/upload)$/.test(path)
      ? 'multipart/form-data'
      : 'application/json';
    t.strictSame(Object.keys(requestBody.content), [expected], `${method} ${path}: ${bodies.length}`);
  }
  const sample = operations.find(({ path }) => path.endsWith('csv-sample/download'));
  t.match(sample?.responses['200'], { content: { 'text/csv': { schema: { type: 'string' } } } });
});

t.test('the page for readers loads its scripts from this server, compressed, and nothing else', async (t) => {
  const { status, headers, text } = await app.page('GET', '/docs');
  t.equal(status, 200);
  t.match(headers['content-security-policy'], /^default-src 'none'; script-src 'self';.* connect-src 'self';/);
  const files = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url);
  t.strictSame(
    files.filter((url) => !/^(\/assets\/|\/docs\/openapi\.json$|data:,$)/.test(url)),
    [],
  );
  const scripts = files.filter((url) => url.endsWith('.js'));
  t.equal(scripts.length, 2);
  for (const url of scripts) {
    const file = await app.page('GET', url, { headers: { 'accept-encoding': 'gzip, br' } });
    t.match(file, { status: 200, headers: { 'content-encoding': 'br', vary: /accept-encoding/i } }, url);
    t.match(file.headers['cache-control'], /immutable/);
  }
});

interface Described {
  description?: string;
  $ref?: string;
  properties?: Record<string, Described>;
}

t.test('every schema has a name, every field a description, and the server an address', async (t) => {
  const { body } = await app.page('GET', '/docs/openapi.json');
  t.strictSame(body.servers, [{ url: 'http://mail.example.com' }]);
  const unnamed: string[] = [];
  for (const [path, methods] of Object.entries<object>(body.paths)) {
    for (const [method, { requestBody, responses, parameters = [] }] of Object.entries(methods)) {
      const contents = [requestBody, responses['200']].flatMap((one) =>
        Object.entries<{ schema: Described }>(one?.content ?? {}),
      );
      for (const [type, { schema }] of contents) {
        if (!/^(text\/(?:csv|plain)|message\/rfc822$|application\/vnd\.sqlite3$)/.test(type) && !schema.$ref)
          unnamed.push(`${method} ${path} ${type}`);
      }
      for (const { name, description } of parameters) t.ok(description, `${method} ${path}: ${name}`);
    }
  }
  t.strictSame(unnamed, []);
  const undescribed: string[] = [];
  const walk = (where: string, schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    // A field may itself have the name `properties`.
    const { properties = {}, ...rest }: Described = schema;
    for (const [field, described] of Object.entries(properties)) {
      if (!described.description && !described.$ref) undescribed.push(`${where}.${field}`);
      walk(where, described);
    }
    for (const part of Object.values(rest)) walk(where, part);
  };
  for (const [name, schema] of Object.entries(body.components.schemas)) walk(name, schema);
  t.strictSame(undescribed, []);
  for (const name of ['Contact', 'Sender', 'SingleSend', 'Automation', 'Segment', 'Failure', 'Done', 'DoneInErrors']) {
    t.ok(body.components.schemas[name], name);
  }
});

/** One mail by a word other than e-mail. */
const ONE_MAIL = /(?<![\w/.`-])(?:mails|(?:an?|the|each|every|this) mail)(?! (?:server|provider|program)|[\w/`.]\w)/i;

t.test('one mail is an e-mail, as on the pages', async (t) => {
  const texts: string[] = [];
  JSON.stringify(await readDocument(app), (key, value) => {
    if (/^(description|summary)$/.test(key) && typeof value === 'string') texts.push(value);
    return value;
  });
  t.ok(texts.length > 1000, 'the texts are there');
  t.strictSame(
    texts.filter((text) => ONE_MAIL.test(text)),
    [],
  );
});

t.test('every JSON answer has an example that fits its schema', async (t) => {
  for (const { method, path, responses } of operationsOf(await readDocument(app))) {
    const answer = responses['200']?.content?.['application/json'];
    if (answer === undefined) continue;
    t.ok('example' in answer && Schema.Check(answer.schema, answer.example), `${method} ${path}`);
  }
});

/** The ids that are no number and no UUID: the random names of uploaded files, and what mails and topics are called elsewhere. */
const OTHER_IDS = new Set(['upload_id', 'message_id', 'rand_id']);

t.test('an id has the same type in queries, bodies, answers and webhooks', async (t) => {
  const { body } = await app.page('GET', '/docs/openapi.json');
  const wrong: string[] = [];
  const found = new Set<string>();
  const see = (name: string, schema: Described & { type?: string; items?: object; anyOf?: object[] }): void => {
    if (!/^id$|_ids?$|Ids?$|(^|_)utr$/.test(name) || OTHER_IDS.has(name)) return;
    const { $ref, items, anyOf = [] } = schema;
    for (const part of items === undefined ? anyOf : [items]) see(name, part);
    const [, id] = /^#\/components\/schemas\/(Id|IdAsText|Utr)$/.exec($ref ?? '') ?? [];
    if (id !== undefined) found.add(`${name} ${id}`);
    else if (schema.type === 'integer' || (schema.type === 'string' && name.endsWith('utr')))
      wrong.push(`${name} ${JSON.stringify(schema)}`);
  };
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('in' in value && 'name' in value && 'schema' in value) see(String(value.name), Object(value.schema));
    const { properties = {} }: Described = value;
    if (!Array.isArray(properties)) for (const [name, schema] of Object.entries(properties)) see(name, Object(schema));
    for (const part of Object.values(value)) walk(part);
  };
  walk(body);
  t.strictSame(wrong, []);
  for (const one of [
    'id Id',
    'contact_id Id',
    'groupId Id',
    'strIds Id',
    'group_ids Id',
    'utr Utr',
    'automation_utr Utr',
  ])
    t.ok(found.has(one), one);
  // The contract has these as text.
  t.strictSame([...found].filter((one) => one.endsWith('IdAsText')).sort(), [
    'id IdAsText',
    'unsubscribe_group_id IdAsText',
  ]);
});

t.test('the headers that an operation reads, and those of its answers, are declared', async (t) => {
  const operations = operationsOf(await readDocument(app));
  t.match(
    operations.flatMap(({ path, headers }) => headers.map((header) => ({ path, ...header }))),
    [{ path: '/api/transactional/send', name: 'Idempotency-Key', required: false, example: 'order-1042' }],
  );
  const declared = (name: string) =>
    operations.filter(({ responses }) => responses['200']?.headers?.[name]).map(({ path }) => path);
  t.ok(declared('Location').includes('/api/transactional/send'));
  t.ok(declared('Sendlark-Warnings').includes('/api/single/send/create'));
  const { body } = await app.page('GET', '/docs/openapi.json');
  t.match(body.components.responses['422'].headers, { Location: { schema: { format: 'uri-reference' } } });
});

t.test(
  'every event that a webhook can ask for is described, as a request with an example that fits its schema',
  async (t) => {
    const { webhooks } = await readDocument(app);
    t.strictSame(Object.keys(webhooks), [...WEBHOOK_EVENTS, TEST_EVENT]);
    for (const [type, { post }] of Object.entries(webhooks)) {
      const { schema, example } = post.requestBody?.content['application/json'] ?? {};
      t.ok(schema !== undefined && Schema.Check(schema, example), `${type} ${JSON.stringify(example)}`);
    }
  },
);

t.test('the document has nothing that common generators of clients leave out or refuse', async (t) => {
  const { body } = await app.page('GET', '/docs/openapi.json');
  const wrong: string[] = [];
  const walk = (path: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('patternProperties' in value) wrong.push(`${path}: a record by a pattern of names`);
    if ('type' in value && Array.isArray(value.type)) wrong.push(`${path}: several types without anyOf`);
    for (const [key, part] of Object.entries(value)) walk(`${path}/${key}`, part);
  };
  walk('', body.paths);
  walk('', body.webhooks);
  for (const [name, schema] of Object.entries<object>(body.components.schemas)) {
    walk(name, schema);
    if ('anyOf' in schema) wrong.push(`${name}: a named union, whose parts have no names`);
  }
  t.strictSame(wrong, []);
});

/** The saves that add a record where the request names none, and where the records are. */
const ADDING = {
  '/api/custom-fields/save': 'custom_fields',
  '/api/feeds/save': 'feeds',
  '/api/global-unsubscribes/save': 'unsubscribers',
  '/api/relays/save': 'relays',
  '/api/sender/save': 'senders',
  '/api/unsubscribes-groups/save': 'unsubscribe_groups',
  '/api/webhooks/save': 'webhook_endpoints',
};
/** Those that change a setting, or the record that they need. */
const CHANGING = [
  '/api/archive/save',
  '/api/brand/save',
  '/api/contacts/tracking/save',
  '/api/forms/save',
  '/api/public-address/save',
  '/api/senders/warm-ups/save',
  '/api/sending/caps/save',
  '/api/sending/limits/save',
  '/api/sending/mails/save',
  '/api/sending/window/save',
  '/api/single/send/save',
  '/api/sunset/save',
  '/api/tracking/save',
];

t.test('the example of a save that can add a record adds one, and changes none that is there', async (t) => {
  const app = await startApp(t, { WEBHOOK_PRIVATE_ADDRESSES: 'allow' });
  await buildWorld(app.one);
  const operator = callerOf(app, addPerson(app));
  const saves = operationsOf(await readDocument(app)).filter(
    ({ method, path }) => method === 'POST' && path.endsWith('/save'),
  );
  t.strictSame(saves.map(({ path }) => path).sort(), [...Object.keys(ADDING), ...CHANGING].sort());
  for (const [path, table] of Object.entries(ADDING)) {
    const example = saves.find((save) => save.path === path)?.bodies[0]?.example;
    const rows = () => app.db.prepare<[], { id: number }>(`SELECT * FROM ${table} ORDER BY id`).all();
    const post = (json: object) => operator.call('POST', path.slice('/api'.length), { json });
    // Names of custom fields and addresses of a list are there once only.
    const isUnique = /custom-fields|unsubscribes\/save/.test(path);
    if (!isUnique) t.equal((await post(Object(example))).status, 200, path);
    const before = rows();
    t.ok(before.length > 0, `${path}: there are records`);
    const { status, text } = await post(Object(example));
    t.equal(status, 200, `${path} ${text}`);
    t.strictSame(rows().slice(0, before.length), before, `${path} changes none`);
    t.ok(rows().length > before.length, `${path} adds`);
  }
});
