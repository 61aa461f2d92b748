/** Connections: what a caller who sends or reads slowly, endlessly or nonsense is answered, and when it is let go. */
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { builtUrls } from '../../src/http/static-files.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { head, listening, MIB, URLENCODED } from './open-connections.ts';

const SECOND = 1000;

/** Waits until the server has no connection. */
async function noConnections({ fastify }: TestApp): Promise<void> {
  const count = () =>
    new Promise<number>((resolve) => fastify.server.getConnections((_error, number) => resolve(number)));
  while ((await count()) > 0) await setTimeout(20);
}

const MULTIPART = 'multipart/form-data; boundary=b';
const FIELD = '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nRead';
const FILE = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\n';

/** How a browser marks a form of the dashboard, which refuses those of other sites. */
const OWN_PAGE = { 'Sec-Fetch-Site': 'same-origin' };
/** A form that has begun and does not end, as each reader of bodies meets it. */
const UNFINISHED: [path: string, type: string, beginning: string][] = [
  ['/api/contacts-type/add', URLENCODED, 'name=Read'],
  ['/api/contacts-type/add', 'application/json', '{"name":"Read'],
  ['/api/contacts-type/add', MULTIPART, FIELD],
  ['/u/x', URLENCODED, 'form=gr'],
  ['/u/x', MULTIPART, FIELD],
  ['/login', URLENCODED, 'email=zo'],
];

t.test('without the right keys no byte of a body is waited for', async (t) => {
  const { app, open } = await listening(t);
  const wrong = { ...app.one.headers, SecretKey: 'sk_wrong' };
  for (const path of ['/api/contacts-type/add', '/api/contacts/upload-csv']) {
    for (const type of [URLENCODED, MULTIPART, 'application/json', 'text/plain', 'text/xml']) {
      for (const headers of [{}, wrong]) {
        const connection = await open();
        connection.send(head(path, { ...headers, 'Content-Type': type, 'Content-Length': 4 * MIB }));
        t.match(await connection.got(/\}\n$/), /^HTTP\/1\.1 401 .*"status":"failed"/s, `${path} ${type}`);
      }
    }
  }
});

t.test('a refused body is discarded as it arrives, after which the connection can be used again', async (t) => {
  const { app, open } = await listening(t);
  const connection = await open();
  connection.send(head('/api/contacts-type/add', { 'Content-Type': URLENCODED, 'Content-Length': MIB }));
  connection.send('x'.repeat(MIB));
  await connection.got(/^HTTP\/1\.1 401 .*\}\n$/s);
  connection.send(head('/api/contacts-type', app.one.headers, 'GET'));
  t.match(await connection.got(/contactTypes/), /HTTP\/1\.1 200/);
});

t.test('a connection whose refused body does not end is closed', async (t) => {
  const { app, open } = await listening(t);
  const connection = await open();
  connection.send(head('/api/contacts-type/add', { 'Content-Type': URLENCODED, 'Content-Length': MIB }));
  await connection.got(/^HTTP\/1\.1 401 /);
  app.clock.advance(6 * SECOND);
  await connection.closed();
  t.pass();
});

t.test('an unfinished form is answered 408 within a minute and its connection closed', async (t) => {
  const { app, open, allIsRead } = await listening(t);
  await app.fastify.dashboard();
  for (const transfer of [{ 'Content-Length': 60_000 }, { 'Transfer-Encoding': 'chunked' }]) {
    const connections = await Promise.all(
      UNFINISHED.map(async ([path, type, beginning]) => {
        const connection = await open();
        const body = 'Transfer-Encoding' in transfer ? `${beginning.length.toString(16)}\r\n${beginning}` : beginning;
        connection.send(head(path, { ...app.one.headers, ...OWN_PAGE, 'Content-Type': type, ...transfer }) + body);
        return connection;
      }),
    );
    await allIsRead();
    app.clock.advance(55 * SECOND);
    for (const [at, connection] of connections.entries())
      t.match(await connection.closed(), /^HTTP\/1\.1 408 .*connection: close/is, `${UNFINISHED[at]}`);
  }
  t.equal((await app.one.call('GET', '/contacts-type')).body.message.contactTypes.length, 0, 'nothing was done');
});

