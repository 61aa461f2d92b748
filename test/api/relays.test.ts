/** The relays kept in the file: what is stored and told of them, and that mail follows them without a restart. */
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { relayOf, storedRelays } from '../../src/delivery/transport/relays/in-use.ts';
import { isPrivateHost } from '../../src/delivery/transport/relays/without-tls.ts';
import { type CallOptions, startApp } from '../support/app.ts';
import { addPerson, callerOf } from '../support/people.ts';
import { createSend, readyToSend } from '../support/single-sends.ts';
import { followingCourier } from '../support/smtp/following-courier.ts';
import { startSink } from '../support/smtp/scripted-relay.ts';

const RELAY = { name: 'Provider', host: 'smtp.example.com', port: 587, security: 'starttls' };
const LOGIN = { username: 'shop', password: 'pw-canary-1' };
/** Mail of senders that are not verified leaves, too, so that no test has to verify one. */
const SETTINGS = { SENDER_VERIFICATION: 'optional' };

/** An application with an operator who is signed in. */
async function startOperated(t: Test, settings: Record<string, string> = {}) {
  const app = await startApp(t, settings);
  const operator = callerOf(app, addPerson(app));
  const call = (method: string, path: string, options?: CallOptions) => operator.call(method, path, options);
  const save = (form: Record<string, unknown>) => call('POST', '/relays/save', { form: { ...RELAY, ...form } });
  const list = async () => (await call('GET', '/relays')).body.message;
  return { app, call, save, list };
}

t.test('a relay is kept with its password, which is never given back', async (t) => {
  const { app, save, list, call } = await startOperated(t);
  const saved = await save({ ...LOGIN, host: ' SMTP.Example.COM ', rate: 14 });
  t.strictSame([saved.status, saved.body.message], [200, { id: 1 }]);
  const { relays, ways } = await list();
  const stored = { ...RELAY, id: 1, username: 'shop', has_password: 1, rate: 14, connections: 20 };
  t.match(relays, [{ ...stored, accepted_at: null, failed_at: null }]);
  t.strictSame(ways, { environment: [], has_public_url: 1, queued: 0 });
  t.strictSame(storedRelays(app.db)[0]?.login, { user: 'shop', password: LOGIN.password }, 'the courier has it');
  t.notMatch((await call('GET', '/relays')).text, 'canary');
  t.notMatch(JSON.stringify(app.db.prepare('SELECT * FROM audit_log').all()), 'canary');
  const file = [app.path, `${app.path}-wal`].map((path) => readFileSync(path).toString('latin1')).join('');
  t.notOk(file.includes(LOGIN.password), 'it is sealed in the file');
});

t.test('a stored password stays where the field is empty, and goes to no other server', async (t) => {
  const { app, save, list } = await startOperated(t);
  await save(LOGIN);
  const change = (form: Record<string, unknown>) => save({ id: 1, username: 'shop', password: '', ...form });
  const password = () => storedRelays(app.db)[0]?.login?.password;
  t.equal((await change({ name: 'Renamed', connections: 3 })).status, 200);
  t.strictSame([(await list()).relays[0].name, password()], ['Renamed', LOGIN.password]);
  for (const elsewhere of [{ host: 'evil.example.net' }, { port: 588 }]) {
    const { status, body } = await change(elsewhere);
    t.equal(status, 422);
    t.match(body.errors.password, [/Type the password again/]);
  }
  t.equal(password(), LOGIN.password);
  const row = app.db.prepare<[], Parameters<typeof relayOf>[1]>('SELECT * FROM relays').get();
  if (row === undefined) throw new Error('no relay');
  t.equal(
    relayOf(app.db, { ...row, host: 'evil.example.net' }).login?.password,
    '',
    'it opens for its own server only',
  );
  t.equal((await change({ host: 'other.example.com', password: 'pw-canary-2' })).status, 200);
  t.equal(password(), 'pw-canary-2');
  t.equal((await change({ host: 'other.example.com', username: '' })).status, 200);
  t.strictSame([storedRelays(app.db)[0]?.login, (await list()).relays[0].has_password], [null, 0]);
});

