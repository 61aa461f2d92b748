/** What strangers can do with a form: nothing against others, and nothing against the service. */
import t from 'tap';
import { suppressAddress } from '../../src/audience/suppressions.ts';
import { HOURLY } from '../../src/forms/requests.ts';
import { DAY_MS, HOUR_MS } from '../../src/units.ts';
import { type Answer, startApp, type TestApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import {
  addForm,
  addReadyForm,
  askedMails,
  proofOn,
  type ReadyForm,
  solvedProof,
  subscribe,
  TYPING_MS,
} from '../support/forms.ts';

const requestsOf = (app: TestApp) => app.db.prepare('SELECT count(*) FROM form_requests').pluck().get();
const isSent = ({ status, headers }: Answer) => status === 303 && String(headers.location).endsWith('/sent');

async function withForm(t: Parameters<typeof startApp>[0], more: Record<string, unknown> = {}) {
  const app = await startApp(t, { TRUST_PROXY: 'on' });
  return { app, form: await addReadyForm(t, app, more) };
}

t.test('a mailbox gets one mail a day, across forms, spellings, networks and restarts', async (t) => {
  const { app, form } = await withForm(t);
  const other = await addForm(t, app);
  const spellings = [
    'victim@gmail.com',
    'VICTIM@gmail.com',
    'v.ic.tim@gmail.com',
    'victim+1@gmail.com',
    'victim@GOOGLEMAIL.com',
  ];
  for (const [at, email] of [...spellings, ...spellings].entries())
    t.ok(isSent(await subscribe(app, at % 2 === 0 ? form : other, email, {}, `198.51.100.${at}`)), email);
  app.restartBackground();
  t.strictSame(
    (await askedMails(app)).map(({ to }) => to),
    ['victim@gmail.com'],
  );
  app.clock.advance(DAY_MS - 1000);
  await subscribe(app, form, 'victim@gmail.com', {}, '198.51.100.77');
  t.equal((await askedMails(app)).length, 1);
  app.clock.advance(1000);
  await subscribe(app, form, 'victim@gmail.com', {}, '198.51.100.78');
  t.equal((await askedMails(app)).length, 2, 'the next day it may be asked again');
});

t.test('spellings that a provider delivers to one mailbox get one mail a day', async (t) => {
  const { app, form } = await withForm(t);
  const mailboxes = [
    ['v.ictim@proton.me', 'vic-tim@protonmail.com', 'v_i_c_t_i_m+x@pm.me'],
    ['victim@icloud.com', 'victim@me.com', 'Victim+a@mac.com'],
    ['vic.tim@yandex.ru', 'vic-tim@ya.ru', 'victim@yandex.com'],
    ['victim@fastmail.com', 'one@victim.fastmail.com', 'two@victim.fastmail.com'],
    ['vic.tim@example.org'],
    ['victim@example.org'],
  ];
  for (const [at, email] of mailboxes.flat().entries())
    t.ok(isSent(await subscribe(app, form, email, {}, `198.51.100.${at}`)), email);
  t.strictSame(
    (await askedMails(app)).map(({ to }) => to),
    mailboxes.map(([first]) => first),
  );
});

t.test('the answer tells nothing about an address: known, subscribed, suppressed or unknown', async (t) => {
  const { app, form } = await withForm(t);
  const must = mustSucceed(t, app.one);
  for (const name of ['reader', 'bounced', 'angry'])
    await must('/contacts/add', { contact_type_id: 1, email: `${name}@example.org`, country: 1 });
  await must('/bounces', { address: 'bounced@example.org', kind: 'bounce' });
  const angry = Number(
    app.db.prepare("SELECT id FROM addresses WHERE normalized_email = 'angry@example.org'").pluck().get(),
  );
  const created_at = new Date(0).toISOString();
  suppressAddress(app.db, { user_id: 1, address_id: angry, kind: 'complaint', diagnostic: 'x', created_at });
  const answers = new Set<string>();
  for (const name of ['reader', 'bounced', 'angry', 'unknown', 'unknown']) {
    const { status, text, headers } = await subscribe(app, form, `${name}@example.org`);
    const { date: _date, ...others } = headers;
    answers.add(JSON.stringify([status, text, others]));
  }
  t.equal(answers.size, 1);
  t.strictSame(
    (await askedMails(app)).map(({ to }) => to),
    ['reader@example.org', 'unknown@example.org'],
  );
});

t.test('a solved challenge counts once, for its form, and for an hour', async (t) => {
  const { app, form } = await withForm(t);
  const other = await addForm(t, app);
  const at = app.clock.now().getTime() - TYPING_MS;
  const post = (to: ReadyForm, proof: string, name = 'anna') =>
    app.page('POST', to.path, { form: { email: `${name}@example.org`, consent: '1', proof } });
  const proof = await solvedProof(app.tokens, form.id, at);
  t.match(await post(other, proof), { status: 200, text: /One more step/ }, 'of another form');
  t.ok(isSent(await post(form, proof)));
  const again = await post(form, proof, 'ben');
  t.match(again, { status: 200, text: /One more step/ }, 'used before');
  t.match(again.text, 'value="ben@example.org"', 'what was filled in stays');
  t.not(proofOn(again.text), proof, 'beside a new challenge');
  const parallel = await solvedProof(app.tokens, form.id, at);
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => post(form, parallel, name)));
  t.equal(answers.filter(isSent).length, 1, 'used four times at once');
  t.match(
    await post(form, await solvedProof(app.tokens, form.id, app.clock.now().getTime())),
    { text: /One more step/ },
    'faster than anybody types',
  );
  t.match(await post(form, await solvedProof(app.tokens, form.id, at - HOUR_MS)), { text: /One more step/ }, 'too old');
  const forged = JSON.parse(Buffer.from(await solvedProof(app.tokens, form.id, at), 'base64').toString());
  for (const change of [
    () => (forged.solution.derivedKey = '00'.repeat(32)),
    () => (forged.challenge.parameters.data.at += 1),
    () => (forged.challenge.signature = ''),
    () => (forged.challenge.parameters = null),
    () => (forged.challenge = null),
  ]) {
    change();
    const given = Buffer.from(JSON.stringify(forged)).toString('base64');
    t.match(await post(form, given), { status: 200, text: /One more step/ });
  }
  t.match(await post(form, 'x'.repeat(10_000)), { status: 200, text: /One more step/ });
  t.equal(requestsOf(app), 2);
});