t.test('an upload may take its time while it comes on, and ends when it stands still', async (t) => {
  const { app, open, allIsRead } = await listening(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const form = `--b\r\nContent-Disposition: form-data; name="contact_type_id"\r\n\r\n1\r\n${FILE}`;
  const rows = (from: number) => Array.from({ length: 5000 }, (_, at) => `reader${from + at}@example.org\n`).join('');
  const end = '\r\n--b--\r\n';
  const rounds = [0, 5000, 10_000].map(rows);
  const length = form.length + rounds.join('').length + end.length;
  const headers = { ...app.one.headers, 'Content-Type': MULTIPART, 'Content-Length': length };
  const steady = await open();
  steady.send(head('/api/contacts/upload-csv', headers) + form);
  for (const round of rounds) {
    const still = await open();
    still.send(head('/api/contacts/upload-csv', headers) + form);
    steady.send(round);
    await allIsRead();
    app.clock.advance(31 * SECOND);
    t.match(await still.closed(), /^HTTP\/1\.1 408 /);
    t.notOk(steady.isClosed());
  }
  steady.send(end);
  t.match(await steady.got(/\}\n$/), /HTTP\/1\.1 200 .*Imported Successfully/s);
});

t.test('unfinished bodies hold no more than a bounded amount of memory: the oldest give way', async (t) => {
  const { app, open } = await listening(t);
  const headers = { ...app.one.headers, 'Content-Type': URLENCODED, 'Content-Length': 4 * MIB };
  const connections = [];
  for (let at = 0; at < 24; at++) {
    const connection = await open();
    connection.send(head('/api/contacts-type/add', headers) + 'x'.repeat(4 * MIB - 1));
    connections.push(connection);
  }
  const [first, last] = [connections[0], connections.at(-1)];
  t.match(await first?.closed(), /^HTTP\/1\.1 503 .*retry-after: 1/is);
  while (connections.filter((connection) => connection.isClosed()).length < 8) await setTimeout(10);
  t.notOk(last?.isClosed(), 'the newest goes on');
  t.equal((await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } })).status, 200);
});

t.test('beyond the most connections a new one is turned away, and idle ones make room for the next', async (t) => {
  const { app, open } = await listening(t);
  app.fastify.server.maxConnections = 3;
  for (let at = 0; at < 3; at++) {
    const idle = await open();
    idle.send(head('/healthz', {}, 'GET'));
    await idle.got(/alive/);
  }
  const late = await open();
  t.equal(await late.closed(), '');
  let answer = '';
  while (answer === '') {
    const next = await open();
    next.send(head('/healthz', {}, 'GET'));
    answer = await next.got(/alive/).catch(() => '');
  }
  t.match(answer, /^HTTP\/1\.1 200/);
});

t.test(
  'strangers who finish no request give way to the next, the oldest first; a body with keys does not',
  async (t) => {
    const { app, open } = await listening(t);
    const form = { 'Content-Type': URLENCODED, 'Content-Length': 100 };
    const trusted = await open();
    trusted.send(head('/api/contacts-type/add', { ...app.one.headers, ...form }));
    const unfinished = ['', 'GET /healthz HTTP/1.1\r\nX: ', head('/u/x', form), `${head('/healthz', {}, 'GET')}GET /`];
    const strangers = [];
    for (let at = 0; at < 1100; at++) {
      const stranger = await open();
      stranger.send(unfinished[at % unfinished.length] ?? '');
      strangers.push(stranger);
    }
    const next = await open();
    next.send(head('/healthz', {}, 'GET'));
    t.match(await next.got(/alive/), /^HTTP\/1\.1 200/);
    t.ok(strangers.slice(0, 100).every((stranger) => stranger.isClosed()));
    t.notOk(trusted.isClosed());
    trusted.send(`name=${'R'.repeat(95)}`);
    t.match(await trusted.got(/\}\n$/), /^HTTP\/1\.1 200/);
  },
);

