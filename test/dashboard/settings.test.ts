/** The settings in a browser: users, keys, log, and a person's own sessions, password and second factor. */
import t, { type Test } from 'tap';
import type { Role } from '../../src/database/schema/index.ts';
import { audit, COMMAND_LINE } from '../../src/users/audit.ts';
import { addPasskey } from '../../src/users/passkeys/passkeys.ts';
import { totpCode } from '../../src/users/totp.ts';
import { startApp } from '../support/app.ts';
import { addPerson, cookieOf, PASSWORD } from '../support/people.ts';
import { SoftPasskey } from '../support/soft-passkey.ts';

/** What the form for a new key pair sends. */
const KEY = { name: 'Shop', scopes: 'transactional' };

async function signedIn(t: Test, role: Role = 'owner', settings: Record<string, string> = {}) {
  const app = await startApp(t, settings);
  const person = addPerson(app, role);
  const cookie = cookieOf(app, person);
  const get = (path: string, headers: Record<string, string> = {}) =>
    app.page('GET', path, { headers: { cookie, ...headers } });
  const post = (path: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    app.page('POST', path, { form, headers: { cookie, 'sec-fetch-site': 'same-origin', ...headers } });
  return { app, person, cookie, get, post };
}

t.test('whoever is not signed in is led to the page for that', async (t) => {
  const app = await startApp(t);
  for (const path of ['/settings', '/settings/users', '/settings/keys', '/settings/audit', '/settings/account']) {
    const { status, headers } = await app.page('GET', path);
    t.strictSame([status, headers.location], [303, `/login?next=${encodeURIComponent(path)}`], path);
  }
});

t.test('owners see all pages in their language, others their own sign-in alone', async (t) => {
  const owner = await signedIn(t);
  const groups = ({ text }: { text: string }) =>
    [...text.matchAll(/<section><h2>(.*?)<\/h2><ul>(.*?)<\/ul><\/section>/gs)].map(([, group, links = '']) => [
      group?.replace('&amp;', '&'),
      [...links.matchAll(/href="\/settings\/(\w+)"/g)].map(([, tab]) => tab).join(' '),
    ]);
  const inGroups = [
    ['Sending', 'senders sending times mails returns health'],
    ['Contacts', 'lists fields tracking'],
    ['Brand', 'brand archive'],
    ['Team & security', 'account sessions users audit backup'],
    ['Developers', 'keys webhooks'],
  ];
  t.strictSame(groups(await owner.get('/settings')), inGroups, 'in five groups');
  t.strictSame(groups(await owner.get('/settings/keys')), inGroups, 'on each page, too');
  for (const [path, title] of [
    ['/settings/users', 'Benutzer'],
    ['/settings/keys', 'API-Schlüssel'],
    ['/settings/audit', 'Protokoll'],
    ['/settings/senders', 'Absender'],
    ['/settings/health', 'Zustand'],
    ['/settings/account', 'Ihr Konto'],
    ['/settings/sessions', 'Sitzungen'],
  ] as const) {
    const { status, text } = await owner.get(path, { 'accept-language': 'de' });
    t.equal(status, 200, path);
    t.match(text, `<h1>${title}</h1>`);
  }
  const editor = await signedIn(t, 'editor');
  t.strictSame(groups(await editor.get('/settings')), [
    ['Contacts', 'lists fields'],
    ['Brand', 'brand'],
    ['Team & security', 'account sessions'],
  ]);
  t.equal((await editor.get('/settings/account')).status, 200);
  const tabs = 'senders sending times nodes returns tracking archive users keys webhooks audit health backup';
  for (const tab of tabs.split(' ')) {
    const { status, text } = await editor.get(`/settings/${tab}`);
    t.equal(status, 403, tab);
    t.match(text, '<h1>Not allowed</h1>');
  }
  t.notMatch((await editor.get('/settings/sessions')).text, '/settings/users"');
});

t.test('an address at which there is nothing says so in the frame to whoever is signed in', async (t) => {
  const { app, get } = await signedIn(t, 'viewer');
  for (const path of ['/nothing', '/settings/nothing', '/contacts/nothing/there']) {
    const { status, text, headers } = await get(path);
    t.equal(status, 404, path);
    t.match(text, /<nav class="sidebar".*<h1>Page not found<\/h1>/, path);
    t.match(headers['content-security-policy'], "script-src 'self'");
    t.notMatch((await app.page('GET', path)).text, 'sidebar');
  }
});

t.test('a user is invited by a link that is shown once, changed and removed; hostile names stay text', async (t) => {
  const { app, post, get, cookie } = await signedIn(t);
  const hostile = '<script>alert(1)</script>';
  const invited = await post('/settings/users', { email: 'ann@example.org', name: hostile, role: 'viewer' });
  t.match(invited.text, /http:\/\/mail\.example\.com\/welcome#[\w-]{43}/);
  t.match(
    invited.text,
    'No e-mail was sent to ann@example.org, so pass the link on yourself. Reason: No SMTP server is set up.',
  );
  t.match(invited.text, 'works once, for 3 days');
  t.notMatch(invited.text, '<script>alert');
  t.notMatch((await get('/settings/users')).text, /welcome#/);
  const again = await post('/settings/users', { email: 'ann@example.org', name: 'Ann', role: 'viewer' });
  t.equal(again.status, 422);
  t.match(again.text, /id="email-problem">This value is already in use\./);
  const id = app.db.prepare("SELECT id FROM users WHERE email = 'ann@example.org'").pluck().get();
  const changed = await post(`/settings/users/${id}/role`, { role: 'editor' });
  t.equal(changed.headers.location, '/settings/users');
  const flash = String(changed.headers['set-cookie']).split(';')[0] ?? '';
  t.match((await get('/settings/users', { cookie: `${cookie}; ${flash}` })).text, 'Saved.');
  const odd = await post(`/settings/users/${id}/role`, { role: 'king' });
  t.match([odd.status, odd.text], [422, 'This role is not possible here.']);
  t.match((await post(`/settings/users/${id}/link`, { email: 'ann@example.org' })).text, /welcome#[\w-]{43}/);
  t.equal((await post(`/settings/users/${id}/remove`)).headers.location, '/settings/users');
  t.equal(app.db.prepare('SELECT count(*) FROM users').pluck().get(), 1);
});

t.test('removing a user, changing a role, revoking keys and ending a session ask first in the same way', async (t) => {
  const { post, get } = await signedIn(t);
  await post('/settings/users', { email: 'ann@example.org', name: 'Ann', role: 'viewer' });
  await post('/settings/keys', KEY);
  for (const [page, action, says] of [
    ['users', /users\/\d+\/remove/, /Remove ann@example\.org\?.*signed out everywhere/s],
    ['users', /users\/\d+\/role/, /Change the role of ann@example\.org\?.*applies from the user’s next click/s],
    ['keys', /keys\/\d+\/revoke/, /Revoke this API key\?.*are refused from then on/s],
    ['sessions', /sessions\/\d+\/end/, /End your own session\?.*signed out at once/s],
  ] as const) {
    const { text } = await get(`/settings/${page}`);
    t.match(text, says);
    const forms = text.match(new RegExp(action, 'g'))?.length ?? 0;
    const dialog = new RegExp(
      `role="dialog"[^>]*><h2[^>]*>[^<]+</h2><form method="post" action="/settings/${action.source}`,
      'g',
    );
    t.ok(forms > 0);
    t.equal(text.match(dialog)?.length, forms, `${page}: every form is in a dialog`);
  }
});

t.test('the last owner stays, and the page says why', async (t) => {
  const { person, post } = await signedIn(t);
  const { status, text } = await post(`/settings/users/${person.id}/remove`);
  t.equal(status, 409);
  t.match(text, 'The last owner of an account cannot be removed');
});

t.test('a key pair is shown once and revoked', async (t) => {
  const { app, post, get } = await signedIn(t);
  const { text } = await post('/settings/keys', KEY);
  const [secret = ''] = /sk_[\w-]{43}/.exec(text) ?? [];
  t.not(secret, '');
  t.notMatch((await get('/settings/keys')).text, /sk_[\w-]{43}/);
  const id = app.db.prepare('SELECT max(id) FROM api_keys').pluck().get();
  t.equal((await post(`/settings/keys/${id}/revoke`)).headers.location, '/settings/keys');
  t.match((await get('/settings/keys')).text, 'Revoked on');
});

t.test('a new key pair may do the least unless its owner chooses more, and nothing is no choice', async (t) => {
  const { app, post, get } = await signedIn(t);
  const boxes = (text: string) =>
    [...text.matchAll(/name="scopes" value="(\w+)"( checked)?/g)].map(([, ...box]) => box);
  t.strictSame(boxes((await get('/settings/keys')).text), [
    ['transactional', ' checked'],
    ['read', undefined],
    ['contacts', undefined],
    ['campaigns', undefined],
    ['everything', undefined],
  ]);
  const none = await post('/settings/keys', { name: 'Shop' });
  t.equal(none.status, 422);
  t.match(none.text, 'Choose what the API key may do.');
  t.match(none.text, 'value="Shop"');
  t.notMatch(none.text, ' checked', 'what was taken away stays away');
  t.equal((await post('/settings/keys', { name: '', scopes: 'read' })).status, 422);
  t.equal((await post('/settings/keys', { name: 'Shop', scopes: 'king' })).status, 422);
  t.equal(app.db.prepare("SELECT count(*) FROM api_keys WHERE name = 'Shop'").pluck().get(), 0);
  const made = await app.page('POST', '/settings/keys', {
    form: [
      ['name', '<b>Shop'],
      ['scopes', 'contacts'],
      ['scopes', 'read'],
    ],
    headers: { cookie: cookieOf(app, addPerson(app, 'owner', { name: 'Second' })), 'sec-fetch-site': 'same-origin' },
  });
  t.match(made.text, /&lt;b>Shop.*Read, Contacts.*Never/s);
  t.match((await get('/settings/audit')).text, /Created an API key.*&lt;b>Shop \(pk_/s);
});

t.test('the log is shown newest first, a hundred at a time', async (t) => {
  const { get, post } = await signedIn(t);
  for (let at = 0; at < 121; at++) await post('/settings/keys', KEY);
  const first = (await get('/settings/audit')).text;
  t.equal(first.match(/Created an API key/g)?.length, 100);
  const next = /href="(\/settings\/audit\?before=\d+)"/.exec(first)?.[1] ?? '';
  const second = (await get(next)).text;
  t.equal(second.match(/Created an API key/g)?.length, 21);
  t.match(second, 'Added a user');
  t.ok(first.indexOf('owner@example.org') < first.indexOf('pk_'), 'the last thing done comes first');
  t.equal((await get('/settings/audit?before=x')).status, 200);
});

t.test('a password is changed with the old one only, and ends all sessions but the one it begins', async (t) => {
  const { app, person, cookie, get, post } = await signedIn(t);
  cookieOf(app, person);
  const change = { current: PASSWORD, password: 'lark sings in the rain' };
  const weak = await post('/settings/account/password', { ...change, password: 'Password2024!' });
  t.equal(weak.status, 422);
  t.match(weak.text, 'This password is too common.');
  const wrong = await post('/settings/account/password', { ...change, current: 'wrong horse battery' });
  t.equal(wrong.status, 422);
  t.match(wrong.text, 'This is not your password.');
  const done = await post('/settings/account/password', change);
  t.equal(done.headers.location, '/settings/account');
  t.equal(app.db.prepare('SELECT count(*) FROM sessions').pluck().get(), 1);
  t.match((await get('/settings/sessions')).headers.location, /^\/login/, 'the cookie from before is over');
  const renewed = String(done.headers['set-cookie']).split(';')[0] ?? '';
  t.not(renewed, cookie);
  t.equal((await get('/settings/sessions', { cookie: renewed })).status, 200);
});

t.test('a person chooses how close the rows of tables are, and this browser keeps to it', async (t) => {
  const { get, post } = await signedIn(t, 'viewer');
  t.notMatch((await get('/contacts')).text, '<html lang="en" class="app system compact">');
  const { headers } = await post('/settings/account', {
    language: 'browser',
    colour_scheme: 'system',
    density: 'compact',
  });
  const cookie = String(headers['set-cookie']).match(
    /sendlark_density=compact; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax/,
  )?.[0];
  t.ok(cookie);
  const app = await startApp(t);
  const own = cookieOf(app, addPerson(app));
  const { text } = await app.page('GET', '/settings/account', {
    headers: { cookie: `${own}; sendlark_density=compact` },
  });
  t.match(text, '<html lang="en" class="app system compact">');
  t.match(text, '<option value="compact" selected>');
  const other = await app.page('GET', '/contacts', { headers: { cookie: `${own}; sendlark_density=x"y` } });
  t.match(other.text, '<html lang="en" class="app system">');
});

t.test('only a new address of the public archive is said to end an old one', async (t) => {
  const { get, post, cookie } = await signedIn(t);
  const save = async (form: Record<string, string>) => {
    const flash = String((await post('/settings/archive', form)).headers['set-cookie']).split(';')[0];
    const { text } = await get('/settings/archive', { cookie: `${cookie}; ${flash}` });
    return /role="status".*?<div>(.*?)<\/div>/s.exec(text)?.[1];
  };
  t.equal(await save({ slug: 'lark-books', title: '' }), 'Saved.');
  t.equal(await save({ slug: 'lark-books', title: 'Letters' }), 'Saved.');
  t.match(await save({ slug: 'lark', title: 'Letters' }), 'the old one no longer works');
});

t.test('the gallery of components is for development only', async (t) => {
  const { get } = await signedIn(t, 'owner');
  t.equal((await get('/settings/gallery')).status, 404);
});

t.test('a person chooses language, colours and shortcuts, and every page keeps to it', async (t) => {
  const { get, post } = await signedIn(t, 'viewer');
  const first = (await get('/contacts')).text;
  t.match(first, /<html lang="en" class="app system">.*<meta name="color-scheme" content="light dark"/);
  t.match(first, 'id="shortcuts"');
  const form = { name: '<b>Vera</b>', language: 'de', colour_scheme: 'dark' };
  t.equal((await post('/settings/account', form)).headers.location, '/settings/account');
  for (const path of ['/contacts', '/settings/account']) {
    const { text } = await get(path, { 'accept-language': 'en' });
    t.match(text, /<html lang="de" class="app dark">.*<meta name="color-scheme" content="dark"/, path);
    t.notMatch(text, 'id="shortcuts"');
    t.match(text, '&lt;b>Vera');
  }
  await post('/settings/account', { ...form, language: 'browser', colour_scheme: 'light', shortcuts: '1' });
  const { text } = await get('/settings/account');
  t.match(text, /<html lang="en" class="app light">/);
  t.match(text, 'id="shortcuts"');
  t.match(text, /<option value="light" selected>/);
  const wrong = await post('/settings/account', { ...form, language: 'fr', name: 'x'.repeat(300) });
  t.match(wrong, { status: 422, text: /id="language-problem">This value is not possible here\./ });
});

t.test('a second factor takes the password, to set it up by its first code and to switch it off', async (t) => {
  const { app, get, post } = await signedIn(t);
  const setup = (await get('/settings/second-factor')).text;
  t.match(setup, /<svg class="qr" viewBox="0 0 \d+ \d+" role="img"/);
  const secret = /name="secret" value="([A-Z2-7]{32})"/.exec(setup)?.[1] ?? '';
  const code = totpCode(secret, Math.floor(app.clock.now().getTime() / 30_000));
  const confirmation = PASSWORD;
  for (const form of [{ code }, { code, confirmation: 'wrong horse battery' }, { code: '000000', confirmation }]) {
    const wrong = await post('/settings/second-factor', { secret, ...form });
    const stored = app.db.prepare('SELECT totp_secret FROM users').pluck().get();
    t.match([wrong.status, wrong.text, stored], [422, `value="${secret}"`, null], 'the same secret again');
  }
  const done = await post('/settings/second-factor', { secret, code, confirmation });
  t.equal(done.text.match(/([a-z2-7]{4}-){3}[a-z2-7]{4}/g)?.length, 10);
  const again = await post('/settings/second-factor', { secret: 'A'.repeat(32), code, confirmation });
  t.equal(again.headers.location, '/settings/account', 'another one cannot be planted over it');
  t.match((await get('/settings/account')).text, '10 recovery codes are left.');
  t.equal((await post('/settings/second-factor/off', { confirmation: 'wrong horse battery' })).status, 422);
  const renewed = await post('/settings/second-factor/codes', { confirmation });
  t.equal(renewed.text.match(/([a-z2-7]{4}-){3}[a-z2-7]{4}/g)?.length, 10);
  t.equal((await post('/settings/second-factor/off', { confirmation })).headers.location, '/settings/account');
  t.equal(app.db.prepare('SELECT totp_secret FROM users').pluck().get(), null);
});

t.test('sessions are listed and ended; nobody ends those of others but an owner', async (t) => {
  const { app, get, post } = await signedIn(t, 'editor');
  const other = cookieOf(app, addPerson(app, 'owner'));
  t.notMatch((await get('/settings/sessions')).text, 'owner@example.org');
  const ids = app.db.prepare<[], number>('SELECT id FROM sessions ORDER BY id').pluck().all();
  t.equal((await post(`/settings/sessions/${ids[1]}/end`)).status, 404);
  const theirs = await app.page('POST', `/settings/sessions/${ids[0]}/end`, {
    form: {},
    headers: { cookie: other, 'sec-fetch-site': 'same-origin' },
  });
  t.equal(theirs.headers.location, '/settings/sessions');
  t.match((await get('/settings/sessions')).headers.location, /^\/login/);
});

t.test('where passkeys cannot be added the page says what helps: to open or to set another address', async (t) => {
  for (const [PUBLIC_URL, host, helps] of [
    ['https://mail.example.com', 'localhost:3000', 'work at https://mail.example.com only. Open the dashboard there'],
    [
      'http://mail.example.com',
      'localhost:3000',
      'The address of this installation is http://mail.example.com. Whoever runs Sendlark here (an owner of its first account) can change the tracking domain',
    ],
    [
      'http://127.0.0.1:3000',
      '127.0.0.1:3000',
      'The address of this installation is http://127.0.0.1:3000. Whoever runs Sendlark here (an owner of its first account) can change the tracking domain',
    ],
  ] as const) {
    const { get } = await signedIn(t, 'viewer', { PUBLIC_URL });
    const { text } = await get('/settings/account', { host });
    t.match(text, helps);
    t.notMatch(text, '/settings/passkeys/new');
  }
  const { get } = await signedIn(t, 'viewer', { PUBLIC_URL: 'http://localhost:3000' });
  t.match((await get('/settings/account', { host: 'localhost:3000' })).text, 'action="/settings/passkeys/new"');
});

t.test('everybody has their own account and passkeys there alone, an owner those of others neither', async (t) => {
  const { app, person, get, post } = await signedIn(t, 'viewer');
  const owner = addPerson(app, 'owner');
  for (const [user, name] of [
    [person, 'phone of the viewer'],
    [owner, 'phone of the owner'],
  ] as const) {
    const added = { credentialId: name, publicKey: new Uint8Array([1]), counter: 0, transports: [] };
    addPasskey(app.drizzle, user, name, added, COMMAND_LINE, app.clock.now());
  }
  const mine = (await get('/settings/account')).text;
  t.match(mine, 'phone of the viewer');
  t.notMatch(mine, /phone of the owner|owner@example\.org/);
  const cookie = cookieOf(app, owner);
  const theirs = (await app.page('GET', '/settings/account', { headers: { cookie } })).text;
  t.match(theirs, 'phone of the owner');
  t.notMatch(theirs, /phone of the viewer|viewer@example\.org/);
  t.equal((await post('/settings/passkeys/2/remove')).status, 404);
  t.equal((await post('/settings/passkeys/1/remove')).headers.location, '/settings/account');
  t.strictSame(app.db.prepare('SELECT name FROM passkeys').pluck().all(), ['phone of the owner']);
});

t.test('nobody adds a passkey without the password, or with a challenge of another session', async (t) => {
  const origin = 'http://localhost:3000';
  const host = 'localhost:3000';
  const { app, person, post } = await signedIn(t, 'viewer', { PUBLIC_URL: origin });
  const ask = (password: string) =>
    post('/settings/passkeys/new', { passkey: 'Phone', 'passkey-password': password }, { host });
  const wrong = await ask('wrong horse battery');
  t.equal(wrong.status, 422);
  t.match(wrong.text, 'This is not your password.');
  t.notMatch(wrong.text, 'challenge');
  const challengeIn = (text: string) => /&quot;challenge&quot;:&quot;([\w-]+)/.exec(text)?.[1] ?? 'none';
  const add = async (cookie: Record<string, string>) => {
    const challenge = challengeIn((await ask(PASSWORD)).text);
    const form = { name: 'Phone', answer: new SoftPasskey(origin).register(challenge) };
    return post('/settings/passkeys', form, { host, ...cookie });
  };
  const passkeys = () => app.db.prepare('SELECT user_id, name FROM passkeys').all();
  for (const user of [addPerson(app, 'owner'), person]) {
    const answer = await add({ cookie: cookieOf(app, user) });
    t.equal(answer.status, 422, `from another session, of the ${user.role}`);
    t.match(answer.text, 'The passkey could not be added');
  }
  t.strictSame(passkeys(), []);
  t.equal((await add({})).headers.location, '/settings/account');
  t.strictSame(passkeys(), [{ user_id: person.id, name: 'Phone' }]);
  // The event of the thread that checks what the device answered.
  process.once('worker', () => app.db.exec('DELETE FROM sessions'));
  t.equal((await add({})).headers.location, '/login', 'a session that ends meanwhile adds nothing');
  t.equal(passkeys().length, 1);
});

t.test('names that people chose stand in the log as they are, also where they look like numbers or days', async (t) => {
  const { app, person, get } = await signedIn(t);
  const actor = { userId: person.id, name: person.email, address: '' };
  for (const subject of ['20261', '2026-99-99'])
    audit(app.drizzle, { accountId: 1, actor, action: 'key_made', subject }, app.clock.now());
  const { status, text } = await get('/settings/audit');
  t.equal(status, 200);
  for (const subject of ['20261', '2026-99-99']) t.match(text, `>${subject}<`);
});
