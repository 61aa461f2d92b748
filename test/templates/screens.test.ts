/** Own templates in the dashboard, by sending their forms. */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { visitor } from '../support/visitor.ts';

t.test('a template is begun with another one, renamed, duplicated and deleted by its forms', async (t) => {
  const app = await startApp(t);
  const { open, send } = visitor(app, 'editor');
  t.match((await open('/templates')).text, 'No templates of your own yet');
  t.match((await open('/templates/new')).text, /<option value="2">Newsletter/);
  const refused = await send('/templates/new', { template_name: ' ', template_id: 4 });
  t.equal(refused.status, 422);
  t.match(refused.text, /id="template_name-problem"/);
  t.match(refused.text, /<option value="4" selected/, 'what was chosen is kept');
  const added = await send('/templates/new', { template_name: '<Summer>', template_id: 2 });
  t.strictSame([added.status, added.headers.location], [303, '/templates/1001']);
  const { text } = await open('/templates');
  t.match(text, '<bdi>&lt;Summer></bdi>');
  t.match(text, '<iframe sandbox src="/templates/1001/mail"');
  t.match((await open('/templates/1001/mail')).text, /<html/);
  t.match((await open('/templates/1001/design')).text, /<iframe class="designer" src="\/design\//);
  const long = await send('/templates/1001', { template_name: 'x'.repeat(256) });
  t.equal(long.status, 422);
  t.match(long.text, `value="${'x'.repeat(256)}"`);
  t.equal((await send('/templates/1001', { template_name: 'Autumn' })).status, 303);
  const page = await open('/templates/1001');
  t.match(page.text, /name="template_name" value="Copy of Autumn"/);
  t.match(
    page.text,
    /Delete “Autumn”\?.*Feeds, versions in other languages.*number 1001.*can undo this right afterwards/s,
  );
  t.equal(
    (await send('/templates/new', { template_id: 1001, template_name: 'Copy of Autumn' })).headers.location,
    '/templates/1002',
  );
  t.match((await open('/templates/new?template=1002')).text, /<option value="1002" selected/);
  t.equal((await send('/templates/1001/delete')).status, 303);
  const { text: list } = await open('/templates');
  t.equal((await open('/templates/1001')).status, 404);
  t.match(list, 'Copy of Autumn');
  t.match(list, /“Autumn” was deleted.*action="\/templates\/1001\/undelete"><button[^>]*>Undo</s);
  t.equal((await send('/templates/1001/undelete')).headers.location, '/templates/1001');
  t.match((await open('/templates/1001')).text, 'name="template_name" value="Copy of Autumn"');
  t.equal((await send('/templates/1001/undelete')).status, 404, 'it is not deleted any more');
});

t.test('a mail is kept as a template, and a mailing is made of it from its page and in compose', async (t) => {
  const app = await startApp(t);
  const { open, send } = visitor(app, 'editor');
  const { body } = await app.one.call('POST', '/single/send/draft', { form: { single_send_name: 'June' } });
  const { utr } = body.message;
  t.notMatch((await open(`/campaigns/${utr}/edit/content`)).text, 'Save as template', 'there is nothing to keep yet');
  await app.one.call('POST', '/single/send/save', { form: { utr, template_html: '<p>June news</p>' } });
  const [link = ''] = (await open(`/campaigns/${utr}/edit/content`)).text.match(/\/templates\/new\?[^"]+/) ?? [];
  const form = (await open(link.replaceAll('&amp;', '&'))).text;
  t.match(form, 'value="June"');
  t.match(form, `name="mail" value="${utr}"`);
  await send('/templates/new', { template_name: 'June', mail: utr });
  const made = await send('/templates/1001/mailing');
  t.match(made.headers.location, /^\/campaigns\/[0-9a-f-]{36}\/edit\/content$/);
  const path = String(made.headers.location).replace(/content$/, '');
  t.match((await open(`${path}mail`)).status, 200);
  const choice = (await open(`${path}templates`)).text;
  t.match(choice, /Your templates.*Use June.*Built-in templates.*Use Newsletter/s);
  await send(`${path}templates`, { template_id: 2 });
  await send(`${path}templates`, { template_id: 1001 });
  const details = await app.one.call('GET', '/single-send/details', { query: { utr: path.split('/')[2] } });
  t.match(details.body.message.singleSend[0], { template_id: 1, template_html: '<p>June news</p>' });
});

t.test('a mail that was sent can be kept as a template, by those who may change something', async (t) => {
  const app = await startApp(t);
  const { open, send } = visitor(app, 'editor');
  const { utr } = await sendCampaign(t, app, { html: '<p>Sent</p>' });
  const [link = ''] = (await open(`/campaigns/${utr}/preview`)).text.match(/\/templates\/new\?mail=[^"]+/) ?? [];
  t.match(link, utr);
  t.equal((await send('/templates/new', { template_name: 'Again', mail: utr })).status, 303);
  t.match((await open('/templates/1001/mail')).text, '<p>Sent</p>');
  const viewer = visitor(app, 'viewer');
  t.notMatch((await viewer.open(`/campaigns/${utr}/preview`)).text, '/templates/new');
});

t.test('the templates are paged, newest first, and searched once they are many', async (t) => {
  const app = await startApp(t);
  const { open } = visitor(app, 'editor');
  for (let number = 1; number <= 13; number++)
    await app.one.call('POST', '/templates/create', {
      form: { template_name: `Template ${number}.`, template_html: '<p>x</p>' },
    });
  const { text } = await open('/templates');
  t.match(text, /Template 13\..*Template 2\./s);
  t.notMatch(text, 'Template 1.');
  t.match((await open('/templates?before=1002')).text, 'Template 1.');
  t.match((await open('/templates?search=12')).text, 'Template 12.');
  t.match((await open('/templates?search=nothing')).text, 'No template matches.');
});

t.test('viewers look at templates and change none, and other accounts do not see them', async (t) => {
  const app = await startApp(t);
  await visitor(app, 'editor').send('/templates/new', { template_name: 'June', template_id: 2 });
  const viewer = visitor(app, 'viewer');
  const { text, status } = await viewer.open('/templates/1001');
  t.equal(status, 200);
  t.notMatch(text, /Delete template|Open the designer/);
  t.equal((await viewer.open('/templates/new')).status, 403);
  t.equal((await viewer.open('/templates/1001/design')).status, 403);
  t.equal((await viewer.send('/templates/1001/delete')).status, 403);
  const other = visitor(app, 'editor', { accountId: 2 });
  t.equal((await other.open('/templates/1001')).status, 404);
  t.equal((await other.open('/templates/1001/mail')).status, 404);
  t.notMatch((await other.open('/templates')).text, 'June');
});

t.test(
  'the built-in templates come first, each with its picture and the way to a template that begins with it',
  async (t) => {
    const app = await startApp(t);
    const { open, send } = visitor(app, 'editor');
    await send('/templates/new', { template_name: 'House style', template_id: 2 });
    t.match((await open('/templates')).text, /role="status".*House style/s, 'the message names it once');
    const { text } = await open('/templates');
    const built = [
      ...text.matchAll(
        /<img class="template-picture" src="([^"]+)"[^>]*\/?><a href="(\/templates\/new\?template=\d+)/g,
      ),
    ];
    t.equal(built.length, 8);
    t.ok(text.indexOf('Newsletter') < text.indexOf('House style'));
    for (const [, image = ''] of built) t.equal((await app.page('GET', image)).status, 200, image);
    const [, , first = ''] = built[0] ?? [];
    t.match((await open(first)).text, /<option value="2" selected/);
    t.notMatch((await open('/templates?search=House')).text, 'Newsletter', 'a search finds your own');
  },
);

t.test('built-in templates have names in the language of the user', async (t) => {
  const app = await startApp(t);
  const { open } = visitor(app, 'editor', { language: 'de' });
  const lists = [await open('/templates'), await open('/templates/new')];
  for (const { text } of lists) {
    t.match(text, 'Ankündigung');
    t.notMatch(text, 'Announcement');
  }
});
