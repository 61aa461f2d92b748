/**
 * `sendlark mcp` as a program with a language model uses it: the SDK's client over standard input and output, against a
 * running service.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import t, { type Test } from 'tap';
import { TOOLS } from '../../src/mcp/tools.ts';
import { SHOP_FORM } from '../support/sender.ts';
import { BUILT, Service } from '../support/service.ts';

const [NODE, ...PROGRAM] = BUILT.command;

const service = new Service(t, {});
await service.start();
await service.post('/contacts-type/add', { name: 'Readers' });
await service.post('/contacts/add', {
  contact_type_id: '1',
  email: 'anna@example.org',
  first_name: 'Anna',
  country: '1',
});

type Scopes = Parameters<Service['makeKeys']>;

/** The settings of a program that has a key pair of these scopes. */
function settingsWith(...scopes: Scopes) {
  const { PublicKey, SecretKey } = service.makeKeys(...scopes);
  return { SENDLARK_URL: service.origin, SENDLARK_PUBLIC_KEY: PublicKey, SENDLARK_SECRET_KEY: SecretKey };
}

/** A client of `sendlark mcp` with these words and a key pair of these scopes. */
async function clientWith(t: Test, words: readonly string[], ...scopes: Scopes): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const args = [...PROGRAM, 'mcp', ...words];
  await client.connect(new StdioClientTransport({ command: NODE, args, env: settingsWith(...scopes) }));
  t.teardown(() => client.close());
  return client;
}

/** A client, and a way to call its tools. */
async function start(t: Test, ...words: string[]) {
  const client = await clientWith(t, words, 'read', ...(words.includes('--drafts') ? ['campaigns' as const] : []));
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const [first] = content as { type: string; text: string }[];
    return isError === true ? { refused: first?.text } : JSON.parse(first?.text ?? '');
  };
  return { client, call };
}

async function drafts() {
  return ((await service.get('/single-send/summaries')).message as { summaries: { utr: string }[] }).summaries;
}

t.test('what was asked before the input ends is answered, then the program ends', async (t) => {
  const clientInfo = { name: 'test', version: '1' };
  const ask = (id: number, method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id, method, params });
  const input = [
    ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }),
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    ask(2, 'tools/list', {}),
    ask(3, 'tools/call', { name: 'read_overview', arguments: {} }),
    '',
  ].join('\n');
  const child = spawn(NODE, [...PROGRAM, 'mcp'], {
    env: settingsWith('read'),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const ended = once(child, 'close');
  child.stdin.end(input);
  const answers = (await text(child.stdout)).trim().split('\n');
  const byId = new Map(answers.map((line) => [JSON.parse(line).id, JSON.parse(line).result]));
  t.strictSame([...byId.keys()].sort(), [1, 2, 3]);
  t.match(byId.get(2), { tools: [{ name: 'read_overview' }] });
  t.match(byId.get(3), { content: [{ text: /set_up|under_way|overview/ }] });
  t.strictSame(await ended, [0, null]);
});

t.test('without --drafts every tool reads, and each answers', async (t) => {
  const { client, call } = await start(t);
  const utr = ((await service.post('/single/send/draft', { single_send_name: 'News' })).message as { utr: string }).utr;
  const automation = {
    automation_name: 'Welcome',
    automation_for: 'contacts_1',
    type: 'welcome',
    unsubscribe_group_id: '0',
  };
  const made = (await service.post('/automations/create', automation)).message as { utr: string };
  const { tools } = await client.listTools();
  t.ok(tools.length > 10);
  const all: Record<string, unknown> = { utr, contact_id: 1, search: 'ann', email: 'anna@example.org' };
  for (const { name, annotations, inputSchema } of tools) {
    t.match(annotations, { readOnlyHint: true }, name);
    const given = name.includes('_automation') ? { ...all, utr: made.utr } : all;
    const names = Object.keys(inputSchema.properties ?? {}).filter((one) => one in given);
    const answer = await call(name, Object.fromEntries(names.map((one) => [one, given[one]])));
    t.equal(answer.refused, undefined, name);
    t.notMatch(JSON.stringify(answer), /design_url/, `${name} gives no link by which a mail can be changed`);
  }
  t.match(await call('search_contacts', { search: 'ann' }), { contacts: [{ email: 'anna@example.org' }] });
  t.match(await call('create_draft', { single_send_name: 'X' }), { refused: /no tool/ });
  t.strictSame(
    (await drafts()).map((one) => one.utr),
    [utr],
  );
});

