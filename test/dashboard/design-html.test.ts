/** HTML in the designer: switching between blocks and HTML, parts kept as they are, and HTML that means harm. */
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import t, { type Test } from 'tap';
import { fromMarkup } from '../../src/delivery/content/mjml-editor.ts';
import { holdAnswers, launch, openTab, settled } from '../support/dashboard/browser.ts';
import { mail, withSchedule } from '../support/dashboard/designed-mails.ts';
import { skipWithout } from '../support/tools.ts';
import { until } from '../support/until.ts';

/** HTML that editors like to repair: unclosed and foreign elements, conditional comments, odd quotes, entities, CDATA, placeholders. */
const NASTY = `<!--[if mso]><table><tr><td width="600"><![endif]-->
<DIV STYLE='font-family:"Times New Roman"' onclick="top.hit=1">5 &lt; 6 &amp;amp; &nbsp;((first_name|you &amp; me))
<tr><td>loose cell<p>unclosed<br/><x:odd a=1 b='"'>]]></x:odd>
<script>top.hit = 1; document.write("</sc" + "ript>")</script><style>a > b { color: red }</style>
<a href="https://x.example/?a=1&copy=2&lang=de">((web_copy))</a>
<!--[if mso]></td></tr></table><![endif]-->`;

const nastyMail = JSON.stringify({
  tagName: 'mjml',
  attributes: {},
  children: [
    {
      tagName: 'mj-head',
      attributes: {},
      children: [
        { tagName: 'mj-title', attributes: {}, content: 'Kept & <b>' },
        { tagName: 'mj-style', attributes: { inline: 'inline' }, content: '.a > .b { color: #123456; }' },
        { tagName: 'mj-raw', attributes: {}, content: '<meta name="color-scheme" content="light dark">' },
      ],
    },
    {
      tagName: 'mj-body',
      attributes: {},
      children: [
        { tagName: 'mj-raw', attributes: { position: 'file-start' }, content: NASTY },
        {
          tagName: 'mj-section',
          attributes: {},
          children: [
            {
              tagName: 'mj-column',
              attributes: {},
              children: [
                { tagName: 'mj-text', attributes: {}, content: 'Between' },
                { tagName: 'mj-table', attributes: { cellpadding: '4' }, content: '<tr><td>1 &lt; 2</td></tr>' },
                { tagName: 'mj-raw', attributes: {}, content: '<tr><td>row</td></tr>' },
              ],
            },
          ],
        },
      ],
    },
  ],
});

/** The design page of a mail with this content, open in a tab. */
async function openDesigner(t: Test, browser: Browser, code: { template_json?: string; template_html?: string }) {
  const { app, path } = await withSchedule(t);
  const { template_json = '', template_html = '' } = code;
  app.db
    .prepare('UPDATE automation_schedules SET template_json = ?, template_html = ?')
    .run(template_json, template_html);
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.fastify.server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const tab = await openTab(t, browser, origin);
  await tab.page.goto(origin + path);
  const stored = () =>
    app.db
      .prepare<[], { template_json: string; template_html: string }>(
        'SELECT template_json, template_html FROM automation_schedules',
      )
      .get() ?? { template_json: '', template_html: '' };
  const save = async () => {
    await tab.page.locator('#save').click();
    await tab.page.getByText('Saved', { exact: true }).waitFor();
  };
  const mode = (name: string) => tab.page.getByRole('button', { name, exact: true }).click();
  const html = tab.page.getByLabel('The HTML of the e-mail');
  return { app, path, stored, save, mode, html, ...tab };
}

