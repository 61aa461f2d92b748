/** Requests that an application passes on to a second one, which is built when it is first needed. */
import Fastify, { type FastifyInstance } from 'fastify';
import t from 'tap';
import { passUnknown } from '../../src/http/pass-unknown.ts';

/** Returns an application that answers /page. */
async function withPage(): Promise<FastifyInstance> {
  const app = Fastify();
  app.get('/page', () => 'a page');
  await app.ready();
  return app;
}

t.test('the second application is built by the first request for an unknown URL outside /api, and once', async (t) => {
  const app = Fastify();
  let builds = 0;
  passUnknown(app, async () => {
    builds++;
    return withPage();
  });
  app.get('/own', () => 'its own');
  t.equal((await app.inject('/own')).body, 'its own');
  t.equal((await app.inject('/api/unknown')).statusCode, 404);
  t.equal((await app.inject('/api')).statusCode, 404);
  t.equal(builds, 0);
  const answers = await Promise.all(['/page', '/page', '/apiary'].map((url) => app.inject(url)));
  t.strictSame(
    answers.map(({ statusCode }) => statusCode),
    [200, 200, 404],
  );
  t.equal(answers[0]?.body, 'a page');
  t.equal(builds, 1);
});

t.test(
  'a request is answered 500 if the second application cannot be built, and the next request builds it',
  async (t) => {
    const app = Fastify();
    let hasFile = false;
    passUnknown(app, async () => {
      if (!hasFile) throw new Error('no such file');
      return withPage();
    });
    const failed = await app.inject('/page');
    t.equal(failed.statusCode, 500);
    t.notMatch(failed.body, 'no such file');
    hasFile = true;
    t.equal((await app.inject('/page')).body, 'a page');
  },
);

t.test('the second application is closed with the first', async (t) => {
  const app = Fastify();
  let isClosed = false;
  passUnknown(app, async () => {
    const second = Fastify();
    second.addHook('onClose', async () => {
      isClosed = true;
    });
    await second.ready();
    return second;
  });
  await app.inject('/page');
  await app.close();
  t.ok(isClosed);
});
