/** Sessions in place of keys: when the API takes one, for how long, and what each role may do with it. */
import { Readable } from 'node:stream';
import t from 'tap';
import { COMMAND_LINE } from '../../src/users/audit.ts';
import { endSessionsOf } from '../../src/users/sessions.ts';
import { changeUser } from '../../src/users/users.ts';
import { type Caller, type CallOptions, startApp, type TestApp } from '../support/app.ts';
import { mustSucceed, sendCampaign } from '../support/campaign.ts';
import { type Operation, operationsOf, readDocument } from '../support/openapi-operations.ts';
import { addPerson, callerOf, cookieOf, FROM_PAGE } from '../support/people.ts';
import { png } from '../support/pictures.ts';

const HOUR = 3_600_000;
/** GETs that change something, as the contract has them. */
const CHANGING_GETS = /\/(duplicate|pause|set-live|resend-mail)$/;
/** A GET that shows a mail with the links of its recipient, with which one could unsubscribe them. */
const EDITORS_GETS = /\/(deliveries|transactional)\/mail$/;
const OWNERS_ONLY =
  /^\/api\/(users|keys|audit|dkim|webhooks)\/|^\/api\/(health|webhooks|provider-events(\/(create|delete))?|senders\/(checks(\/renew)?|warm-ups(\/(save|stop))?)|archive\/save|sending\/(limits|caps|mails|window)\/save|sunset\/(save|lift-all)|tracking\/save)$|^\/api\/sender\/(save|update|delete|resend-mail)$/;
/** Everybody may look at and end their own sessions and passkeys and change their own settings; a POST may list the senders. */
const EVERYBODYS = /^\/api\/((sessions|passkeys)\/(list|delete)|me\/update|senders)$/;

/** What a page of another site would send if it could set the header that only our own pages can. */
const FOREIGN_FRAME = { ...FROM_PAGE, 'sec-fetch-site': 'cross-site' };

async function everyOperation(app: TestApp): Promise<Operation[]> {
  return operationsOf(await readDocument(app));
}

const ask = (caller: Caller, { method, path }: Operation) => caller.call(method, path.slice('/api'.length));

t.test('the API takes a session only with its own header and from a page of the same origin', async (t) => {
  const app = await startApp(t);
  const cookie = cookieOf(app, addPerson(app));
  const refused = (await app.anonymous.call('GET', '/contacts-type')).text;
  const call = (headers: Record<string, string>) => app.anonymous.call('GET', '/contacts-type', { headers });
  t.equal((await call({ cookie, ...FROM_PAGE })).status, 200);
  t.equal((await call({ cookie, 'x-sendlark': 'dashboard', origin: 'http://localhost:80' })).status, 401);
  const older = { host: 'localhost:3000', origin: 'http://localhost:3000' };
  t.equal(
    (await call({ cookie, 'x-sendlark': 'dashboard', ...older })).status,
    200,
    'a browser that sends no Sec-Fetch-Site',
  );
  const wrong: Record<string, string>[] = [
    { cookie },
    { ...FROM_PAGE },
    { cookie, 'x-sendlark': 'dashboard' },
    { cookie, 'sec-fetch-site': 'same-origin' },
    { cookie, ...FROM_PAGE, 'sec-fetch-site': 'same-site' },
    { cookie, ...FROM_PAGE, 'sec-fetch-site': 'cross-site' },
    { cookie, ...FROM_PAGE, 'sec-fetch-site': 'none' },
    { cookie, 'x-sendlark': 'dashboard', ...older, origin: 'https://evil.example' },
    { cookie, 'x-sendlark': 'dashboard', ...older, origin: 'null' },
    { cookie: `${cookie}x`, ...FROM_PAGE },
    // Over plain http from another machine, a neighbouring host could have set the cookie.
    { cookie, ...FROM_PAGE, host: 'mail.example.com' },
  ];
  for (const headers of wrong) {
    const answer = await call(headers);
    t.equal(answer.status, 401, JSON.stringify(Object.keys(headers)));
    t.equal(answer.text, refused);
  }
});

