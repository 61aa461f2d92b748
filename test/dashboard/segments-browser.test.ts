/** The form of a segment in a real browser: rows and the count follow what is chosen and typed. */
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { holdAnswers, launch, openTab } from '../support/dashboard/browser.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { addContact, membersOf, startWithFields } from '../support/segments.ts';
import { skipWithout } from '../support/tools.ts';
import { until } from '../support/until.ts';

t.test('a segment is made by clicking', { skip: skipWithout('chromium') }, async (t) => {
  const browser = await launch(t);
  const app = await startWithFields(t);
  for (const [name, city, points] of [
    ['anna', 'Bonn', '5'],
    ['bea', 'Bonn', '9'],
    ['carl', 'Ulm', '9'],
  ] as const)
    await addContact(app, `${name}@example.org`, { city, 'custom_field[points]': points });
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const origin = `http://127.0.0.1:${(app.fastify.server.address() as AddressInfo).port}`;
  const { page, complaints } = await openTab(t, browser, origin, { cookie: cookieOf(app, addPerson(app)) });
  await page.goto(`${origin}/contacts/segments/new`);
  const rule = (number: number) => page.getByRole('group', { name: `Rule ${number}` });
  const count = (text: string) => page.locator('#segment-count', { hasText: text }).waitFor();

  await rule(1).getByLabel('Field').selectOption('City');
  await rule(1).getByLabel('Value').pressSequentially('Bonn');
  await count('2 contacts');
  await page.locator('[role=status]', { hasText: '2 contacts' }).waitFor({ state: 'attached' });
  await page.getByText('All contacts in Readers whose city is “Bonn”').waitFor();
  t.ok(await page.getByRole('link', { name: 'anna@example.org' }).isVisible());

  await page.getByRole('button', { name: 'Add rule' }).click();
  await rule(2).waitFor();
  t.equal(await page.evaluate(() => document.activeElement?.id), 'field1', 'the focus is in the new rule');
  await rule(2).getByLabel('Field').focus();
  await rule(2).getByLabel('Field').selectOption('Points');
  await rule(2).locator('input[type=number]').waitFor();
  t.equal(await page.evaluate(() => document.activeElement?.id), 'field1', 'the focus stays where it was');
  await rule(2).getByLabel('Comparison').selectOption('is between');
  await rule(2).getByLabel('From').fill('8');
  await rule(2).getByLabel('To').fill('10');
  await count('1 contact');
  await page.getByLabel('Contacts match').selectOption('at least one rule');
  await count('3 contacts');
  await page.getByLabel('List', { exact: true }).selectOption('Writers');
  await count('0 contacts');
  await page.getByLabel('List', { exact: true }).selectOption('Readers');
  await page.getByRole('button', { name: 'Remove Rule 1' }).click();
  await count('2 contacts');
  t.notOk(await rule(2).isVisible());

  await page.getByLabel('Name').fill('Loyal');
  await page.getByLabel('Name').press('Enter');
  await page.getByText('“Loyal” was saved.').waitFor();
  t.equal(await membersOf(t, app, 1), 'bea carl');
  t.strictSame(complaints, []);
});

/** Opens the form of a new segment in a tab. `rule` finds a rule by its number. */
async function openNewSegment(t: Test) {
  const app = await startWithFields(t);
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const origin = `http://127.0.0.1:${(app.fastify.server.address() as AddressInfo).port}`;
  const { page } = await openTab(t, await launch(t), origin, { cookie: cookieOf(app, addPerson(app)) });
  await page.goto(`${origin}/contacts/segments/new`);
  const rule = (number: number) => page.getByRole('group', { name: `Rule ${number}` });
  return { app, page, rule };
}

t.test(
  'a rule that is added stays so, though somebody types before it is there',
  { skip: skipWithout('chromium') },
  async (t) => {
    const { page, rule } = await openNewSegment(t);
    const first = await holdAnswers(page, '**/segments/**', () => first.asked.length === 0);
    await page.getByRole('button', { name: 'Add rule' }).click();
    await until(() => first.asked.length === 1);
    await rule(1).getByLabel('Value').fill('Bonn');
    await first.release();
    await rule(2).waitFor();
    await page.keyboard.type('!');
    t.equal(await rule(1).getByLabel('Value').inputValue(), 'Bonn!', 'and the cursor stays where it was');
  },
);

t.test(
  'a rule that is removed stays so, though the segment is saved before it is gone',
  { skip: skipWithout('chromium') },
  async (t) => {
    const { app, page, rule } = await openNewSegment(t);
    await page.getByLabel('Name').fill('Bonn');
    await rule(1).getByLabel('Value').fill('Bonn');
    await page.getByRole('button', { name: 'Add rule' }).click();
    await rule(2).getByLabel('Value').fill('Köln');
    const choice = await holdAnswers(page, '**/segments/**', () => choice.asked.length === 0);
    await page.getByLabel('Contacts match').selectOption('at least one rule');
    await until(() => choice.asked.length === 1);
    await page.getByRole('button', { name: 'Remove Rule 2' }).click();
    await rule(2).waitFor({ state: 'hidden' });
    await choice.release();
    await page.getByRole('button', { name: 'Add rule' }).click();
    await rule(2).getByLabel('Value').fill('Köln');
    const removal = await holdAnswers(page, '**/segments/**', (request) => /remove/.test(request.postData() ?? ''));
    await page.getByRole('button', { name: 'Remove Rule 2' }).click();
    await until(() => removal.asked.length === 1);
    t.ok(await page.getByRole('button', { name: 'Add rule' }).isDisabled(), 'one change of the rules after the other');
    for (let clicks = 0; clicks < 2; clicks++) await page.getByRole('button', { name: 'Save segment' }).click();
    await removal.release();
    await page.getByText('“Bonn” was saved.').waitFor();
    t.strictSame(app.db.prepare<[], string>('SELECT value FROM segments ORDER BY id DESC').pluck().get(), '["Bonn"]');
  },
);
