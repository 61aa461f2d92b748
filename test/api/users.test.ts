/** Users, keys and the audit log through the API. */
import t from 'tap';
import { COMMAND_LINE } from '../../src/users/audit.ts';
import { addPasskey } from '../../src/users/passkeys/passkeys.ts';
import { type Caller, type CallOptions, startApp } from '../support/app.ts';
import { operationsOf, readDocument } from '../support/openapi-operations.ts';
import { addPerson, callerOf } from '../support/people.ts';
import { startSink } from '../support/smtp/scripted-relay.ts';

t.test('an invited user gets a link, shown once, and has no password until it is followed', async (t) => {
  const app = await startApp(t);
  const owner = callerOf(app, addPerson(app));
  const { body } = await owner.call('POST', '/users/invite', {
    form: { email: 'Ann@Example.org', name: 'Ann', role: 'editor' },
  });
  t.match(body.message.link, /^http:\/\/mail\.example\.com\/welcome#[\w-]{43}$/);
  const secret = body.message.link.split('#')[1];
  const { users } = (await app.one.call('GET', '/users/list')).body.message;
  t.match(users.slice(1), [
    { email: 'Ann@Example.org', role: 'editor', has_password: 0, has_second_factor: 0, passkeys: 0 },
  ]);
  t.notMatch(JSON.stringify(users), 'hash');
  t.notOk(app.db.serialize().includes(secret), 'the file holds a hash of it');
  const again = await owner.call('POST', '/users/invite', { form: { email: 'ann@example.org', role: 'viewer' } });
  t.strictSame(again.body.errors, { email: ['The email has already been taken.'] });
  const wrong = await owner.call('POST', '/users/invite', { form: { email: 'x', role: 'king' } });
  t.strictSame(wrong.body.errors, {
    email: ['The email must be a valid email address.'],
    role: ['The selected role is invalid.'],
  });
});

t.test('an invitation is mailed at once in the language asked for, and is stored nowhere', async (t) => {
  const app = await startApp(t);
  const owner = callerOf(app, addPerson(app));
  const invite = async (email: string, more: Record<string, unknown> = {}) =>
    (await owner.call('POST', '/users/invite', { form: { email, role: 'viewer', ...more } })).body.message;
  t.equal((await invite('a@example.org')).not_mailed, 'No SMTP server is set up.');
  const sink = await startSink(t);
  const relay = { name: 'Relay', host: '127.0.0.1', port: sink.port, security: 'none' };
  await owner.call('POST', '/relays/save', { form: relay });
  t.equal((await invite('b@example.org')).not_mailed, 'The account has no verified sender.');
  const addSender =
    app.db.prepare(`INSERT INTO senders (user_id, utr, from_name, from_email, reply_to_email, country_id, company_address, nickname, is_verified, send_at, created_at, updated_at)
    VALUES (?, ?, 'Shop', ?, ?, 1, 'x', 'x', ?, '', '', '')`);
  addSender.run(2, 'a', 'other@other.example', 'other@other.example', 1);
  addSender.run(1, 'b', 'unconfirmed@shop.example', 'unconfirmed@shop.example', 0);
  t.equal((await invite('c@example.org')).not_mailed, 'The account has no verified sender.');
  addSender.run(1, 'c', 'news@shop.example', 'news@shop.example', 1);
  const mailed = await invite('d@example.org', { language: 'de' });
  t.equal(mailed.not_mailed, null);
  t.equal(Date.parse(mailed.expires_at) - app.clock.now().getTime(), 3 * 24 * 60 * 60 * 1000);
  t.equal(sink.received.length, 1);
  t.match(sink.commands, /MAIL FROM:<news@shop\.example>/);
  t.match(sink.commands, /RCPT TO:<d@example\.org>/);
  const received = String(sink.received[0]?.message).replaceAll('=\r\n', '');
  t.match(received, 'From: Shop <news@shop.example>');
  t.match(received, /owner@example\.org verschickt Mails/);
  const secret = mailed.link.split('#')[1];
  t.match(received, secret);
  t.notOk(app.db.serialize().includes(secret), 'the file holds a hash of it');
  t.equal(app.db.prepare('SELECT count(*) FROM outbox').pluck().get(), 0);
  sink.script = { dot: '554 5.7.1 not today\r\n' };
  t.match((await invite('e@example.org')).not_mailed, '554 5.7.1 not today');
  sink.script = { rcpt: '550 5.1.1 nobody\r\n' };
  const refused = await invite('f@example.org');
  t.match([refused.not_mailed, refused.link], ['550 5.1.1 nobody', /welcome#/]);
  t.match(
    (await owner.call('POST', '/users/invite', { form: { email: 'g@example.org', role: 'viewer', language: 'xx' } }))
      .body.errors.language,
    [],
  );
});

t.test(
  'a pair of keys makes, changes and removes no user, key, passkey or session, and is told so in the envelope',
  async (t) => {
    const app = await startApp(t);
    const owner = addPerson(app);
    callerOf(app, owner);
    const passkey = { credentialId: 'x', publicKey: new Uint8Array([1]), counter: 0, transports: [] };
    addPasskey(app.drizzle, owner, 'phone', passkey, COMMAND_LINE, app.clock.now());
    const stored = () =>
      ['users', 'sessions', 'login_links', 'passkeys', 'api_keys', 'audit_log'].map((table) =>
        app.db.prepare(`SELECT * FROM ${table}`).all(),
      );
    // The first request with a pair records that it was used.
    await app.one.call('GET', '/contacts-type');
    const before = stored();
    const asked: Record<string, CallOptions> = {
      'POST /users/invite': { form: { email: 'thief@example.org', role: 'owner' } },
      'POST /users/link': { form: { id: owner.id } },
      'POST /users/update': { form: { id: owner.id, role: 'viewer' } },
      'DELETE /users/delete': { query: { id: owner.id } },
      'POST /keys/create': { form: { name: 'Thief', scopes: ['everything'] } },
      'DELETE /keys/delete': { query: { id: 1 } },
      'DELETE /passkeys/delete': { query: { id: 1 } },
      'DELETE /sessions/delete': { query: { id: 1 } },
      'POST /me/update': { form: { name: 'Thief' } },
    };
    const tags = ['Users and sessions', 'API keys'];
    const operations = operationsOf(await readDocument(app)).filter(
      ({ tag, method }) => tags.includes(tag) && method !== 'GET',
    );
    t.strictSame(
      operations.map(({ method, path }) => `${method} ${path.slice('/api'.length)}`).sort(),
      Object.keys(asked).sort(),
      'every operation on who has access is tried',
    );
    for (const [operation, options] of Object.entries(asked)) {
      const [method = '', path = ''] = operation.split(' ');
      const { status, body } = await app.one.call(method, path, options);
      t.equal(status, 403, operation);
      const errors = 'A key pair may not do this: sign in to the dashboard or use the command line';
      t.strictSame(body, { status: 'failed', errors }, operation);
    }
    t.strictSame(stored(), before);
  },
);

t.test('the last owner who can sign in cannot be removed or become something else', async (t) => {
  const app = await startApp(t);
  const person = addPerson(app);
  const owner = callerOf(app, person);
  await owner.call('POST', '/users/invite', { form: { email: 'second@example.org', role: 'owner' } });
  for (const answer of [
    await owner.call('DELETE', '/users/delete', { query: { id: person.id } }),
    await owner.call('POST', '/users/update', { form: { id: person.id, role: 'editor' } }),
  ]) {
    t.equal(answer.status, 409);
    t.match(answer.body.errors, /last owner/);
  }
  addPerson(app, 'owner', { name: 'Third' });
  t.equal((await owner.call('POST', '/users/update', { form: { id: person.id, role: 'editor' } })).status, 200);
  t.equal((await owner.call('GET', '/users/list')).status, 403);
});

t.test('users, keys, sessions and log of another account are like none', async (t) => {
  const app = await startApp(t);
  const theirs = addPerson(app, 'owner', { name: 'Other', accountId: 2 });
  callerOf(app, theirs);
  for (const path of ['/users/list', '/sessions/list']) {
    const [records] = Object.values((await app.one.call('GET', path)).body.message);
    t.strictSame(records, [], path);
  }
  const { audit } = (await app.one.call('GET', '/audit/list')).body.message;
  t.strictSame(audit, []);
  const owner = callerOf(app, addPerson(app));
  for (const [path, id] of [
    ['/users/delete', theirs.id],
    ['/sessions/delete', 1],
    ['/keys/delete', 2],
  ] as const)
    t.equal((await owner.call('DELETE', path, { query: { id } })).status, 404, path);
});

t.test(
  'a pair of keys is shown once, works, is listed without its secret, and stops working when revoked',
  async (t) => {
    const app = await startApp(t);
    const owner = callerOf(app, addPerson(app));
    const { key } = (await owner.call('POST', '/keys/create', { form: { name: 'Shop', scopes: ['read'] } })).body
      .message;
    const headers = { PublicKey: key.public_key, SecretKey: key.secret_key };
    t.equal((await app.anonymous.call('GET', '/contacts-type', { headers })).status, 200);
    const { text, body } = await owner.call('GET', '/keys/list');
    t.notMatch(text, key.secret_key);
    const { id } = body.message.keys.at(-1);
    t.equal((await owner.call('DELETE', '/keys/delete', { query: { id } })).body.message, 'Revoked Successfully');
    app.clock.advance(1000);
    t.equal((await app.anonymous.call('GET', '/contacts-type', { headers })).status, 401);
    t.match((await owner.call('GET', '/keys/list')).body.message.keys.at(-1), { revoked_at: /^2026-/ });
  },
);

t.test('the audit log says who changed users, keys and senders', async (t) => {
  const app = await startApp(t);
  const owner = callerOf(app, addPerson(app));
  const { id } = (await owner.call('POST', '/users/invite', { form: { email: 'ann@example.org', role: 'viewer' } }))
    .body.message;
  await owner.call('POST', '/users/update', { form: { id, role: 'editor' } });
  await owner.call('POST', '/users/link', { form: { id } });
  await owner.call('DELETE', '/users/delete', { query: { id } });
  const { key } = (await owner.call('POST', '/keys/create', { form: { name: 'Shop', scopes: ['read'] } })).body.message;
  const sender = {
    from_name: 'Shop',
    from_email: 'shop@example.com',
    reply_to_email: 'shop@example.com',
    country_id: 84,
    company_address: '1 Harbour St',
    nickname: 'Shop',
  };
  await app.one.call('POST', '/sender/save', { form: sender });
  await owner.call('POST', '/sender/update', { form: { ...sender, sender_id: 1, nickname: 'Store' } });
  await owner.call('DELETE', '/sender/delete', { query: { sender_id: 1 } });
  const { audit } = (await owner.call('GET', '/audit/list')).body.message;
  const person = 'owner@example.org';
  t.strictSame(
    audit.map((entry: Record<string, unknown>) => [entry.actor, entry.action, entry.subject]),
    [
      ['command line', 'user_added', `${person}: owner`],
      [person, 'user_added', 'ann@example.org: viewer'],
      [person, 'login_link_made', 'ann@example.org'],
      [person, 'user_changed', 'ann@example.org: viewer → editor'],
      [person, 'login_link_made', 'ann@example.org'],
      [person, 'user_removed', 'ann@example.org'],
      [person, 'key_made', `Shop (${key.public_key})`],
      [app.one.headers.PublicKey, 'sender_added', 'shop@example.com'],
      [person, 'sender_changed', 'shop@example.com'],
      [person, 'sender_removed', 'shop@example.com'],
    ],
  );
});

t.test('a person sets their own language, colours and shortcuts, whatever their role, and nothing else', async (t) => {
  const app = await startApp(t);
  const viewer = callerOf(app, addPerson(app, 'viewer'));
  const read = async () => (await viewer.call('GET', '/me/details')).body.message.user;
  const email = 'viewer@example.org';
  const first = {
    id: 1,
    email,
    name: 'viewer',
    role: 'viewer',
    language: 'browser',
    shortcuts: 1,
    colour_scheme: 'system',
  };
  t.strictSame(await read(), first);
  const set = { language: 'de', shortcuts: '0', colour_scheme: 'dark', name: 'Vera' };
  const form = { ...set, role: 'owner', email: 'x@example.org', account_id: 2 };
  t.equal((await viewer.call('POST', '/me/update', { form })).body.message, 'Updated Successfully');
  t.strictSame(await read(), { ...first, ...set, shortcuts: 0 });
  await viewer.call('POST', '/me/update', { form: { language: 'browser' } });
  t.match(await read(), { language: 'browser', shortcuts: 0, colour_scheme: 'dark', name: 'Vera' });
  await viewer.call('POST', '/me/update', { form: { language: 'browser', shortcuts: 0 } });
  const wrong = await viewer.call('POST', '/me/update', {
    form: { language: 'fr', colour_scheme: 'pink', shortcuts: 2 },
  });
  t.strictSame(Object.keys(wrong.body.errors).sort(), ['colour_scheme', 'language', 'shortcuts']);
  const { audit } = (await app.one.call('GET', '/audit/list')).body.message;
  t.match(audit.slice(1), [
    { action: 'settings_changed', actor: email, subject: 'name, language: de, shortcuts: 0, colour_scheme: dark' },
    { action: 'settings_changed', actor: email, subject: 'language: browser' },
  ]);
  t.equal(audit.length, 3, 'what changes nothing is not in the log');
  for (const [method, path] of [
    ['GET', '/me/details'],
    ['POST', '/me/update'],
  ] as const) {
    t.equal((await app.one.call(method, path)).status, 403, 'a pair of keys is no person');
  }
});

t.test('everybody sees and removes their own passkeys, an owner those of the account', async (t) => {
  const app = await startApp(t);
  const people = {
    viewer: addPerson(app, 'viewer'),
    owner: addPerson(app, 'owner'),
    stranger: addPerson(app, 'owner', { name: 'stranger', accountId: 2 }),
  };
  for (const [name, user] of Object.entries(people)) {
    const added = { credentialId: name, publicKey: new Uint8Array([1]), counter: 0, transports: [] };
    addPasskey(app.drizzle, user, `key of ${name}`, added, COMMAND_LINE, app.clock.now());
  }
  const [viewer, owner] = [callerOf(app, people.viewer), callerOf(app, people.owner)];
  const list = async (caller: Caller) => (await caller.call('GET', '/passkeys/list')).body.message.passkeys;
  const { text } = await viewer.call('GET', '/passkeys/list');
  t.match(await list(viewer), [{ id: 1, name: 'key of viewer', email: 'viewer@example.org', last_used_at: null }]);
  t.notMatch(text, /public_key|credential/);
  t.strictSame(
    (await list(owner)).map(({ id }: { id: number }) => id),
    [1, 2],
  );
  const remove = async (caller: Caller, id: number) =>
    (await caller.call('DELETE', '/passkeys/delete', { query: { id } })).status;
  t.strictSame([await remove(viewer, 2), await remove(viewer, 3), await remove(owner, 3)], [404, 404, 404]);
  t.strictSame([await remove(viewer, 1), await remove(viewer, 1), await remove(owner, 2)], [200, 404, 200]);
  t.equal((await list(app.two)).length, 1, 'those of another account stay');
  const subjects = app.db.prepare("SELECT subject FROM audit_log WHERE action = 'passkey_removed'").pluck().all();
  t.strictSame(subjects, ['viewer@example.org: key of viewer', 'owner@example.org: key of owner']);
});

t.test('an account that is deleted takes its users, sessions, links, passkeys and log with it', async (t) => {
  const app = await startApp(t);
  app.db.exec("INSERT INTO accounts (id, name, created_at) VALUES (9, 'Gone', '')");
  const person = addPerson(app, 'owner', { accountId: 9 });
  callerOf(app, person);
  const passkey = { credentialId: 'x', publicKey: new Uint8Array([1]), counter: 0, transports: [] };
  addPasskey(app.drizzle, person, 'phone', passkey, COMMAND_LINE, app.clock.now());
  app.db.exec('DELETE FROM accounts WHERE id = 9');
  for (const table of ['users', 'sessions', 'login_links', 'passkeys', 'audit_log'])
    t.equal(app.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 0, table);
});
