/** The command menu: what it finds for whom, and how it is used by keyboard, by touch and with a screen reader. */
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Role } from '../../src/database/schema/index.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { excessWidth, findBarriers, holdAnswers, launch, openTab, settled } from '../support/dashboard/browser.ts';
import { fillAccount } from '../support/dashboard/filled-account.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { skipWithout } from '../support/tools.ts';
import { PHONE } from '../support/walked-pages.ts';

let visits = 0;

/** What the menu offers a user for a text, as pairs of address and text. */
async function offered(app: TestApp, text: string, role: Role = 'owner', accountId = 1) {
  const cookie = cookieOf(app, addPerson(app, role, { accountId, name: `${role}${++visits}` }));
  const url = `/find/options?${new URLSearchParams({ text })}`;
  const { status, text: html } = await app.page('GET', url, { headers: { cookie, 'accept-language': 'en-GB' } });
  t.equal(status, 200);
  return [...html.matchAll(/role="option"[^>]*href="([^"]*)"[^>]*><bdi>(.*?)<\/bdi>/g)].map(
    ([, href = '', name = '']) => [href, name] as const,
  );
}

t.test('it finds campaigns, contacts, lists, settings and actions by all words of a text', async (t) => {
  const app = await startApp(t);
  const utr = await fillAccount(t, app);
  await app.one.call('POST', '/contacts/add', {
    form: { contact_type_id: 1, email: 'augusta@example.org', first_name: 'Ada', last_name: 'Lovelace', country: 1 },
  });
  const ada = app.db.prepare("SELECT id FROM contacts WHERE email = 'augusta@example.org'").pluck().get();
  await app.background();
  const has = async (text: string, ...place: [string, string]) =>
    t.ok(
      (await offered(app, text)).some(([href, name]) => href === place[0] && name === place[1]),
      text,
    );
  await has('NEWS', `/campaigns/${utr}`, 'News');
  await has('lace ad', `/contacts/${ada}`, 'Ada Lovelace');
  await has('augusta@', `/contacts/${ada}`, 'Ada Lovelace');
  await has('new camp', '/campaigns/new', 'New campaign');
  await has('contact add', '/contacts/new', 'Add a contact');
  await has('import', '/contacts/import', 'Import contacts');
  await has('dkim', '/settings/senders', 'Senders');
  await has('unsub', '/unsubscribes', 'Unsubscribes &amp; suppressions');
  t.strictSame(await offered(app, 'news zzzz'), [], 'not by some of them');
});

t.test('it offers nothing of another account, and nothing that the role may not open', async (t) => {
  const app = await startApp(t);
  const utr = await fillAccount(t, app);
  const other = await offered(app, 'news', 'owner', 2);
  t.notOk(other.some(([href]) => href.includes(utr)));
  t.strictSame(await offered(app, 'd0p0@', 'owner', 2), []);
  const hrefs = async (text: string, role: Role) => (await offered(app, text, role)).map(([href]) => href);
  t.ok((await hrefs('new campaign', 'editor')).includes('/campaigns/new'));
  t.notOk((await hrefs('new campaign', 'viewer')).includes('/campaigns/new'));
  t.ok((await hrefs('add sender', 'owner')).includes('/settings/senders/new'));
  t.notOk((await hrefs('add sender', 'editor')).includes('/settings/senders/new'));
  t.ok((await hrefs('users', 'owner')).includes('/settings/users'));
  t.notOk((await hrefs('users', 'editor')).includes('/settings/users'));
  t.notOk((await hrefs('backup', 'viewer')).includes('/settings/backup'));
});

t.test('a long or hostile text is looked for like any other, and names stay text', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: '<b>"% List' } });
  t.match(await offered(app, '<b>"%'), [['/contacts?contact_type_id=1', '&lt;b>&quot;% List']]);
  for (const text of ['x'.repeat(5000), '"*', "' OR 1=1 --", '\u0000', '%_', 'a '.repeat(50)]) await offered(app, text);
  const cookie = cookieOf(app, addPerson(app, 'owner', { name: 'twice' }));
  t.equal((await app.page('GET', '/find?text=a&text=b', { headers: { cookie } })).status, 200);
});

