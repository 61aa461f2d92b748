/** What a contact did with their mail, as the page of the contact and the API count it. */
import t from 'tap';
import { addPerson, cookieOf, FROM_PAGE } from '../../support/people.ts';
import { flushHits } from '../../support/recipient-links.ts';
import { HOUR, startSend, startShop, UNKNOWN } from '../../support/shop.ts';

const LINKED = '<p><a href="https://shop.example/a">New books</a></p>';

t.test('delivered, opened and clicked mails of a contact are counted, each once', async (t) => {
  const shop = await startShop(t, { PUBLIC_URL: 'https://mail.example.org' });
  const { app, relay } = shop;
  const contact_id = await shop.add('zoe');
  const engagement = async () => (await shop.get('/contacts/person', { contact_id })).engagement;
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  const page = async () => (await app.page('GET', `/contacts/${contact_id}`, { headers })).text;
  const none = { delivered: 0, measured: 0, opened: 0, clicked: 0, last_active_at: null };
  t.strictSame(await engagement(), none);
  t.notMatch(await page(), 'E-mails delivered', 'a contact without mail has no rates');

  for (const single_send_name of ['one', 'two', 'three'])
    await startSend(shop, { single_send_name, template_html: LINKED });
  relay.answer = () => UNKNOWN;
  await startSend(shop, { single_send_name: 'four' });
  t.strictSame(await engagement(), { ...none, delivered: 3, measured: 3 }, 'a bounced mail was not delivered');

  const [first] = await shop.mails();
  const path = (pattern: RegExp) => new URL(pattern.exec(first?.html ?? '')?.[0] ?? '').pathname;
  const visit = async (address: string, userAgent: string) => {
    await app.page('GET', address, { headers: { 'user-agent': userAgent } });
    flushHits(app);
  };
  const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  const [pixel, link] = [path(/https:[^"]*\/o\/[^"]*/), path(/https:[^"]*\/c\/[^"]*/)];
  for (const _twice of [1, 2]) await visit(pixel, browser);
  await visit(link, browser);
  await shop.pass(HOUR);
  const { last_active_at, ...counts } = await engagement();
  t.strictSame(counts, { delivered: 3, measured: 3, opened: 1, clicked: 1 });
  t.type(last_active_at, 'string');
  const text = await page();
  for (const shown of ['33.3%', '1 of 3 measured', 'last active 1 hour ago', 'Contact since ']) t.match(text, shown);
});

t.test('a mail that nobody received or that is not measured is no opened or unopened mail', async (t) => {
  const shop = await startShop(t);
  const { app } = shop;
  const contact_id = await shop.add('zoe');
  const engagement = async () => (await shop.get('/contacts/person', { contact_id })).engagement;
  await startSend(shop, { tracking: 0 });
  t.match(await engagement(), { delivered: 1, measured: 0 });
  const { text } = await app.page('GET', `/contacts/${contact_id}`, {
    headers: { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) },
  });
  t.match(text, 'Unmeasured');
});
