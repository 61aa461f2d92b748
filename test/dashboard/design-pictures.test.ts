/** The picture library on the design page: the link is enough to use and add the account's pictures, and no other's. */
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { launch, openTab } from '../support/dashboard/browser.ts';
import { mail, withSchedule } from '../support/dashboard/designed-mails.ts';
import { GIF, png, uploadPicture } from '../support/pictures.ts';
import { skipWithout } from '../support/tools.ts';

t.test('a link lists the pictures of its account, and adds to them what is a picture', async (t) => {
  const { app, path } = await withSchedule(t);
  const own = await uploadPicture(app.one);
  await uploadPicture(app.two, GIF);
  const listed = await app.page('GET', `${path}/pictures`);
  t.strictSame(listed.body, { pictures: [{ src: own.url, name: 'Summer sale', alt: '', width: 4, height: 3 }] });
  const add = (payload: Buffer, link = path) =>
    app.fastify.inject({
      method: 'POST',
      url: `${link}/pictures?name=Harbour.png`,
      headers: { 'content-type': 'application/octet-stream' },
      payload,
    });
  const added = await add(png(31, 7));
  t.equal(added.statusCode, 200, added.payload);
  t.match(added.json(), { pictures: [{ src: /\/harbour\.png$/, name: 'Harbour', width: 31, height: 7 }] });
  const refused = await add(Buffer.from('<svg/>'));
  t.equal(refused.statusCode, 422);
  t.match(refused.json(), { problem: /is an SVG/ });
  t.equal((await add(Buffer.alloc(5 * 1024 * 1024 + 1))).statusCode, 413);
  t.equal((await add(png(), `${path}x`)).statusCode, 404);
  t.equal((await app.page('GET', `${path}x/pictures`)).status, 404);
  t.equal(app.db.prepare('SELECT count(*) FROM pictures WHERE user_id = 1').pluck().get(), 2);
});

t.test(
  'in the browser, a file given to the editor is in the library at once',
  { skip: skipWithout('chromium') },
  async (t) => {
    const { app, path } = await withSchedule(t);
    await app.page('POST', path, { json: { mjml: mail('x') } });
    const browser = await launch(t);
    await app.fastify.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.fastify.server.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}`;
    const { page } = await openTab(t, browser, origin, {});
    await page.goto(origin + path);
    await page.waitForSelector('body[data-ready=yes]');
    await page.evaluate(() => window.editor.runCommand('open-assets'));
    await page.setInputFiles('#picture-files', {
      ...{ name: 'Harbour.png', mimeType: 'image/png' },
      buffer: png(2000, 10),
    });
    await page.getByText('Harbour').first().waitFor();
    t.strictSame(app.db.prepare('SELECT name, width FROM pictures').raw().all(), [['Harbour', 1600]]);
  },
);
