/** Users, keys and the audit log through the API. */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { addPerson, callerOf } from '../support/people.ts';

t.test('an invited user gets a link, shown once, and has no password until it is followed', async (t) => {
  const app = await startApp(t);
  const { body } = await app.one.call('POST', '/users/invite', {
    form: { email: 'Ann@Example.org', name: 'Ann', role: 'editor' },
  });
  t.match(body.message.link, /^http:\/\/mail\.example\.com\/welcome#[\w-]{43}$/);
  const secret = body.message.link.split('#')[1];
  const { users } = (await app.one.call('GET', '/users/list')).body.message;
  t.match(users, [{ email: 'Ann@Example.org', role: 'editor', has_password: 0, has_second_factor: 0, passkeys: 0 }]);
  t.notMatch(JSON.stringify(users), 'hash');
  t.notOk(app.db.serialize().includes(secret), 'the file holds a hash of it');
  const again = await app.one.call('POST', '/users/invite', { form: { email: 'ann@example.org', role: 'viewer' } });
  t.strictSame(again.body.errors, { email: ['The email has already been taken.'] });
  const wrong = await app.one.call('POST', '/users/invite', { form: { email: 'x', role: 'king' } });
  t.strictSame(wrong.body.errors, {
    email: ['The email must be a valid email address.'],
    role: ['The selected role is invalid.'],
  });
});

t.test('the last owner who can sign in cannot be removed or become something else', async (t) => {
  const app = await startApp(t);
  const person = addPerson(app);
  const owner = callerOf(app, person);
  await owner.call('POST', '/users/invite', { form: { email: 'second@example.org', role: 'owner' } });
  for (const answer of [
    await owner.call('DELETE', '/users/delete', { query: { id: person.id } }),
    await app.one.call('POST', '/users/update', { form: { id: person.id, role: 'editor' } }),
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
  for (const path of ['/users/delete', '/sessions/delete', '/keys/delete'])
    t.equal((await app.one.call('DELETE', path, { query: { id: 2 } })).status, 404, path);
});

t.test(
  'a pair of keys is shown once, works, is listed without its secret, and stops working when revoked',
  async (t) => {
    const app = await startApp(t);
    const owner = callerOf(app, addPerson(app));
    const { key } = (await owner.call('POST', '/keys/create')).body.message;
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
  const { key } = (await owner.call('POST', '/keys/create')).body.message;
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
      [person, 'key_made', key.public_key],
      [app.one.headers.PublicKey, 'sender_added', 'shop@example.com'],
      [person, 'sender_changed', 'shop@example.com'],
      [person, 'sender_removed', 'shop@example.com'],
    ],
  );
});

t.test('an account that is deleted takes its users, sessions, links, passkeys and log with it', async (t) => {
  const app = await startApp(t);
  app.db.exec("INSERT INTO accounts (id, name, created_at) VALUES (9, 'Gone', '')");
  const person = addPerson(app, 'owner', { accountId: 9 });
  callerOf(app, person);
  app.db.exec('DELETE FROM accounts WHERE id = 9');
  for (const table of ['users', 'sessions', 'login_links', 'audit_log'])
    t.equal(app.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 0, table);
});
