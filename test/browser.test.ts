/** The pages in a real browser, walked as a person does. */
import t from 'tap';
import { mustSucceed, readOutbox, sendCampaign } from './support/campaign.ts';
import { launch } from './support/dashboard/browser.ts';
import { skipWithout } from './support/tools.ts';
import { browse, DESK, look, NAMELESS, PHONE, serve } from './support/walked-pages.ts';

t.test('in the browser', { skip: skipWithout('chromium') }, async (t) => {
  const browser = await launch(t);

  t.test('the preference page by keyboard only, without JavaScript', async (t) => {
    const { app, origin } = await serve(t);
    const { mails } = await sendCampaign(t, app, {
      groups: [
        { name: 'Weekly news', isDisplay: 1, description: 'What is new in the shop, every Friday.' },
        { name: 'Offers', isDisplay: 1, description: 'Now and then, when something is on sale.' },
        { name: 'Readings and events in town', isDisplay: 1, description: 'By invitation.' },
      ],
    });
    const { page, context, outside, complaints } = await browse(t, browser, origin);
    await page.goto(origin + mails[0]?.paths.u);
    await look(t, page, 'preferences');
    const left = () => app.db.prepare('SELECT unsubscribe_groups_id FROM unsubscribers ORDER BY 1').pluck().all();
    const focus = () =>
      page.evaluate(`(() => { const e = document.activeElement, s = getComputedStyle(e);
        return { what: e.labels?.[0]?.innerText ?? e.innerText, ring: s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 }; })()`);
    const stops: string[] = [];
    for (let tab = 0; tab < 5; tab++) {
      await page.keyboard.press('Tab');
      const { what, ring } = (await focus()) as { what: string; ring: boolean };
      t.ok(ring, `focus shows on “${what}”`);
      stops.push(what.split('\n')[0] ?? '');
    }
    t.match(stops, ['Weekly news', 'Offers', 'Readings', 'Save my choices', 'Unsubscribe from all mail']);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await page.getByRole('status').waitFor();
    t.match(await page.getByRole('status').innerText(), 'saved');
    t.strictSame(left(), [2]);
    await look(t, page, 'preferences-saved');
    await page.getByRole('button', { name: 'Unsubscribe from all mail' }).press('Enter');
    await page.getByRole('button', { name: 'Get mail again' }).waitFor();
    t.strictSame(left(), [null, 2]);
    await look(t, page, 'preferences-none');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save my choices' }).waitFor();
    t.strictSame(left(), [2]);
    t.notOk(await page.getByLabel('Offers').isChecked(), 'what was left before stays left');
    await page.goto(`${origin}/u/nonsense`);
    await look(t, page, 'unknown-link');
    t.strictSame(await context.cookies(), []);
    t.strictSame(outside, []);
    t.strictSame(
      complaints.filter((text) => !/404/.test(text)),
      [],
    );
  });

  t.test('the API reference shows samples and sends a request with the keys', async (t) => {
    const { app, origin } = await serve(t);
    const { page, context, outside, complaints } = await browse(t, browser, origin, { javaScriptEnabled: true });
    await page.goto(`${origin}/docs#tag/lists-contact-types/GET/api/contacts-type`);
    const heading = page.getByRole('heading', { name: 'List the contact types' });
    await heading.waitFor();
    for (const [width, viewport] of Object.entries({ phone: PHONE, desk: DESK })) {
      await page.setViewportSize(viewport);
      const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      t.notOk(wide, `nothing sticks out on a ${width}`);
    }
    const operation = page.locator('section').filter({ has: heading }).last();
    await operation.filter({ hasText: `curl '${origin}/api/contacts-type` }).waitFor();
    await page
      .getByLabel('Value')
      .nth(0)
      .fill(app.one.headers.PublicKey ?? '');
    await page
      .getByLabel('Value')
      .nth(1)
      .fill(app.one.headers.SecretKey ?? '');
    await operation.getByRole('button', { name: /Test Request/ }).click();
    const answered = page.waitForResponse(/\/api\/contacts-type/);
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Send get request to/ })
      .click();
    const response = await answered;
    t.equal(response.status(), 200);
    t.match(await response.json(), { status: 'success' });
    t.strictSame(await context.cookies(), []);
    t.strictSame([outside, complaints], [[], []]);
  });

  t.test('a sender is confirmed from the mail’s button', async (t) => {
    const { app, origin } = await serve(t);
    await sendCampaign(t, app);
    const [raw] = app.db.prepare<[], Buffer>('SELECT raw FROM outbox ORDER BY id LIMIT 1').pluck().all();
    const { default: PostalMime } = await import('postal-mime');
    const mail = await PostalMime.parse(raw ?? '');
    const { page, outside, complaints } = await browse(t, browser, origin);
    await page.setContent(mail.html ?? '');
    await look(t, page, 'verification-mail');
    const href = await page.getByRole('link', { name: 'Confirm this address' }).getAttribute('href');
    await page.goto(origin + new URL(href ?? '').pathname);
    await look(t, page, 'verify');
    await page.getByRole('button').click();
    await page.getByRole('heading', { name: 'Address confirmed' }).waitFor();
    await look(t, page, 'verified');
    t.equal(app.db.prepare('SELECT is_verified FROM senders').pluck().get(), 1);
    t.strictSame([outside, complaints], [[], []]);
  });

  t.test('a mail is laid out, looked at and tried on the design page', async (t) => {
    const { app, origin } = await serve(t);
    const must = mustSucceed(t, app.one);
    const { utr } = await sendCampaign(t, app);
    await app.one.call('GET', '/single/send/duplicate', { query: { utr } });
    const { body } = await app.one.call('GET', '/single-send/list');
    const copy = (body.message.singleSends ?? body.message.single_sends ?? []).find(
      (send: { status: number }) => send.status === 0,
    );
    const column = (content: string) => ({
      tagName: 'mj-section',
      attributes: { 'background-color': '#f3efe6' },
      children: [
        {
          tagName: 'mj-column',
          attributes: {},
          children: [
            { tagName: 'mj-text', attributes: { 'font-size': '20px' }, content },
            {
              tagName: 'mj-button',
              attributes: { href: 'https://shop.example/((first_name))' },
              content: 'Have a look',
            },
          ],
        },
      ],
    });
    const template = {
      tagName: 'mjml',
      attributes: {},
      children: [
        { tagName: 'mj-head', attributes: {}, children: [{ tagName: 'mj-title', attributes: {}, content: 'Kept' }] },
        { tagName: 'mj-body', attributes: {}, children: [column('Hello ((first_name|you)) &amp; all')] },
      ],
    };
    await must('/single/send/update', {
      utr: copy.utr,
      template_id: 1,
      template_json: JSON.stringify(template),
      sender_id: 1,
      unsubscribe_group_id: 1,
      single_send_name: copy.single_send_name,
      subject: copy.subject,
      preheader: 'News',
      recipient_id: ['contacts_1'],
      schedule_type: 0,
    });
    const link = async (of: string) => {
      const { body } = await app.one.call('GET', '/single-send/report', { query: { utr: of } });
      return origin + new URL(body.message.report.design_url).pathname;
    };
    const stored = () =>
      app.db.prepare('SELECT template_json FROM single_sends WHERE utr = ?').pluck().get(copy.utr) as string;
    const { page, outside, complaints } = await browse(t, browser, origin, { javaScriptEnabled: true });
    await page.goto(await link(copy.utr));
    await page.locator('body[data-ready]').waitFor();
    const canvas = page.frameLocator('#editor iframe.gjs-frame');
    await canvas.getByText('Hello ((first_name|you))').waitFor();
    t.equal(await page.getAttribute('html', 'lang'), 'en');
    await look(t, page, 'design');
    await page.setViewportSize(DESK);
    await page.emulateMedia({ colorScheme: 'light' });
    t.strictSame(await page.evaluate(NAMELESS), [], 'every control has a name and a place in the tab order');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    const after = JSON.parse(stored());
    t.equal(after.children[0].children[0].content, 'Kept', 'the head stays');
    t.match(stored(), 'Hello ((first_name|you)) &amp; all');
    t.match(stored(), 'https://shop.example/((first_name))');

    await canvas.getByText('Hello ((first_name|you))').dblclick();
    await canvas.locator('[contenteditable=true]').waitFor();
    await page.keyboard.press('End');
    await page.keyboard.type(' Typed here.');
    await page.getByLabel('Insert merge tag').selectOption('((city))');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    t.match(stored(), 'Typed here.');
    t.match(stored(), '((city))');

    await page.getByRole('button', { name: 'Style' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Size', { exact: true }).first().waitFor();
    t.strictSame(await page.evaluate(NAMELESS), [], 'and so has every field of the style');
    await page.getByRole('button', { name: 'Blocks' }).focus();
    await page.keyboard.press('Space');
    const block = page.getByRole('button', { name: 'Add: Divider' });
    await block.focus();
    t.ok(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle === 'solid'`), 'focus shows');
    const dividers = () => page.evaluate(`editor.getHtml().split('<mj-divider').length - 1`);
    t.equal(await dividers(), 0);
    await page.keyboard.press('Enter');
    t.equal(await dividers(), 1, 'a block is added with the keyboard');

    await page.getByRole('button', { name: 'Preview' }).click();
    const mail = page.frameLocator('#mail');
    await mail.getByText('Hello Anna & all').waitFor();
    t.equal(await page.locator('#mail').getAttribute('sandbox'), '', 'the preview has no rights');
    await page.getByLabel('Phone', { exact: true }).check();
    await page.getByRole('button', { name: 'Close' }).click();

    await page.getByRole('button', { name: 'Send test e-mail' }).click();
    await page.getByLabel('Send a test to').fill('stranger@example.net');
    await page.keyboard.press('Enter');
    await page.getByText('senders and contacts only; stranger@example.net').waitFor();
    t.match(complaints.splice(0), [/status of 409/], 'the browser tells of the refusal too');
    await page.getByRole('button', { name: 'Send test e-mail' }).click();
    await page.getByLabel('Send a test to').fill('hello@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('The test for hello@example.com is kept in the test outbox').waitFor();
    await app.background();
    const test = (await readOutbox(app)).at(-1);
    t.equal(test?.to, 'hello@example.com');
    t.match(test?.html, 'Typed here.');

    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.goto(await link(utr));
    // A sent mail is not changed: the button is disabled once the page knows the mail.
    await page.getByRole('button', { name: 'Save', exact: true, disabled: true }).waitFor();
    await page.getByLabel('The HTML of the e-mail').waitFor();
    await look(t, page, 'design-html');
    t.strictSame(await page.evaluate(NAMELESS), []);
    t.strictSame([outside, complaints], [[], []]);
    const late = await link(copy.utr);
    app.clock.advance(25 * 3_600_000);
    await page.goto(late);
    await page.getByRole('heading', { name: 'This link has expired' }).waitFor();
    await look(t, page, 'design-expired');
    t.strictSame(outside, []);
  });
});
