/** Signing in and out in a browser: pages, cookie, links, and what is refused. */
import { Writable } from 'node:stream';
import t, { type Test } from 'tap';
import { COMMAND_LINE } from '../../src/users/audit.ts';
import { createLoginLink } from '../../src/users/login-links.ts';
import { switchOnSecondFactor } from '../../src/users/second-factor.ts';
import { newTotpSecret, totpCode } from '../../src/users/totp.ts';
import { findUser } from '../../src/users/users.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { addPerson, cookieOf, PASSWORD } from '../support/people.ts';

const SAME = { 'sec-fetch-site': 'same-origin' };

async function withOwner(t: Test, settings: Record<string, string> = {}) {
  const app = await startApp(t, settings);
  const person = addPerson(app);
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    app.page('POST', path, { form, headers: { ...SAME, ...headers } });
  const login = (password = PASSWORD, headers: Record<string, string> = {}) =>
    post('/login', { email: 'owner@example.org', password }, headers);
  return { app, person, post, login };
}

const cookieIn = (header: unknown) => String(header).split(';')[0] ?? '';
const countSessions = ({ db }: TestApp) => Number(db.prepare('SELECT count(*) FROM sessions').pluck().get());

t.test('on this machine the cookie is HttpOnly and Lax; over https it is Secure and bound to the host', async (t) => {
  const { login } = await withOwner(t, { PUBLIC_URL: 'https://mail.example.com', TRUST_PROXY: 'on' });
  const local = await login();
  t.equal(local.status, 303);
  t.equal(local.headers.location, '/');
  t.match(local.headers['set-cookie'], /^sendlark=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
  for (const way of [
    { host: 'mail.example.com' },
    { host: 'other.example.com', 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' },
  ]) {
    const { headers } = await login(PASSWORD, way);
    t.match(
      headers['set-cookie'],
      /^__Host-sendlark=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  }
});

t.test('over plain http from another machine nobody signs in, and the page says what to do', async (t) => {
  const { app, login, post } = await withOwner(t);
  const far = { host: 'mail.example.com' };
  for (const answer of [
    await app.page('GET', '/login', { headers: far }),
    await app.page('GET', '/welcome', { headers: far }),
    await login(PASSWORD, far),
    await post('/login/code', {}, far),
    await post('/welcome', {}, far),
    await post('/welcome/open', {}, far),
  ]) {
    t.equal(answer.status, 403);
    t.match(answer.text, /reverse proxy with TLS/);
    t.equal(answer.headers['set-cookie'], undefined);
  }
  for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000'])
    t.equal((await app.page('GET', '/login', { headers: { host } })).status, 200, host);
});

t.test('a wrong password and an unknown address are answered alike, in the form, with the address kept', async (t) => {
  const { post } = await withOwner(t);
  const one = await post('/login', { email: 'owner@example.org', password: 'wrong horse battery' });
  const two = await post('/login', { email: 'nobody@example.org', password: 'wrong horse battery' });
  t.equal(one.status, 401);
  t.equal(two.status, 401);
  t.match(one.text, 'The e-mail address or the password is wrong.');
  t.equal(one.text.replaceAll('owner@', 'nobody@'), two.text);
  t.match(one.text, 'value="owner@example.org"');
  t.notMatch(one.text, 'wrong horse');
});

t.test('signing in makes a new session and ends the one the browser had, so that none can be planted', async (t) => {
  const { app, person, login } = await withOwner(t);
  const planted = cookieOf(app, person);
  const { headers } = await login(PASSWORD, { cookie: planted });
  const cookie = cookieIn(headers['set-cookie']);
  t.not(cookie, planted);
  t.equal(countSessions(app), 1);
  t.equal((await app.page('GET', '/login', { headers: { cookie: planted } })).status, 200, 'the planted one is over');
  t.equal((await app.page('GET', '/login', { headers: { cookie } })).headers.location, '/');
});

t.test('signing in leads on to pages of our own only', async (t) => {
  const { app, person, post } = await withOwner(t);
  const cookie = cookieOf(app, person);
  const form = { email: 'owner@example.org', password: PASSWORD };
  for (const next of [
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    'evil.example',
    '/\t/evil.example',
    '/contacts\r\nset-cookie: a=b',
    '/pe\u00f6ple',
    `/${'x'.repeat(1000)}`,
    ' /contacts',
    '',
  ]) {
    const { headers } = await app.page('GET', '/login', { query: { next }, headers: { cookie } });
    t.equal(headers.location, '/', JSON.stringify(next));
    const asked = await app.page('GET', '/login', { query: { next } });
    t.match(asked.text, 'name="next" value="/"', JSON.stringify(next));
  }
  t.equal((await app.page('GET', '/login?next=/a&next=/b', { headers: { cookie } })).headers.location, '/');
  t.equal((await post('/login', { ...form, next: '//evil.example' })).headers.location, '/');
  t.equal((await post('/login', { ...form, next: '/contacts?type=2' })).headers.location, '/contacts?type=2');
  // A request line may name another host (RFC 9112, 3.2.2).
  t.equal((await app.fastify.inject('http://evil.example//evil.example')).statusCode, 404);
});

t.test('signing out ends the session on the server and removes the cookie', async (t) => {
  const { app, person, post } = await withOwner(t);
  const cookie = cookieOf(app, person);
  const { status, headers } = await post('/logout', {}, { cookie });
  t.strictSame([status, headers.location], [303, '/login']);
  t.match(headers['set-cookie'], /^sendlark=; Max-Age=0; Path=\/; /);
  t.equal(countSessions(app), 0);
});

t.test('a second factor is asked for after the password', async (t) => {
  const { app, person, login, post } = await withOwner(t);
  const secret = newTotpSecret();
  const code = () => totpCode(secret, Math.floor(app.clock.now().getTime() / 30_000));
  const user = findUser(app.drizzle, 1, person.id)!;
  switchOnSecondFactor(app.drizzle, user, secret, code(), COMMAND_LINE, app.clock.now());
  app.clock.advance(30_000);
  const step = await login();
  t.equal(step.status, 200);
  t.equal(step.headers['set-cookie'], undefined);
  const pending = /name="pending" value="([^"]+)"/.exec(step.text)?.[1] ?? '';
  const wrong = await post('/login/code', { pending, code: '000000', next: '/contacts' });
  t.equal(wrong.status, 401);
  t.match(wrong.text, 'This code is wrong');
  t.match(wrong.text, 'name="next" value="/contacts"', 'the page to go to is not forgotten');
  const right = await post('/login/code', { pending, code: code(), next: '/contacts' });
  t.strictSame([right.status, right.headers.location], [303, '/contacts']);
  t.match(right.headers['set-cookie'], 'sendlark=');
  t.equal(countSessions(app), 1);
});

t.test('after too many attempts the page says how long to wait', async (t) => {
  const { app, login } = await withOwner(t);
  for (let at = 0; at < 5; at++) await login(`guess number ${at}`);
  const { status, headers, text } = await login();
  t.equal(status, 429);
  t.equal(Number(headers['retry-after']), 1);
  t.match(text, 'Please wait a second');
  app.clock.advance(1000);
  t.equal((await login()).status, 303);
});

t.test('a login link leads from the fragment to a form, and from there into the dashboard, once', async (t) => {
  const app = await startApp(t);
  const { secret } = createLoginLink(app.drizzle, { accountId: 1, user: null }, COMMAND_LINE, app.clock.now());
  const post = (path: string, form: Record<string, string>) => app.page('POST', path, { form, headers: SAME });
  const first = await app.page('GET', '/welcome');
  t.match(first.text, /data-island="welcome"/);
  const form = await post('/welcome/open', { secret });
  t.equal(form.status, 200);
  t.match(form.text, 'Welcome to Sendlark');
  const choice = { secret, name: 'Ann', email: 'ann@example.org', password: 'lark sings in the rain' };
  const bad = await post('/welcome', { ...choice, name: '', email: 'x', password: 'Password2024!' });
  t.equal(bad.status, 422);
  for (const text of ['Please enter your name', 'enter a valid e-mail address', 'This password is too common.'])
    t.match(bad.text, text);
  t.notMatch(bad.text, 'Password2024');
  const done = await post('/welcome', choice);
  t.strictSame([done.status, done.headers.location], [303, '/']);
  t.match(done.headers['set-cookie'], 'sendlark=');
  t.match(app.db.prepare('SELECT email, role FROM users').all(), [{ email: 'ann@example.org', role: 'owner' }]);
  for (const again of [await post('/welcome', choice), await post('/welcome/open', { secret })]) {
    t.equal(again.status, 410);
    t.match(again.text, 'no longer works');
  }
  t.equal((await post('/login', { email: 'ANN@example.org', password: choice.password })).status, 303);
});

t.test('a link for somebody with a second factor sets the password, says so, and goes on with the code', async (t) => {
  const { app, person, post, login } = await withOwner(t);
  const secret = newTotpSecret();
  const user = findUser(app.drizzle, 1, person.id)!;
  const code = () => totpCode(secret, Math.floor(app.clock.now().getTime() / 30_000));
  switchOnSecondFactor(app.drizzle, user, secret, code(), COMMAND_LINE, app.clock.now());
  app.clock.advance(30_000);
  const link = createLoginLink(app.drizzle, { accountId: 1, user }, COMMAND_LINE, app.clock.now());
  const form = { secret: link.secret, name: 'Owner', password: 'lark sings in the rain' };
  const step = await post('/welcome', form);
  t.equal(step.status, 200);
  t.match(step.text, /role="status".*Your new password is saved\. To sign in, enter a code/s);
  const cookie = cookieIn(step.headers['set-cookie']);
  t.match(cookie, /^sendlark_flash=/, 'nobody is signed in yet');
  const elsewhere = await app.page('GET', '/login', { headers: { cookie } });
  t.match(elsewhere.text, 'Your new password is saved.', 'who turns to the page for signing in reads it there');
  const pending = /name="pending" value="([^"]+)"/.exec(step.text)?.[1] ?? '';
  t.equal((await login()).status, 401, 'the earlier password has ended');
  const done = await post('/login/code', { pending, code: code() });
  t.strictSame([done.status, done.headers.location], [303, '/']);
  t.match(done.headers['set-cookie'], 'sendlark=');
});

