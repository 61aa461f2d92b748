/** The outbox in the dashboard. */
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { checkMail } from '../../src/delivery/checks/mail-checks.ts';
import { checkParts, takeApart } from '../../src/delivery/compiling/show.ts';
import { startApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { visitor } from '../support/visitor.ts';

const HOSTILE = '"><script>alert(1)</script>';

t.test('the newest mail is first, and a search finds e-mails by sender, recipient and subject', async (t) => {
  const app = await startApp(t);
  const { open } = visitor(app);
  t.match((await open('/outbox')).text, 'No e-mails yet');
  const people = ['Anna', 'Ärmel', HOSTILE].map((first_name, at) => ({ email: `p${at}@example.org`, first_name }));
  await sendCampaign(t, app, { people });
  const { status, text } = await open('/outbox');
  t.equal(status, 200);
  t.match(text, /p2@example\.org.*p1@example\.org.*p0@example\.org/s);
  t.notMatch(text, '<script>alert');
  const { text: found } = await open(`/outbox?search=${encodeURIComponent('äRMEL')}`);
  t.match(found, 'p1@example.org');
  t.notMatch(found, 'p0@example.org');
  t.match((await open('/outbox?search=nobody')).text, 'No e-mail matches.');
});

t.test('a mail shows its text, headers, source, links and what to look at', async (t) => {
  const app = await startApp(t);
  const { open } = visitor(app);
  await sendCampaign(t, app, {
    html: '<p>Hello ((first_name)), <a href="https://shop.example/new">news</a><img src="x"></p>',
  });
  const { mails } = (await app.one.call('GET', '/outbox/list', { query: { order: 'newest' } })).body.message;
  const path = `/outbox/${mails[0].id}`;
  t.match((await open(path)).text, `src="${path}/html"`);
  t.match((await open(`${path}?view=text`)).text, 'Hello Anna');
  t.match((await open(`${path}?view=headers`)).text, 'List-Unsubscribe');
  t.match((await open(`${path}?view=source`)).text, 'MIME-Version: 1.0');
  t.match((await open(`${path}?view=links`)).text, /<th scope="row">news<\/th>/);
  t.match((await open(`${path}?view=check`)).text, '1 image has no alternative text.');
  t.equal(
    (await visitor(app, 'owner', { accountId: 2 }).open(path)).status,
    404,
    'nobody sees the mails of another account',
  );
  t.equal((await app.page('GET', `${path}/html`)).status, 303, 'nor without a session');
});

t.test('a viewer reads a mail with links that act for nobody, and is told why', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app);
  const { mails } = (await app.one.call('GET', '/outbox/list', { query: { order: 'newest' } })).body.message;
  const { open } = visitor(app, 'viewer');
  for (const view of ['text', 'headers', 'source', 'links']) {
    const { text } = await open(`/outbox/${mails[0].id}?view=${view}`);
    t.match(text, 'because your role is read-only', view);
    t.match(text, /\/u\/hidden/, view);
    t.notMatch(text, /\/[uocw]\/[\w-]+\.[\w-]{22}/, view);
  }
  const look = (await open(`/outbox/${mails[0].id}`)).text + (await open(`/outbox/${mails[0].id}/html`)).text;
  t.notMatch(look, /\/[uocw]\/[\w-]+\.[\w-]{22}/);
  t.notMatch((await visitor(app).open(`/outbox/${mails[0].id}?view=source`)).text, 'because your role is read-only');
});

t.test('the HTML of a mail runs nothing and loads nothing', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app);
  const { mails } = (await app.one.call('GET', '/outbox/list', { query: { order: 'newest' } })).body.message;
  const { headers, status, text } = await visitor(app).open(`/outbox/${mails[0].id}/html`);
  t.equal(status, 200);
  t.match(text, /<img [^>]*data-src="/, 'not even the picture that counts opens');
  t.notMatch(text, /<img [^>]*\ssrc="http/);
  const frame = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
  t.equal(
    headers['content-security-policy'],
    `${frame}; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox`,
    'but its links open tabs',
  );
});

t.test('a mail of 400 000 unclosed elements is checked within two seconds', (t) => {
  const html = `<a href="https://a.example">there</a>${'<div>'.repeat(400_000)}`;
  const started = performance.now();
  const { links } = checkMail({ html, text: 'Hello', headers: [] });
  t.ok(performance.now() - started < 2000);
  t.strictSame(links, [{ url: 'https://a.example', text: 'there' }], 'and what stands before them is found');
  t.end();
});

t.test('a large mail is parsed outside the thread that answers requests', async (t) => {
  const raw = `Subject: Hello\r\nContent-Type: text/html\r\n\r\n${'<p>Hello</p>\r\n'.repeat(50_000)}`;
  const started = performance.now();
  const parsing = takeApart(1, raw);
  await setImmediate();
  const held = performance.now() - started;
  const { html, headers } = await parsing;
  t.ok(held < (performance.now() - started) / 3, 'the caller is free meanwhile');
  t.equal(html?.match(/Hello/g)?.length, 50_000);
  t.strictSame(headers[0], { name: 'Subject', value: 'Hello' });
});

t.test('a large mail is checked outside the thread that answers requests', async (t) => {
  const html = '<p><a href="https://a.example">there</a></p>'.repeat(100_000);
  const started = performance.now();
  const checking = checkParts(1, { html, text: 'Hello', headers: [] });
  const held = performance.now() - started;
  const { links, findings } = await checking;
  t.ok(held < (performance.now() - started) / 3, 'the caller is free meanwhile');
  t.equal(links.length, 100_000);
  t.match(findings, [{ check: 'size', isGood: false }]);
});

t.test('the links and the check of a large mail are shown', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app, {
    html: `<p>Hello <a href="https://a.example/new">there</a></p>${'<p>More</p>'.repeat(8000)}`,
  });
  const { open } = visitor(app);
  t.match((await open('/outbox/2?view=links')).text, />there</);
  t.match((await open('/outbox/2?view=check')).text, /class="checks"/);
});

t.test('a mail is checked for what keeps people from reading it', async (t) => {
  const bad = (html: string, more: object = {}) =>
    checkMail({ html, text: 'Hello', headers: [{ name: 'List-Unsubscribe', value: '<https://a.example>' }], ...more })
      .findings.filter(({ isGood }) => !isGood)
      .map(({ check, values }) => [check, values.count]);
  t.strictSame(bad('<html lang="en"><p>Hello <a href="https://a.example">there</a></p></html>'), []);
  t.strictSame(bad(`<html lang="en">${'x'.repeat(103 * 1024)}</html>`), [['size', 103 * 1024 + 23]]);
  t.strictSame(bad('<p>Hello</p>', { text: null, headers: [] }), [
    ['unsubscribe', 0],
    ['plainText', 0],
    ['language', 0],
  ]);
  t.strictSame(
    bad(
      '<html lang="en"><img src="a"><img src="b" alt=""><a href="c"><img src="d" alt=""></a><a href="e"><img alt="E"></a></html>',
    ),
    [
      ['images', 1],
      ['links', 1],
    ],
  );
  const onGround = (colour: string) =>
    bad(`<html lang="en"><table bgcolor="#ffffff"><tr><td style="color: ${colour}">Text</td></tr></table></html>`);
  t.strictSame(onGround('#777'), [['contrast', 1]], '4.48 : 1 is too little');
  t.strictSame(onGround('#767676'), [], '4.54 : 1 is enough');
});
