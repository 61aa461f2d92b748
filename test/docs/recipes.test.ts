/** The recipes work as they stand in the document: generated clients do the main job, and programs, scripts and the collection run. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import t, { type Test } from 'tap';
import { fetch } from 'undici';
import { SCOPES } from '../../src/database/schema/index.ts';
import { blocksOf, ROOT } from '../support/documents.ts';
import { SHOP_FORM } from '../support/sender.ts';
import { Service } from '../support/service.ts';
import { skipWithout, toolPath } from '../support/tools.ts';

const blocks = blocksOf('docs/recipes.md');

/** The text of the block in this language that has these words. */
function requireBlock(language: string, words: string): string {
  const block = blocks.find((one) => one.language === language && one.text.includes(words));
  if (block === undefined) throw new Error(`no ${language} block has ${words}`);
  return block.text;
}

/** The scopes that the recipe with this heading names. */
function scopesOf(heading: string) {
  const text = readFileSync(join(ROOT, 'docs/recipes.md'), 'utf8');
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const [named = ''] = /^Scopes?: [^.]*/m.exec(section.split('\n## ')[0] ?? '') ?? [];
  return SCOPES.filter((scope) => named.includes(`\`${scope}\``));
}

let shared: Promise<Service> | undefined;
/** The service of four recipes. The first of them finds no list and adds the one that the second uses. */
function sharedService(): Promise<Service> {
  shared ??= startService(t);
  return shared;
}

/** A running service with a sender and a group. */
async function startService(t: Test): Promise<Service> {
  const service = new Service(t, {});
  await service.start();
  await service.post('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: '1' });
  await service.post('/sender/save', { ...SHOP_FORM, country_id: '84' });
  return service;
}

/**
 * A service, the environment of the clients of a recipe with keys that may do no more than the recipe says, and an empty folder. The service
 * is a new one unless one is given.
 */
async function prepare(t: Test, heading: string, given?: Service) {
  const service = given ?? (await startService(t));
  const { PublicKey, SecretKey } = service.makeKeys(...scopesOf(heading));
  const env = {
    PATH: process.env.PATH,
    SENDLARK_URL: service.origin,
    SENDLARK_PUBLIC_KEY: PublicKey,
    SENDLARK_SECRET_KEY: SecretKey,
  };
  const contacts = async () =>
    ((await service.get('/contacts/list')).message as { contacts: { email: string; first_name: string }[] }).contacts;
  return { service, env, contacts, folder: t.testdir() };
}

/** Runs a program to its end, and gives what it printed. */
function run(
  t: Test,
  file: string,
  words: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): string {
  const { status, stdout, stderr } = spawnSync(file, words, { encoding: 'utf8', timeout: 120_000, ...options });
  t.equal(status, 0, `${stdout}${stderr}`);
  return stdout;
}

t.test('the script for cron imports a file, and ends with an error where it was refused', async (t) => {
  const { service, env, contacts, folder } = await prepare(t, 'Every night, by cron', await sharedService());
  writeFileSync(join(folder, 'nightly'), requireBlock('sh', 'set -eu'));
  writeFileSync(join(folder, 'readers.csv'), 'email\nanna@example.org\n');
  const nightly = () => spawnSync('sh', ['nightly'], { cwd: folder, env, encoding: 'utf8' });
  t.match(nightly(), { status: 1, stdout: '', stderr: /contact_type_id/ }, 'there is no contact type yet');
  await service.post('/contacts-type/add', { name: 'Readers' });
  for (const night of ['first', 'second']) t.match(nightly(), { status: 0, stdout: '', stderr: '' }, night);
  t.match(await contacts(), [{ email: 'anna@example.org' }]);
});

t.test('the fields of the WordPress form ask for a subscription', async (t) => {
  const { service } = await prepare(t, 'A form in WordPress', await sharedService());
  await service.post('/forms/create', { name: 'Footer', contact_type_id: '1', sender_id: '1' });
  const block = requireBlock('php', 'wp_remote_post');
  const [, path = ''] = /SENDLARK_URL \. '\/api([^']+)'/.exec(block) ?? [];
  const given: Record<string, string> = { 'your-email': 'anna@example.org', 'your-name': 'Anna' };
  const [, body = ''] = /'body' => \[(.*?)\n {4}\]/s.exec(block) ?? [];
  const fields = [...body.matchAll(/'(\w+)' => (?:'(\w+)'|\$given\['([\w-]+)'\])/g)].map(
    ([, name = '', value, field = '']) => [name, value ?? given[field] ?? ''],
  );
  t.match(await service.post(path, Object.fromEntries(fields)), { message: { state: 'asked' } });
  t.strictSame(
    fields.map(([name]) => name),
    ['form_id', 'source', 'email', 'first_name'],
  );
});

