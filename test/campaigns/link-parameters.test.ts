/** Link parameters of an account and of one campaign: in the mail, at the click, and in the report. */
import t from 'tap';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import { createSend, outboxOf, RECALL, readyToSend, sendReport } from '../support/single-sends.ts';

const HTML =
  '<p><a href="https://shop.de/a">one</a> <a href="https://shop.de/a">two</a> <a href="https://shop.de/b?utm_source=x">b</a></p>';

const clickUrls = (raw: string) => [
  ...new Set(
    [...raw.replaceAll('=\r\n', '').matchAll(/href=3D"https?:\/\/[^/"]+(\/c\/[^"]+)"/g)].map(([, path = '']) => path),
  ),
];

t.test('links of an account with link parameters lead to where they say, and reports group them without', async (t) => {
  const { app, body } = await readyToSend(t);
  const saved = await app.one.call('POST', '/sending/mails/save', {
    form: { utm_source: 'news', utm_medium: 'email', utm_content: 1 },
  });
  t.equal(saved.status, 200);
  const utr = await createSend(app, { ...body, template_html: HTML });
  const shown = await app.one.call('GET', '/single-send/mail', { query: { utr } });
  t.match(
    shown.body.message.mail.html,
    'https://shop.de/a?utm_source=news&amp;utm_medium=email&amp;utm_campaign=Autumn&amp;utm_content=one',
    'shown before sending',
  );
  app.clock.advance(RECALL);
  await app.background();
  const paths = clickUrls(String(outboxOf(app)[0]?.raw));
  const leads: (string | undefined)[] = [];
  for (const path of paths) leads.push((await app.page('GET', path)).headers.location?.toString());
  const own = 'https://shop.de/a?utm_source=news&utm_medium=email&utm_campaign=Autumn';
  t.ok(leads.includes(`${own}&utm_content=one`) && leads.includes(`${own}&utm_content=two`));
  t.ok(leads.includes('https://shop.de/b?utm_source=x'), 'never doubled');
  const { links } = await sendReport(app, utr);
  t.strictSame(
    links.map(({ url }: { url: string }) => url),
    ['https://shop.de/a', 'https://shop.de/a', 'https://shop.de/b?utm_source=x'],
  );
});

t.test('one campaign has its own or none', async (t) => {
  const { app, body } = await readyToSend(t);
  await app.one.call('POST', '/sending/mails/save', { form: { utm_source: 'news' } });
  const html = async (form: Record<string, unknown>) => {
    const utr = await createSend(app, { ...body, template_html: HTML });
    const saved = await app.one.call('POST', '/single/send/save', { form: { utr, ...form } });
    t.equal(saved.status, 200, saved.text);
    const { draft } = (await app.one.call('GET', '/single-send/draft', { query: { utr } })).body.message;
    return [
      (await app.one.call('GET', '/single-send/mail', { query: { utr } })).body.message.mail.html,
      draft.link_parameters,
    ];
  };
  const [off, none] = await html({ utm_mode: 'off' });
  t.notMatch(off, 'utm_campaign');
  t.equal(none, '');
  const [own, parameters] = await html({ utm_mode: 'own', utm_source: 'partner', utm_campaign: 'x' });
  t.match(own, 'utm_source=partner&amp;utm_campaign=x');
  t.equal(parameters, 'utm_source=partner&utm_campaign=x');
  t.match((await html({ utm_mode: 'account' }))[1], 'utm_source=news&utm_campaign=Autumn');
  const utr = await createSend(app, { ...body, template_html: HTML });
  const wrong = await app.one.call('POST', '/single/send/save', { form: { utr, utm_mode: 'own' } });
  t.equal(wrong.status, 422);
});

t.test('links in a named block of a design have its name, and reports group them without', async (t) => {
  const { app, body } = await readyToSend(t);
  const form = { utm_source: 'news', utm_content: 1 };
  await app.one.call('POST', '/sending/mails/save', { form });
  const text = (content: string) => ({ tagName: 'mj-text', attributes: {}, content });
  const button = { tagName: 'mj-button', attributes: { href: 'https://shop.de/b?x=1&y="2"' }, content: 'Buy' };
  const section = (children: object[], attributes = {}) => ({
    tagName: 'mj-section',
    attributes,
    children: [{ tagName: 'mj-column', attributes: {}, children }],
  });
  const template_json = JSON.stringify({
    tagName: 'mjml',
    attributes: {},
    children: [
      {
        tagName: 'mj-body',
        attributes: {},
        children: [
          section([text('<a href="https://shop.de/a">one</a>'), button], { 'data-name': 'Spring offer' }),
          section([text('<a href="https://shop.de/a">two</a>')]),
        ],
      },
    ],
  });
  const { template_html: _, ...rest } = body;
  const utr = await createSend(app, { ...rest, template_json });
  const { draft } = (await app.one.call('GET', '/single-send/draft', { query: { utr } })).body.message;
  t.equal(draft.link_parameters, 'utm_source=news&utm_campaign=Autumn&utm_content=…');
  const { html } = (await app.one.call('GET', '/single-send/mail', { query: { utr } })).body.message.mail;
  const added = (content: string) => `utm_source=news&utm_campaign=Autumn&utm_content=${content}`;
  const seen = [...html.matchAll(/href="(https:\/\/shop[^"]*)"/g)].map(([, url = '']) => url.replaceAll('&amp;', '&'));
  t.strictSame(
    seen,
    [
      `https://shop.de/a?${added('spring-offer')}`,
      `https://shop.de/b?x=1&y=&quot;2&quot;&${added('spring-offer')}`,
      `https://shop.de/a?${added('two')}`,
    ],
    'shown before sending, and never doubled',
  );
  app.clock.advance(RECALL);
  await app.background();
  const { links } = await sendReport(app, utr);
  t.strictSame(
    links.map(({ url }: { url: string }) => url),
    ['https://shop.de/a', 'https://shop.de/b?x=1&y="2"', 'https://shop.de/a'],
  );
});

t.test('the pages of the settings and of a campaign have them', async (t) => {
  const { app, body } = await readyToSend(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  const form = { utm_source: 'news', utm_medium: 'email', utm_campaign: '', utm_content: '1' };
  t.equal((await app.page('POST', '/settings/mails/links', { headers, form })).status, 303);
  t.match((await app.page('GET', '/settings/mails', { headers })).text, 'value="news"');
  const utr = await createSend(app, {
    ...{ ...body, template_html: HTML },
    ...{ schedule_type: 1, schedule_date: '2030-01-01', schedule_time: '10:00' },
  });
  const page = async (step: string) => (await app.page('GET', `/campaigns/${utr}/edit/${step}`, { headers })).text;
  t.match(await page('content'), 'Links get utm_source=news&amp;utm_medium=email&amp;utm_campaign=Autumn');
  t.match(await page('check'), 'Links get utm_source=news');
  const own = { subject: 'S', preheader: 'P', single_send_name: 'Autumn', utm_mode: 'own', utm_source: 'shop' };
  t.equal((await app.page('POST', `/campaigns/${utr}/edit/content`, { headers, form: own })).status, 303);
  t.match(await page('check'), 'Links get utm_source=shop');
  const checked = /<input[^>]*name="utm_content"[^>]*checked/;
  t.notMatch(await page('content'), checked);
  const named = { ...own, utm_content: '1' };
  t.equal((await app.page('POST', `/campaigns/${utr}/edit/content`, { headers, form: named })).status, 303);
  t.match(await page('content'), checked);
});
