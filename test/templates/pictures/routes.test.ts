/** The picture library: what is accepted, who sees it, and what is kept in which number. */

import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import {
  MAX_ACCOUNT_BYTES,
  MAX_PICTURE_BYTES,
  removeUnfinishedPictures,
} from '../../../src/templates/pictures/pictures.ts';
import { type Caller, startApp, type TestApp } from '../../support/app.ts';
import { addPerson, callerOf } from '../../support/people.ts';
import { GIF, largePng, type Picture, png, uploadPicture } from '../../support/pictures.ts';
import { ownTemporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const upload = (caller: Caller, content: Buffer | string, filename = 'a.png', more: [string, string][] = []) =>
  caller.call('POST', '/pictures/upload', { multipart: [...more, ['file', { filename, content }]] });
const countOf = (app: TestApp, table: string) => app.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();

t.test('an uploaded picture is in the list with what its bytes say, newest first, and is found by name', async (t) => {
  const app = await startApp(t);
  const first = await uploadPicture(app.one, png(31, 7), 'Sommer Größe.png');
  t.match(first, {
    ...{ id: 1, name: 'Sommer Größe', alt: '', kind: 'png', width: 31, height: 7, size: png(31, 7).length },
    ...{ single_sends: 0, automation_mails: 0, sent_mails: 0 },
    url: /^http:\/\/mail\.example\.com\/pictures\/[0-9a-f]{32}\/sommer-gro-e\.png$/,
  });
  const { body } = await upload(app.one, GIF, 'b.exe', [
    ['name', ' A kite '],
    ['alt', 'A red kite'],
  ]);
  t.match(body.message, { picture: { name: 'A kite', alt: 'A red kite', kind: 'gif' }, is_new: 1 });
  const namesIn = async (query: Record<string, unknown>) =>
    (await app.one.call('GET', '/pictures', { query })).body.message.pictures.map(({ name }: Picture) => name);
  t.strictSame(await namesIn({}), ['Sommer Größe', 'A kite']);
  t.strictSame(await namesIn({ order: 'newest' }), ['A kite', 'Sommer Größe']);
  t.strictSame(await namesIn({ limit: 1, after_id: 1 }), ['A kite']);
  t.strictSame(await namesIn({ search: 'GRÖSS' }), []);
  t.strictSame(await namesIn({ search: 'gröSSE'.replace('SS', 'ß') }), ['Sommer Größe']);
  t.strictSame(await namesIn({ search: 'RED' }), ['A kite'], 'by the alternative text too');
});

t.test('the bytes decide and not the name: anything but a whole picture is refused with the reason', async (t) => {
  const app = await startApp(t);
  for (const [content, reason] of [
    ['<svg xmlns="http://www.w3.org/2000/svg"/>', /SVG/],
    ['<html></html>', /must be an image/],
    ['', /must be an image/],
    [png().subarray(0, -5), /cut off/],
    [Buffer.concat([GIF, Buffer.from('<script>')]), /after the end/],
  ] as const) {
    const { status, body } = await upload(app.one, content);
    t.equal(status, 422, String(reason));
    t.match(body, { status: 'failed', errors: { file: [reason] } });
  }
  const missing = await app.one.call('POST', '/pictures/upload', { multipart: [['name', 'x']] });
  t.strictSame([missing.status, missing.body.errors], [422, { file: ['The file field is required.'] }]);
  const named = await upload(app.one, png(), 'a.png', [
    ['name', 'x'.repeat(256)],
    ['alt', 'two\nlines'],
  ]);
  t.equal(named.status, 422);
  t.match(named.body.errors, { name: [/greater than 255/], alt: [/line breaks/] });
  t.equal(countOf(app, 'pictures'), 0);
  t.equal(countOf(app, 'picture_parts'), 0);
});

t.test('a picture of 5 MiB is accepted and served as it came, and one byte more is refused', async (t) => {
  const app = await startApp(t);
  const most = largePng(MAX_PICTURE_BYTES - png().length - 40);
  t.equal(most.length <= MAX_PICTURE_BYTES && most.length > MAX_PICTURE_BYTES - 100, true);
  const { url } = await uploadPicture(app.one, most);
  const served = await app.fastify.inject(new URL(url).pathname);
  t.ok(served.rawPayload.equals(most));
  const more = await upload(app.one, Buffer.concat([most, Buffer.alloc(100)]));
  t.equal(more.status, 413);
  t.match(more.body.errors, { file: ['The file may not be greater than 5242880 bytes.'] });
  t.equal((await upload(app.one, Buffer.alloc(6 * 1024 * 1024))).status, 413);
  t.equal(countOf(app, 'pictures'), 1);
});

t.test('the same picture is stored once in an account, and by itself in another', async (t) => {
  const app = await startApp(t);
  const first = await uploadPicture(app.one);
  const again = (await upload(app.one, png(), 'other name.png')).body.message;
  t.match(again, { picture: first, is_new: 0 });
  t.equal(countOf(app, 'pictures'), 1);
  const [one, two] = await Promise.all([uploadPicture(app.one, GIF), uploadPicture(app.one, GIF)]);
  t.equal(one.id, two.id, 'also when both come at once');
  t.equal(countOf(app, 'pictures'), 2);
  const others = await uploadPicture(app.two);
  t.not(others.url, first.url);
  t.equal(countOf(app, 'picture_parts'), 3);
});

t.test('the pictures of an account take 500 MiB at most', async (t) => {
  const app = await startApp(t);
  const { id } = await uploadPicture(app.one);
  app.db.prepare('UPDATE pictures SET size = ? WHERE id = ?').run(MAX_ACCOUNT_BYTES - GIF.length, id);
  await uploadPicture(app.one, GIF);
  const { status, body } = await upload(app.one, png(9, 9));
  t.equal(status, 409);
  t.match(body.errors, /500 MB/);
  t.equal((await upload(app.two, png(9, 9))).status, 200, 'another account has its own');
  t.equal(countOf(app, 'picture_parts'), 3);
});

t.test('a picture of another account is answered like one that does not exist', async (t) => {
  const app = await startApp(t);
  const { id } = await uploadPicture(app.one);
  for (const [method, path] of [
    ['GET', 'details'],
    ['GET', 'uses'],
    ['POST', 'update'],
    ['POST', 'delete'],
  ] as const) {
    const ask = (given: unknown) =>
      app.two.call(
        method,
        `/pictures/${path}`,
        method === 'GET' ? { query: { id: given } } : { form: { id: given, name: 'x' } },
      );
    const answer = await ask(id);
    t.equal(answer.status, 404, path);
    t.equal(answer.text, (await ask(999)).text, path);
  }
  t.strictSame((await app.two.call('GET', '/pictures')).body.message.pictures, []);
  t.equal(countOf(app, 'pictures'), 1);
});

t.test('editors add, change and delete pictures; viewers look at them', async (t) => {
  const app = await startApp(t);
  const [editor, viewer] = [callerOf(app, addPerson(app, 'editor')), callerOf(app, addPerson(app, 'viewer'))];
  const { id } = await uploadPicture(editor);
  const form = { id, name: 'New name', alt: 'Books on a shelf' };
  for (const [path, given] of [
    ['/pictures/upload', { multipart: [['file', { filename: 'a', content: png() }]] as never }],
    ['/pictures/update', { form }],
    ['/pictures/delete', { form }],
  ] as const)
    t.equal((await viewer.call('POST', path, given)).status, 403, path);
  t.equal((await editor.call('POST', '/pictures/update', { form })).status, 200);
  const read = await viewer.call('GET', '/pictures/details', { query: { id } });
  t.match(read.body.message.picture, form);
  await editor.call('POST', '/pictures/update', { form: { id, name: 'Newer' } });
  t.match((await viewer.call('GET', '/pictures/details', { query: { id } })).body.message.picture, {
    name: 'Newer',
    alt: form.alt,
    url: /summer-sale\.png$/,
  });
  await editor.call('POST', '/pictures/update', { form: { id, name: 'Newer', alt: '' } });
  t.equal((await viewer.call('GET', '/pictures/details', { query: { id } })).body.message.picture.alt, '');
  t.match((await editor.call('POST', '/pictures/update', { form: { id, name: '' } })).body.errors, {
    name: ['The name field is required.'],
  });
  t.equal((await editor.call('POST', '/pictures/delete', { form: { id } })).status, 200);
  t.equal(countOf(app, 'pictures'), 0);
  t.equal(countOf(app, 'picture_parts'), 0);
});

t.test('an upload that breaks off leaves nothing', async (t) => {
  const app = await startApp(t);
  await app.fastify.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.fastify.server.address() as AddressInfo;
  const folder = ownTemporaryFolder(t);
  const body = Buffer.concat([
    Buffer.from('--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'),
    largePng(2 * 1024 * 1024),
    Buffer.from('\r\n--x--\r\n'),
  ]);
  const headers = {
    ...app.one.headers,
    'content-type': 'multipart/form-data; boundary=x',
    'content-length': body.length,
  };
  const upload = request({ port, host: '127.0.0.1', method: 'POST', path: '/api/pictures/upload', headers });
  upload.on('error', () => undefined);
  await new Promise((resolve) => upload.write(body.subarray(0, 1024 * 1024), resolve));
  await until(() => readdirSync(folder).length === 1);
  upload.destroy();
  await until(() => readdirSync(folder).length === 0);
  t.equal(countOf(app, 'pictures'), 0);
  t.equal(countOf(app, 'picture_parts'), 0);
});

t.test('the parts that a killed server wrote are removed at the next start, and whole pictures stay', async (t) => {
  const app = await startApp(t);
  const { url } = await uploadPicture(app.one);
  const insert = app.db.prepare('INSERT INTO picture_parts (public_id, number, bytes) VALUES (?, ?, ?)');
  for (const number of [0, 1]) insert.run('f'.repeat(32), number, Buffer.alloc(10));
  t.equal(removeUnfinishedPictures(app.drizzle), 2);
  t.ok((await app.fastify.inject(new URL(url).pathname)).rawPayload.equals(png()));
});
