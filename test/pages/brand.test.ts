/** The owner's logo and colour on public pages. */
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { contrast } from '../../src/delivery/content/contrast.ts';
import { brandStyle } from '../../src/http/pages/brand-look.tsx';
import { startApp } from '../support/app.ts';
import { mustSucceed, sendCampaign } from '../support/campaign.ts';
import { findBarriers, launch, openTab } from '../support/dashboard/browser.ts';
import { addForm, askedMails, subscribe } from '../support/forms.ts';
import { png, uploadPicture } from '../support/pictures.ts';
import { skipWithout } from '../support/tools.ts';

const LOOK = { text_font: 'Arial', heading_font: 'Arial', button_shape: 'rounded' };

/** An account with a brand of this colour, and its public pages by name. */
async function branded(t: Test, colour: string) {
  const app = await startApp(t);
  const { utr, mails } = await sendCampaign(t, app);
  const must = mustSucceed(t, app.one);
  const logo = await uploadPicture(app.one, png(360, 100), 'logo.png');
  await must('/brand/save', { logo_picture_id: logo.id, colours: [colour], ...LOOK });
  await must('/single/send/archive', { utr, is_archived: 1 });
  const { body } = await app.one.call('GET', '/archive');
  const form = await addForm(t, app);
  await subscribe(app, form, 'zoe@example.org');
  await app.background();
  const confirm = (await askedMails(app)).at(-1)?.path ?? '';
  const pages = {
    preferences: mails[0]?.paths.u ?? '',
    archive: new URL(body.message.archive.url).pathname,
    form: form.path,
    sent: `${form.path}/sent`,
    confirm,
  };
  return { app, pages, logo };
}

t.test(
  'preferences, archive, forms and confirmations carry the logo and colour, and their policies allow them',
  async (t) => {
    const { app, pages } = await branded(t, '#7a1fa2');
    for (const [name, path] of Object.entries(pages)) {
      const { status, text, headers } = await app.page('GET', path);
      t.equal(status, 200, name);
      t.match(text, /<p class="logo"><img src="\/pictures\/[^"]+" alt="[^"]+" width="180" height="50"\/><\/p>/, name);
      t.match(text, ':root{--accent:#7a1fa2;--on-accent:#ffffff}', name);
      const style = /<style>(.*?)<\/style>/s.exec(text)?.[1] ?? '';
      const hash = createHash('sha256').update(style).digest('base64');
      t.match(headers['content-security-policy'], `style-src 'sha256-${hash}'`, name);
      t.match(headers['content-security-policy'], "img-src data: 'self'; form-action", name);
    }
  },
);

t.test('an account without a brand, and pages of no account, look as before', async (t) => {
  const app = await startApp(t);
  const { mails } = await sendCampaign(t, app);
  for (const path of [mails[0]?.paths.u ?? '', '/u/shared', '/nowhere']) {
    const { text, headers } = await app.page('GET', path);
    t.notMatch(text, 'class="logo"');
    t.match(headers['content-security-policy'], 'img-src data:; form-action');
  }
});

t.test('whatever the colour is, it can be read on the page and text can be read on it, in both looks', async (t) => {
  const parts = ['00', '33', '80', 'b2', 'ff'];
  const colours = parts.flatMap((red) => parts.flatMap((green) => parts.map((blue) => `#${red}${green}${blue}`)));
  for (const colour of colours) {
    const style = brandStyle({ colour, logo: null });
    const [light, dark] = [...style.matchAll(/--accent:#([0-9a-f]{6});--on-accent:#([0-9a-f]{6})/g)];
    for (const [[, accent = '', onAccent = ''] = [], ground] of [
      [light, 'ffffff'],
      [dark, '1a1e1d'],
    ] as const) {
      t.ok(contrast(accent, ground) >= 4.5, `${colour} as ${accent} on ${ground}`);
      t.ok(contrast(accent, onAccent) >= 4.5, `${onAccent} on ${accent}`);
    }
  }
  t.match(brandStyle({ colour: '#1d5b46', logo: null }), '--accent:#1d5b46', 'a colour that can be read stays');
  t.equal(brandStyle({ colour: '', logo: null }), '');
});

t.test(
  'in a browser the pages have no barriers with a pale colour, and the logo shows',
  { skip: skipWithout('chromium') },
  async (t) => {
    const { app, pages } = await branded(t, '#ffe14d');
    await app.fastify.listen({ host: '127.0.0.1', port: 0 });
    const origin = `http://127.0.0.1:${(app.fastify.server.address() as AddressInfo).port}`;
    const browser = await launch(t);
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, complaints } = await openTab(t, browser, origin, { colorScheme });
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(origin + path, { waitUntil: 'networkidle' });
        t.strictSame(await findBarriers(page), [], `${name} ${colorScheme}`);
        t.equal(await page.evaluate('document.querySelector(".logo img").naturalWidth'), 360, name);
        if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/brand-${name}-${colorScheme}.png` });
      }
      t.strictSame(complaints, []);
    }
  },
);