t.test('a release on GitHub becomes a draft that is not sent', async (t) => {
  const { service, env, folder } = await prepare(t, 'From GitHub Actions', await sharedService());
  const [, script = ''] = /run: \|\n(.*)$/s.exec(requireBlock('yaml', 'release:')) ?? [];
  const release = { TITLE: 'Version 2 & more', NOTES: '- <b>new</b>\n- $(exit 1) `x`\n' };
  for (let time = 0; time < 2; time++)
    run(t, 'bash', ['-eo', 'pipefail', '-c', script], { cwd: folder, env: { ...env, ...release } });
  const { summaries } = (await service.get('/single-send/summaries')).message as { summaries: { utr: string }[] };
  const draft = { single_send_name: 'Version 2 & more', subject: 'Version 2 & more', state: 'draft' };
  t.match(summaries, [draft, draft]);
  const { singleSend } = (await service.get(`/single-send/details?utr=${summaries[0]?.utr}`)).message as {
    singleSend: { template_html: string }[];
  };
  t.match(singleSend[0]?.template_html, '<h1>Version 2 &amp; more</h1>');
  t.match(singleSend[0]?.template_html, '- &lt;b&gt;new&lt;/b&gt;\n- $(exit 1) `x`');
});

t.test('a TypeScript client that is generated from OpenAPI does the main job, with its types checked', async (t) => {
  const { service, env, folder } = await prepare(t, 'TypeScript', await sharedService());
  const document = (await (await fetch(`${service.origin}/docs/openapi.json`)).json()) as OpenAPI3;
  writeFileSync(join(folder, 'sendlark-api.d.ts'), astToString(await openapiTS(document)));
  writeFileSync(join(folder, 'main.ts'), requireBlock('ts', 'createClient'));
  const compiler = join(ROOT, 'node_modules/typescript-native/bin/tsc');
  const options = '--noEmit --strict --noUncheckedIndexedAccess --target es2024 --module nodenext --types node';
  const words = [...options.split(' '), '--allowImportingTsExtensions', '--skipLibCheck', '--ignoreConfig', 'main.ts'];
  run(t, process.execPath, [compiler, ...words], { cwd: folder });
  for (const time of ['first', 'second'])
    t.match(run(t, process.execPath, ['main.ts'], { cwd: folder, env }), /^1 of 1 delivered$/m, time);
});

t.test(
  'a Python client that is generated from OpenAPI does the main job',
  { skip: skipWithout('python') },
  async (t) => {
    const { env, folder } = await prepare(t, 'Python');
    const python = toolPath('python');
    const script = join(ROOT, 'scripts/clients/python.py');
    const client = run(t, python, [script, `${env.SENDLARK_URL}/docs/openapi.json`], { cwd: folder });
    writeFileSync(join(folder, 'sendlark.py'), client);
    writeFileSync(join(folder, 'main.py'), requireBlock('python', 'from sendlark import'));
    for (const time of ['first', 'second'])
      t.match(run(t, python, ['main.py'], { cwd: folder, env }), /^1 of 1 delivered$/m, time);

    const refused = `
import os
from sendlark import Sendlark, SendlarkError
sendlark = Sendlark(os.environ["SENDLARK_URL"], os.environ["SENDLARK_PUBLIC_KEY"], os.environ["SENDLARK_SECRET_KEY"])
sendlark.post_contacts_upload_csv(contact_type_id="1", file=("readers.csv", b"email\\nzoe@example.org\\n"))
print(len(sendlark.get_contacts_list()["contacts"]))
try:
    sendlark.post_contacts_add(contact_type_id=1, email="nonsense", country=84)
except SendlarkError as error:
    print(error.status, sorted(error.errors))
`;
    writeFileSync(join(folder, 'refused.py'), refused);
    t.equal(run(t, python, ['refused.py'], { cwd: folder, env }), "2\n422 ['email']\n", 'files and refusals');
  },
);

