/** The public address in the file: who saves it, what is refused, and that mail and HELO follow it without a restart. */
import t, { type Test } from 'tap';
import { configuredName } from '../../src/delivery/transport/smtp/helo.ts';
import { type CallOptions, startApp, type TestApp } from '../support/app.ts';
import { addPerson, callerOf } from '../support/people.ts';
import { createSend, readyToSend } from '../support/single-sends.ts';
import { followingCourier } from '../support/smtp/following-courier.ts';
import { startSink } from '../support/smtp/scripted-relay.ts';

const FRESH = { PUBLIC_URL: '', SENDER_VERIFICATION: 'optional' };

function operatorOf(app: TestApp) {
  const operator = callerOf(app, addPerson(app));
  const call = (method: string, path: string, options?: CallOptions) => operator.call(method, path, options);
  const save = (public_url: unknown) => call('POST', '/public-address/save', { form: { public_url } });
  const read = async () => (await call('GET', '/public-address')).body.message.public_address;
  return { call, save, read };
}

async function startOperated(t: Test, settings: Record<string, string> = {}) {
  const app = await startApp(t, settings);
  return { app, ...operatorOf(app) };
}

t.test('an address is kept as an origin, with an entry in the audit log, and said wherever it counts', async (t) => {
  const { app, call, save, read } = await startOperated(t, FRESH);
  t.strictSame(await read(), { url: '', source: 'none', seen: null });
  t.equal((await save(' HTTPS://Mail.Example.COM:443/ ')).status, 200);
  t.strictSame(await read(), { url: 'https://mail.example.com', source: 'file', seen: null });
  t.match(app.db.prepare("SELECT subject FROM audit_log WHERE action = 'public_address_changed'").pluck().all(), [
    'https://mail.example.com',
  ]);
  t.equal((await call('GET', '/health')).body.message.health.public_url, 'https://mail.example.com');
  t.equal((await call('GET', '/relays')).body.message.ways.has_public_url, 1);
  t.equal((await call('GET', '/overview')).body.message.overview.setup.public_url, 1);
});

t.test(
  'what is no origin, or leads to this machine only, is refused beside its field and changes nothing',
  async (t) => {
    const { save, read } = await startOperated(t, FRESH);
    await save('https://mail.example.com');
    const refused = async (given: unknown, text: RegExp) => {
      const { status, body } = await save(given);
      t.equal(status, 422, String(given));
      t.match(body.errors, { public_url: [text] }, String(given));
    };
    const noOrigins = [
      'mail.example.com',
      'https://mail.example.com/path',
      'https://mail.example.com?x',
      'https://a#x',
      'https://u:pw@a',
      'ftp://a',
      'javascript:alert(1)',
      'https://',
      'https://a b',
      'https://a"onmouseover=alert(1)',
      "https://a'b",
      'https://a,b',
      'https://a&b',
      'blob:https://a.example',
      'https://a:99999',
    ];
    for (const given of noOrigins) await refused(given, /must be an http or https address/);
    const near = [
      'http://localhost:3000',
      'http://shop.localhost',
      'http://localhost.',
      'http://127.0.0.1',
      'http://127.1',
      'http://2130706433',
      'http://[::1]:3000',
      'http://[::]',
      'http://0.0.0.0',
      'http://[::ffff:127.0.0.1]',
    ];
    for (const given of near) await refused(given, /leads everybody to their own machine/);
    await refused('https://mail.example.com\r\nBcc: x@example.com', /line breaks/);
    await refused('', /required/);
    await refused(`https://${'a'.repeat(300)}.example`, /255/);
    t.equal((await read()).url, 'https://mail.example.com');
  },
);

t.test('the environment variable PUBLIC_URL wins, and saving is refused with a sentence', async (t) => {
  const { save, read } = await startOperated(t, { PUBLIC_URL: 'https://env.example.com' });
  t.match(await save('https://mail.example.com'), {
    status: 409,
    body: { errors: /^The environment variable PUBLIC_URL/ },
  });
  t.match(await read(), { url: 'https://env.example.com', source: 'environment' });
});

t.test('only operators read and save it: no keys, no other role, no owner of another account', async (t) => {
  const { app, read } = await startOperated(t, FRESH);
  const callers = [
    app.one,
    callerOf(app, addPerson(app, 'editor')),
    callerOf(app, addPerson(app, 'viewer')),
    callerOf(app, addPerson(app, 'owner', { name: 'guest', accountId: 2 })),
  ];
  for (const { call } of callers) {
    t.equal((await call('GET', '/public-address')).status, 403);
    const form = { public_url: 'https://evil.example.net' };
    t.equal((await call('POST', '/public-address/save', { form })).status, 403);
  }
  t.equal((await app.anonymous.call('GET', '/public-address')).status, 401);
  t.equal((await read()).source, 'none');
});

t.test(
  'saving it releases the mail that waits behind a relay, and links lead to it, also after it changes',
  async (t) => {
    const { app, body } = await readyToSend(t, FRESH, followingCourier);
    const { call, save } = operatorOf(app);
    const sink = await startSink(t);
    const relay = { name: 'Relay', host: '127.0.0.1', port: sink.port, security: 'none' };
    t.equal((await call('POST', '/relays/save', { form: relay })).status, 200);
    const send = async () => {
      await createSend(app, body);
      app.clock.advance(11_000);
      await app.background();
    };
    await send();
    t.equal(sink.received.length, 0, 'without an address it waits');
    t.match(await app.page('GET', '/readyz'), { text: /public address is not/ });

    await save('https://first.example.com');
    await app.background();
    t.equal(sink.received.length, 3);
    const linksOf = (from: number, host: string) =>
      sink.received.slice(from).every((mail) => mail.message.includes(`https://${host}/u/`));
    t.ok(linksOf(0, 'first.example.com'));

    await save('https://second.example.com');
    await send();
    t.ok(linksOf(3, 'second.example.com') && sink.received.length === 6);

    app.restartBackground(followingCourier);
    await send();
    t.ok(linksOf(6, 'second.example.com') && sink.received.length === 9, 'it is kept over a restart');
  },
);

t.test('a look at the address is told with it, until it changes', async (t) => {
  const { call, save, read } = await startOperated(t, FRESH);
  await save('http://10.255.255.1:1');
  t.equal((await read()).seen, null);
  const app = await startOperated(t, { PUBLIC_URL: 'http://127.0.0.1:1' });
  t.equal((await app.call('POST', '/health/public-address')).status, 200);
  t.match((await app.read()).seen, { state: 'fail', code: 'address_refused', advice: [/reverse proxy/] });
  t.equal((await call('GET', '/public-address')).status, 200);
});

t.test('the name for EHLO is the setting, else the host of the public address', async (t) => {
  t.equal(configuredName('given.example.com', 'https://mail.example.com'), 'given.example.com');
  t.equal(configuredName('', 'https://mail.example.com'), 'mail.example.com');
  t.equal(configuredName('', 'http://127.0.0.1:3000'), '');
});