t.test('in the browser', { skip: skipWithout('chromium') }, async (t) => {
  const browser = await launch(t);

  t.test(
    'parts in HTML and MJML that the editor does not know survive it to the letter, and run nothing',
    async (t) => {
      const { page, save, stored, outside, complaints } = await openDesigner(t, browser, { template_json: nastyMail });
      await page.waitForSelector('body[data-ready=yes]');
      await page.getByRole('button', { name: 'Text: Between' }).press('Enter');
      await page.getByRole('button', { name: 'Add: Divider' }).press('Enter');
      await save();
      const { template_json } = stored();
      t.match(template_json, 'mj-divider');
      const [before, after] = [JSON.parse(nastyMail), JSON.parse(template_json)];
      t.strictSame(after.children[0], before.children[0], 'the head');
      t.strictSame(after.children[1].children[0], before.children[1].children[0], 'the HTML at the top');
      const [text, divider, ...kept] = after.children[1].children[1].children[0].children;
      t.match([text.content, divider.tagName], ['Between', 'mj-divider']);
      const [table, row] = before.children[1].children[1].children[0].children.slice(1);
      t.match(kept[0], table);
      t.match(kept[1], row);
      t.equal(await page.evaluate('window.hit'), undefined);
      t.strictSame([outside, complaints], [[], []]);
      await page.getByRole('button', { name: 'HTML', exact: true }).first().press('Enter');
      await page.getByRole('toolbar').getByRole('button', { name: 'Edit' }).press('Enter');
      await page.getByRole('textbox', { name: 'Code of this block' }).fill('<p>((city))</p>');
      await page.getByRole('button', { name: 'Apply' }).press('Enter');
      await save();
      t.match(JSON.parse(stored().template_json).children[1].children[0], {
        tagName: 'mj-raw',
        content: '<p>((city))</p>',
      });
    },
  );

  t.test(
    'looking at the HTML keeps the blocks; changing it makes the mail HTML; going back says what is lost',
    async (t) => {
      const template_json = JSON.stringify(fromMarkup(mail('Written in blocks')));
      const { page, save, stored, mode, html, complaints } = await openDesigner(t, browser, { template_json });
      await page.waitForSelector('body[data-ready=yes]');
      await mode('Edit as HTML');
      await page.getByText('The blocks stay until you change the HTML.').waitFor();
      t.match(await html.inputValue(), /<!doctype html>.*Written in blocks/s);
      await save();
      t.match(stored(), { template_json: 'Written in blocks', template_html: '' });
      await html.fill('<p>Written in HTML</p>');
      await page.getByText('Going back to the blocks discards your change.').waitFor();
      await save();
      t.strictSame(stored(), { template_json: '', template_html: '<p>Written in HTML</p>' });
      await mode('Back to the blocks');
      const question = page.getByRole('dialog', { name: 'Discard your changes to the HTML?' });
      await question.getByRole('button', { name: 'Keep editing the HTML' }).click();
      t.equal(await html.inputValue(), '<p>Written in HTML</p>', 'nothing is lost by asking');
      await mode('Back to the blocks');
      await question.getByRole('button', { name: 'Discard and go back' }).click();
      await save();
      t.match(stored(), { template_json: 'Written in blocks', template_html: '' });
      t.strictSame(complaints, []);
    },
  );

  t.test('blocks that are changed while their HTML is made are in it', async (t) => {
    const template_json = JSON.stringify(fromMarkup(mail('Written in blocks')));
    const { page, mode, html } = await openDesigner(t, browser, { template_json });
    await page.waitForSelector('body[data-ready=yes]');
    const first = await holdAnswers(page, '**/html', () => first.asked.length === 0);
    await mode('Edit as HTML');
    await until(() => first.asked.length === 1);
    await page.getByRole('button', { name: 'Add: Heading' }).press('Enter');
    await first.release();
    await html.waitFor();
    t.match(await html.inputValue(), 'A heading');
  });

  t.test(
    'a second click on the switch asks for no second answer, which could replace what is typed meanwhile',
    async (t) => {
      const template_json = JSON.stringify(fromMarkup(mail('Written in blocks')));
      const { page, mode, html } = await openDesigner(t, browser, { template_json });
      await page.waitForSelector('body[data-ready=yes]');
      const answers = await holdAnswers(page, '**/html');
      for (let clicks = 0; clicks < 2; clicks++) await mode('Edit as HTML');
      await until(() => answers.asked.length > 0);
      await settled(page);
      t.equal(answers.asked.length, 1);
      await answers.release();
      await html.waitFor();
    },
  );

  t.test('a mail in HTML becomes one block among others, and stays its HTML until a block is changed', async (t) => {
    const template_html = `<!doctype html><html><head><style>.a > b { color: #123456 }</style></head><body bgcolor="#fff">${NASTY}</body></html>`;
    const { app, path, page, save, stored, mode, html, complaints } = await openDesigner(t, browser, { template_html });
    await mode('Use blocks');
    await page.waitForSelector('body[data-ready=yes]');
    await mode('Edit as HTML');
    t.equal(await html.inputValue(), template_html);
    await save();
    t.strictSame(stored(), { template_json: '', template_html });
    await mode('Back to the blocks');
    await page.getByRole('button', { name: 'Add: Footer' }).press('Enter');
    await save();
    const { template_json } = stored();
    t.equal(JSON.parse(template_json).children[1].children[0].content, NASTY);
    t.match(template_json, '.a > b { color: #123456 }');
    const { body } = await app.page('POST', `${path}/preview`, {
      json: { mjml: await page.evaluate(() => window.editor.getHtml()) },
    });
    t.match(body.html, '<x:odd');
    t.equal(await page.evaluate('window.hit'), undefined);
    t.strictSame(complaints, []);
  });

  t.test('long and deep HTML with scripts is edited and shown, and runs nothing on our pages', async (t) => {
    const long = `<p>${'0123456789'.repeat(2000)}</p>${'<div>'.repeat(90)}deep<img src=x onerror="top.hit=1"><script>top.hit=1</script>`;
    const { page, mode, html, complaints } = await openDesigner(t, browser, { template_html: long });
    await html.waitFor();
    t.equal(await html.inputValue(), long);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.frameLocator('#mail').getByText('deep').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await mode('Use blocks');
    await page.waitForSelector('body[data-ready=yes]');
    t.equal(await page.evaluate('window.hit'), undefined);
    t.notMatch(complaints.join('\n'), /Error:/);
  });
});