t.test('what is wrong with a relay is said beside its field', async (t) => {
  const { save, call } = await startOperated(t);
  const problems = async (form: Record<string, unknown>) => Object.keys((await save(form)).body.errors ?? {});
  for (const host of ['smtp://mail.example.com', 'mail.example.com:587', 'a b', 'user@mail.example.com', '[::1', ''])
    t.strictSame(await problems({ host }), ['host'], host);
  for (const port of [0, 65_536, 'x', '']) t.strictSame(await problems({ port }), ['port'], `${port}`);
  t.strictSame(await problems({ security: 'ssl' }), ['security']);
  t.strictSame(await problems({ security: 'none' }), ['security'], 'no plain text to the internet');
  t.strictSame(await problems({ security: 'none', host: '10.0.0.2', ...LOGIN }), ['security'], 'nor a password');
  t.strictSame(await problems({ username: 'shop' }), ['password']);
  t.strictSame(await problems({ password: 'x' }), ['username']);
  t.strictSame(await problems({ connections: 201, rate: -1 }), ['rate', 'connections']);
  t.strictSame(await problems({ name: '' }), ['name']);
  for (const form of [
    { security: 'none', host: '10.0.0.2' },
    { security: 'none', host: 'localhost', ...LOGIN },
    { host: '[2001:db8::1]' },
    { host: 'bücher.example' },
  ])
    t.equal((await save(form)).status, 200, form.host);
  t.equal((await save({ id: 99 })).status, 404);
  for (const path of ['/relays/delete', '/relays/test'])
    t.equal((await call('POST', path, { form: { id: 99 } })).status, 404, path);
  for (let more = 5; more <= 20; more++) t.equal((await save({})).status, 200);
  t.match((await save({})).body, { errors: /There can be at most 20 SMTP servers/ });
});

t.test('plain text goes to this machine and into private networks only', async (t) => {
  for (const host of ['localhost', '127.0.0.1', '::1', '10.1.2.3', '192.168.0.9', 'fd00::1', 'mailpit', 'a.internal'])
    t.ok(isPrivateHost(host), host);
  for (const host of ['smtp.example.com', '8.8.8.8', '2001:db8::1', '172.32.0.1', 'local.example'])
    t.notOk(isPrivateHost(host), host);
});

t.test('SMTP_URL in the environment decides, and is told by host and port alone', async (t) => {
  const { app, save, list, call } = await startOperated(t, { SMTP_URL: 'smtp://env:pw-canary@relay.example:2525' });
  await save(LOGIN);
  const { relays, ways } = await list();
  t.strictSame([relays.length, ways.environment], [1, ['relay.example:2525']]);
  const { body, text } = await call('GET', '/health');
  t.strictSame(body.message.health.relays, ['relay.example:2525']);
  t.notMatch(text, 'canary');
  app.db.exec(`INSERT INTO mailings (user_id, owner_kind, owner_id, content, state, created_at)
    VALUES (1, 'system', 0, '{}', 'paused', '2026-01-01T00:00:00.000000Z')`);
  t.equal((await call('POST', '/relays/delete', { form: { id: 1 } })).status, 200);
});

