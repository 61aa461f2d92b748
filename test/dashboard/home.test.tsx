/** Home, as different users see it. */
import t from 'tap';
import { hashPassword } from '../../src/users/passwords.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { fillAccount, HOSTILE } from '../support/dashboard/filled-account.ts';
import { addPerson, callerOf, cookieOf } from '../support/people.ts';

let visits = 0;

/** Opens Home as a user of this role; `language` is what the browser asks for. */
async function openHome(app: TestApp, role: 'owner' | 'viewer' = 'owner', accountId = 1, language = 'en-GB') {
  const cookie = cookieOf(app, addPerson(app, role, { accountId, name: `${role}${++visits}` }));
  return app.page('GET', '/', { headers: { cookie, 'accept-language': language } });
}

/** The steps of the checklist by title, with what is done. */
function stepsOf(text: string) {
  return [...text.matchAll(/<li[^>]*><span class="tick">.*?hidden">(.*?)<\/span>.*?<h3>(?:<a[^>]*>)?([^<]*)</g)].map(
    ([, state, title]) => [title, state],
  );
}

t.test('whoever is not signed in is sent to the sign-in page, and comes back', async (t) => {
  const app = await startApp(t);
  const { status, headers } = await app.page('GET', '/');
  t.strictSame([status, headers.location], [303, '/login']);
  const wanted = '/people?search=ann%20%26%20bob&page=2';
  const away = (await app.page('GET', wanted)).headers.location ?? '';
  t.equal(away, `/login?${new URLSearchParams({ next: wanted })}`);
  const form = await app.page('GET', String(away));
  t.match(form.text, `name="next" value="${wanted.replace('&', '&amp;')}"`);
  addPerson(app);
  app.db.prepare('UPDATE users SET password_hash = ?').run(await hashPassword('correct horse battery'));
  const fields = { email: 'owner@example.org', password: 'correct horse battery', next: wanted };
  const post = { form: fields, headers: { 'sec-fetch-site': 'same-origin' } };
  t.equal((await app.page('POST', '/login', post)).headers.location, wanted);
});

t.test('the checklist finds out by itself which steps are done', async (t) => {
  const app = await startApp(t);
  const { status, text } = await openHome(app);
  t.equal(status, 200);
  t.strictSame(stepsOf(text), [
    ['Bring in your people', 'To do'],
    ['Make a mail that looks like you', 'To do'],
    ['Send it to the outbox', 'To do'],
    ['Connect a relay', 'To do'],
    ['Let your domain vouch for you', 'To do'],
  ]);
  await fillAccount(t, app);
  t.match(stepsOf((await openHome(app, 'viewer')).text), [
    ['Bring in your people', 'Done'],
    ['Make a mail that looks like you', 'Done'],
    ['Send it to the outbox', 'Done'],
    ['Connect a relay', 'To do'],
  ]);
});

t.test(
  'what is under way shows with its reason, and the last mailings with their rates, to their own account',
  async (t) => {
    const app = await startApp(t);
    const utr = await fillAccount(t, app);
    const { text } = await openHome(app);
    t.match(text, 'Held for want of people');
    t.match(text, /<p class="reason">[^<]+<\/p>/);
    t.match(text, /Starts 1 Dec 2026, 09:00 UTC/);
    t.match(text, `<a href="/mailings/${utr}">News</a>`);
    t.notMatch((await openHome(app, 'owner', 2)).text, utr);
  },
);

t.test('names of records are shown as text', async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  const { text } = await openHome(app);
  t.match(text, HOSTILE.slice(0, 20).replaceAll('"', '&quot;').replaceAll('<', '&lt;'));
  t.notMatch(text, /<img|<script>/);
});

t.test('a viewer is offered nothing that only others may do', async (t) => {
  const app = await startApp(t);
  const action = /<div class="page-action">/;
  t.match((await openHome(app)).text, action);
  t.notMatch((await openHome(app, 'viewer')).text, action);
  t.match((await openHome(app)).text, '"/settings/health"');
  t.notMatch((await openHome(app, 'viewer')).text, '/settings/health', 'the page is for owners');
});

t.test('texts and numbers are in the language of the browser', async (t) => {
  const app = await startApp(t);
  const { text } = await openHome(app, 'owner', 1, 'de-DE,en;q=0.5');
  t.match(text, '<html lang="de"');
  t.match(text, '0 von 5 Schritten erledigt');
});

t.test('a form of another site does nothing, whoever is signed in', async (t) => {
  const app = await startApp(t);
  const cookie = cookieOf(app, addPerson(app));
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    {},
  ]) {
    const { status } = await app.page('POST', '/', { headers: { cookie, ...headers } });
    t.not(status, 200);
  }
});

t.test('with STATUS_CODES=always-200 a page still learns that the API refused', async (t) => {
  const app = await startApp(t, { STATUS_CODES: 'always-200' });
  const viewer = callerOf(app, addPerson(app, 'viewer'));
  const refused = await viewer.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  t.equal(refused.status, 403);
  t.equal((await app.one.call('GET', '/segment/details', { query: { segment_id: 9 } })).status, 200);
});