t.test('the request of a shop adds a customer, and again changes nothing more', async (t) => {
  const { service, env, contacts, folder } = await prepare(t, 'Contacts from a shop');
  await service.post('/contacts-type/add', { name: 'Customers' });
  for (let time = 0; time < 2; time++)
    t.match(JSON.parse(run(t, 'sh', ['-c', requireBlock('sh', 'contacts/upsert')], { cwd: folder, env })), {
      status: 'success',
    });
  t.match(await contacts(), [{ email: 'zoe@example.com', first_name: 'Zoë' }]);
});

t.test(
  'customers of Shopify and WooCommerce who agreed become contacts, and those who left are unsubscribed',
  async (t) => {
    const { service, env, contacts, folder } = await prepare(t, 'Customers of Shopify and WooCommerce');
    await service.post('/contacts-type/add', { name: 'Customers' });
    writeFileSync(join(folder, 'customers.mjs'), requireBlock('js', 'isSigned'));
    const settings = { SHOP_SECRET: 'of the shop', CONSENT_FIELD: 'newsletter', PORT: '0' };
    const program = spawn(process.execPath, ['customers.mjs'], { cwd: folder, env: { ...env, ...settings } });
    t.teardown(() => program.kill());
    const url = `http://127.0.0.1:${await portOf(program)}/`;
    const post = async (header: string, body: string, secret = settings.SHOP_SECRET, type = 'application/json') => {
      const signature = createHmac('sha256', secret).update(body).digest('base64');
      const headers = { [header]: signature, 'content-type': type };
      return (await fetch(url, { method: 'POST', headers, body })).status;
    };
    const shopify = (customer: object, secret?: string) =>
      post('X-Shopify-Hmac-SHA256', JSON.stringify(customer), secret);
    const woocommerce = (customer: object) => post('X-WC-Webhook-Signature', JSON.stringify(customer));
    const anna = { email: 'anna@example.org', first_name: 'Anna', email_marketing_consent: { state: 'subscribed' } };

    t.equal(await shopify(anna, 'another secret'), 401);
    t.equal(await shopify({ ...anna, email_marketing_consent: { state: 'not_subscribed' } }), 204);
    t.equal(await shopify({ email: null }), 204);
    t.equal(await woocommerce({ email: 'bert@example.org', first_name: 'Bert', meta_data: [] }), 204);
    t.strictSame(await contacts(), [], 'who did not agree is not added');
    t.equal(await shopify(anna), 204);
    t.equal(await shopify({ ...anna, first_name: 'Anne' }), 204);
    const agreed = [{ key: 'newsletter', value: 'yes' }];
    t.equal(await woocommerce({ email: 'bert@example.org', first_name: 'Bert', meta_data: agreed }), 204);
    t.equal(await post('X-WC-Webhook-Signature', 'webhook_id=7', undefined, 'application/x-www-form-urlencoded'), 204);
    t.match(await contacts(), [
      { email: 'anna@example.org', first_name: 'Anne' },
      { email: 'bert@example.org', first_name: 'Bert' },
    ]);
    t.equal(await shopify({ ...anna, email_marketing_consent: { state: 'unsubscribed' } }), 204);
    const { unSubscribers } = (await service.get('/global-unsubscribes')).message as { unSubscribers: object[] };
    t.match(unSubscribers, [{ email_address: 'anna@example.org' }]);
    await service.end('SIGTERM');
    t.equal(await shopify(anna), 500, 'the shop tries again');
  },
);

/** The port on which a program says that it listens. */
async function portOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the program has no output');
  const [line]: string[] = await once(createInterface({ input: stdout }), 'line');
  return /port (\d+)/.exec(line ?? '')?.[1] ?? '';
}
