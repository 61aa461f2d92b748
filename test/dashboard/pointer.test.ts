/** What a browser does around a click: a file dropped on a form, a page fetched before its link is clicked, one page left for another. */
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { launch, openTab } from '../support/dashboard/browser.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { skipWithout } from '../support/tools.ts';
import { until } from '../support/until.ts';

async function start(t: Test) {
  const app = await startApp(t);
  /** The paths that browsers fetched ahead. */
  const ahead: string[] = [];
  app.fastify.server.on('request', ({ headers, url }) => {
    if (String(headers['sec-purpose']).startsWith('prefetch')) ahead.push(String(url));
  });
  const cookie = cookieOf(app, addPerson(app));
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.fastify.server.address() as AddressInfo;
  return { app, ahead, cookie, origin: `http://127.0.0.1:${port}` };
}

/** Drops files of these names on an element. Gives whether the page took them; otherwise a browser would open the first. */
function drop(page: Page, selector: string, names: readonly string[]): Promise<boolean> {
  return page.evaluate(
    ([selector, names]) => {
      const dataTransfer = new DataTransfer();
      for (const name of names) dataTransfer.items.add(new File(['email\nzoe@example.org\n'], name));
      const options = { bubbles: true, cancelable: true, dataTransfer };
      const target = document.querySelector(selector);
      target?.dispatchEvent(new DragEvent('dragover', options));
      return target?.dispatchEvent(new DragEvent('drop', options)) === false;
    },
    [selector, names] as const,
  );
}

t.test('in the browser', { skip: skipWithout('chromium') }, async (t) => {
  const browser = await launch(t);
  const { app, ahead, cookie, origin } = await start(t);

  t.test(
    'a file dropped beside the file field is chosen; dropped elsewhere it neither is nor leaves the page',
    async (t) => {
      const { page, complaints } = await openTab(t, browser, origin, { cookie });
      await page.goto(`${origin}/contacts/import`, { waitUntil: 'networkidle' });
      const chosen = () =>
        page.evaluate(() =>
          [...(document.querySelector<HTMLInputElement>('#file')?.files ?? [])].map(({ name }) => name),
        );
      t.equal(await drop(page, 'h1', ['elsewhere.csv']), true);
      t.strictSame(await chosen(), []);
      t.equal(await drop(page, '.drop b', ['readers.csv', 'more.csv']), true);
      t.strictSame(await chosen(), ['readers.csv']);
      t.equal(await page.locator(':focus').innerText(), 'Upload file', 'and the next step has the focus');
      t.strictSame(complaints, []);
      await page.keyboard.press('Enter');
      await page.getByText('Columns of readers.csv').waitFor();
    },
  );

  t.test('the page of a link under the pointer is fetched ahead, files to save are not', async (t) => {
    const { page, complaints } = await openTab(t, browser, origin, { cookie });
    await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
    const zoe = { contact_type_id: 1, first_name: 'Zoë', country: 1, email: 'zoe@example.org' };
    await app.one.call('POST', '/contacts/add', { form: zoe });
    await page.goto(`${origin}/contacts/1`, { waitUntil: 'networkidle' });
    await page.locator('a[href="/contacts/1/export"]').hover();
    await page.locator('.sidebar a[href="/campaigns"]').first().hover();
    await until(() => ahead.includes('/campaigns'));
    t.notOk(ahead.some((path) => path.includes('export')));
    await page.locator('.sidebar a[href="/campaigns"]').first().click();
    await page.getByRole('heading', { level: 1, name: 'Campaigns' }).waitFor();
    t.strictSame(complaints, []);
  });

  t.test('a page is left for the next without an error, also when its style sheet comes after its text', async (t) => {
    const { page, complaints } = await openTab(t, browser, origin, { cookie });
    await page.route('**/*.css', async (route) => {
      // The frame may still be leaving the page before.
      await until(() =>
        route
          .request()
          .frame()
          .evaluate('document.body !== null')
          .catch(() => false),
      );
      await route.continue();
    });
    await page.goto(`${origin}/campaigns`);
    for (const path of ['/automations', '/campaigns', '/automations', '/campaigns']) {
      await page.locator(`.sidebar a[href="${path}"]`).first().click();
      await page.waitForURL(`${origin}${path}`);
    }
    t.strictSame(complaints, []);
  });
});

t.test('a page that is fetched ahead leaves what was just done to the page that is seen', async (t) => {
  const { app, cookie } = await start(t);
  const flash = `sendlark_flash=${Buffer.from('{"tone":"good","key":"nav.home","values":{}}').toString('base64url')}`;
  const open = (headers: object) =>
    app.page('GET', '/campaigns', { headers: { cookie: `${cookie}; ${flash}`, ...headers } });
  const ahead = await open({ 'sec-purpose': 'prefetch;anonymous-client-ip' });
  t.equal(ahead.headers['set-cookie'], undefined);
  t.notMatch(ahead.text, 'role="status"');
  const seen = await open({});
  t.match(seen.headers['set-cookie'], /^sendlark_flash=;/);
  t.match(seen.text, 'role="status"');
});
