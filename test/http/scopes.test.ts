/** The scopes of key pairs: what each may reach, what it is told where it may not, and when it was last used. */
import t from 'tap';
import { addKeyPair } from '../../src/database/accounts.ts';
import { SCOPES, type Scope } from '../../src/database/schema/index.ts';
import { type Caller, callerWith, startApp, type TestApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { type Operation, operationsOf, readDocument } from '../support/openapi-operations.ts';
import { addPerson, callerOf } from '../support/people.ts';

const LACKS = /^The key pair may not do this: it lacks the scope (\w+)(?: or (\w+))?$/;
const NOT_FOR_KEYS = /^A key pair may not do this|^Only an owner of the first account/;

/** The features that each scope may change, by the tags of the document. */
const CHANGED_WITH: Partial<Record<Scope, readonly string[]>> = {
  transactional: ['Transactional e-mail'],
  contacts: [
    'Bounces and suppressions',
    'Contacts',
    'Events',
    'Fields',
    'Global unsubscribes',
    'Lists (contact types)',
    'Open and click tracking',
    'Segments',
    'Topics (unsubscribe groups)',
  ],
  campaigns: [
    'Archive',
    'Automations',
    'Brand',
    'Campaigns (single sends)',
    'Design pages',
    'Feeds',
    'Forms',
    'Images (pictures)',
    'Saved blocks',
    'Templates',
    'Versions',
  ],
};

/** A caller with a new pair of an account, by default the one of `app.one`. */
function withScopes(app: TestApp, scopes: readonly Scope[], accountId = 1, name = ''): Caller {
  const { publicKey, secretKey } = addKeyPair(app.drizzle, app.clock, accountId, { name, scopes });
  return callerWith(app.fastify, '/api', { PublicKey: publicKey, SecretKey: secretKey });
}

const ask = (caller: Caller, { method, path }: Operation) => caller.call(method, path.slice('/api'.length));

t.test('a key pair reaches exactly the operations for which it has a scope, and is told which it lacks', async (t) => {
  const app = await startApp(t);
  const callers = SCOPES.map((scope) => ({ scope, caller: withScopes(app, [scope]) }));
  const viewer = callerOf(app, addPerson(app, 'viewer'));
  const changed = new Map<string, Set<string>>();
  for (const operation of operationsOf(await readDocument(app))) {
    const { scopes, tag, method, path } = operation;
    const title = `${method} ${path}`;
    if ((await ask(viewer, operation)).status !== 403 && scopes.length > 0)
      t.ok(scopes.includes('read'), `${title}: what a viewer may read, the scope read may`);
    for (const { scope, caller } of callers) {
      const { status, body } = await ask(caller, operation);
      if (scopes.length === 0) {
        t.equal(status, 403, `${title} is not for key pairs`);
        t.match(body.errors, NOT_FOR_KEYS, title);
      } else if (scope === 'everything' || scopes.includes(scope)) t.not(status, 403, `${title} with ${scope}`);
      else {
        t.equal(status, 403, `${title} with ${scope}`);
        t.strictSame(Object.keys(body), ['status', 'errors']);
        t.strictSame(LACKS.exec(body.errors)?.slice(1).filter(Boolean), scopes, title);
      }
    }
    for (const scope of scopes.includes('read') ? [] : scopes)
      changed.set(scope, (changed.get(scope) ?? new Set()).add(tag));
  }
  for (const [scope, tags] of Object.entries(CHANGED_WITH)) t.strictSame([...(changed.get(scope) ?? [])].sort(), tags);
});

t.test('a pair of transactional mail reads no contact, export, mail of the outbox or key, and sends', async (t) => {
  const app = await startApp(t, { SENDER_VERIFICATION: 'optional' });
  const caller = withScopes(app, ['transactional']);
  for (const path of ['/contacts/list', '/contacts/export', '/contacts/search', '/single-send/recipients/export'])
    t.match(await caller.call('GET', path), { status: 403, body: { status: 'failed' } }, path);
  for (const path of ['/outbox/list', '/keys/list', '/users/list', '/overview', '/webhooks'])
    t.equal((await caller.call('GET', path)).status, 403, path);
  t.equal((await caller.call('GET', '/contacts/export?x=/transactional/list')).status, 403);
  t.equal((await caller.call('GET', '/nowhere')).status, 404, 'a path that does not exist is no matter of scopes');
  t.equal((await caller.call('PUT', '/transactional/send')).status, 404);
  const sender = {
    from_name: 'Shop',
    from_email: 'shop@example.com',
    reply_to_email: 'shop@example.com',
    country_id: 84,
    company_address: '1 Harbour St',
    nickname: 'Shop',
  };
  t.equal((await caller.call('POST', '/sender/save', { form: sender })).status, 403);
  await app.one.call('POST', '/sender/save', { form: sender });
  const mail = { sender_id: 1, email: 'zoe@example.com', subject: 'Order', text: 'On its way' };
  const sent = await caller.call('POST', '/transactional/send', { json: mail });
  t.equal(sent.status, 200, sent.text);
  t.equal((await caller.call('GET', `/transactional/details?utr=${sent.body.message.utr}`)).status, 200);
});

t.test('a revoked pair leaves no link to the design page that works', async (t) => {
  const app = await startApp(t);
  const { utr } = (await app.one.call('POST', '/single/send/draft', { form: { single_send_name: 'News' } })).body
    .message;
  const { design_url } = (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message.report;
  const { pathname } = new URL(design_url);
  t.equal((await app.page('GET', pathname)).status, 200);
  app.clock.advance(1000);
  const owner = callerOf(app, addPerson(app));
  const [pair] = (await owner.call('GET', '/keys/list')).body.message.keys;
  t.equal((await owner.call('DELETE', '/keys/delete', { query: { id: pair.id } })).status, 200);
  t.equal((await app.page('GET', pathname)).status, 410);
});

t.test('a pair for campaigns sends tests to senders and contacts of the account only', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const test = (caller: Caller, email_address: string) =>
    caller.call('POST', '/single/send/test', { form: { utr, email_address } });
  const campaigns = withScopes(app, ['campaigns']);
  t.match(await test(campaigns, 'victim@example.net'), { status: 409, body: { errors: /senders and contacts only/ } });
  t.equal((await test(campaigns, 'anna@example.org')).status, 200);
  t.equal((await test(app.one, 'victim@example.net')).status, 200);
});

t.test('scopes add up, and each gives its own rights only', async (t) => {
  const app = await startApp(t);
  const { utr } = (await app.one.call('POST', '/single/send/draft', { form: { single_send_name: 'News' } })).body
    .message;
  const report = { query: { utr } };
  const both = withScopes(app, ['read', 'contacts']);
  t.equal((await both.call('POST', '/contacts-type/add', { form: { name: 'Readers' } })).status, 200);
  t.equal((await both.call('POST', '/single/send/draft', { form: { single_send_name: 'More' } })).status, 403);
  t.equal((await both.call('GET', '/single-send/report', report)).body.message.report.design_url, '');
  const campaigns = withScopes(app, ['campaigns']);
  await app.one.call('POST', '/unsubscribes-groups/save', {
    form: { group_name: 'News', description: 'N', is_display: 1 },
  });
  const series = { type: 'welcome', automation_for: 'contacts_1', automation_name: 'Series', unsubscribe_group_id: 1 };
  const { utr: automation } = (await app.one.call('POST', '/automations/create', { form: series })).body.message;
  const step = {
    form: {
      utr: automation,
      kind: 'set_field',
      field: 'city',
      value: 'Graz',
      waiting_type: 'instantly',
      waiting_period: 0,
    },
  };
  const added = await campaigns.call('POST', '/automations/step/add', step);
  t.match(added, { status: 403, body: { errors: LACKS } }, 'a step that changes contacts takes the scope contacts');
  t.equal((await withScopes(app, ['campaigns', 'contacts']).call('POST', '/automations/step/add', step)).status, 200);
  const copied = await campaigns.call('GET', '/automations/duplicate', { query: { utr: automation } });
  t.match(copied, { status: 403, body: { errors: LACKS } }, 'so does a copy of it');
  t.match((await campaigns.call('GET', '/single-send/report', report)).body.message.report.design_url, '/design/');
  t.equal(
    (await campaigns.call('POST', '/archive/save', { form: { slug: 'x' } })).status,
    403,
    'settings take an owner',
  );
  t.equal((await withScopes(app, []).call('GET', '/contacts-type')).status, 403, 'a pair without a scope does nothing');
});

t.test('an owner revokes no key pair of another account, and sees none', async (t) => {
  const app = await startApp(t);
  const owner = callerOf(app, addPerson(app));
  const form = { name: 'Shop', scopes: ['everything', 'read'] };
  const { key } = (await owner.call('POST', '/keys/create', { form })).body.message;
  const { keys } = (await owner.call('GET', '/keys/list')).body.message;
  t.equal(keys.length, 2);
  t.match(keys[1], { public_key: key.public_key, name: 'Shop', scopes: ['everything'], last_used_at: null });
  const theirs = app.db.prepare('SELECT id FROM api_keys WHERE user_id = 2').pluck().get();
  t.equal((await owner.call('DELETE', '/keys/delete', { query: { id: theirs } })).status, 404);
  t.equal((await app.two.call('GET', '/contacts-type')).status, 200);
  for (const scopes of [[], ['king'], 'everything or so', ['__proto__'], Array(1000).fill('read')]) {
    const refused = await owner.call('POST', '/keys/create', { json: { name: 'Shop', scopes } });
    t.match(refused, { status: 422, body: { errors: { scopes: [/./] } } });
  }
  t.equal((await owner.call('POST', '/keys/create', { json: { scopes: ['read'] } })).status, 422, 'it needs a name');
});

t.test('the audit log names the key pair that changed something', async (t) => {
  const app = await startApp(t);
  const caller = withScopes(app, ['everything'], 1, 'Shop');
  await caller.call('POST', '/tracking/save', { form: { mode: 'totals' } });
  const { PublicKey } = caller.headers;
  const { audit } = (await app.one.call('GET', '/audit/list')).body.message;
  t.match(audit, [{ action: 'tracking_changed', actor: `Shop (${PublicKey})`, user_id: null }]);
});

t.test('the last use of a pair is written once a minute at most, and never holds a request up', async (t) => {
  const app = await startApp(t);
  const used = () => app.db.prepare('SELECT last_used_at FROM api_keys WHERE user_id = 1').pluck().get();
  const read = async () => t.equal((await app.one.call('GET', '/contacts-type')).status, 200);
  const headers = { ...app.one.headers, SecretKey: 'sk_wrong' };
  await app.anonymous.call('GET', '/contacts-type', { headers });
  t.equal(used(), null, 'a wrong secret is no use');
  await read();
  const first = used();
  t.match(first, '2026-01-15T09:00:00');
  for (let second = 0; second < 60; second += 2) {
    await read();
    app.clock.advance(2000);
    t.equal(used(), first);
  }
  await read();
  t.match(used(), '2026-01-15T09:01:00');
  app.clock.advance(61_000);
  const { default: Database } = await import('better-sqlite3');
  const other = new Database(app.path);
  t.teardown(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  await read();
  other.exec('ROLLBACK');
  t.match(used(), '2026-01-15T09:01:00', 'it is skipped while another connection writes');
  app.clock.advance(1000);
  await read();
  t.match(used(), '2026-01-15T09:02:02');
});