t.test('with --drafts a mail is prepared, and what is queued is not changed', async (t) => {
  const { client, call } = await start(t, '--drafts');
  const { utr } = await call('create_draft', { single_send_name: 'News' });
  t.match(
    await call('change_draft', { utr, subject: 'Hello', template_html: '<p>Hello</p>', recipient_id: ['contacts_1'] }),
    {
      updated_at: /^\d{4}-/,
    },
  );
  t.match(
    (await drafts()).find((one) => one.utr === utr),
    { subject: 'Hello', state: 'draft' },
  );
  t.match(await call('change_draft', { utr, recipient_id: ['contacts_7'] }), { refused: /recipient_id/ });
  t.match(await call('change_draft', { utr: 'nonsense', subject: 'X' }), { refused: /./ });
  const { tools } = await client.listTools();
  t.notMatch(tools.map(({ name }) => name).join(' '), /send_|schedule|live|delete|import|test/);

  await service.post('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: '1' });
  await service.post('/sender/save', { ...SHOP_FORM, country_id: '84' });
  const recipe = { recipe: 'cart', language: 'en', automation_name: 'Cart', automation_for: 'contacts_1' };
  const begun = await call('create_automation_draft', { ...recipe, unsubscribe_group_id: 1, sender_id: 1 });
  t.match(await call('read_automation', { utr: begun.utr }), { series: { is_live: 0, trigger_event: 'cart' } });
  await call('change_automation_draft', { utr: begun.utr, trigger_event: 'basket' });
  const at = { waiting_type: 'instantly', waiting_period: 1 };
  const wait = { ...at, kind: 'wait_until', until: 'event', event: 'order', timeout_hours: 4 };
  const step = await call('add_step_to_automation_draft', { utr: begun.utr, ...wait });
  await call('change_step_of_automation_draft', { utr: step.utr, timeout_hours: 8 });
  const letter = { ...at, sender_id: 1, subject: 'Hello', template_id: 1, template_html: '<p>Hello</p>' };
  const mail = await call('add_mail_to_automation_draft', {
    utr: begun.utr,
    ...letter,
    parent: step.utr,
    branch: 'no',
  });
  await call('change_mail_of_automation_draft', { utr: mail.utr, subject: 'Still there' });
  const { series } = await call('read_automation', { utr: begun.utr });
  t.match(
    [series.trigger_event, ...series.steps.slice(-2)],
    ['basket', { kind: 'wait_until', event: 'order', timeout_hours: 8 }, { subject: 'Still there', branch: 'no' }],
  );
  t.equal((await service.get(`/automations/set-live?utr=${begun.utr}`)).status, 'success');
  for (const [name, given] of Object.entries({
    change_automation_draft: { utr: begun.utr, trigger_event: 'cart' },
    add_step_to_automation_draft: { utr: begun.utr, ...at, kind: 'exit' },
    change_step_of_automation_draft: { utr: step.utr, timeout_hours: 9 },
    add_mail_to_automation_draft: { utr: begun.utr, ...letter },
    change_mail_of_automation_draft: { utr: mail.utr, subject: 'Changed' },
  }))
    t.match(await call(name, given), { refused: /The automation is live/ }, `${name}: what is live is not changed`);
  const queued = await service.post('/single/send/create', {
    ...{ template_id: '1', template_html: '<p>Hello</p>', sender_id: '1', unsubscribe_group_id: '1' },
    ...{ single_send_name: 'Later', subject: 'Later', preheader: 'Later', 'recipient_id[0]': 'contacts_1' },
    ...{ schedule_type: '1', schedule_date: '2099-01-01', schedule_time: '12:00' },
  });
  const later = (queued.message as { utr: string }).utr;
  t.match(await call('change_draft', { utr: later, subject: 'Changed' }), { refused: /not a draft/ });
});

t.test('a tool for which the key pair lacks the scope says which one', async (t) => {
  const small = await clientWith(t, ['--drafts'], 'transactional');
  for (const { name, input } of TOOLS) {
    const needed = (input.required ?? []).map((one) => [one, 1]);
    const { content, isError } = await small.callTool({ name, arguments: Object.fromEntries(needed) });
    t.match({ content, isError }, { content: [{ text: /lacks the scope (read|campaigns)/ }], isError: true }, name);
  }
});

t.test('only the tools are listed that the scopes of the key pair allow', async (t) => {
  const namesWith = async (...scopes: Scopes) =>
    (await (await clientWith(t, ['--drafts'], ...scopes)).listTools()).tools.map(({ name }) => name);
  const all = TOOLS.map(({ name }) => name);
  t.strictSame(await namesWith('transactional'), []);
  t.strictSame(
    await namesWith('read'),
    all.filter((name) => !name.endsWith('_draft')),
  );
  t.strictSame(await namesWith('contacts'), [
    'list_contact_types',
    'list_segments',
    'list_unsubscribe_groups',
    'search_contacts',
    'read_person',
  ]);
  t.strictSame(await namesWith('read', 'campaigns'), all);
  t.strictSame(await namesWith('everything'), all);
  const document = await (await fetch(`${service.origin}/docs/openapi.json`)).json();
  for (const { name, path, isForDrafts, isPost, scopes } of TOOLS)
    t.strictSame(
      document.paths[`/api${path}`][isForDrafts || isPost ? 'post' : 'get']['x-scopes'],
      scopes,
      `${name} has the scopes of its path`,
    );
});

t.test('what cannot be asked is said in words', async (t) => {
  const { call } = await start(t);
  t.match(await call('read_report', { utr: 'nonsense' }), { refused: /./ });
  t.match(await call('search_contacts', { limit: 100_000 }), { refused: /limit/ });
  // The last test with the service.
  await service.end('SIGTERM');
  t.match(await call('read_health'), { refused: /cannot be reached/ });
});

t.test('a missing or malformed setting ends the command with one line and exit code 2', async (t) => {
  const run = (env: NodeJS.ProcessEnv) => spawnSync(NODE, [...PROGRAM, 'mcp'], { env, encoding: 'utf8' });
  const whole = { SENDLARK_URL: 'http://127.0.0.1:1', SENDLARK_PUBLIC_KEY: 'pk', SENDLARK_SECRET_KEY: 'sk' };
  for (const [name, value] of [
    ['SENDLARK_URL', ''],
    ['SENDLARK_URL', 'file:///etc/passwd'],
    ['SENDLARK_PUBLIC_KEY', ''],
    ['SENDLARK_SECRET_KEY', 'a\nb'],
  ] as const) {
    const { status, stdout, stderr } = run({ ...whole, [name]: value });
    t.match([status, stdout, stderr], [2, '', new RegExp(name)], `${name}=${value}`);
  }
});