t.test(
  'of cookies with the same name the first counts, and neither odd nor many others keep it from being found',
  async (t) => {
    const app = await startApp(t);
    const cookie = cookieOf(app, addPerson(app));
    const [name = ''] = cookie.split('=');
    const statusWith = async (...cookies: string[]) =>
      (await app.anonymous.call('GET', '/contacts-type', { headers: { ...FROM_PAGE, cookie: cookies.join('; ') } }))
        .status;
    const many = Array.from({ length: 1500 }, (_, at) => `c${at}=${at}`);
    const odd = [
      '=',
      'a',
      '=b',
      '__proto__=x',
      'constructor',
      'bad=%E0%A4%A',
      'q="a, b"',
      ' ; ;',
      'x=\u00e9',
      `${name}x=y`,
    ];
    t.equal(await statusWith(...many, ...odd, cookie, `${name}=other`), 200);
    t.equal(await statusWith(`${name}=other`, cookie), 401);
    t.equal(await statusWith(`${name}=%E0%A4%A`), 401, 'what cannot be decoded is no secret');
    t.equal(await statusWith(...odd, `${name}=`), 401);
    const flash = await app.page('GET', '/campaigns', {
      headers: { cookie: [cookie, 'sendlark_flash=%', 'sendlark_zone=%25'].join('; ') },
    });
    t.equal(flash.status, 200, 'cookies that are no secrets are no more trusted');
  },
);

t.test('a form of another site changes nothing at the API with the cookie of somebody who is signed in', async (t) => {
  const app = await startApp(t);
  const cookie = cookieOf(app, addPerson(app));
  const bodies: CallOptions[] = [
    { form: { name: 'Planted' } },
    { multipart: [['name', 'Planted']] },
    // What a form can send as text/plain looks like JSON to a server that does not mind the type.
    { json: { name: 'Planted' }, headers: { 'content-type': 'text/plain' } },
  ];
  const origins = [{}, { 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }, FOREIGN_FRAME];
  let refused = 0;
  for (const { method, path } of await everyOperation(app)) {
    if (method === 'GET' && !CHANGING_GETS.test(path)) continue;
    for (const { headers, ...body } of method === 'POST' ? bodies : [{ headers: {} }]) {
      // In turn, so that every body comes from every origin to many operations.
      const sent = { ...body, headers: { cookie, ...origins[refused % origins.length], ...headers } };
      t.equal((await app.anonymous.call(method, path.slice('/api'.length), sent)).status, 401, `${method} ${path}`);
      refused++;
    }
  }
  t.ok(refused > 300, `${refused} refusals`);
  t.equal(app.db.prepare('SELECT count(*) FROM contact_types').pluck().get(), 0);
});

t.test('over https only the cookie that browsers keep to this host is read', async (t) => {
  const app = await startApp(t, { PUBLIC_URL: 'https://mail.example.com', TRUST_PROXY: 'on' });
  const cookie = cookieOf(app, addPerson(app));
  const strict = cookie.replace('sendlark', '__Host-sendlark');
  const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.9', host: 'mail.example.com' };
  for (const way of [proxied, { host: 'mail.example.com' }]) {
    const call = (given: string) =>
      app.anonymous.call('GET', '/contacts-type', { headers: { ...FROM_PAGE, ...way, cookie: given } });
    t.equal((await call(strict)).status, 200);
    t.equal((await call(cookie)).status, 401);
  }
});

t.test('a session changes nothing in what the API answers to key headers, right or wrong', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const stranger = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'owner', { name: 'Other', accountId: 2 })) };
  const viewer = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'viewer')) };
  const { PublicKey = '', SecretKey = '' } = app.one.headers;
  const keys: Record<string, string>[] = [
    { PublicKey, SecretKey },
    { PublicKey, SecretKey: 'sk_wrong' },
    { PublicKey },
    { SecretKey },
    { PublicKey: '', SecretKey: '' },
  ];
  const requests = [
    ['GET', '/contacts-type'],
    ['GET', '/contacts/list'],
    ['POST', '/contacts/add'],
    ['POST', '/sender/save'],
    ['GET', '/automations/set-live'],
    ['GET', '/senders'],
    ['GET', '/keys/list'],
    ['GET', '/nowhere'],
    ['PUT', '/contacts/list'],
    ['DELETE', '/segment/delete'],
  ] as const;
  for (const [method, path] of requests) {
    for (const headers of keys) {
      const { date: _one, ...without } = await comparable(app.anonymous, method, path, headers);
      for (const session of [stranger, viewer]) {
        const { date: _two, ...beside } = await comparable(app.anonymous, method, path, { ...session, ...headers });
        t.strictSame(beside, without, `${method} ${path} with ${Object.keys(headers)}`);
      }
    }
  }
});

