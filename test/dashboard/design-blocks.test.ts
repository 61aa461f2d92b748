/** The designer's blocks in a browser: adding them, moving them, and doing all of it with the keyboard alone. */
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { findBarriers, holdAnswers, launch, openTab, RULES_OF_COLOURS, settled } from '../support/dashboard/browser.ts';
import { mail, withSchedule } from '../support/dashboard/designed-mails.ts';
import { png, uploadPicture } from '../support/pictures.ts';
import { skipWithout } from '../support/tools.ts';
import { until } from '../support/until.ts';

/** The design page of a mail with one text, open in a tab. */
async function openDesigner(t: Test, browser: Browser, { language = 'en', mjml = mail('First'), brand = {} } = {}) {
  const { app, path } = await withSchedule(t);
  const picture = await uploadPicture(app.one);
  if (Object.keys(brand).length > 0) t.equal((await app.one.call('POST', '/brand/save', { form: brand })).status, 200);
  await app.page('POST', path, { json: { mjml } });
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.fastify.server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const tab = await openTab(t, browser, origin);
  await tab.page.goto(`${origin}${path}?lang=${language}`);
  await tab.page.waitForSelector('body[data-ready=yes]');
  const stored = () => app.db.prepare<[], string>('SELECT template_json FROM automation_schedules').pluck().get() ?? '';
  const save = async () => {
    await tab.page.locator('#save').click();
    await tab.page.getByText(language === 'de' ? 'Gespeichert' : 'Saved', { exact: true }).waitFor();
  };
  return { app, path, picture, stored, save, ...tab };
}

/** What Word puts into the clipboard for a paragraph, a list, an image and a link. */
const FROM_WORD = `<html xmlns:o="urn:schemas-microsoft-com:office:office"><head><style>p.MsoNormal {font-family: Calibri}</style></head>
<body lang=DE><!--StartFragment--><p class=MsoNormal style='margin-bottom:8.0pt'><span style='font-size:11.0pt;color:#C00000'>Dear
<b>customers</b> &lt;3<o:p></o:p></span></p><p class=MsoNormal><o:p>&nbsp;</o:p></p>
<p class=MsoListParagraph style='mso-list:l0 level1 lfo1'><![if !supportLists]><span style='font-family:Symbol'><span
style='mso-list:Ignore'>·<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp; </span></span></span><![endif]>Apples</p>
<p class=MsoListParagraph style='mso-list:l0 level1 lfo1'><span style='mso-list:Ignore'>·</span>Pears</p>
<p class=MsoNormal><img src="file:///C:/clip_image002.jpg"><a href="https://shop.example/?a=1&amp;b=2" onclick="x()">Order</a></p>
<!--EndFragment--></body></html>`;
const CLEAN_WORD =
  '<p>Dear <strong>customers</strong> &lt;3</p><ul><li>Apples</li><li>Pears</li></ul><p><a href="https://shop.example/?a=1&amp;b=2">Order</a></p>';
/** What an online word processor puts there: one bold element around everything, and the emphasis in styles. */
const FROM_DOCUMENT = `<b style="font-weight:normal"><p dir="ltr"><span style="font-size:11pt">One </span><span
style="font-weight:700">two</span> <span style="font-style:italic">three</span></p><ul><li><p>Four</p></li></ul></b>`;

const markup = (page: Page) => page.evaluate(() => window.editor.getHtml());

