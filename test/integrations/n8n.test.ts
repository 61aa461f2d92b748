/** The nodes for n8n, built as their package builds them, beside the built service. n8n itself is a small stand-in. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { SendlarkApi } from '../../integrations/n8n/credentials/SendlarkApi.credentials.ts';
import type {
  IExecuteFunctions,
  INodeTypeDescription,
  IWebhookFunctions,
  Json,
  Value,
} from '../../integrations/n8n/n8n.ts';
import type { Sendlark } from '../../integrations/n8n/nodes/Sendlark.node.ts';
import type { SendlarkTrigger } from '../../integrations/n8n/nodes/SendlarkTrigger.node.ts';
import type { Service } from '../support/service.ts';
import { withShop } from './shop.ts';
import { signedWebhook, weaklySigned } from './signed-webhook.ts';

const FOLDER = fileURLToPath(new URL('../../integrations/n8n', import.meta.url));
const PACKAGE = JSON.parse(readFileSync(`${FOLDER}/package.json`, 'utf8'));
const KEYS = { publicKey: 'PublicKey', secretKey: 'SecretKey' } as const;

/** The built class of a file, loaded as n8n does: by require, with the name before the first dot. */
type Load = <Class>(file: string) => Class;

function build(folder: string): Load {
  const path = `${fileURLToPath(new URL('../../node_modules/.bin', import.meta.url))}:${process.env.PATH}`;
  const words = PACKAGE.scripts.build.replace('--outdir=dist', `--outdir=${folder}/dist`);
  execFileSync('sh', ['-c', `${words} --log-level=warning`], { cwd: FOLDER, env: { PATH: path } });
  const require = createRequire(import.meta.url);
  return (file) => new (require(join(folder, file))[basename(file).split('.')[0] ?? ''])();
}

