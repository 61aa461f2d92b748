/** What is shown in a browser apart from leaving: web copies, the sender's confirmation, template pictures. */

import { readdirSync } from 'node:fs';
import PostalMime from 'postal-mime';
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { mustSucceed, sendCampaign } from '../support/campaign.ts';
import { SHOP_SENDER } from '../support/sender.ts';

async function withSender(t: Test) {
  const app = await startApp(t);
  await mustSucceed(t, app.one)('/sender/save', SHOP_SENDER);
  await app.background();
  const raw = app.db.prepare<[], Buffer>('SELECT raw FROM outbox ORDER BY id DESC LIMIT 1').pluck().get();
  const mail = await PostalMime.parse(raw ?? '');
  const path = /http:\/\/mail\.example\.com(\/verify\/\S+)/.exec(mail.text ?? '')?.[1] ?? '';
  const isVerified = () => app.db.prepare('SELECT is_verified FROM senders').pluck().get();
  return { app, mail, path, isVerified };
}

t.test('a web copy is the recipient’s mail in an opaque origin, without counting an open', async (t) => {
  const app = await startApp(t);
  const { mails } = await sendCampaign(t, app, {
    html: '<p onclick="x()">Hello ((first_name)) from ((sender_name))</p><a href="https://shop.example/?a=1&amp;for=((first_name))">news</a><a href="((web_copy))">View in browser</a><script>x()</script>',
  });
  const ids = app.db
    .prepare(
      `SELECT d.id AS delivery, mailing_id AS mailing, address_id AS address, 1 AS "group", m.user_id AS user, a.normalized_email AS email
       FROM deliveries d JOIN mailings m ON m.id = mailing_id JOIN addresses a ON a.id = address_id WHERE owner_kind = 'single'`,
    )
    .get() as Parameters<typeof app.tokens.recipient>[0];
  const { web, open } = app.tokens.recipient(ids);
  t.equal(mails[0]?.paths.w, `/w/${web}`, 'the mail links to it');
  const { status, text, headers } = await app.page('GET', `/w/${web}`);
  t.equal(status, 200);
  t.match(text, 'Hello Anna from Lark Books');
  t.match(text, mails[0]?.paths.w ?? 'no link');
  t.match(
    text,
    '<a href="https://shop.example/?a=1&amp;for=Anna">news</a>',
    'a link leads straight to its destination',
  );
  t.notMatch(text, /\/[oc]\//, 'no pixel and no counted link');
  const links = [...text.matchAll(/mail\.example\.com(\/u\/[^"]+)/g)].map(([, path]) => path);
  t.strictSame(links, ['/u/shared'], 'who reads a copy that was passed on cannot unsubscribe the person');
  t.match(await app.page('GET', '/u/shared'), { status: 200, text: /only in the e-mail itself/ });
  t.equal((await app.page('POST', '/u/shared')).status, 404);
  t.match(headers['content-security-policy'], /^sandbox(?!.*allow-(scripts|same-origin))/);
  t.equal((await app.page('HEAD', `/w/${web}`)).status, 200);
  t.equal((await app.page('GET', `/w/${open}`)).status, 404, 'an open token is no key to the mail');
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 1 } });
  const after = await app.page('GET', `/w/${web}`);
  t.equal(after.status, 200);
  t.match(after.text, 'Hello  from Lark Books', 'a deleted contact leaves no value behind');
});

t.test('whoever asks for a large mail of one account without end keeps no reader of another waiting', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app, { html: `<p>Hello ((first_name))</p>${'<p>news</p>'.repeat(60_000)}` });
  const ids = app.db
    .prepare(
      `SELECT d.id AS delivery, mailing_id AS mailing, address_id AS address, 1 AS "group", m.user_id AS user, a.normalized_email AS email
       FROM deliveries d JOIN mailings m ON m.id = mailing_id JOIN addresses a ON a.id = address_id WHERE owner_kind = 'single'`,
    )
    .get() as Parameters<typeof app.tokens.recipient>[0];
  const pathOf = (of: typeof ids) => `/w/${app.tokens.recipient(of).web}`;
  // A mail of another account with the same content.
  const two = Number(app.db.prepare('SELECT max(id) FROM accounts').pluck().get());
  const copyOf = (table: string, changed: Record<string, number | string>) => {
    const columns = app.db.prepare(`SELECT name FROM pragma_table_info('${table}') WHERE name <> 'id'`).pluck().all();
    const values = columns.map((name) => changed[String(name)] ?? `"${name}"`);
    const made = app.db.prepare(
      `INSERT INTO ${table} (${columns.map((name) => `"${name}"`)}) SELECT ${values} FROM ${table} WHERE id = ?`,
    );
    return (id: number) => Number(made.run(id).lastInsertRowid);
  };
  const mailing = copyOf('mailings', { user_id: two, owner_id: 999 })(ids.mailing);
  const address = copyOf('addresses', { user_id: two })(ids.address);
  const theirs = { ...ids, mailing, address, delivery: 0, user: two };
  const done: string[] = [];
  const read = async (name: string, path: string) => {
    const { status } = await app.page('GET', path);
    done.push(`${name} ${status}`);
  };
  await Promise.all([...Array.from({ length: 120 }, () => read('one', pathOf(ids))), read('two', pathOf(theirs))]);
  const shown = done.filter((one) => !one.endsWith('503'));
  t.strictSame([shown.length, done.length], [11, 121], 'at most ten of one link wait, so that they take little memory');
  t.ok(shown.indexOf('two 200') <= 2, `${shown.indexOf('two 200')}`);
});

