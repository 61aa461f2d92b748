/** The parts of a mailing's page beside its overview and recipients: links with their click map, and the preview. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { withinShare } from '../../src/http/account-share.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { mustSucceed, sendCampaign } from '../support/campaign.ts';
import { launch, openTab } from '../support/dashboard/browser.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { png, uploadPicture } from '../support/pictures.ts';
import { flushHits } from '../support/recipient-links.ts';
import { skipWithout } from '../support/tools.ts';
import { until } from '../support/until.ts';
import { visitor } from '../support/visitor.ts';

const HTML = `<p>Hello ((first_name)), <a href="https://shop.example/new">all <b>news</b></a> or
  <a href="https://shop.example/old">&lt;script&gt;old</a></p><img src="https://shop.example/a.png" alt="A"><script>alert(1)</script>`;
const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11) Firefox/140' };

/** A mailing to two people, whose second link a person clicked twice and a program once. */
async function clicked(t: Test) {
  const app = await startApp(t);
  const people = ['anna', 'bea'].map((name) => ({ email: `${name}@example.org`, first_name: name }));
  const { utr, mails } = await sendCampaign(t, app, { html: HTML, people });
  app.clock.advance(60_000);
  const [first = '', second = ''] = mails.map(({ paths }) => paths.c?.replace(/0$/, '1'));
  await app.page('GET', first, { headers: BROWSER });
  await app.page('GET', first, { headers: BROWSER });
  await app.page('GET', second, { headers: { 'user-agent': 'a scanner bot' } });
  flushHits(app);
  return { app, path: `/campaigns/${utr}`, open: visitor(app, 'viewer').open };
}

t.test('links are listed by clicks of people, apart from programs, and lead to those who clicked', async (t) => {
  const { open, path } = await clicked(t);
  const { status, text } = await open(`${path}/links`);
  t.equal(status, 200);
  t.match(text, '<a class="back" href="/campaigns">', 'the page leads back to the list');
  const rows = [...text.matchAll(/<tr><th scope="row">.*?<\/tr>/gs)].map(([row]) => row.replaceAll(/<[^>]+>/g, ' '));
  t.match(rows, [/&lt;script>old +https:\/\/shop\.example\/old +2 +100% +1/, /all news +https.*new +0 +0% +0/]);
  const [, href = ''] = /href="([^"]+\/recipients\?link=1)"/.exec(text) ?? [];
  const found = (await open(href)).text;
  t.match(found, 'anna@example.org');
  t.match(found, 'bea@example.org');
  t.match(found, /Clicked: <bdi>https:\/\/shop\.example\/old<\/bdi>/);
  t.notMatch((await open(`${path}/recipients?link=0`)).text, '@example.org');
});