t.test('every POST outside the API that does not come from our own pages is refused before anything', async (t) => {
  const { app, person } = await withOwner(t);
  const cookie = cookieOf(app, person);
  const paths = await postedPages(app);
  t.ok(paths.length >= 4, paths.join(' '));
  for (const path of paths) {
    for (const from of [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]) {
      const headers = { cookie, ...from };
      const { status } = await app.page('POST', path.replaceAll(/:\w+/g, '1'), { form: { x: '1' }, headers });
      t.equal(status, 403, `${path} ${JSON.stringify(from)}`);
    }
  }
  t.equal(countSessions(app), 1, 'nobody was signed out');
});

/**
 * The paths of the dashboard that take a POST: all but those of the design page, which have links of their own.
 */
async function postedPages({ fastify }: TestApp): Promise<string[]> {
  const parents: string[] = [];
  return (await fastify.dashboard())
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] = /^([│├└─ ]*)(\S+)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? [];
      const depth = indent.length / 4;
      parents.length = depth;
      parents.push((parents[depth - 1] ?? '') + part);
      const path = parents[depth] ?? '';
      return methods.includes('POST') && !path.startsWith('/design/') ? [path] : [];
    });
}

t.test('no password, cookie or secret of a link is in a log line, whatever goes wrong', async (t) => {
  let log = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log += chunk;
      done();
    },
  });
  const app = await startApp(t, { LOG_LEVEL: 'trace' }, undefined, stream);
  const person = addPerson(app);
  const cookie = cookieOf(app, person);
  const { secret } = createLoginLink(
    app.drizzle,
    { accountId: 1, user: findUser(app.drizzle, 1, person.id)! },
    COMMAND_LINE,
    app.clock.now(),
  );
  const visit = async () => {
    for (const headers of [SAME, {}, { ...SAME, cookie }]) {
      await app.page('POST', '/login', { form: { email: 'owner@example.org', password: PASSWORD }, headers });
      await app.page('POST', '/welcome/open', { form: { secret }, headers });
      await app.page('POST', '/welcome', { form: { secret, name: 'x', password: `${PASSWORD} canary` }, headers });
      await app.page('GET', '/login', { headers });
      const caller = { ...headers, 'x-sendlark': 'dashboard' };
      await app.anonymous.call('GET', '/users/list', { headers: caller });
    }
  };
  for (const table of ['audit_log', 'sessions', 'users', 'login_links']) {
    app.db.pragma('legacy_alter_table = ON');
    app.db.exec(`ALTER TABLE ${table} RENAME TO missing_${table}`);
    await visit();
    app.db.exec(`ALTER TABLE missing_${table} RENAME TO ${table}`);
    app.clock.advance(3_600_000);
  }
  await visit();
  t.match(log, /"level":50/, 'failures of our own were logged');
  for (const canary of [PASSWORD, cookie.split('=')[1] ?? '', secret, 'canary'])
    t.notOk(log.includes(canary), `${canary.slice(0, 8)}… is in no log line`);
});