async function comparable(caller: Caller, method: string, path: string, headers: Record<string, string>) {
  const { status, text, headers: answered } = await caller.call(method, path, { headers });
  return { status, text, ...answered };
}

t.test('a viewer may only read; an editor may not change keys, users and senders', async (t) => {
  const app = await startApp(t);
  const [viewer, editor, owner] = (['viewer', 'editor', 'owner'] as const).map((role) =>
    callerOf(app, addPerson(app, role)),
  );
  if (!viewer || !editor || !owner) throw new Error('nobody is signed in');
  let refused = 0;
  for (const operation of await everyOperation(app)) {
    const { method, path } = operation;
    const title = `${method} ${path}`;
    const isReading =
      EVERYBODYS.test(path) || (method === 'GET' && !CHANGING_GETS.test(path) && !EDITORS_GETS.test(path));
    const isOwners = OWNERS_ONLY.test(path) || operation.isForOperators;
    const answers = [await ask(viewer, operation), await ask(editor, operation)] as const;
    const mayViewer = isReading && !isOwners;
    for (const [answer, may] of [
      [answers[0], mayViewer],
      [answers[1], !isOwners],
    ] as const) {
      if (may) t.notMatch(String(answer.status), /^40[13]$/, title);
      else {
        t.equal(answer.status, 403, title);
        t.match(answer.body, {
          status: 'failed',
          errors: /^Your role, (viewer|editor), may not do this; it takes (editor|owner)$/,
        });
        refused++;
      }
    }
    // The owner's request is the same and fails at most for what it lacks.
    t.notMatch(String((await ask(owner, operation)).status), /^40[13]$/, title);
  }
  t.ok(refused > 40, `${refused} refusals`);
});

t.test('a role that is too low learns nothing about fields, and its body is not read', async (t) => {
  const app = await startApp(t);
  const viewer = callerOf(app, addPerson(app, 'viewer'));
  const { status, text } = await viewer.call('POST', '/contacts/add', { headers: { 'content-type': 'text/strange' } });
  t.equal(status, 403);
  t.equal(text, '{"status":"failed","errors":"Your role, viewer, may not do this; it takes editor"}\n');
});

t.test('a viewer gets no link to a design page, which would let them change the mail', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app);
  const { utr } = (await app.one.call('GET', '/single-send/list')).body.message.singleSends[0];
  const linkFor = async (caller: Caller) =>
    (await caller.call('GET', '/single-send/report', { query: { utr } })).body.message.report.design_url;
  t.equal(await linkFor(callerOf(app, addPerson(app, 'viewer'))), '');
  t.match(await linkFor(callerOf(app, addPerson(app, 'editor'))), '/design/');
});

t.test('a session ends after 12 hours without a request, and after 30 days in any case', async (t) => {
  const app = await startApp(t);
  const person = addPerson(app);
  const idle = callerOf(app, person);
  const busy = callerOf(app, person);
  const isIn = async (caller: Caller) => (await caller.call('GET', '/contacts-type')).status === 200;
  app.clock.advance(12 * HOUR - 1000);
  t.ok(await isIn(busy));
  app.clock.advance(1000);
  t.notOk(await isIn(idle), 'nobody asked for 12 hours');
  for (let hours = 12; hours < 30 * 24 - 6; hours += 6) {
    app.clock.advance(6 * HOUR);
    t.ok(await isIn(busy), `after ${hours} hours of use`);
  }
  t.ok(await isIn(busy));
  app.clock.advance(6 * HOUR);
  t.notOk(await isIn(busy), 'thirty days are over');
});

t.test('ending a session, changing a role and removing a user work at the next request', async (t) => {
  const app = await startApp(t);
  const owner = callerOf(app, addPerson(app));
  const person = addPerson(app, 'editor');
  const theirs = callerOf(app, person);
  const add = (caller: Caller) => caller.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  t.equal((await add(theirs)).status, 200);
  await owner.call('POST', '/users/update', { form: { id: person.id, role: 'viewer' } });
  t.equal((await add(theirs)).status, 403);
  const { sessions } = (await theirs.call('GET', '/sessions/list')).body.message;
  t.match(sessions, [{ email: 'editor@example.org', is_current: 1 }], 'others see their own sessions alone');
  await owner.call('DELETE', '/sessions/delete', { query: { id: sessions[0].id } });
  t.equal((await theirs.call('GET', '/contacts-type')).status, 401);
  const again = callerOf(app, person);
  t.equal((await again.call('GET', '/contacts-type')).status, 200);
  await owner.call('DELETE', '/users/delete', { query: { id: person.id } });
  t.equal((await again.call('GET', '/contacts-type')).status, 401);
  t.equal(app.db.prepare('SELECT count(*) FROM sessions').pluck().get(), 1, 'only the owner has a session');
});