t.test('the menu in a browser', { skip: skipWithout('chromium') }, async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const origin = `http://127.0.0.1:${(app.fastify.server.address() as AddressInfo).port}`;
  const cookie = cookieOf(app, addPerson(app));
  const browser = await launch(t);
  const opened = async (t: Test, options: object = {}) => {
    const tab = await openTab(t, browser, origin, { cookie, ...options });
    const asked: string[] = [];
    tab.page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await tab.page.goto(`${origin}/templates`, { waitUntil: 'networkidle' });
    const field = tab.page.getByRole('combobox', { name: 'Campaigns, contacts, lists, settings, actions' });
    return { ...tab, field, asked };
  };

  t.test('its script is loaded with its first use, and the keyboard alone finds and opens a page', async (t) => {
    const { page, field, asked, complaints } = await opened(t);
    t.notOk(
      asked.some((path) => path.includes('/assets/finder')),
      'it is no part of the first load',
    );
    const before = asked.length;
    await page.locator('body').press('Control+k');
    await page.getByRole('option', { name: 'New campaign' }).waitFor();
    t.ok(asked.slice(before).some((path) => path.startsWith('/assets/')));
    await field.pressSequentially('dkim');
    const option = page.getByRole('option', { name: /^Senders/ });
    await page.locator('#finder [role=status]', { hasText: /^1 result$/ }).waitFor();
    await option.waitFor();
    t.equal(await field.getAttribute('aria-expanded'), 'true');
    t.equal(await field.getAttribute('aria-activedescendant'), await option.getAttribute('id'));
    t.equal(await option.getAttribute('aria-selected'), 'true');
    t.strictSame(await findBarriers(page), []);
    await field.press('Enter');
    await page.waitForURL(`${origin}/settings/senders`);
    t.strictSame(complaints, []);
  });

  t.test('arrows choose an option, the focus stays in the dialog, and Escape gives it back', async (t) => {
    const { page, field } = await opened(t);
    const link = page.getByRole('link', { name: /^Search/ });
    await link.focus();
    await link.press('Enter');
    await field.waitFor();
    await field.pressSequentially('import');
    await page.getByRole('option', { name: 'Import contacts' }).waitFor();
    const selected = () => page.locator('[role=option][aria-selected=true]').allInnerTexts();
    await field.fill('new');
    // The list of before has both.
    await page.getByRole('option', { name: 'Import contacts' }).waitFor({ state: 'hidden' });
    await page.getByRole('option', { name: 'New segment' }).waitFor();
    const [first] = await selected();
    await field.press('ArrowDown');
    t.notSame(await selected(), [first]);
    await field.press('ArrowUp');
    t.strictSame(await selected(), [first]);
    await field.press('ArrowUp');
    t.equal((await selected()).length, 1, 'from the first to the last');
    for (let tab = 0; tab < 5; tab++) {
      await page.keyboard.press('Tab');
      t.ok(await page.evaluate('document.activeElement.closest("#finder") !== null'));
    }
    await page.keyboard.press('Escape');
    await page.locator('#finder').waitFor({ state: 'hidden' });
    t.ok(await link.evaluate((element) => element.matches(':focus')));
  });

  t.test('Enter waits for what was typed last, and says so when the search does not answer', async (t) => {
    const { page, field } = await opened(t);
    await page.locator('body').press('Control+k');
    await page.getByRole('option', { name: 'New campaign' }).waitFor();
    await field.fill('segment new');
    await field.press('Enter');
    await page.waitForURL(`${origin}/contacts/segments/new`);
    await page.route('**/find/options?*', (route) => route.abort());
    await page.locator('body').press('Control+k');
    await page.getByText('The search did not answer. Please try again.').waitFor();
  });

  t.test('what is typed before its script is there is searched for', async (t) => {
    const { page, field } = await opened(t);
    const script = await holdAnswers(page, '**/assets/**');
    await page.locator('body').press('Control+k');
    await page.keyboard.type('dkim');
    t.equal(await field.inputValue(), 'dkim');
    await script.release();
    await page.getByRole('option', { name: /^Senders/ }).waitFor();
    t.equal(await field.inputValue(), 'dkim');
  });

  t.test('a search that is ended before its answer opens nothing', async (t) => {
    const { page, field, asked } = await opened(t);
    await page.locator('body').press('Control+k');
    await page.getByRole('option', { name: 'New campaign' }).waitFor();
    const answers = await holdAnswers(page, '**/find/options?*');
    const before = asked.length;
    await field.fill('dkim');
    await field.press('Enter');
    await page.keyboard.press('Escape');
    await page.locator('#finder').waitFor({ state: 'hidden' });
    await answers.release();
    await settled(page);
    const pages = asked.slice(before).filter((path) => !/^\/(assets|find)\//.test(path));
    t.strictSame(pages, [], 'not what was found before');
  });

  t.test('on a phone its button opens it, options are large enough to touch, and nothing sticks out', async (t) => {
    const { page, field } = await opened(t, { viewport: { width: 320, height: PHONE.height }, hasTouch: true });
    await page.getByRole('link', { name: 'Find anything' }).tap();
    await page.getByRole('option', { name: 'New campaign' }).waitFor();
    t.ok(((await page.getByRole('option', { name: 'New campaign' }).boundingBox())?.height ?? 0) >= 44);
    t.ok((await excessWidth(page)) <= 0);
    await field.fill('outbox');
    await page.getByRole('option', { name: 'Outbox' }).tap();
    await page.waitForURL(`${origin}/outbox`);
    t.equal(await page.evaluate('getComputedStyle(document.querySelector("#finder input")).fontSize'), '16px');
  });

  t.test('without scripts its link leads to a page that finds the same', async (t) => {
    const { page } = await opened(t, { javaScriptEnabled: false });
    await page.getByRole('link', { name: /^Search/ }).click();
    await page.getByRole('searchbox').fill('dkim');
    await page.getByRole('searchbox').press('Enter');
    t.equal(
      await page.locator('main').getByRole('link', { name: 'Senders' }).getAttribute('href'),
      '/settings/senders',
    );
  });
});
