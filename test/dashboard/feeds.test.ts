/** The form of a feed, as a browser shows it. */
import t from 'tap';
import { sendCampaign } from '../support/campaign.ts';
import { launch, openTab } from '../support/dashboard/browser.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { skipWithout } from '../support/tools.ts';
import { serve } from '../support/walked-pages.ts';

t.test(
  'each label of a feed’s form stands clear of the field above, and its zone is chosen from a list by typing',
  { skip: skipWithout('chromium') },
  async (t) => {
    const { app, origin } = await serve(t);
    await sendCampaign(t, app, { people: [{ email: 'zoe@example.org' }] });
    const { page } = await openTab(t, await launch(t), origin, { cookie: cookieOf(app, addPerson(app)) });
    await page.goto(`${origin}/feeds/new`);
    const digest = ['Send on', 'Send at', 'Time zone'];
    const shown = async () => {
      const isShown = await Promise.all(digest.map((label) => page.getByLabel(label, { exact: true }).isVisible()));
      return digest.filter((_, at) => isShown[at]);
    };
    const rhythm = page.getByLabel('Frequency');
    t.strictSame(await shown(), [], 'a mail for each post needs no day, time or zone');
    await rhythm.selectOption('daily');
    t.strictSame(await shown(), ['Send at', 'Time zone']);
    await rhythm.selectOption('weekly');
    t.strictSame(await shown(), digest);
    const fields = await page.locator('.narrow > .field').all();
    t.ok(fields.length > 8);
    for (const field of fields) {
      const gap = await field.evaluate((element) => {
        const above = element.previousElementSibling;
        return above === null ? null : element.getBoundingClientRect().top - above.getBoundingClientRect().bottom;
      });
      t.ok(gap === null || gap >= 16, `${gap} px above ${await field.locator('label').textContent()}`);
    }
    const zone = page.getByLabel('Time zone');
    t.equal(await zone.inputValue(), 'UTC', 'that of the installation');
    // Browsers choose an option by the keys pressed within a second, which a busy machine may not manage here.
    t.equal(await zone.locator('option', { hasText: /^Vienna/ }).getAttribute('value'), 'Europe/Vienna');
    t.notMatch(await page.locator('main').innerText(), '((item_summary))', 'no codes before somebody asks for them');
    await page.getByText('Merge tags', { exact: true }).click();
    await page.getByRole('button', { name: 'Insert Number of posts' }).click();
    t.match(await page.getByLabel('Subject').inputValue(), /\(\(items_count\)\)$/);
  },
);