t.test('a request is answered once, whatever becomes of its connection afterwards', async (t) => {
  const { open } = await listening(t);
  const connection = await open();
  // The page refuses the form of another site before the body; then the body turns out to be no HTTP.
  connection.send(head('/login', { 'Content-Type': URLENCODED, 'Transfer-Encoding': 'chunked' }));
  await connection.got(/<\/html>\s*$/);
  connection.send(`5;${'x'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`);
  t.equal((await connection.closed()).match(/^HTTP\/1\.1 /gm)?.length, 1);
});

t.test('a reader that takes nothing of its answer is let go', async (t) => {
  const { app, open } = await listening(t);
  app.fastify.server.timeout = 200;
  const stalled = await open();
  stalled.socket.pause();
  for (let at = 0; at < 40; at++) stalled.send(head(builtUrls('grapes.js').url, {}, 'GET'));
  await noConnections(app);
  t.pass();
});

t.test('headers that do not end are answered 408 and the connection closed', async (t) => {
  const { app, open } = await listening(t);
  t.ok(app.fastify.server.headersTimeout <= 30 * SECOND);
  app.fastify.server.headersTimeout = 100;
  const connection = await open();
  connection.send('GET /healthz HTTP/1.1\r\nX-Endless: ');
  t.match(await connection.closed(), /^HTTP\/1\.1 408 .*"errors":"Request Timeout"/s);
});

t.test(
  'bytes that are no HTTP are answered and the connection let go, though the other side keeps it open',
  async (t) => {
    const { app, open } = await listening(t);
    const connection = await open();
    connection.socket.allowHalfOpen = true;
    connection.send('NOT HTTP AT ALL\r\n\r\n');
    t.match(await connection.got(/\}\n$/), /^HTTP\/1\.1 400 .*"status":"failed"/s);
    await noConnections(app);
  },
);

t.test('TRACE is answered 405 everywhere, with the methods that are allowed', async (t) => {
  const { app, open } = await listening(t);
  for (const path of ['/', '/u/x', '/api/contacts-type', '/api/nothing']) {
    const connection = await open();
    connection.send(head(path, app.one.headers, 'TRACE'));
    const answer = await connection.got(/\}\n$/);
    t.match(answer, /^HTTP\/1\.1 405 .*\r\nallow: GET, HEAD, POST, DELETE\r\n.*"errors":"Method Not Allowed"/is, path);
    t.notMatch(answer, String(app.one.headers.SecretKey), 'nothing is echoed');
  }
});

t.test('a request through a trusted proxy has the address the proxy names, and no other has', async (t) => {
  const cases: [setting: string, peer: string, forwarded: string, expected: string][] = [
    ['off', '127.0.0.1', '203.0.113.9', '127.0.0.1'],
    ['on', '127.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['on', '10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['on', '198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['on', '127.0.0.1', '192.0.2.1, 203.0.113.9', '203.0.113.9'],
    ['198.51.100.0/24', '198.51.100.7', '203.0.113.9', '203.0.113.9'],
    ['198.51.100.0/24', '127.0.0.1', '203.0.113.9', '127.0.0.1'],
    ['198.51.100.7, 2001:db8::/32', '2001:db8::5', '192.0.2.1, 203.0.113.9, 198.51.100.7', '203.0.113.9'],
  ];
  for (const [TRUST_PROXY, remoteAddress, forwarded, expected] of cases) {
    const { fastify } = await startApp(t, { TRUST_PROXY });
    fastify.get('/address', async (request) => request.ip);
    const headers = { 'x-forwarded-for': forwarded };
    const { payload } = await fastify.inject({ url: '/address', remoteAddress, headers });
    t.equal(payload, expected, `${TRUST_PROXY}: ${forwarded} by ${remoteAddress}`);
  }
});
