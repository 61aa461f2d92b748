/** Senders and health in the settings. */
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { startDns } from '../support/smtp/dns-server.ts';

const HOSTILE = '<script>alert(1)</script>';

async function signedIn(t: Test) {
  const app = await startApp(t);
  const cookie = cookieOf(app, addPerson(app));
  const get = (path: string, headers: Record<string, string> = {}) =>
    app.page('GET', path, { headers: { cookie, ...headers } });
  const post = (path: string) => app.page('POST', path, { headers: { cookie, 'sec-fetch-site': 'same-origin' } });
  const save = mustSucceed(t, app.one);
  const addSender = async () => {
    await save('/sender/save', {
      from_name: HOSTILE,
      from_email: 'news@example.com',
      reply_to_email: 'reply@example.com',
      country_id: 1,
      company_address: 'Main Street 1',
      nickname: HOSTILE,
    });
    await app.background();
  };
  return { app, get, post, addSender };
}

t.test('an account without senders is told what a sender is', async (t) => {
  const { get } = await signedIn(t);
  t.match((await get('/settings/senders')).text, 'No senders yet');
  t.match((await get('/settings/senders', { 'accept-language': 'de' })).text, '<h1>Absender</h1>');
});

t.test('a verification mail can be sent again when its time has come, and not before', async (t) => {
  const { app, get, post, addSender } = await signedIn(t);
  await addSender();
  const early = (await get('/settings/senders')).text;
  t.match(early, 'Not verified');
  t.match(early, 'Can be sent again in 5 minutes');
  t.notMatch(early, '/settings/senders/1/resend');
  t.notMatch(early, '<script>alert', 'names are shown as text');
  app.clock.advance(5 * 60_000);
  t.match((await get('/settings/senders')).text, 'action="/settings/senders/1/resend"');
  const { status, headers } = await post('/settings/senders/1/resend');
  t.strictSame([status, headers.location], [303, '/settings/senders']);
  await app.background();
  t.equal(app.db.prepare('SELECT count(*) FROM outbox').pluck().get(), 2);
  t.equal((await post('/settings/senders/9/resend')).status, 404);
});

t.test('each domain says whether its mail is signed, with the button that makes a key', async (t) => {
  const { get, addSender } = await signedIn(t);
  await addSender();
  const { text } = await get('/settings/senders');
  t.match(text, 'Sendlark does not sign mail from this domain.');
  t.match(text, 'action="/settings/senders/dkim/create"');
  t.notMatch(text, 'sendlark dkim');
});

t.test('each finding shows with its state, why it matters and what to do', async (t) => {
  const { get } = await signedIn(t);
  const { status, text } = await get('/settings/health');
  t.equal(status, 200);
  t.match(text, /Backup <span class="badge warn">Needs attention<\/span>/);
  t.match(text, 'All your data is in one file');
  t.match(text, 'sendlark backup FILE');
  t.match((await get('/settings/health', { 'accept-language': 'de' })).text, '<h1>Zustand</h1>');
});

t.test('the health page leads to what can be done about a finding, and looks at the public address', async (t) => {
  const app = await startApp(t, { PUBLIC_URL: 'http://127.0.0.1:1' });
  const pageOf = (name: string, accountId: number) => {
    const cookie = cookieOf(app, addPerson(app, 'owner', { name, accountId }));
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    return (method: string, path: string) => app.page(method, `/settings/health${path}`, { headers });
  };
  const [operator, guest] = [pageOf('operator', 1), pageOf('guest', 2)];
  const before = (await operator('GET', '')).text;
  t.match(before, 'href="/settings/backup"');
  t.match(before, 'It has not been checked yet');
  t.notMatch(before, 'sendlark doctor');
  t.match(before, 'Bounces go to the sender’s address.');
  t.match(before, 'BOUNCE_LISTEN=0.0.0.0:25');
  t.equal((await operator('POST', '/public-address')).headers.location, '/settings/health#address');
  const { text } = await operator('GET', '');
  t.match(text, 'nothing answers at 127.0.0.1, port 1');
  t.match(text, 'Start the reverse proxy');
  t.notMatch((await guest('GET', '')).text, 'action="/settings/health/public-address"');
  t.equal((await guest('POST', '/public-address')).status, 403);
});

t.test('the health page says where returned mail is taken in', async (t) => {
  const app = await startApp(t, { BOUNCE_DOMAIN: 'bounces.example.com', BOUNCE_LISTEN: '0.0.0.0:2525' });
  const { text } = await app.page('GET', '/settings/health', { headers: { cookie: cookieOf(app, addPerson(app)) } });
  t.match(text, 'Bounces go to bounces.example.com and are received at 0.0.0.0:2525');
  t.match(text, 'The MX record of bounces.example.com has to name the server that Sendlark runs on');
  app.askDns(await startDns(t, {}));
  const headers = { cookie: cookieOf(app, addPerson(app, 'owner', { name: 'Olga' })), 'sec-fetch-site': 'same-origin' };
  const tested = await app.page('POST', '/settings/health/returned-mail', { headers });
  t.equal(tested.headers.location, '/settings/health#returns');
  const after = (await app.page('GET', '/settings/health', { headers })).text;
  t.match(after, 'the DNS names no server for mail to bounces.example.com');
  t.match(after, 'add an MX record for bounces.example.com');
});

t.test('only owners open them', async (t) => {
  const app = await startApp(t);
  const cookie = cookieOf(app, addPerson(app, 'editor'));
  for (const path of ['/settings/senders', '/settings/health'])
    t.equal((await app.page('GET', path, { headers: { cookie } })).status, 403, path);
});