t.test('without scripts some people may subscribe; more are asked for a proof', async (t) => {
  const { app, form } = await withForm(t);
  const post = async (name: string, network: string) => {
    const { text } = await app.page('GET', form.path);
    app.clock.advance(TYPING_MS);
    const given = { email: `${name}@example.org`, consent: '1', proof: proofOn(text) };
    return app.page('POST', form.path, { form: given, headers: { 'x-forwarded-for': network } });
  };
  for (let at = 0; at < HOURLY.unprovenOfNetwork; at++) t.ok(isSent(await post(`a${at}`, '192.0.2.1')));
  t.match(await post('late', '192.0.2.1'), { status: 429, text: /needs JavaScript/ });
  for (let at = HOURLY.unprovenOfNetwork; at < HOURLY.unprovenOfForm; at++)
    t.ok(isSent(await post(`b${at}`, `203.0.113.${at}`)));
  t.match(await post('later', '203.0.113.200'), { status: 429, text: /needs JavaScript/ });
  t.ok(isSent(await subscribe(app, form, 'proven@example.org', {}, '203.0.113.200')));
  app.clock.advance(HOUR_MS);
  t.ok(isSent(await post('next-hour', '192.0.2.1')));
});

t.test('a network and a form have a limit by the hour', async (t) => {
  const { app, form } = await withForm(t);
  for (let at = 0; at < HOURLY.network; at++) t.ok(isSent(await subscribe(app, form, `a${at}@example.org`)));
  t.match(await subscribe(app, form, 'late@example.org'), {
    status: 429,
    text: /try again in an hour/,
    headers: { 'retry-after': '3600' },
  });
  for (let at = HOURLY.network; at < HOURLY.form; at++)
    t.ok(isSent(await subscribe(app, form, `b${at}@example.org`, {}, `10.1.${at}.1`)));
  t.match(await subscribe(app, form, 'later@example.org', {}, '10.2.0.1'), { status: 429 });
  t.equal(app.db.prepare("SELECT count(*) FROM mailings WHERE owner_kind = 'form'").pluck().get(), HOURLY.form);
});