t.test('mail follows the relays of the file without a restart, and the last one stays while mail waits', async (t) => {
  const { app, body } = await readyToSend(t, SETTINGS, followingCourier);
  const operator = callerOf(app, addPerson(app));
  const [first, second] = [await startSink(t), await startSink(t)];
  const add = async (sink: { port: number }, more = {}) => {
    const form = { name: 'Relay', host: '127.0.0.1', port: sink.port, security: 'none', ...more };
    return (await operator.call('POST', '/relays/save', { form })).body.message.id;
  };
  const send = async () => {
    await createSend(app, body);
    app.clock.advance(11_000);
    await app.background();
  };
  const counts = () => [
    app.db.prepare('SELECT count(*) FROM outbox').pluck().get(),
    first.received.length,
    second.received.length,
  ];
  await send();
  t.strictSame(counts(), [3, 0, 0], 'without a relay it stays in the outbox');
  const one = await add(first);
  await send();
  t.strictSame(counts(), [3, 3, 0], 'it goes to the new relay');
  const two = await add(second);
  t.equal((await operator.call('POST', '/relays/order', { form: { strIds: [two] } })).status, 200);
  await send();
  t.strictSame(counts(), [3, 3, 3], 'the first in the order gets it');
  const remove = (id: number) => operator.call('POST', '/relays/delete', { form: { id } });
  t.equal((await remove(one)).status, 200);

  second.script = { rcpt: '451 4.2.1 later\r\n' };
  await send();
  const refused = await remove(two);
  t.strictSame([refused.status, refused.body.errors.includes('waiting e-mails (3)')], [409, true]);
  second.script = {};
  app.clock.advance(60_000);
  await app.background();
  t.strictSame(counts(), [3, 3, 6], 'each person got each mail once');
  t.equal((await remove(two)).status, 200);
  await send();
  t.strictSame(counts(), [6, 3, 6]);
});

t.test('a relay that refuses the login stops alone: the next takes over, and the list says why', async (t) => {
  const { app, body } = await readyToSend(t, SETTINGS, followingCourier);
  const operator = callerOf(app, addPerson(app));
  const broken = await startSink(t, { offers: ['AUTH PLAIN'], auth: '535 5.7.8 wrong password\r\n' });
  const works = await startSink(t);
  const form = { name: 'Relay', host: '127.0.0.1', security: 'none' };
  await operator.call('POST', '/relays/save', { form: { ...form, port: broken.port, ...LOGIN } });
  await operator.call('POST', '/relays/save', { form: { ...form, port: works.port } });
  await createSend(app, body);
  app.clock.advance(11_000);
  await app.background();
  t.strictSame([broken.received.length, works.received.length], [0, 3]);
  const { relays } = (await operator.call('GET', '/relays')).body.message;
  t.match(relays, [
    { failure: '535 5.7.8 wrong password', failed_at: /^2/, accepted_at: null },
    { failure: null, accepted_at: /^2/ },
  ]);
  await operator.call('POST', '/relays/save', { form: { ...form, id: 1, port: works.port } });
  t.match((await operator.call('GET', '/relays')).body.message.relays[0], { failure: null, failed_at: null });
});

t.test('a test asks for the sender that is chosen and the person who is signed in, one at a time', async (t) => {
  const { app, save, call } = await startOperated(t);
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const sink = await startSink(t, { mail: () => asked.then(() => '550 5.7.1 not yours\r\n') });
  await save({ host: '127.0.0.1', port: sink.port, security: 'none' });
  app.db.exec(`INSERT INTO senders (user_id, utr, from_name, from_email, reply_to_email, country_id, company_address, nickname, send_at, created_at, updated_at)
    VALUES (1, 'a', 'Shop', 'news@shop.example', 'news@shop.example', 1, 'x', 'x', '', '', '')`);
  const test = (form: Record<string, unknown>) => call('POST', '/relays/test', { form: { id: 1, ...form } });
  const under = test({ sender_id: 1 });
  while (sink.commands.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  t.match(await test({}), { status: 409, body: { errors: /being tested/ } });
  answer();
  t.match((await under).body.message.test, {
    stage: 'mail',
    from: 'news@shop.example',
    to: 'owner@example.org',
    code: 'relay_test_sender',
    reply: '550 5.7.1 not yours',
  });
  t.match((await call('GET', '/relays')).body.message.relays[0], { failure: '550 5.7.1 not yours' });
  sink.script = {};
  t.match((await test({})).body.message.test, { stage: 'done', from: 'owner@example.org', reply: null });
  t.match(
    sink.commands,
    ['EHLO', 'MAIL FROM:<news@shop.example>'].map((line) => new RegExp(`^${line}`)),
  );
  t.equal((await test({ sender_id: 9 })).status, 422);
  t.match((await call('GET', '/overview')).body.message.overview.setup.relay, { state: 'answers' });
});
