/** Requests that an application passes on to a second one, which is built when it is first needed. */
import { Writable } from 'node:stream';
import Fastify, { type FastifyInstance } from 'fastify';
import t from 'tap';
import { passUnknown } from '../../src/http/pass-unknown.ts';
import { startApp } from '../support/app.ts';
import { head, listening, MIB, URLENCODED } from './open-connections.ts';

/** Returns an application that answers /page. */
async function withPage(): Promise<FastifyInstance> {
  const app = Fastify();
  app.get('/page', () => 'a page');
  await app.ready();
  return app;
}

t.test('the second application is built once, by the first request for an unknown URL outside the API', async (t) => {
  const app = Fastify();
  let builds = 0;
  const build = async () => {
    builds++;
    return withPage();
  };
  passUnknown(app, build);
  const hooked: string[] = [];
  app.addHook('onRequest', async ({ url }) => void hooked.push(url));
  app.get('/own', () => 'its own');
  app.register(
    async (api) => {
      api.setNotFoundHandler((_request, reply) => reply.code(404).send('of the API'));
    },
    { prefix: '/api' },
  );
  t.equal((await app.inject('/own')).body, 'its own');
  for (const url of ['/api', '/api?x=1', '/api/unknown', '/%61pi/unknown'])
    t.equal((await app.inject(url)).body, 'of the API', url);
  t.equal(builds, 0);
  hooked.length = 0;
  const answers = await Promise.all(['/page', '/page', '/apiary'].map((url) => app.inject(url)));
  t.strictSame(
    answers.map(({ statusCode }) => statusCode),
    [200, 200, 404],
  );
  t.equal(answers[0]?.body, 'a page');
  t.equal(builds, 1);
  t.strictSame(hooked, [], 'later hooks are left to the second application');
});

t.test('if the second application cannot be built, a request is answered 500 and its connection closed', async (t) => {
  const app = Fastify();
  let hasFile = false;
  const build = async () => {
    if (!hasFile) throw new Error('no such file');
    return withPage();
  };
  passUnknown(app, build);
  const failed = await app.inject('/page');
  t.match(failed, { statusCode: 500, headers: { connection: 'close', 'x-content-type-options': 'nosniff' } });
  t.notMatch(failed.body, 'no such file');
  hasFile = true;
  t.equal((await app.inject('/page')).body, 'a page', 'the next request builds it');
});

t.test('the second application is closed with the first, also if it cannot be built', async (t) => {
  let closed = 0;
  const build = async () => {
    const second = Fastify();
    second.addHook('onClose', async () => void closed++);
    await second.ready();
    return second;
  };
  const app = Fastify();
  passUnknown(app, build);
  await app.inject('/page');
  await app.close();
  t.equal(closed, 1);
  const failing = Fastify();
  const second = passUnknown(failing, async () => {
    await new Promise((resolve) => setImmediate(resolve));
    throw new Error('no such file');
  });
  await failing.ready();
  const failure = t.rejects(second(), /no such file/);
  await failing.close();
  await failure;
});

t.test('a body for the dashboard that is refused before it has arrived is discarded', async (t) => {
  const { open } = await listening(t);
  const connection = await open();
  connection.send(head('/login', { 'Content-Type': URLENCODED, 'Content-Length': MIB }) + 'x'.repeat(MIB));
  t.match(await connection.got(/\r\n\r\n/), /^HTTP\/1\.1 403 /);
  connection.send(head('/healthz', {}, 'GET'));
  t.match(await connection.got(/HTTP\/1\.1 200 /), /\r\n/, 'the connection can be used again');
});

t.test('a page of the dashboard is logged as one request with one id', async (t) => {
  const lines: { reqId?: string; msg?: string }[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const { page } = await startApp(t, { LOG_LEVEL: 'debug' }, undefined, stream);
  await page('GET', '/login');
  const requests = lines.filter(({ reqId }) => reqId !== undefined);
  t.strictSame(
    requests.map(({ msg }) => msg),
    ['incoming request', 'request completed'],
  );
  t.equal(new Set(requests.map(({ reqId }) => reqId)).size, 1);
});

t.test('no time limit makes the first page fail on a busy machine', async (t) => {
  const app = await startApp(t);
  for (const one of [app.fastify, await app.fastify.dashboard()]) t.equal(one.initialConfig.pluginTimeout, 0);
});