t.test('a clock that was ahead keeps no form busy', async (t) => {
  const { app, form } = await withForm(t);
  app.db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${HOURLY.form})
    INSERT INTO form_requests (user_id, form_id, is_proven, state, given, groups, token_hash, network, asked_at, expires_at)
    SELECT 1, 1, 1, 'unsent', '{}', '{}', 'token' || i, '192.0.2.1', ${app.clock.now().getTime() + DAY_MS}, 0 FROM n`);
  t.ok(isSent(await subscribe(app, form, 'ann@example.org')));
});

t.test('a network has a limit by the minute, whatever it sends', async (t) => {
  const { app, form } = await withForm(t);
  const send = () => subscribe(app, form, 'no address');
  for (let times = 0; times < 60; times++) t.equal((await send()).status, 422);
  t.match(await send(), { status: 429, headers: { 'retry-after': '60' } });
  app.clock.advance(60_000);
  t.equal((await send()).status, 422);
});

t.test('the limit of a form counts requests that send no mail, and so tells nothing about an address', async (t) => {
  const { app, form } = await withForm(t);
  await subscribe(app, form, 'anna@example.org');
  await subscribe(app, form, 'anna@example.org');
  const unsent = app.db.prepare(`
    INSERT INTO form_requests (user_id, form_id, state, given, "groups", token_hash, is_proven, network, asked_at, expires_at)
    SELECT user_id, form_id, state, given, "groups", ?, 1, ?, asked_at, expires_at FROM form_requests WHERE state = 'unsent' LIMIT 1`);
  for (let at = 2; at < HOURLY.form; at++) t.equal(unsent.run(`hash ${at}`, `10.1.${at}.1`).changes, 1);
  t.match(await subscribe(app, form, 'anna@example.org', {}, '10.2.0.1'), { status: 429 });
  t.equal(requestsOf(app), HOURLY.form, 'nobody fills the file with them');
});

t.test('what robots fill in is not taken, and they are told that it was', async (t) => {
  const { app, form } = await withForm(t);
  t.ok(isSent(await subscribe(app, form, 'anna@example.org', { message: 'Buy this' })));
  t.equal(requestsOf(app), 0);
});

t.test('hostile values are refused or shown as text, and change no header field', async (t) => {
  const { app, form } = await withForm(t, {
    fields: ['first_name'],
    title: '<b>Title</b>',
    intro: '<script>x()</script>',
  });
  const refused = [
    { email: 'a@example.org\r\nBcc: victim@example.org' },
    { email: 'a@example.org,b@example.org' },
    { email: ['a@example.org', 'b@example.org'] },
    { 'value[first_name]': 'A\r\nBcc: victim@example.org' },
    { 'value[first_name]': 'x'.repeat(256) },
    { consent: '' },
  ];
  for (const more of refused) {
    const given = { 'value[first_name]': 'Anna', ...more };
    const { status } = await subscribe(app, form, 'anna@example.org', given);
    t.equal(status, 422, JSON.stringify(more));
  }
  for (const more of [
    { 'value[__proto__]': 'x' },
    { 'value[constructor]': 'x' },
    { 'value[last_name]': 'x' },
    { 'group[]': '99' },
  ])
    t.ok(isSent(await subscribe(app, form, `${Object.keys(more)[0]?.length}@example.org`, more)));
  const html = '"><script>alert(1)</script>';
  const page = await subscribe(app, form, 'no address', { 'value[first_name]': html });
  t.equal(page.status, 422);
  t.notMatch(page.text, /<script>(alert|x)\(|<b>Title/);
  t.ok(isSent(await subscribe(app, form, 'html@example.org', { 'value[first_name]': html })));
  const mail = (await askedMails(app)).at(-1);
  t.notMatch(mail?.raw, 'alert');
  t.match(mail?.raw, '&lt;b&gt;Title');
  const confirm = await app.page('GET', mail?.path ?? '');
  t.match(confirm.text, '&lt;script>alert(1)');
  t.equal((await app.page('POST', mail?.path ?? '')).status, 200);
});

t.test('large bodies are refused before they are read, and odd ones answered', async (t) => {
  const { app, form } = await withForm(t);
  const post = (payload: string, type = 'application/x-www-form-urlencoded') =>
    app.fastify.inject({ method: 'POST', url: form.path, payload, headers: { 'content-type': type } });
  t.equal((await post(`email=${'x'.repeat(1024 * 1024)}`)).statusCode, 413);
  t.equal((await post('a&'.repeat(20_000))).statusCode, 413);
  for (const type of ['application/json', 'multipart/form-data; boundary=x', 'text/html'])
    t.equal((await post('{}', type)).statusCode, 422);
  t.equal((await app.page('POST', form.path)).status, 422);
  for (const path of ['/f/x', '/f/', `${form.path}x`, '/f/confirm/x', `/f/confirm/${'x'.repeat(90)}`])
    t.equal((await app.page('GET', path)).status, 404, path);
});

t.test('another website may read a challenge and the script, and nothing else', async (t) => {
  const { app, form } = await withForm(t);
  const allowed = async (path: string) =>
    (await app.page('GET', path, { headers: { origin: 'https://shop.example' } })).headers[
      'access-control-allow-origin'
    ];
  t.equal(await allowed(`${form.path}/challenge`), '*');
  t.equal(await allowed('/f/form.js'), '*');
  t.equal(await allowed(form.path), undefined);
  const { body } = await app.page('GET', `${form.path}/challenge`);
  t.strictSame(Object.keys(body), ['proof']);
});