t.test('in the browser', { skip: skipWithout('chromium') }, async (t) => {
  const browser = await launch(t);

  t.test('every block is added after the chosen part, compiles, and is sent with what it says', async (t) => {
    const { app, path, page, complaints, outside, save, stored } = await openDesigner(t, browser);
    await page.setViewportSize({ width: 1280, height: 860 });
    const blocks = await page.getByRole('button', { name: /^Add: / }).all();
    t.equal(blocks.length, 16);
    const dialog = page.getByRole('dialog', { name: 'Choose an image' });
    for (const block of blocks) {
      await block.press('Enter');
      // Only these two ask for an image.
      if (!/^Add: (?:Image|Video)/.test((await block.getAttribute('aria-label')) ?? '')) continue;
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'hidden' });
    }
    await save();
    const { body, status } = await app.page('POST', `${path}/preview`, { json: { mjml: await markup(page) } });
    t.equal(status, 200);
    for (const words of ['What is new', 'A heading', 'Have a look', 'Name of the product', 'Watch the video'])
      t.match(body.html, words);
    t.match(body.html, 'Instagram');
    t.match(body.html, /href="[^"]*\/u\/preview"[^>]*>Unsubscribe or change preferences/);
    t.match(stored(), '((sender_address))');
    t.match(stored(), '((unsubscribe_preferences))');
    t.strictSame([outside, complaints], [[], []]);
    t.strictSame(await findBarriers(page), []);
  });

  t.test('a block gets a name by keyboard, which the mail keeps and a saved block brings along', async (t) => {
    const { page, save, stored, complaints } = await openDesigner(t, browser, { mjml: mail('Alpha') });
    const press = (name: string) => page.getByRole('button', { name, exact: true }).first().press('Enter');
    await page.getByRole('button', { name: 'Text: Alpha' }).press('Enter');
    await press('Name');
    const dialog = page.getByRole('dialog', { name: 'Name of this block' });
    await dialog.getByRole('textbox').fill(' Spring "offer" & <more> ');
    t.strictSame(await findBarriers(page), []);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Text: Spring "offer" & <more>' }).waitFor();
    await press('Save as block');
    await page.getByRole('dialog').getByRole('textbox').fill('Footer line');
    await page.keyboard.press('Enter');
    await press('Add: Footer line');
    await page.getByRole('button', { name: 'Text: Footer line' }).waitFor();
    await save();
    const names = [...stored().matchAll(/"data-name":("(?:[^"\\]|\\.)*")/g)].map(([, name = '']) => JSON.parse(name));
    t.strictSame(names, ['Spring "offer" & <more>', 'Footer line']);
    t.strictSame(complaints, []);
  });

  t.test('a mail is made with the keyboard alone: add, move, duplicate, remove, write, choose a picture', async (t) => {
    const { page, picture, save, stored, complaints } = await openDesigner(t, browser, { mjml: mail('Alpha') });
    const press = (name: string) => page.getByRole('button', { name, exact: true }).first().press('Enter');
    await page.getByRole('button', { name: 'Text: Alpha' }).press('Enter');
    await press('Add: Text');
    await press('Add: Heading');
    const outline = () => page.locator('#part-list button').allInnerTexts();
    await page.getByRole('button', { name: 'Heading: A heading' }).waitFor();
    t.strictSame((await outline()).slice(-3), [
      'Text: Alpha',
      'Text: Write what you want to say here.',
      'Heading: A heading',
    ]);
    await press('Move up');
    await press('Move up');
    t.equal(await page.locator('#status').innerText(), 'Heading: A heading was moved.');
    await page.locator('#part-list li li:first-child').getByText('Heading: A heading').waitFor();
    t.equal(await page.locator('[aria-current=true]').innerText(), 'Heading: A heading', 'it stays chosen');
    t.match(await page.evaluate('document.activeElement.innerText'), 'Move up', 'and the focus stays where it was');
    await press('Duplicate');
    await page.getByRole('button', { name: 'Heading: A heading' }).nth(1).waitFor();
    await press('Remove');
    t.equal((await markup(page)).split('<h2').length - 1, 1);
    await page.getByRole('button', { name: 'Text: Alpha' }).press('Enter');
    await press('Edit');
    await page.frameLocator('.gjs-frame').locator('[contenteditable=true]').waitFor();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('Written by hand');
    await page.keyboard.press('Escape');
    t.equal(await page.evaluate('document.activeElement.innerText'), 'Edit', 'Escape leads back');
    await press('Settings');
    await press('Blocks');
    await page.getByRole('button', { name: 'Add: Image' }).focus();
    t.ok(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle === 'solid'`), 'focus shows');
    await press('Add: Image');
    const dialog = page.getByRole('dialog', { name: 'Choose an image' });
    t.strictSame(await findBarriers(page), []);
    await dialog.getByRole('radio').first().press('Space');
    await dialog.getByLabel('Link').fill('https://shop.example/?a=1&copy=2');
    await page.keyboard.press('Enter');
    await dialog.getByText('Describe the image in a few words').waitFor();
    await dialog.getByLabel('Alternative text').fill('A "red" boat & its crew');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await save();
    const image = /\{"tagName":"mj-image","attributes":(\{[^}]*\})/.exec(stored())?.[1];
    t.match(JSON.parse(image ?? '{}'), {
      src: picture.url,
      alt: 'A "red" boat & its crew',
      href: 'https://shop.example/?a=1&copy=2',
    });
    t.match(stored(), 'Written by hand');
    // The pictures of mails are at the public address, which is not that of this test.
    t.strictSame(
      complaints.filter((text) => !text.includes('ERR_NAME_NOT_RESOLVED')),
      [],
    );
    await page.setViewportSize({ width: 320, height: 640 });
    t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, 'nothing sticks out');
  });

  t.test('text from Word and from web pages takes the look of the text that it is pasted into', async (t) => {
    const { page, save, stored, complaints } = await openDesigner(t, browser, { mjml: mail('Alpha') });
    const press = (name: string) => page.getByRole('button', { name, exact: true }).first().press('Enter');
    const edited = page.frameLocator('.gjs-frame').locator('[contenteditable=true]');
    const paste = async (html: string) => {
      await edited.evaluate((element, pasted) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/html', pasted);
        element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      }, html);
      return (await edited.innerHTML()).replaceAll(/ (?:id|draggable|data-gjs-[\w-]+|class)="[^"]*"/g, '');
    };
    await page.getByRole('button', { name: 'Text: Alpha' }).press('Enter');
    await press('Edit');
    await edited.waitFor();
    await page.keyboard.press('ControlOrMeta+A');
    t.equal(await paste(FROM_WORD), CLEAN_WORD);
    await page.getByText('The images were not pasted. Add them with the block “Image”.').waitFor();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('Dear ');
    t.match(
      await paste('<meta charset="utf-8"><span style="font: 9px Arial; color: red">friend</span>'),
      /^<p>Dear(?: |&nbsp;)friend<\/p>$/,
    );
    await page.keyboard.press('ControlOrMeta+A');
    t.equal(await paste(FROM_DOCUMENT), '<p>One <strong>two</strong> <em>three</em></p><ul><li>Four</li></ul>');
    await page.keyboard.press('Escape');
    await save();
    t.match(stored(), '<p>One <strong>two</strong> <em>three</em></p><ul><li>Four</li></ul>');
    // Chromium says of the handler in the pasted text that it is not run.
    t.match(complaints, [/^Executing inline event handler/]);
    t.equal(complaints.length, 1);
  });

  t.test('in German the page, its blocks and what they say are German', async (t) => {
    const { page, complaints } = await openDesigner(t, browser, { language: 'de' });
    t.equal(await page.getAttribute('html', 'lang'), 'de');
    t.equal(await page.getByRole('button', { name: 'Code einfügen' }).count(), 1);
    await page.getByRole('button', { name: 'Hinzufügen: Banner' }).press('Enter');
    await page.getByRole('button', { name: 'Hinzufügen: Fuß' }).press('Enter');
    const text = await markup(page);
    t.match(text, 'Das ist neu');
    t.match(text, 'Abmelden oder Einstellungen ändern');
    await page.getByRole('button', { name: 'Aussehen' }).press('Enter');
    const words = await page.locator('body').innerText();
    t.notMatch(words, /\b(?:Save|Preview|Blocks|Settings|Typography|Decorations|Padding|Move|Heading|Section)\b/);
    t.strictSame(complaints, []);
    await page.getByRole('button', { name: 'Vorschau' }).click();
    await page.getByLabel('Vorschau als Kontakt').fill('nobody@example.org');
    await page.getByRole('button', { name: 'Anzeigen', exact: true }).click();
    await page.getByText('Keiner der Empfänger dieser Mail hat die Adresse nobody@example.org.').first().waitFor();
  });

  t.test('a preview waits for the one before it, so that the last one asked for is shown', async (t) => {
    const { page } = await openDesigner(t, browser);
    const asked: string[] = [];
    const first = Promise.withResolvers<void>();
    await page.route('**/preview', async (route) => {
      asked.push(route.request().postDataJSON().email);
      if (asked.length === 1) await first.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Preview', exact: true }).click();
    await page.getByLabel('Preview as contact').fill('nobody@example.org');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    t.strictSame(asked, [''], 'the second preview waits for the first');
    first.resolve();
    await page.getByText('None of the recipients of this e-mail has the address nobody@example.org.').first().waitFor();
    t.strictSame(asked, ['', 'nobody@example.org']);
  });

  t.test('a mail that is saved by itself leaves in the status line what is to be read there', async (t) => {
    const { app, page, path, save, stored } = await openDesigner(t, browser, { mjml: mail('Alpha') });
    const first = await holdAnswers(page, `**${path}`, () => first.asked.length === 0);
    const press = (name: string) => page.getByRole('button', { name, exact: true }).first().press('Enter');
    const [status, state] = [page.locator('#status'), page.locator('#state')];
    await press('Add: Heading');
    await until(() => first.asked.length === 1);
    t.equal(await state.innerText(), 'Saving …');
    await press('Move up');
    t.equal(await status.innerText(), 'Heading: A heading was moved.');
    await first.release();
    await state.filter({ hasText: /^Saved$/ }).waitFor();
    t.equal(await status.innerText(), 'Heading: A heading was moved.');
    await page.locator('#save').click();
    await status.filter({ hasText: /^Saved$/ }).waitFor();
    t.equal(await state.innerText(), '');
    await press('Move down');
    t.notMatch(await status.innerText(), 'Saved', 'which the mail is no more');
    await state.filter({ hasText: /^Saved$/ }).waitFor();
    await app.page('POST', path, { json: { mjml: mail('Written in another tab') } });
    await press('Move up');
    await status.filter({ hasText: 'This content was changed elsewhere' }).waitFor();
    t.equal(await state.innerText(), 'Not saved yet');
    t.match(stored(), 'Written in another tab', 'what this page has not seen stays until the user decides');
    await save();
    t.match(stored(), 'A heading');
  });

  t.test('a subject that is typed before the designer is ready is a change', async (t) => {
    const { page } = await openDesigner(t, browser, { mjml: mail('Alpha') });
    const content = await holdAnswers(page, '**/content');
    await page.reload({ waitUntil: 'commit' });
    await page.getByLabel('Subject').fill('A new subject');
    await until(() => content.asked.length === 1);
    await content.release();
    await page.waitForSelector('body[data-ready=yes]');
    await page
      .locator('#state')
      .filter({ hasText: /^(?:Not saved yet|Saving …|Saved)$/ })
      .waitFor();
  });

  t.test('a list of blocks that comes late does not replace a newer one', async (t) => {
    const { page } = await openDesigner(t, browser, { mjml: mail('Alpha') });
    const late = await holdAnswers(
      page,
      '**/blocks',
      (request) => request.method() === 'GET' && late.asked.length === 0,
    );
    const keep = async (name: string) => {
      await page.getByRole('button', { name: 'Save as block' }).press('Enter');
      await page.getByLabel('Name of the block').fill(name);
      await page.keyboard.press('Enter');
    };
    await page.getByRole('button', { name: 'Text: Alpha' }).press('Enter');
    await keep('One');
    await until(() => late.asked.length === 1);
    await keep('Two');
    await page.getByRole('button', { name: 'Add: Two' }).waitFor();
    await late.release();
    await page.getByText('“One” was saved.').waitFor();
    t.equal(await page.getByRole('button', { name: 'Add: Two' }).count(), 1);
  });

  t.test('images that are added while the library loads are asked for one after the other', async (t) => {
    const { page, picture } = await openDesigner(t, browser);
    const library = await holdAnswers(page, '**/pictures');
    for (let presses = 0; presses < 2; presses++)
      await page.getByRole('button', { name: 'Add: Image', exact: true }).press('Enter');
    await library.release();
    const dialog = page.getByRole('dialog', { name: 'Choose an image' });
    await dialog.getByRole('radio').check();
    await dialog.getByLabel('Alternative text').fill('A boat');
    await page.keyboard.press('Enter');
    // The dialog is open again, for the second.
    await dialog.getByRole('radio', { checked: false }).waitFor();
    t.equal(await dialog.getByLabel('Alternative text').inputValue(), '');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    t.equal((await markup(page)).split(picture.url).length - 1, 1);
  });

  t.test('an image that is uploaded after its dialog was closed does not take the place of another', async (t) => {
    const { app, page, picture } = await openDesigner(t, browser);
    app.db.prepare("UPDATE pictures SET alt = 'A boat'").run();
    const dialog = page.getByRole('dialog', { name: 'Choose an image' });
    const upload = await holdAnswers(page, '**/pictures?name=*');
    await page.getByRole('button', { name: 'Add: Image', exact: true }).press('Enter');
    await dialog.waitFor();
    await page.setInputFiles('#picture-files', { name: 'Harbour.png', mimeType: 'image/png', buffer: png(30, 20) });
    await until(() => upload.asked.length === 1);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Add: Image', exact: true }).press('Enter');
    await dialog.getByRole('radio').check();
    await upload.release();
    await dialog.getByText('Harbour').waitFor();
    await settled(page);
    t.equal(await dialog.getByRole('radio', { checked: true }).inputValue(), picture.url);
    t.equal(await dialog.getByLabel('Alternative text').inputValue(), 'A boat');
  });

  t.test(
    'a part is kept as a block, put into a mail again, renamed and deleted, with the brand of the account',
    async (t) => {
      const brand = { colours: ['#0a5d46'], text_font: 'Verdana', heading_font: 'Georgia', button_shape: 'pill' };
      const { app, page, complaints } = await openDesigner(t, browser, { mjml: mail('Kept & "quoted"'), brand });
      const press = (name: string) => page.getByRole('button', { name, exact: true }).first().press('Enter');
      await press('Add: Button');
      t.match(await markup(page), /font-family="Verdana[^"]*"[^>]*background-color="#0a5d46"[^>]*border-radius="24px"/);
      await page.getByRole('button', { name: /^Text: Kept/ }).press('Enter');
      await press('Save as block');
      await page.getByLabel('Name of the block').fill('Greeting');
      await page.keyboard.press('Enter');
      await page.getByText('“Greeting” was saved.').waitFor();
      await press('Add: Greeting');
      await page.getByText('Greeting was added.').waitFor();
      t.equal((await markup(page)).split('Kept &amp; "quoted"').length - 1, 2);
      await press('Rename Greeting');
      await page.getByLabel('Name of the block').fill('Hello');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Add: Hello' }).waitFor();
      t.match(app.db.prepare('SELECT user_id, block_name FROM saved_blocks').all(), [
        { user_id: 1, block_name: 'Hello' },
      ]);
      await press('Delete Hello');
      await page.getByRole('dialog', { name: 'Delete “Hello”?' }).waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
      await page.getByText('“Hello” was deleted.').waitFor();
      t.equal(app.db.prepare('SELECT count(*) FROM saved_blocks').pluck().get(), 0);
      await press('Restore “Hello”');
      await page.getByText('“Hello” is back.').waitFor();
      await page.getByRole('button', { name: 'Add: Hello' }).waitFor();
      t.match(app.db.prepare('SELECT user_id, block_name FROM saved_blocks').all(), [
        { user_id: 1, block_name: 'Hello' },
      ]);
      t.strictSame(complaints, []);
    },
  );

  t.test('the panels use the words of a shop owner, in English and in German', async (t) => {
    for (const [language, button, style, settings, words, menu, align, alignments] of [
      [
        'en',
        'Add: Button',
        'Style',
        'Settings',
        ['Size and spacing', 'Text', 'Link', 'Top'],
        'Menu',
        'Align',
        ['Left', 'Centre', 'Right', 'Justified'],
      ],
      [
        'de',
        'Hinzufügen: Schaltfläche',
        'Aussehen',
        'Einstellungen',
        ['Größe und Abstände', 'Schrift', 'Link', 'Oben'],
        'Menü',
        'Ausrichten',
        ['Links', 'Mitte', 'Rechts', 'Blocksatz'],
      ],
    ] as const) {
      const { page } = await openDesigner(t, browser, { language });
      await page.getByRole('button', { name: button, exact: true }).press('Enter');
      const panels = page.locator('.gjs-pn-views-container');
      await page.getByRole('button', { name: style, exact: true }).first().press('Enter');
      const [ofStyle, ofText, ofSettings, ofPadding] = words;
      // The editor fills its panels a moment after a part was selected.
      await until(async () => (await panels.innerText()).includes(ofStyle));
      const styles = await panels.innerText();
      t.match(styles, ofText);
      await panels.getByText(ofPadding, { exact: true }).filter({ visible: true }).waitFor();
      const choices = await panels.locator('.gjs-sm-property__align .gjs-radio-item').allInnerTexts();
      t.strictSame(choices, alignments, 'choices are words');
      await panels.getByRole('radio', { name: `${align}, ${alignments[2]}` }).press('Space');
      t.match(await markup(page), 'align="right"');
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        t.strictSame(await findBarriers(page, RULES_OF_COLOURS), [], `${colorScheme}: every value can be read`);
      }
      await page.locator('.gjs-pn-views').getByRole('button', { name: settings, exact: true }).press('Enter');
      await until(async () => (await panels.innerText()).includes(ofSettings));
      const both = `${styles} ${await panels.innerText()}`;
      t.notMatch(
        both,
        /Component settings|\bHref\b|\bDimension|\bDecorations|\bTypography|Trait|Style Manager/i,
        language,
      );
      const shown = await page.evaluate(() => {
        const words: string[] = [];
        window.editor.setComponents(
          '<mjml><mj-body><mj-section><mj-column><mj-text title="kept">x</mj-text><mj-button>x</mj-button><mj-divider></mj-divider></mj-column></mj-section></mj-body></mjml>',
        );
        for (const type of ['mj-section', 'mj-divider', 'mj-button', 'mj-text']) {
          window.editor.select(window.editor.getWrapper()?.findFirstType(type));
          for (const field of document.querySelectorAll<HTMLInputElement>(
            '.gjs-pn-views-container :is(option, input, .gjs-sm-label)',
          ))
            words.push(`[${field.placeholder ?? field.innerText}]`, field.getAttribute('aria-label') ?? '');
        }
        return words.join(' ');
      });
      t.match(shown, language === 'de' ? /\[Auto\].*\[Fett\].*\[Gestrichelt\]/s : /\[Auto\].*\[Bold\].*\[Dashed\]/s);
      t.notMatch(shown, /\[(?:auto|normal|medium|black|none|solid|repeat|cover|rem|vh|vw|Semi-Bold)\]|eg\./, language);
      if (language === 'de') t.notMatch(shown, /\b(?:unit|Width|Style|Color|Top|Left)\b/);
      t.match(await markup(page), 'title="kept"', 'a setting that the panel does not show');
      const nothing = await panels.evaluate(
        (panel) => getComputedStyle(panel.querySelector('.gjs-traits-empty-c') ?? panel, '::after').content,
      );
      t.match(nothing, language === 'de' ? 'nichts einzustellen' : 'nothing to set');
      const added = () => window.editor.addComponents('<mj-navbar></mj-navbar>').map((part) => part.getName());
      t.strictSame(await page.evaluate(added), [menu], 'the name that the canvas shows');
    }
  });

  t.test('a click gives the whole mail the brand of the account, and one undo takes it back', async (t) => {
    const brand = { colours: ['#7a1f5c'], text_font: 'Verdana', heading_font: 'Georgia', button_shape: 'pill' };
    const mjml = `<mjml><mj-body><mj-section><mj-column><mj-text font-size="28px" font-family="Arial" color="#222222">Title</mj-text>
      <mj-text font-family="Arial">Text</mj-text><mj-button background-color="#000000" href="https://shop.example">Buy</mj-button></mj-column></mj-section></mj-body></mjml>`;
    const { page, save, stored, complaints } = await openDesigner(t, browser, { mjml, brand });
    const before = await markup(page);
    await page.getByRole('button', { name: 'Apply your brand' }).press('Enter');
    await page.getByText('The e-mail has the fonts and buttons of your brand.').waitFor();
    t.match(
      await markup(page),
      /font-family="Georgia[^>]*color="#222222"[^>]*>Title.*font-family="Verdana[^>]*>Text.*background-color="#7a1f5c"[^>]*>Buy/s,
    );
    t.match(
      await markup(page),
      /href="https:\/\/shop.example"[^>]*border-radius="24px"|border-radius="24px"[^>]*href="https:\/\/shop.example"/,
    );
    await save();
    t.match(stored(), '#7a1f5c');
    await page.evaluate('void window.editor.UndoManager.undo()');
    t.equal(await markup(page), before);
    const other = await openDesigner(t, browser);
    t.equal(
      await other.page.getByRole('button', { name: 'Apply your brand' }).count(),
      0,
      'without a brand nothing is offered',
    );
    t.strictSame(complaints, []);
  });
});