t.test('the verification mail leads to a page whose button confirms the sender', async (t) => {
  const { app, mail, path, isVerified } = await withSender(t);
  t.equal(mail.subject, 'Confirm hello@example.com');
  t.match(mail.html, path);
  t.equal(mail.to?.[0]?.address, 'hello@example.com');
  for (const method of ['GET', 'HEAD']) {
    t.equal((await app.page(method, path)).status, 200);
    t.equal(isVerified(), 0, 'a look confirms nothing');
  }
  t.match((await app.page('GET', path)).text, 'Confirm this address');
  t.match((await app.page('POST', path)).text, 'Address confirmed');
  t.equal(isVerified(), 1);
  t.match((await app.page('GET', path)).text, 'Address confirmed', 'and says so ever after');
});

t.test('a verification link that is old, changed or of another address confirms nothing', async (t) => {
  const { app, path, isVerified } = await withSender(t);
  t.equal((await app.page('POST', `${path.slice(0, -1)}!`)).status, 404);
  app.clock.advance(8 * 24 * 60 * 60 * 1000);
  t.equal((await app.page('POST', path)).status, 404);
  t.equal(isVerified(), 0);
});

t.test('the documents are at /docs and at /docs/', async (t) => {
  const { page } = await startApp(t);
  const [one, other] = [await page('GET', '/docs'), await page('GET', '/docs/')];
  t.equal(one.status, 200);
  t.equal(other.text, one.text);
});

t.test('an unknown page does not speak of a mail, and an altered link of a mail does', async (t) => {
  const { page } = await startApp(t);
  for (const path of [
    '/nothing',
    '/u',
    '/docs/nothing',
    '/assets/none.js',
    '/assets/',
    '/images/templates/none.png',
    '/favicon.ico',
  ]) {
    const { status, text } = await page('GET', path);
    t.equal(status, 404, path);
    t.match(text, 'Page not found', path);
    t.notMatch(text, /mail/i, path);
  }
  t.match((await page('GET', '/u/altered')).text, /\bmails?\b/i);
});

t.test('template pictures are served for good, and nothing beside them', async (t) => {
  const { page, one } = await startApp(t);
  const bad = [
    '../dynamic-content.json',
    '..%2fdynamic-content.json',
    '%2e%2e/%2e%2e/package.json',
    'none.png',
    '.png',
    'blank.json',
    'blank.html',
  ];
  for (const name of bad) t.equal((await page('GET', `/images/templates/${name}`)).status, 404, name);
  const folder = new URL('../../data/templates/', import.meta.url);
  const pictures = readdirSync(folder).filter((name) => /\.(png|webp)$/.test(name));
  t.ok(pictures.length > 0);
  for (const name of pictures) {
    const { status, headers } = await page('GET', `/images/templates/${name}`);
    t.equal(status, 200, name);
    t.match(headers, { 'content-type': `image/${name.split('.')[1]}`, 'cache-control': /immutable/ });
    const known = { headers: { 'if-none-match': String(headers.etag) } };
    t.equal((await page('GET', `/images/templates/${name}`, known)).status, 304, 'nothing is sent twice');
  }
  const { body } = await one.call('GET', '/get-design/template');
  for (const { preview_image } of body.message.templates) {
    t.equal((await page('GET', `/images/templates/${preview_image}`)).status, 200, `the file name ${preview_image}`);
  }
});