/** What n8n gives a node that runs: items, whose JSON is the node's parameters, and requests with the headers of the credentials. */
function contextOf(service: Service, keys: Record<string, string>, items: Json[], goesOn = false): IExecuteFunctions {
  return {
    getInputData: () => items,
    getNodeParameter: (name, item, fallback) => items[item]?.[name] ?? fallback,
    getCredentials: async () => ({ url: `${service.origin}/` }),
    continueOnFail: () => goesOn,
    helpers: {
      async httpRequestWithAuthentication(
        _name,
        { method, baseURL, url, qs = {}, body, headers, disableFollowRedirect },
      ) {
        const query = new URLSearchParams(Object.entries(qs).map(([name, value]) => [name, String(value)]));
        const response = await fetch(`${baseURL}${url}?${query}`, {
          method,
          redirect: disableFollowRedirect ? 'error' : 'follow',
          headers: { ...headers, ...keys, 'Content-Type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        });
        if (!response.ok) throw new Error(`Request failed with status code ${response.status}`);
        return response.json();
      },
    },
  };
}

t.test('the package names what it builds, and each field is one that its operation shows', async (t) => {
  const load = build(t.testdir());
  const credentials = PACKAGE.n8n.credentials.map((file: string) => load<{ name: string }>(file).name);
  t.strictSame(credentials, ['sendlarkApi', 'sendlarkWebhookApi']);
  const { test } = load<SendlarkApi>(PACKAGE.n8n.credentials[0]);
  t.equal(test.request.disableFollowRedirect, true, 'the test of the keys sends them to no other address');
  const descriptions: INodeTypeDescription[] = PACKAGE.n8n.nodes.map(
    (file: string) => load<{ description: INodeTypeDescription }>(file).description,
  );
  t.strictSame(
    descriptions.flatMap((one) => one.credentials.map(({ name }) => name)),
    credentials,
  );
  t.strictSame(
    descriptions.map(({ name }) => name),
    ['sendlark', 'sendlarkTrigger'],
  );
});

t.test('the node does each operation with a key pair of the smallest scope', async (t) => {
  const service = await withShop(t);
  const load = build(t.testdir());
  const node = load<Sendlark>(PACKAGE.n8n.nodes[0]);
  const run = async (scope: Parameters<Service['makeKeys']>[0], items: Json[], goesOn?: boolean) => {
    const [results = []] = await node.execute.call(contextOf(service, service.makeKeys(scope), items, goesOn));
    return results;
  };

  const contact = (email: string, more: Value = '{}') => ({ operation: 'upsert', list: 1, email, more });
  const people = [contact('zoe@example.org', '{"first_name":"Zoë"}'), contact('nonsense'), contact('bob@example.org')];
  t.match(await run('contacts', people, true), [
    { json: { outcome: 'created', email: 'zoe@example.org' }, pairedItem: { item: 0 } },
    { json: { outcome: 'failed', email: 'nonsense' }, pairedItem: { item: 1 } },
    { json: { outcome: 'created', email: 'bob@example.org' }, pairedItem: { item: 2 } },
  ]);
  await t.rejects(run('contacts', people), /Item 1: .*email/);
  await t.rejects(run('contacts', [contact('zoe@example.org', '[]')]), /must be a JSON object/);

  const subscription = { operation: 'subscribe', form: 1, email: 'ann@example.org' };
  t.match(await run('contacts', [subscription]), [{ json: { state: 'asked' } }]);

  const event = { operation: 'event', name: 'order', email: 'eva@example.org', key: 'order-1', newTo: 1 };
  t.match(await run('contacts', [{ ...event, more: { value: 49.9, currency: 'EUR' } }, event]), [
    { json: { recorded: 1, created: 1 } },
    { json: { recorded: 0, repeated: 1 }, pairedItem: { item: 1 } },
  ]);

  const mail = { operation: 'send', sender: 1, email: 'zoe@example.org', subject: 'Order', text: 'Thanks', key: 'o-1' };
  const [first, again] = await run('transactional', [mail, mail]);
  t.match(first?.json.utr, /./);
  t.equal(first?.json.utr, again?.json.utr, 'with the same key it is sent once');

  for (const name of ['One', 'Two', 'Three']) await service.post('/single/send/draft', { single_send_name: name });
  const names = async (limit: number) =>
    (await run('read', [{ operation: 'campaigns', limit }])).map(({ json }) => json.single_send_name);
  t.strictSame(await names(2), ['Three', 'Two']);
  t.strictSame(await names(50), ['Three', 'Two', 'One']);

  await t.rejects(run('read', [subscription]), /403/);
  t.match(await run('read', [subscription, { operation: 'campaigns', limit: 1 }], true), [
    { json: { error: /403/ }, pairedItem: { item: 0 } },
    { json: { single_send_name: 'Three' }, pairedItem: { item: 1 } },
  ]);
});

t.test('the trigger starts a workflow by a signed webhook only', async (t) => {
  const load = build(t.testdir());
  const trigger = load<SendlarkTrigger>(PACKAGE.n8n.nodes[1]);
  const { secret, body, headers } = signedWebhook();
  const arrives = async (more: { body?: string; headers?: Record<string, string>; secret?: string }) => {
    const answered: unknown[] = [];
    const context: IWebhookFunctions = {
      getCredentials: async () => ({ secret: more.secret ?? secret }),
      getHeaderData: () => ({ ...headers, ...more.headers }),
      getRequestObject: () => ({ rawBody: Buffer.from(more.body ?? body) }),
      getResponseObject: () => ({ status: (code) => ({ end: () => answered.push(code) }) }),
    };
    return [await trigger.webhook.call(context), ...answered];
  };
  const event = { id: 'evt_1', type: 'contact.created', data: { contact_id: 1 } };
  t.match(await arrives({}), [{ workflowData: [[{ json: event }]] }]);
  const refused = [{ noWebhookResponse: true }, 401];
  t.strictSame(await arrives({ body: `${body} ` }), refused);
  t.strictSame(await arrives({ headers: { 'webhook-signature': '' } }), refused);
  t.strictSame(await arrives({ headers: { 'webhook-timestamp': '1' } }), refused);
  for (const weak of weaklySigned) t.strictSame(await arrives(weak), refused);
});

t.test('the test of the credentials works with every scope, and the headers are those of the API', async (t) => {
  const service = await withShop(t);
  const { authenticate, test } = build(t.testdir())<{
    authenticate: { properties: { headers: Record<string, string> } };
    test: { request: { url: string } };
  }>(PACKAGE.n8n.credentials[0]);
  for (const scope of ['transactional', 'read', 'contacts', 'campaigns'] as const) {
    const keys = service.makeKeys(scope);
    const headers = Object.fromEntries(
      Object.entries(authenticate.properties.headers).map(([name, value]) => {
        const [, field = ''] = /^=\{\{\$credentials\.(\w+)\}\}$/.exec(value) ?? [];
        return [name, keys[KEYS[field as keyof typeof KEYS]] ?? ''];
      }),
    );
    const { status } = await fetch(`${service.origin}${test.request.url}`, { headers });
    t.equal(status, 200, scope);
  }
});