t.test('a page does nothing for whoever is signed out, or may do it no more, while their form arrives', async (t) => {
  const app = await startApp(t);
  const person = addPerson(app, 'editor');
  const send = async (url: string, meanwhile: () => void) => {
    const parts = async function* () {
      yield 'name=Re';
      meanwhile();
      yield 'aders';
    };
    const { statusCode, headers } = await app.fastify.inject({
      method: 'POST',
      url,
      headers: {
        ...FROM_PAGE,
        cookie: cookieOf(app, person),
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': '12',
      },
      payload: Readable.from(parts()),
    });
    return [statusCode, headers.location];
  };
  const lower = () => changeUser(app.drizzle, person, { name: '', role: 'viewer' }, COMMAND_LINE, app.clock.now());
  const signOut = () => endSessionsOf(app.drizzle, person.id);
  t.strictSame(await send('/settings/lists', () => undefined), [303, '/settings/lists']);
  t.strictSame(await send('/settings/lists', signOut), [303, '/login']);
  t.strictSame(await send('/sending/release', signOut), [303, '/login']);
  t.strictSame(await send('/settings/lists', lower), [403, undefined]);
  t.equal(app.db.prepare('SELECT count(*) FROM contact_types').pluck().get(), 1);
});

t.test('a file is not taken from whoever is signed out, or may upload it no more, while it arrives', async (t) => {
  const app = await startApp(t);
  const editor = addPerson(app, 'editor');
  const owner = addPerson(app, 'owner');
  await mustSucceed(t, app.one)('/contacts-type/add', { name: 'Readers' });
  const send = async (url: string, headers: Record<string, string>, file: Buffer, meanwhile: () => unknown) => {
    const fields = '--x\r\nContent-Disposition: form-data; name="contact_type_id"\r\n\r\n1\r\n';
    const head = `${fields}--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n`;
    const parts = async function* () {
      yield Buffer.from(head);
      await meanwhile();
      yield file;
      yield Buffer.from('\r\n--x--\r\n');
    };
    const { statusCode, headers: answered } = await app.fastify.inject({
      method: 'POST',
      url,
      headers: { ...headers, 'content-type': 'multipart/form-data; boundary=x', 'transfer-encoding': 'chunked' },
      payload: Readable.from(parts()),
    });
    return [statusCode, answered.location];
  };
  const asEditor = () => ({ ...FROM_PAGE, cookie: cookieOf(app, editor) });
  const csv = Buffer.from('email\na@example.com\n');
  const setRole = (role: 'viewer' | 'editor') =>
    changeUser(app.drizzle, editor, { name: '', role }, COMMAND_LINE, app.clock.now());
  const signOut = () => endSessionsOf(app.drizzle, editor.id);
  const contacts = () => app.db.prepare('SELECT count(*) FROM contacts').pluck().get();
  const pictures = () => app.db.prepare('SELECT count(*) FROM pictures').pluck().get();

  t.strictSame(await send('/images', asEditor(), png(), signOut), [303, '/login']);
  t.strictSame(await send('/contacts/import', asEditor(), csv, signOut), [303, '/login']);
  t.match(await send('/images', asEditor(), png(), () => setRole('viewer')), [403]);
  setRole('editor');
  t.strictSame(
    await send('/settings/backup/upload', { ...FROM_PAGE, cookie: cookieOf(app, owner) }, csv, () =>
      endSessionsOf(app.drizzle, owner.id),
    ),
    [303, '/login'],
  );
  t.match(await send('/api/contacts/upload-csv', asEditor(), csv, signOut), [401]);
  t.match(await send('/api/pictures/upload', asEditor(), png(), () => setRole('viewer')), [403]);
  setRole('editor');
  t.strictSame([contacts(), pictures()], [0, 0], 'nothing is stored');

  t.strictSame(await send('/images', asEditor(), png(), () => undefined), [303, '/images']);
  t.match(await send('/api/contacts/upload-csv', asEditor(), csv, () => undefined), [200]);
  t.strictSame([contacts(), pictures()], [1, 1]);
});