t.test('the click map is the mail with the clicks of people at each link, and runs and loads nothing', async (t) => {
  const { app, open, path } = await clicked(t);
  t.match((await open(`${path}/links`)).text, `<iframe sandbox src="${path}/links/mail"`);
  const { status, headers, text } = await open(`${path}/links/mail`);
  t.equal(status, 200);
  t.match(headers['content-security-policy'], /default-src 'none'; img-src data:;.*; sandbox$/);
  t.match(text, /<b>news<\/b><\/a><span [^>]*><span [^>]*>0<\/span><\/span>/);
  t.match(text, /old<\/a><span [^>]*><span [^>]*>2 · 100%<\/span><\/span>/);
  t.match(text, 'data-src="https://shop.example/a.png"');
  t.notMatch(text, /<img [^>]*\ssrc="http|\/[coux]\/[\w-]+\./);
  t.equal(
    (await visitor(app, 'viewer', { accountId: 2 }).open(`${path}/links/mail`)).status,
    404,
    'nobody sees the mail of another account',
  );
  t.equal((await app.page('GET', `${path}/links/mail`)).status, 303, 'nor without a session');
});

t.test('a mailing whose clicks are not followed says so instead of a list', async (t) => {
  const { app, open, path } = await clicked(t);
  app.db.exec('DELETE FROM links; UPDATE single_sends SET tracking = 0');
  t.match((await open(`${path}/links`)).text, 'Open and click tracking is off for this campaign.');
});

t.test('the preview shows the mail on a desk, on a phone and as text, merged for somebody', async (t) => {
  const { app, open, path } = await clicked(t);
  const { status, text } = await open(`${path}/preview`);
  t.equal(status, 200);
  t.match(text, /For anna.*class="wide-screen" sandbox src="[^"]+\/preview\/mail".*title="Phone".*Hello anna/s);
  const mail = await open(`${path}/preview/mail`);
  t.match(mail.headers['content-security-policy'], /default-src 'none'; img-src data:;.*; sandbox$/);
  t.match(mail.text, 'Hello anna');
  t.notMatch(mail.text, /<img [^>]*\ssrc="http|\/[coux]\/[\w-]+\./);
  t.equal((await visitor(app, 'viewer', { accountId: 2 }).open(`${path}/preview`)).status, 404);
});

t.test("a preview shows the account's own pictures, and neither others nor any from elsewhere", async (t) => {
  const app = await startApp(t);
  const own = await uploadPicture(app.one, png(31, 7));
  const foreign = await uploadPicture(app.two, png(9, 9));
  const [origin = ''] = own.url.split('/pictures/');
  const path = own.url.slice(origin.length);
  const html = `<img alt="1" src="${own.url}"><img alt="2" src='${own.url.replace(origin, 'http://localhost:3000')}'>
    <img alt="3" src="${foreign.url}"><img alt="4" src="https://shop.example${path}"><img alt="5" src="${path}">
    <img alt="6" src="https://shop.example/?${own.url}"><div style="background:url(${own.url})">x</div>`;
  const { utr } = await sendCampaign(t, app, { html });
  const { open } = visitor(app, 'viewer');
  const { headers, text } = await open(`/campaigns/${utr}/preview/mail`);
  t.match(headers['content-security-policy'], `img-src data: http://localhost:80/pictures/ ${origin}/pictures/;`);
  const sources = [...text.matchAll(/<img alt="(\d)"[^>]*? src=["']([^"']+)/g)].map(([, alt, src]) => [alt, src]);
  t.strictSame(sources, [
    ['1', path],
    ['2', path],
  ]);
  t.match(text, `background:url(${path})`);
});

t.test(
  'in a browser, the sandboxed preview loads the own pictures of a mail and asks nobody else',
  { skip: skipWithout('chromium') },
  async (t) => {
    const app = await startApp(t);
    const own = await uploadPicture(app.one, png(31, 7));
    const html = `<p>Hello</p><img src="${own.url}" alt="Boat"><img src="http://127.0.0.1:9/a.png" alt="B">`;
    const { utr } = await sendCampaign(t, app, { html });
    const cookie = cookieOf(app, addPerson(app, 'viewer', { name: 'Sees' })).split(';')[0] ?? '';
    await app.fastify.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.fastify.server.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}`;
    const { page, outside, complaints } = await openTab(t, await launch(t), origin, { cookie });
    const loaded = page.waitForResponse((response) => /\/pictures\/[0-9a-f]{32}\//.test(response.url()));
    await page.goto(`${origin}/campaigns/${utr}/preview`);
    t.equal((await loaded).status(), 200);
    await page.waitForLoadState('networkidle');
    t.strictSame([outside, complaints], [[], []]);
  },
);

/** A site of somebody else with one picture; gives its address and how often it was asked. */
async function pictureSite(t: Test) {
  const asked = { count: 0 };
  const server = createServer((_request, response) => {
    asked.count++;
    response.setHeader('content-type', 'image/png').end(png(12, 5));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.png`, asked };
}

t.test(
  'own images are shown in every preview and thumbnail, others only when asked for, and none of it counts as an open',
  { skip: skipWithout('chromium') },
  async (t) => {
    const app = await startApp(t);
    const must = mustSucceed(t, app.one);
    const own = await uploadPicture(app.one, png(31, 7));
    const other = await pictureSite(t);
    const html = `<p>Hello</p><img src="${own.url}" alt="Own"><img src="${other.url}" alt="Other">`;
    const { utr } = await sendCampaign(t, app, { html });
    const outboxed = app.db.prepare('SELECT max(id) FROM outbox').pluck().get();
    const { utr: draft } = (await must('/single/send/draft', { single_send_name: 'June' })) as { utr: string };
    for (const text of ['', '<p>More</p>'])
      await must('/single/send/save', { utr: draft, recipient_id: ['contacts_1'], template_html: html + text });
    await must('/templates/create', { template_name: 'House style', template_html: html });
    const series = { type: 'custom', automation_for: 'contacts_1', automation_name: 'S', unsubscribe_group_id: 1 };
    const { utr: automation } = (await must('/automations/create', series)) as { utr: string };
    const schedule = {
      waiting_type: 'days',
      waiting_period: 1,
      preview_img: 'blank.png',
      template_id: 1,
      sender_id: 1,
    };
    await must('/automations/schedule/create', { utr: automation, subject: 'S', ...schedule, template_html: html });
    const mail = app.db.prepare('SELECT utr FROM automation_schedules').pluck().get();

    await app.fastify.listen({ host: '127.0.0.1', port: 0 });
    const origin = `http://127.0.0.1:${(app.fastify.server.address() as AddressInfo).port}`;
    const cookie = cookieOf(app, addPerson(app));
    const { page } = await openTab(t, await launch(t), origin, { cookie });
    /** How wide the images with this text are in the frames of the page; 0: not loaded. */
    const widths = async (alt: string) => {
      const frames = page.frames().filter((frame) => frame !== page.mainFrame());
      const read = `[...document.images].filter((image) => image.alt === '${alt}').map((image) => image.naturalWidth)`;
      return (await Promise.all(frames.map((frame) => frame.evaluate<number[]>(read)))).flat();
    };
    for (const path of [
      '/templates',
      '/templates/1001',
      `/campaigns/${draft}/edit/content`,
      `/campaigns/${draft}/edit/templates`,
      `/campaigns/${draft}/edit/check`,
      `/campaigns/${draft}/edit/check?colours=dark`,
      `/versions/${draft}`,
      `/campaigns/${draft}/preview`,
      `/campaigns/${utr}/preview`,
      `/automations/${automation}/mails/${mail}/content`,
      `/automations/${automation}/mails/${mail}/check`,
      `/outbox/${outboxed}`,
    ]) {
      await page.goto(origin + path, { waitUntil: 'networkidle' });
      t.comment(`${path} has a preview, which shows the own image`);
      await until(async () => {
        const shown = await widths('Own');
        return shown.length > 0 && shown.every((width) => width === 31);
      });
      t.strictSame([...new Set(await widths('Other'))], [0], `${path} does not load the other`);
    }
    t.equal(other.asked.count, 0);
    for (const path of [`/campaigns/${utr}/preview`, `/outbox/${outboxed}`]) {
      await page.goto(origin + path, { waitUntil: 'networkidle' });
      const loaded = page.waitForResponse(other.url);
      await page.getByRole('link', { name: 'Load images from other sites' }).first().click();
      await (await loaded).finished();
      await until(async () => (await widths('Other')).includes(12));
      t.strictSame((await widths('Other')).sort(), [0, 12], `${path} loads it where it was asked for`);
    }
    flushHits(app);
    t.equal(app.db.prepare('SELECT sum(total_opens) FROM mailings').pluck().get(), 0);
  },
);

t.test('a preview that cannot be made says why', async (t) => {
  const { app, open } = await clicked(t);
  await app.one.call('POST', '/single/send/duplicate', {
    query: { utr: (await open('/campaigns')).text.match(/campaigns\/([\w-]{36})/)?.[1] },
  });
  const [, copy = ''] = /href="(\/campaigns\/[\w-]{36})"/.exec((await open('/campaigns?state=draft')).text) ?? [];
  t.match((await open(`${copy}/preview`)).text, 'For anna', 'a draft has a preview too');
  app.db.exec('PRAGMA foreign_keys = OFF; DELETE FROM senders');
  t.match((await open(`${copy}/preview`)).text, 'The e-mail cannot be shown: The sender was deleted');
});

/** The path of a draft, whose preview has to be compiled. */
async function draftOf(app: TestApp, open: (path: string) => Promise<{ text: string }>): Promise<string> {
  const [, utr] = /campaigns\/([\w-]{36})/.exec((await open('/campaigns')).text) ?? [];
  const { headers } = await app.one.call('POST', '/single/send/duplicate', { query: { utr } });
  return String(headers.location).replace('/api/single-send/details?utr=', '/campaigns/');
}

t.test(
  'a browser that has the preview gets it again only when it has changed, and no other cache keeps it',
  async (t) => {
    const { app, open, path } = await clicked(t);
    const session = { cookie: cookieOf(app, addPerson(app, 'owner', { name: 'looker' })) };
    const frame = `${path}/preview/mail`;
    const { headers, status } = await app.page('GET', frame, { headers: session });
    t.strictSame([status, headers['cache-control']], [200, 'private, no-cache']);
    const again = () => app.page('GET', frame, { headers: { ...session, 'if-none-match': String(headers.etag) } });
    t.match(await again(), { status: 304, text: '' });
    t.equal(
      (await app.page('GET', frame, { headers: { 'if-none-match': String(headers.etag) } })).status,
      303,
      'a session is needed',
    );
    app.db.exec("UPDATE contacts SET first_name = 'Annabel' WHERE id = 1");
    t.match(await again(), { status: 200, text: /Annabel/ });
    t.equal((await open(`${path}/links/mail`)).headers['cache-control'], 'no-store', 'what counts clicks is made anew');
  },
);

/** Makes account 1 compile as many templates as it may, until the function it gives is called. */
function compileOthers(): () => Promise<unknown> {
  let end = () => {};
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  const others = Array.from({ length: 3 }, () => withinShare(1, () => held));
  return () => {
    end();
    return Promise.all(others);
  };
}

t.test(
  'while other templates are compiled the page asks for patience; a preview that was made is shown at once',
  async (t) => {
    const { app, open } = await clicked(t);
    const draft = await draftOf(app, open);
    const end = compileOthers();
    const busy = await open(`${draft}/preview`);
    t.strictSame([busy.status, busy.headers['retry-after']], [429, '2']);
    t.match(busy.text, new RegExp(`ready in a few seconds.*href="${draft}/preview"[^>]*>Try again`, 's'));
    t.notMatch(busy.text, '<iframe');
    const frame = await open(`${draft}/preview/mail`);
    t.match([frame.status, frame.text], [429, /<p>Other e-mails of this account/]);
    await end();
    t.match((await open(`${draft}/preview`)).text, '<iframe');
    const endMore = compileOthers();
    t.equal((await open(`${draft}/preview/mail`)).status, 200);
    await endMore();
  },
);
