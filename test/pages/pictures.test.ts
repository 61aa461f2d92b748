/** The public addresses of pictures, as mail programs ask for them. */
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { BytesCache } from '../../src/pages/bytes-cache.ts';
import { startApp } from '../support/app.ts';
import { GIF, jpeg, largePng, png, uploadPicture, WEBP } from '../support/pictures.ts';

t.test('a picture is served without keys, for a year, as what it is and nothing else', async (t) => {
  const app = await startApp(t);
  for (const [type, bytes] of [
    ['image/png', png()],
    ['image/jpeg', jpeg()],
    ['image/gif', GIF],
    ['image/webp', WEBP],
  ] as const) {
    const { url } = await uploadPicture(app.one, bytes, 'page.html');
    const { statusCode, headers, rawPayload } = await app.fastify.inject(new URL(url).pathname);
    t.equal(statusCode, 200);
    t.ok(rawPayload.equals(bytes), type);
    t.match(headers, {
      'content-type': type,
      'content-length': String(bytes.length),
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      etag: /^"[0-9a-f]{64}"$/,
    });
    t.notOk('set-cookie' in headers);
  }
});

t.test('whoever has the picture is told so, and HEAD answers without the bytes', async (t) => {
  const app = await startApp(t);
  const path = new URL((await uploadPicture(app.one)).url).pathname;
  const { headers } = await app.fastify.inject(path);
  const etag = String(headers.etag);
  for (const given of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const answer = await app.fastify.inject({ url: path, headers: { 'if-none-match': given } });
    t.equal(answer.statusCode, 304, given);
    t.equal(answer.payload, '');
    t.match(answer.headers, { etag, 'cache-control': /immutable/ });
  }
  t.equal((await app.fastify.inject({ url: path, headers: { 'if-none-match': '"x"' } })).statusCode, 200);
  const head = await app.fastify.inject({ method: 'HEAD', url: path });
  t.strictSame([head.statusCode, head.payload], [200, '']);
  t.match(head.headers, { 'content-type': 'image/png', 'content-length': String(png().length), etag });
});

t.test('an address that no picture has, or has no more, is answered 404 and not kept', async (t) => {
  const app = await startApp(t);
  const { id, url } = await uploadPicture(app.one);
  const { pathname } = new URL(url);
  t.equal((await app.fastify.inject(pathname)).statusCode, 200);
  await app.one.call('POST', '/pictures/delete', { form: { id } });
  for (const path of [pathname, `/pictures/${'0'.repeat(32)}/a.png`, '/pictures/1/a.png']) {
    const { statusCode, headers } = await app.fastify.inject(path);
    t.equal(statusCode, 404, path);
    t.match(headers, { 'cache-control': 'no-store', 'content-type': /^text\/plain/ });
  }
});

t.test('many who open a mail read a part of a picture from disk once, and memory is bounded', async (t) => {
  const reads: string[] = [];
  const cache = new BytesCache(100);
  const get = (key: string) =>
    cache.get(key, () => {
      reads.push(key);
      return key === 'none' ? undefined : Buffer.alloc(40, key);
    });
  t.strictSame(get('a'), Buffer.alloc(40, 'a'));
  for (let i = 0; i < 50; i++) get('a');
  t.strictSame(reads, ['a']);
  get('b');
  get('a');
  get('c');
  t.strictSame(reads, ['a', 'b', 'c'], 'two fit');
  get('a');
  t.strictSame(reads, ['a', 'b', 'c'], 'the one asked for last stays');
  get('b');
  t.strictSame(reads, ['a', 'b', 'c', 'b'], 'the one asked for longest ago gave way');
  t.equal(get('none'), undefined);
  const failing = () =>
    cache.get('d', () => {
      throw new Error('disk');
    });
  t.throws(failing, { message: 'disk' });
  t.throws(failing, { message: 'disk' }, 'a failure is not kept');
});

t.test('a picture of many parts arrives whole', async (t) => {
  const app = await startApp(t);
  const bytes = largePng(1_000_000);
  const path = new URL((await uploadPicture(app.one, bytes)).url).pathname;
  for (const from of ['the disk', 'memory']) {
    const { rawPayload, headers } = await app.fastify.inject(path);
    t.ok(rawPayload.equals(bytes), `from ${from}`);
    t.equal(headers['content-length'], String(bytes.length));
  }
});

t.test('a large picture is read as its client takes it, so that slow clients do not fill the memory', async (t) => {
  const app = await startApp(t);
  const bytes = largePng(2_000_000);
  const path = new URL((await uploadPicture(app.one, bytes)).url).pathname;
  // Before anybody has asked for the picture, so that it is not in memory.
  const answer = await app.fastify.inject({ url: path, payloadAsStream: true });
  t.equal(answer.headers['content-length'], String(bytes.length));
  const stream = answer.stream();
  await once(stream, 'readable');
  app.db.exec('DELETE FROM picture_parts');
  await t.rejects(buffer(stream), 'what the client has not taken was not read');
});
