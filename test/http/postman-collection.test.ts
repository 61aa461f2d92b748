/** The collection for Postman and Bruno: every operation is in it, and its requests can be sent as they are. */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { operationsOf, readDocument } from '../support/openapi-operations.ts';

interface Item {
  name: string;
  request: {
    method: string;
    header: { key: string; value: string }[];
    url: { raw: string; path: string[]; query?: { key: string; disabled: boolean }[] };
    body?: { mode: 'raw'; raw: string } | { mode: 'formdata'; formdata: { key: string; type: string }[] };
  };
}
interface Collection {
  info: { schema: string };
  variable: { key: string; value: string }[];
  item: { name: string; item: Item[] }[];
}

t.test('every operation is a request in the folder of its resource', async (t) => {
  const app = await startApp(t);
  const collection: Collection = (await app.page('GET', '/docs/postman.json')).body;
  t.match(collection.info.schema, /v2\.1\.0\/collection\.json$/);
  const requests = collection.item.flatMap(({ name, item }) =>
    item.map(({ request }) => `${name}: ${request.method} /${request.url.path.join('/')}`),
  );
  const operations = operationsOf(await readDocument(app));
  t.strictSame(requests.sort(), operations.map(({ tag, method, path }) => `${tag}: ${method} ${path}`).sort());
});

t.test('a request of the collection is answered when its variables are filled in', async (t) => {
  const app = await startApp(t);
  const collection: Collection = (await app.page('GET', '/docs/postman.json')).body;
  const { PublicKey = '', SecretKey = '' } = app.one.headers;
  const values: Record<string, string> = { url: '', publicKey: PublicKey, secretKey: SecretKey };
  const filled = (text: string) => text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
  const send = async ({ request }: Item) => {
    const headers = Object.fromEntries(request.header.map(({ key, value }) => [key, filled(value)]));
    const { body, method, url } = request;
    const isJson = body?.mode === 'raw';
    const { statusCode } = await app.fastify.inject({
      method: method === 'POST' ? 'POST' : method === 'DELETE' ? 'DELETE' : 'GET',
      url: filled(url.raw),
      headers: { ...headers, ...(isJson && { 'content-type': 'application/json' }) },
      ...(isJson && { payload: body.raw }),
    });
    return statusCode;
  };
  const items = collection.item.flatMap(({ item }) => item);
  const named = (name: string) => {
    const item = items.find((one) => one.name === name);
    if (item === undefined) throw new Error(`no request is called ${name}`);
    return item;
  };
  t.equal(await send(named('Add a contact type')), 200);
  t.equal(await send(named('Add a contact')), 200);
  t.equal(await send(named('List the contacts')), 200);
  const upload = named('Import contacts from a CSV file').request.body;
  t.match(upload, { mode: 'formdata', formdata: [{ key: 'contact_type_id' }, { key: 'file', type: 'file' }] });
  for (const item of items.filter(({ request }) => request.method === 'GET'))
    t.notMatch(await send(item), /^(400|401|405|5)/, item.name);
});
