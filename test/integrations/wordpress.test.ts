/** The WordPress plugin beside the built service: its PHP with stubs of what it calls of WordPress and WooCommerce (wordpress.php). */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import type { Service } from '../support/service.ts';
import { skipWithout, toolPath } from '../support/tools.ts';
import { until } from '../support/until.ts';
import { withShop } from './shop.ts';

const PLUGIN = fileURLToPath(new URL('../../integrations/wordpress/sendlark', import.meta.url));
const STUBS = fileURLToPath(new URL('wordpress.php', import.meta.url));
const skip = skipWithout('php');
const NONCE = 'nonce-sendlark_subscribe';
const BACK = 'https://blog.example.com/join?sendlark=';

type Step = [name: string, ...given: unknown[]];

/** Runs the steps in the plugin with these settings, and returns what each gave. */
async function runSteps(options: object, steps: readonly Step[], isAdmin = true): Promise<unknown[]> {
  const running = promisify(execFile)(toolPath('php'), [STUBS]);
  running.child.stdin?.end(JSON.stringify({ plugin: PLUGIN, options, steps, isAdmin }));
  const { stdout } = await running;
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The settings of a plugin that is set up, with a key pair of the smallest scope. */
function settingsOf(service: Service, more: object = {}) {
  const { PublicKey, SecretKey } = service.makeKeys('contacts');
  return { url: service.origin, public_key: PublicKey, secret_key: SecretKey, form_id: '1', list_id: '1', ...more };
}

async function mailsTo(service: Service, email: string): Promise<number> {
  const { mails } = Object(await service.get('/outbox/list')).message;
  return mails.filter((mail: { envelope_to: string }) => mail.envelope_to === email).length;
}

/** Waits for a mail to this address. */
const mailTo = (service: Service, email: string) => until(async () => (await mailsTo(service, email)) > 0);

async function emails(service: Service): Promise<string[]> {
  const { contacts } = Object(await service.get('/contacts/list')).message;
  return contacts.map(({ email }: { email: string }) => email).sort();
}

let shared: Promise<Service> | undefined;
/** The service of tests that add no contact. */
function sharedShop(): Promise<Service> {
  shared ??= withShop(t);
  return shared;
}

async function withPlugin(given: Promise<Service>, more: object = {}) {
  const service = await given;
  const settings = settingsOf(service, more);
  return { service, settings, run: (...steps: Step[]) => runSteps(settings, steps) };
}

const ORDER = {
  id: 7,
  billing_email: 'bob@example.org',
  billing_first_name: 'Bob',
  billing_last_name: 'Lee',
  billing_city: 'Graz',
  billing_country: 'AT',
  customer_ip_address: '192.0.2.9',
  total: '49.90',
  currency: 'EUR',
  item_count: 2,
  coupon_codes: ['SPRING'],
  date_paid: new Date().toISOString(),
};

t.test('a customer who did not agree is neither asked nor added', { skip }, async (t) => {
  const { service, run } = await withPlugin(sharedShop(), { mode: 'add' });
  t.strictSame(await run(['order', ORDER, {}, {}]), [[]]);
  t.strictSame(await emails(service), []);
  t.equal(await mailsTo(service, 'bob@example.org'), 0);
});

t.test('the box asks for a subscription, and says the same whatever is known about an address', { skip }, async (t) => {
  const { service, settings, run } = await withPlugin(sharedShop());
  const runAs = (step: Step, isAdmin: boolean) => runSteps(settings, [step], isAdmin);
  const sent = (more: object): Step => ['submit', { sendlark_nonce: NONCE, box: 'sendlark-1', ...more }];
  const outcomes = await run(
    sent({ email: 'zoe@example.org', first_name: 'Zoë' }),
    sent({ email: 'zoe@example.org' }),
    sent({ email: 'nonsense' }),
    sent({ email: ['zoe@example.org'] }),
    sent({ email: 'zoe@example.org', sendlark_nonce: 'forged' }),
    sent({ email: 'ann@example.org', box: '"><script>' }),
  );
  t.strictSame(outcomes, [
    `${BACK}asked#sendlark-1`,
    `${BACK}asked#sendlark-1`,
    `${BACK}invalid#sendlark-1`,
    `${BACK}invalid#sendlark-1`,
    `${BACK}old#sendlark-1`,
    `${BACK}asked#`,
  ]);
  const fromCache = await runAs(['submit', { email: 'may@example.org', box: 'sendlark-1' }], false);
  t.strictSame(fromCache, [`${BACK}asked#sendlark-1`], 'a visitor needs no nonce, which a page of a cache has lost');
  await mailTo(service, 'zoe@example.org');
  t.strictSame(await emails(service), [], 'nobody is a contact before they confirm');
});

t.test('a visitor can name no form but those of the boxes', { skip }, async (t) => {
  const { service, settings, run } = await withPlugin(sharedShop());
  await service.post('/forms/create', { name: 'Hidden', contact_type_id: '1', sender_id: '1' });
  const box = String(await run(['box', { form: '99' }, {}]));
  const [, number, signature] = /name="form" value="(\d+)-(\w+)"/.exec(box) ?? [];
  t.equal(number, '99');
  const sent = (form: string): Step => ['submit', { sendlark_nonce: NONCE, box: 'b', email: 'zoe@example.org', form }];
  const unsigned = await runSteps({ ...settings, form_id: '98' }, ['2', '2-', `2-${signature}`, '0', ''].map(sent));
  t.strictSame(unsigned, Array(5).fill(`${BACK}failed#b`), 'the form of the settings, which does not exist here');
  t.strictSame(await run(sent(`99-${signature}`)), [`${BACK}failed#b`], 'the form of the box, which does not exist');
  t.strictSame(await run(sent('99')), [`${BACK}asked#b`], 'the form of the settings');
});

t.test('the box escapes what it is given, and is absent without a key pair', { skip }, async (t) => {
  const settings = { url: 'http://127.0.0.1:1', public_key: 'pk', secret_key: 'sk', consent: '<b>News</b>' };
  const given = { button: '"><script>', name: '1', form: '2"' };
  const [box, odd, absent] = await runSteps(settings, [
    ['box', given, { sendlark: 'asked' }],
    ['box', '', { sendlark: '<i>' }],
    ['settings', {}],
  ]);
  t.match(box, /Please check your mailbox/);
  t.match(box, /&lt;b&gt;News&lt;\/b&gt;/);
  t.notMatch(`${box}${odd}`, /<script|<b>|<i>|role="status"><\/p>/);
  t.strictSame(absent, []);
  t.strictSame(await runSteps({}, [['box', {}, {}]]), ['']);
});

t.test('the settings keep the keys, never show them, and say what the pair may do', { skip }, async (t) => {
  const service = await sharedShop();
  const settings = settingsOf(service);
  const { url, public_key: key, secret_key: secret } = settings;
  const everything = service.makeKeys('everything');
  const mails = service.makeKeys('transactional');
  const pair = ({ PublicKey, SecretKey }: typeof mails) => ({ url, public_key: PublicKey, secret_key: SecretKey });
  const [first, page, kept, again, wrong, , more, , less, , invalid, , away, removed] = await runSteps({}, [
    ['settings', { ...settings, url: `${url}/`, consent: 'News <script>' }],
    ['page'],
    ['settings', { url, public_key: '', secret_key: '' }],
    ['page'],
    ['settings', { url: 'javascript:alert(1)', public_key: 'ä', secret_key: 'a\nb', mode: 'add' }],
    ['settings', pair(everything)],
    ['page'],
    ['settings', pair(mails)],
    ['page'],
    ['settings', { url, public_key: 'pk_unknown', secret_key: 'sk_unknown' }],
    ['page'],
    ['settings', { ...settings, url: 'http://127.0.0.1:1' }],
    ['page'],
    ['uninstall'],
  ]);
  t.strictSame([first, kept], [[], []]);
  t.match(page, /<p>Connected\.<\/p>/);
  t.match(again, /<p>Connected\.<\/p>/, 'empty keys keep what is stored');
  t.strictSame(wrong, ['url', 'list_id', 'public_key', 'secret_key']);
  t.match(more, /may do more than this plugin needs/);
  t.match(less, /lacks the permission Contacts/);
  t.match(invalid, /not valid/);
  t.match(away, /cannot be reached/);
  t.notOk(`${page}${again}`.includes(secret) || `${page}${again}`.includes(key));
  t.notMatch(page, /<script/);
  t.strictSame(removed, []);
  t.strictSame(await runSteps(settings, [['page']], false), [''], 'only for administrators');
});

t.test(
  'a customer who agrees is asked once, and the order is reported until they may have confirmed',
  { skip },
  async (t) => {
    const { service, run } = await withPlugin(sharedShop(), { mode: 'confirm' });
    const [checkout, first, asked, ...plans] = await run(
      ['checkout'],
      ['order', ORDER, { sendlark_consent: '1' }, {}],
      ['asked'],
      ['later'],
      ['later'],
      ['later'],
      ['later'],
      ['asked'],
    );
    const [field, checkbox] = Object(checkout);
    t.match(field, { id: 'sendlark/consent', type: 'checkbox', location: 'order', label: /news/ });
    t.match(checkbox, /<input type="checkbox"/);
    t.notMatch(checkbox, /checked/);
    t.strictSame(
      [first, asked, ...plans],
      [[300], ['/api/contacts/subscribe', '/api/events'], [3600], [86400], [518400], [], Array(4).fill('/api/events')],
    );
    await mailTo(service, 'bob@example.org');
    t.strictSame(await emails(service), []);
  },
);

t.test('a customer who agrees can be added at once, and the order is recorded once', { skip }, async (t) => {
  const { service, run } = await withPlugin(withShop(t), { mode: 'add' });
  const inBlocks = { '_wc_other/sendlark/consent': '1' };
  const plans = await run(['order', ORDER, {}, inBlocks], ['order', ORDER, {}, inBlocks]);
  t.strictSame(plans, [[], []]);
  t.strictSame(await emails(service), ['bob@example.org']);
  const { person } = Object(await service.get('/contacts/person?contact_id=1')).message;
  t.match(JSON.stringify(person), /Bob.*Graz|Graz.*Bob/);
  const again = Object(
    await service.post('/events', { email: 'bob@example.org', name: 'order', key: 'woocommerce-blog.example.com-7' }),
  );
  t.match(again.message, { recorded: 0, repeated: 1 });
});

t.test('an order adds nobody before it is paid, and fills only empty fields of a contact', { skip }, async (t) => {
  const { service, run } = await withPlugin(withShop(t), { mode: 'add' });
  await service.post('/contacts/upsert', { contact_type_id: '1', email: 'Bob@example.org', first_name: 'Robert' });
  const onDelivery = { ...ORDER, id: 8, billing_email: 'eva@example.org', date_paid: undefined };
  const consent = { sendlark_consent: '1' };
  t.strictSame(await run(['order', onDelivery, consent, {}], ['order', ORDER, consent, {}]), [[300], [3600]]);
  t.strictSame(
    await emails(service),
    ['Bob@example.org'],
    'with cash on delivery the order is processed, and not paid',
  );
  t.match(Object(await service.get('/contacts/details?contact_id=1')).message.contact, {
    email: 'Bob@example.org',
    first_name: 'Robert',
    last_name: 'Lee',
    city: 'Graz',
  });
  await run(['order', onDelivery, consent, {}], ['paid', 8, ORDER.date_paid]);
  t.strictSame(await emails(service), ['Bob@example.org', 'eva@example.org']);
});

t.test(
  'a consent is asked only where it leads somewhere, and kept while the service refuses it',
  { skip },
  async (t) => {
    const { settings, run } = await withPlugin(sharedShop(), { mode: 'add', list_id: '99' });
    const plans = await run(['order', ORDER, { sendlark_consent: '1' }, {}], ['later'], ['asked']);
    t.strictSame(plans.slice(0, 2), [[300], [3600]], 'the list does not exist yet');
    t.strictSame(plans[2], ['/api/contacts/upsert', '/api/events', '/api/contacts/upsert', '/api/events']);
    const [checkout] = await runSteps({ ...settings, list_id: '' }, [['checkout']]);
    t.strictSame(checkout, [null, '']);
  },
);

t.test('an order is reported again while the service cannot be reached', { skip }, async () => {
  const settings = { url: 'http://127.0.0.1:1', public_key: 'pk', secret_key: 'sk', list_id: '1', mode: 'add' };
  const plans = await runSteps(settings, [['order', ORDER, {}, {}], ['later'], ['later'], ['later'], ['later']]);
  t.strictSame(plans, [[300], [3600], [86400], [518400], []]);
});

t.test('the German translation has every text of the plugin, and is compiled from its source', async (t) => {
  const folders = [PLUGIN, `${PLUGIN}/includes`];
  const files = folders.flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`));
  const source = files.filter((name) => name.endsWith('.php')).map((name) => readFileSync(name, 'utf8'));
  const texts = source.flatMap((text) => [...text.matchAll(/__\( '([^']+)', 'sendlark' \)/g)].map(([, one]) => one));
  const written = readFileSync(`${PLUGIN}/languages/sendlark-de_DE.po`, 'utf8');
  const entries = [...written.matchAll(/^msgid "(.+)"\nmsgstr "(.+)"$/gm)].map(([, id = '', text = '']) => [id, text]);
  t.strictSame(entries.map(([id]) => id).sort(), [...new Set(texts)].sort());
  t.strictSame(compiledTexts(readFileSync(`${PLUGIN}/languages/sendlark-de_DE.mo`)), Object.fromEntries(entries));
});

/** Reads a file of GNU gettext: the number of texts at byte 8, the places of two tables of lengths and places at 12 and 16. */
function compiledTexts(file: Buffer): Record<string, string> {
  const texts = (table: number, at: number) => {
    const entry = file.readUInt32LE(table) + at * 8;
    const start = file.readUInt32LE(entry + 4);
    return file.toString('utf8', start, start + file.readUInt32LE(entry));
  };
  const all = Array.from({ length: file.readUInt32LE(8) }, (_, at) => [texts(12, at), texts(16, at)] as const);
  return Object.fromEntries(all.filter(([id]) => id !== ''));
}
