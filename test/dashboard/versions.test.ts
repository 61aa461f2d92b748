/** The versions of a mail in the dashboard, by links and forms. */
import t from 'tap';
import { buildWorld } from '../support/account-records.ts';
import { startApp } from '../support/app.ts';
import { visitor } from '../support/visitor.ts';

t.test('an earlier version is looked at and brought back, and so is what it replaced', async (t) => {
  const app = await startApp(t);
  const { open, send } = visitor(app, 'editor', { name: 'Ann' });
  const { location } = (await send('/campaigns/new', { single_send_name: 'June' })).headers;
  const utr = String(location).split('/')[2] ?? '';
  t.match((await open(`/campaigns/${utr}/edit/content`)).text, `href="/versions/${utr}"`);
  t.match((await open(`/versions/${utr}`)).text, 'No earlier versions yet');
  await send(`/campaigns/${utr}/edit/html`, { template_html: '<p>Good</p>' });
  app.clock.advance(6 * 60_000);
  await send(`/campaigns/${utr}/edit/html`, { template_html: '<p>Bad</p>' });
  const { text } = await open(`/versions/${utr}`);
  t.match(text, /Ann.*Current version.*Ann/s);
  const [, mail = ''] = /src="([^"]+\/mail)"/.exec(text) ?? [];
  t.match((await open(mail)).text, '<p>Good</p>', 'the one before is shown first');
  const [, restore = ''] = /action="([^"]+\/restore)"/.exec(text) ?? [];
  t.equal((await send(restore)).status, 303);
  t.match((await open(`/campaigns/${utr}/edit/html`)).text, '&lt;p>Good&lt;/p>');
  const after = (await open(`/versions/${utr}`)).text;
  t.equal(after.match(/\?version=/g)?.length, 3);
  const viewer = visitor(app, 'viewer');
  t.equal((await viewer.open(`/versions/${utr}`)).status, 403);
  const other = visitor(app, 'editor', { accountId: 2 });
  t.equal((await other.open(`/versions/${utr}`)).status, 404);
  t.equal((await other.open(mail)).status, 404);
});

t.test('what somebody who is signed in saves in the designer is theirs, and anybody else’s is nobody’s', async (t) => {
  const app = await startApp(t);
  const { automations, schedules } = await buildWorld(app.one);
  const { automation_schedules } = (
    await app.one.call('GET', '/automations/schedule', { query: { utr: automations[0] } })
  ).body.message;
  const path = new URL(automation_schedules[0].design_url).pathname;
  const ann = visitor(app, 'editor', { name: 'Ann' });
  await ann.post(path, { json: { html: '<p>1</p>' } });
  await visitor(app, 'editor', { accountId: 2, name: 'Ozymandias' }).post(path, { json: { html: '<p>2</p>' } });
  const { text } = await ann.open(`/versions/${schedules[0]}`);
  t.match(text, /by a program, or with a link to the designer.*Ann/s);
  t.notMatch(text, 'Ozymandias');
  t.match(text, new RegExp(`href="/automations/${automations[0]}/[^"]*${schedules[0]}`));
});

t.test(
  'whoever has the design link looks at the versions of that mail and brings one back, until it is sent',
  async (t) => {
    const app = await startApp(t);
    const { automations, schedules } = await buildWorld(app.one);
    const { automation_schedules } = (
      await app.one.call('GET', '/automations/schedule', { query: { utr: automations[0] } })
    ).body.message;
    const path = new URL(automation_schedules[0].design_url).pathname;
    const headers = { 'accept-language': 'de' };
    t.match((await app.page('GET', path, { headers })).text, `href="${path}/versions"`, 'the designer leads there');
    t.match(
      (await app.page('GET', `${path}/versions`, { headers })).text,
      'Frühere Fassungen dieser Mail erscheinen hier.',
    );
    await app.page('POST', path, { json: { html: '<p>New</p>' } });
    const { text, headers: answered } = await app.page('GET', `${path}/versions`, { headers });
    t.match(text, 'Diese Fassung wiederherstellen');
    t.match(answered['content-security-policy'], /default-src 'none'.*frame-ancestors 'self'/);
    const [, action = ''] = /action="([^"]+)"/.exec(text) ?? [];
    t.equal((await app.page('GET', `${action}/mail`)).status, 200);
    const [newest] = (await app.one.call('GET', '/versions/list', { query: { mail_utr: schedules[0] } })).body.message
      .versions;
    const other = new URL(automation_schedules.at(-1).design_url).pathname;
    t.not(other, path);
    t.equal((await app.page('POST', `${other}/versions/${newest.id}`)).status, 404, 'a version of another mail');
    t.equal((await app.page('GET', `${other}/versions/${newest.id}/mail`)).status, 404);
    t.strictSame(
      [(await app.page('POST', action)).status, (await app.page('GET', `${path}/content`)).body.html],
      [303, automation_schedules[0].template_html],
    );
    const { body } = await app.one.call('POST', '/templates/create', { form: { template_name: 'June' } });
    const { template } = (await app.one.call('GET', '/templates/details', { query: { id: body.message.id } })).body
      .message;
    t.equal((await app.page('GET', `${new URL(template.design_url).pathname}/versions`)).status, 404);
  },
);
