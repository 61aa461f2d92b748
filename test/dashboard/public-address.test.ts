/** The public address in the settings: the form, what it offers and refuses, and the way to it from Home. */
import t, { type Test } from 'tap';
import { createSession } from '../../src/users/sessions.ts';
import { startApp } from '../support/app.ts';
import { addPerson, cookieOf } from '../support/people.ts';

const HOSTILE = '"><script>alert(1)</script>';

async function signedIn(t: Test, settings: Record<string, string> = { PUBLIC_URL: '' }) {
  const app = await startApp(t, settings);
  const owner = addPerson(app);
  const cookie = cookieOf(app, owner);
  const get = async (path: string, headers: Record<string, string> = {}) =>
    (await app.page('GET', path, { headers: { cookie, ...headers } })).text;
  const post = (path: string, form: Record<string, string> = {}) =>
    app.page('POST', path, { form, headers: { cookie, 'sec-fetch-site': 'same-origin' } });
  return { app, owner, get, post };
}

/** What is in the field, as it stands in the HTML; undefined where the page has no such field. */
const typed = (text: string) => {
  const [input] = /<input(?:[^>"]|"[^"]*")*name="public_url"(?:[^>"]|"[^"]*")*>/.exec(text) ?? [];
  return input && (/value="([^"]*)"/.exec(input)?.[1] ?? '');
};

t.test('from Home to the form, which says what is missing, saves it, and is done on Home', async (t) => {
  const { get, post } = await signedIn(t);
  t.match(await get('/'), '<a href="/settings/sending#address">Set your tracking domain</a>');
  const before = await get('/settings/sending');
  t.match(before, 'links in e-mails work only on the server that Sendlark runs on');
  t.ok(before.indexOf('id="address"') < before.indexOf('No SMTP server yet'), 'what is missing comes first');
  t.notMatch(before, '/settings/sending/address/look');
  t.match(await get('/settings/sending/new'), 'href="/settings/sending#address"');
  t.match(await get('/settings/health'), 'href="/settings/sending#address"');
  const { status, headers } = await post('/settings/sending/address', { public_url: 'https://mail.example.com/' });
  t.strictSame([status, headers.location], [303, '/settings/sending#address']);
  const after = await get('/settings/sending');
  t.equal(typed(after), 'https://mail.example.com');
  t.match(after, 'action="/settings/sending/address/look"');
  t.notMatch(await get('/settings/sending/new'), 'Set tracking domain');
  t.match(
    await get('/', { 'accept-language': 'de' }),
    '<a href="/settings/sending#address">Tracking-Domain festlegen</a>',
  );
});

t.test('what is refused stays in the form with the reason beside it, as text', async (t) => {
  const { post, get } = await signedIn(t);
  const { status, text } = await post('/settings/sending/address', { public_url: HOSTILE });
  t.equal(status, 422);
  t.match(text, /id="public_url-problem">Enter a web address such as https/);
  t.equal(typed(text), '&quot;>&lt;script>alert(1)&lt;/script>');
  t.notMatch(text, '<script>alert');
  t.match((await post('/settings/sending/address', { public_url: 'http://localhost' })).text, 'to their own computer');
  t.equal(typed(await get('/settings/sending')), '');
});

t.test('the address that the browser has open is offered, unless it is this machine', async (t) => {
  const { app, owner, get } = await signedIn(t);
  t.equal(typed(await get('/settings/sending', { host: 'localhost:3000' })), '');
  const secret = createSession(app.drizzle, owner.id, { address: '192.0.2.1', userAgent: 'Test' }, app.clock.now());
  const headers = { cookie: `__Host-sendlark=${secret}`, host: 'mail.example.com' };
  const { text } = await app.page('GET', '/settings/sending', { headers });
  t.equal(typed(text), 'https://mail.example.com');
});

t.test('an address of the environment is shown as fixed, with its check', async (t) => {
  const { get, post } = await signedIn(t, { PUBLIC_URL: 'http://127.0.0.1:1' });
  const text = await get('/settings/sending');
  t.match(text, 'The tracking domain is set on the server (PUBLIC_URL)');
  t.equal(typed(text), undefined);
  const refused = await post('/settings/sending/address', { public_url: 'https://mail.example.com' });
  t.match(refused, { status: 409, text: /change it there, and restart Sendlark/ });
  t.equal((await post('/settings/sending/address/look')).headers.location, '/settings/sending#address');
  const seen = await get('/settings/sending', { 'accept-language': 'de' });
  t.match(seen, 'Unter 127.0.0.1, Port 1, antwortet nichts');
  t.match(seen, 'class="advice"');
});

t.test('only operators open or send the form', async (t) => {
  const app = await startApp(t, { PUBLIC_URL: '' });
  for (const [role, accountId] of [
    ['editor', 1],
    ['viewer', 1],
    ['owner', 2],
  ] as const) {
    const cookie = cookieOf(app, addPerson(app, role, { name: `${role}${accountId}`, accountId }));
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    t.equal((await app.page('GET', '/settings/sending', { headers })).status, 403);
    for (const path of ['address', 'address/look'])
      t.equal(
        (await app.page('POST', `/settings/sending/${path}`, { form: { public_url: 'https://a.example' }, headers }))
          .status,
        403,
      );
    t.notMatch((await app.page('GET', '/', { headers })).text, 'href="/settings/sending#address"');
  }
});
