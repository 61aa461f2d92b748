/** The page on returned mail: making an address for a provider, seeing whether it works, deleting it. */
import t from 'tap';
import { keepRoleMail } from '../../src/delivery/feedback/bounces/kept-mails.ts';
import { startApp } from '../support/app.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { MAILGUN_KEY, mailgun, makeIntake, post } from '../support/provider-events.ts';

t.test(
  'an owner makes an address, sees the first event turn it green and a refused request, and deletes it',
  async (t) => {
    const app = await startApp(t);
    const headers = { cookie: cookieOf(app, addPerson(app)), 'sec-fetch-site': 'same-origin' };
    const open = async () => (await app.page('GET', '/settings/returns', { headers })).text;
    const make = (form: Record<string, string>) => app.page('POST', '/settings/returns', { headers, form });

    const unreadable = await make({ provider: 'sendgrid', secret: 'not a key' });
    t.equal(unreadable.status, 422);
    t.match(unreadable.text, /This is not a verification key/);
    t.notMatch(unreadable.text, /not a key"/, 'what was typed as the key is not shown again');
    t.equal((await make({ provider: 'mailgun', secret: MAILGUN_KEY })).status, 303);
    const waiting = await open();
    t.match(waiting, /Waiting for the first report/);
    t.notMatch(waiting, new RegExp(MAILGUN_KEY));
    const [, path = ''] = /http:\/\/mail\.example\.com(\/hooks\/in\/mailgun\/[\w.-]+)/.exec(waiting) ?? [];
    t.equal((await post(app, path, mailgun(app, { event: 'delivered' }))).status, 200);
    t.match(await open(), /class="badge good">Working/);
    app.clock.advance(60_000);
    t.equal((await post(app, path, mailgun(app, {}, { key: 'another key' }))).status, 403);
    t.match(await open(), /Last report refused/);
    t.equal((await app.page('POST', '/settings/returns/1/delete', { headers })).status, 303);
    t.notMatch(await open(), /Mailgun<\/h2>/);
    t.equal((await post(app, path, mailgun(app, { event: 'delivered' }))).status, 404);
  },
);

t.test('an operator sees the addresses for feedback loops, reads mail to them as text and deletes it', async (t) => {
  const app = await startApp(t, { BOUNCE_LISTEN: '127.0.0.1:2525', BOUNCE_DOMAIN: 'returns.example.com' });
  const headers = { cookie: cookieOf(app, addPerson(app)), 'sec-fetch-site': 'same-origin' };
  const mail = { report: { kind: 'unknown' }, sender: 'Clerk', subject: '', text: '<b>Your code</b> is 4711' } as const;
  keepRoleMail(app.db, 'postmaster', mail, app.clock);
  const open = async () => (await app.page('GET', '/settings/returns', { headers })).text;
  t.match(await open(), /fbl@returns\.example\.com.*\(no subject\).*‹b›Your code‹\/b› is 4711/s);
  const guest = { ...headers, cookie: cookieOf(app, addPerson(app, 'owner', { name: 'guest', accountId: 2 })) };
  t.notMatch(
    (await app.page('GET', '/settings/returns', { headers: guest })).text,
    /fbl@|is 4711/,
    'guests see nothing of it',
  );
  t.equal((await app.page('POST', '/settings/returns/mails/1/delete', { headers })).status, 303);
  t.notMatch(await open(), 'is 4711');
});

t.test('an editor does not see the page', async (t) => {
  const app = await startApp(t);
  const headers = { cookie: cookieOf(app, addPerson(app, 'editor')), 'sec-fetch-site': 'same-origin' };
  t.equal((await app.page('GET', '/settings/returns', { headers })).status, 403);
  t.equal((await app.page('POST', '/settings/returns', { headers, form: { provider: 'ses' } })).status, 403);
});

t.test('the page of a person says that they unsubscribed at the SMTP provider', async (t) => {
  const app = await startApp(t);
  const headers = { cookie: cookieOf(app, addPerson(app)), 'sec-fetch-site': 'same-origin' };
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const contact = { contact_type_id: 1, first_name: 'A', email: 'ann@example.org', country: 1 };
  await app.one.call('POST', '/contacts/add', { form: contact });
  const path = await makeIntake(t, app.one, 'brevo');
  await post(app, path, { body: JSON.stringify({ event: 'unsubscribed', email: 'ann@example.org', ts_event: 1 }) });
  t.match((await app.page('GET', '/contacts/1', { headers })).text, /at your SMTP provider/);
});
