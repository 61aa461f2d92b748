/** The journey of a left cart, made and followed in the browser by clicking alone. */
import t from 'tap';
import { HOUR_MS } from '../../src/units.ts';
import { mustSucceed, readOutbox, sendCampaign } from '../support/campaign.ts';
import { launch, openTab } from '../support/dashboard/browser.ts';
import { mouse } from '../support/dashboard/hands.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { skipWithout } from '../support/tools.ts';
import { serve } from '../support/walked-pages.ts';

t.test(
  'an abandoned cart is built by clicking, and its flow and its contacts are seen',
  { skip: skipWithout('chromium') },
  async (t) => {
    const { app, origin } = await serve(t);
    await sendCampaign(t, app, { people: ['ann', 'bo', 'cy'].map((name) => ({ email: `${name}@example.org` })) });
    const browser = await launch(t);
    const { page, complaints } = await openTab(t, browser, origin, { cookie: cookieOf(app, addPerson(app)) });
    const hands = mouse();
    const link = (name: string) => page.getByRole('link', { name, exact: true }).first();
    const button = (name: string) => page.getByRole('button', { name, exact: true }).first();
    const field = (label: string) => page.getByLabel(label, { exact: true });
    const addMail = async (from: ReturnType<typeof link>, subject: string) => {
      await hands.press(from);
      await hands.type(field('Subject'), subject);
      await hands.pick(field('When'), 'At once');
      await hands.pick(field('Start with'), 'Plain letter');
      await hands.press(button('Add an e-mail'));
      await page.locator('h1', { hasText: subject.replace('((first_name|friend))', 'friend') }).waitFor();
      await hands.press(link('Back to all e-mails'));
    };

    await page.goto(`${origin}/automations/new`);
    await hands.type(field('Internal name'), 'Cart');
    await hands.pick(field('Trigger'), 'Readers (list, 3 contacts)');
    await hands.press(button('Create automation'));
    t.equal(await field('Days after the last entry').isVisible(), false, 'only what the choices need is shown');
    await hands.pick(field('Enter again'), 'Some days after the last entry');
    await field('Days after the last entry').waitFor();
    await page.getByText('Contacts who are already there do not enter.').waitFor();
    await hands.pick(field('Trigger'), 'By an event');
    await page.getByText('Contacts who are already there do not enter.').waitFor({ state: 'hidden' });
    await hands.type(field('Event'), 'cart');
    await hands.type(field('Only if'), 'value >= 50');
    await hands.press(button('Save'));
    await page.getByText('The event “cart” with value >= 50 happens for a contact in the list “Readers”.').waitFor();
    await hands.press(link('Add a step'));
    await hands.press(link('Wait until'));
    await hands.type(field('Event'), 'purchase');
    await hands.type(field('Wait at most, in hours'), '4');
    await hands.press(button('Add a step'));
    await addMail(
      page.locator('a[href*="branch=no"]', { hasText: 'Add an e-mail' }),
      'Your cart, ((first_name|friend))',
    );
    await hands.press(link('Back to the automation'));
    await hands.press(button('Start'));
    await hands.press(page.getByRole('dialog').getByRole('button', { name: 'Start' }));
    await page.getByText('The automation is live.', { exact: true }).waitFor();

    const report = (name: string, event: string, value: number) =>
      mustSucceed(t, app.one)('/events', { email: `${name}@example.org`, name: event, value });
    const follow = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += HOUR_MS) {
        app.clock.advance(Math.min(HOUR_MS, ms));
        await app.background();
      }
      await page.reload();
    };
    const before = (await readOutbox(app)).length;
    await report('ann', 'cart', 80);
    await report('bo', 'cart', 60);
    await report('cy', 'cart', 10);
    await follow(60_000);
    await page.getByText('2 contacts entered').waitFor();
    await page.getByText('2 active', { exact: true }).waitFor();
    app.clock.advance(1000);
    await report('bo', 'purchase', 60);
    await follow(5 * HOUR_MS);
    t.strictSame(
      (await readOutbox(app)).slice(before).map(({ to }) => to),
      ['ann@example.org'],
    );
    await page.getByText('2 contacts completed the automation').waitFor();
    await hands.press(link('What happened to each contact'));
    await hands.type(field('E-mail address'), 'bo@example.org');
    await hands.press(button('Find'));
    await page.getByText(/^It came in time/).waitFor();

    await page.goto(page.url().replace(/[^/]*$/, 'replay'));
    const opens = field('Assumed open rate, in percent');
    const slider = opens.locator('xpath=following-sibling::input[1]');
    await slider.fill('70');
    t.equal(await opens.inputValue(), '70', 'a slider sets the assumed rate');
    await opens.fill('15');
    t.equal(await slider.inputValue(), '15', 'and follows the field');
    t.strictSame(complaints, []);
  },
);
