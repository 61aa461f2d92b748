/** Own templates: made of mails, templates and code, listed behind the built-in ones, and copied into the mails made of them. */
import t from 'tap';
import { MAX_TEMPLATE_BYTES, MAX_TEMPLATES } from '../../src/templates/own-templates.ts';
import { buildWorld } from '../support/account-records.ts';
import { type Caller, startApp } from '../support/app.ts';
import { addPerson, callerOf } from '../support/people.ts';
import { png, uploadPicture } from '../support/pictures.ts';

const MJML = (text: string) =>
  JSON.stringify({
    tagName: 'mjml',
    attributes: {},
    children: [
      {
        tagName: 'mj-body',
        attributes: {},
        children: [
          {
            tagName: 'mj-section',
            attributes: {},
            children: [
              {
                tagName: 'mj-column',
                attributes: {},
                children: [{ tagName: 'mj-text', attributes: {}, content: text }],
              },
            ],
          },
        ],
      },
    ],
  });

const create = async (caller: Caller, form: Record<string, unknown>): Promise<number> => {
  const { status, text, body } = await caller.call('POST', '/templates/create', { form });
  if (status !== 200) throw new Error(text);
  return body.message.id;
};
const details = async (caller: Caller, id: unknown) =>
  (await caller.call('GET', '/templates/details', { query: { id } })).body.message?.template;
const draft = async (caller: Caller, changes: Record<string, unknown>): Promise<string> => {
  const { body } = await caller.call('POST', '/single/send/draft', { form: { single_send_name: 'June' } });
  const { utr } = body.message;
  const saved = await caller.call('POST', '/single/send/save', { form: { utr, ...changes } });
  if (saved.status !== 200) throw new Error(saved.text);
  return utr;
};
const contentOf = async (caller: Caller, utr: string) => {
  const { template_id, template_json, template_html } = (
    await caller.call('GET', '/single-send/details', { query: { utr } })
  ).body.message.singleSend[0];
  return { template_id, template_json, template_html };
};

t.test('own templates are listed behind the built-in ones, with ids of their own, page by page', async (t) => {
  const app = await startApp(t);
  const first = await create(app.one, { template_name: 'June' });
  const second = await create(app.one, { template_name: 'July', template_html: '<p>((first_name))</p>' });
  await create(app.two, { template_name: 'Theirs' });
  const list = async (query: Record<string, unknown>) =>
    (await app.one.call('GET', '/get-design/template', { query })).body.message.templates;
  const all: { id: number; template_name: string; html_code: string }[] = await list({});
  t.strictSame(
    all.map(({ id }) => id),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, first, second],
  );
  t.ok(first > 1000 && second > first);
  t.match(all.at(-1), {
    template_name: 'July',
    json_code: '',
    html_code: '<p>((first_name))</p>',
    preview_image: 'own.png',
    is_blank: 0,
  });
  t.match(all.at(-2)?.html_code, /<html/, 'the blank one, compiled');
  t.strictSame(
    (await list({ after_id: 8, limit: 2 })).map(({ id }: { id: number }) => id),
    [9, first],
  );
  t.equal((await app.page('GET', '/images/templates/own.png')).status, 200);
});

t.test('many templates are listed without sorting their code for each page', async (t) => {
  const app = await startApp(t);
  const plans: string[] = [];
  const { prepare } = app.db;
  app.db.prepare = function (this: typeof app.db, source: string) {
    const isList = source.includes('group_concat(record') && source.includes('own_templates');
    if (isList) {
      const rows = prepare.call(app.db, `EXPLAIN QUERY PLAN ${source}`);
      const values = Array.from({ length: source.split('?').length - 1 }, () => 1);
      plans.push(
        rows
          .all(values)
          .map((row) => Object(row).detail)
          .join('; '),
      );
    }
    return prepare.call(app.db, source);
  } as typeof prepare;
  await app.one.call('GET', '/get-design/template');
  app.db.prepare = prepare;
  t.ok(plans.length > 0);
  for (const plan of plans) {
    t.match(plan, 'MERGE (UNION ALL)');
    t.notMatch(plan, 'TEMP B-TREE');
  }
});

t.test('a template is made of a single send, of an automation mail, of a template, and of code', async (t) => {
  const app = await startApp(t);
  const { schedules } = await buildWorld(app.one);
  const utr = await draft(app.one, { template_json: MJML('Hello') });
  const designed = await details(app.one, await create(app.one, { template_name: 'A', mail_utr: utr }));
  t.strictSame([designed.json_code, designed.is_html], [MJML('Hello'), 0]);
  t.match(designed.html_code, /Hello/);
  t.match(designed.design_url, /^http:\/\/mail\.example\.com\/design\//);
  const builtIn = await draft(app.one, { template_id: 3 });
  const newsletter = (await app.one.call('GET', '/get-design/template')).body.message.templates[2];
  t.match(await details(app.one, await create(app.one, { template_name: 'B', mail_utr: builtIn })), {
    json_code: newsletter.json_code,
    html_code: newsletter.html_code,
  });
  t.ok(await details(app.one, await create(app.one, { template_name: 'C', mail_utr: schedules[0] })));
  const copy = await details(app.one, await create(app.one, { template_name: 'D', template_id: designed.id }));
  t.match(copy, { template_name: 'D', json_code: designed.json_code, html_code: designed.html_code });
  const given = await app.one.call('POST', '/templates/create', {
    form: { template_name: 'E', template_json: '{"tagName":"mjml"}' },
  });
  t.equal(given.status, 422);
  const unknownPart = MJML('x').replace('mj-text', 'mj-nothing');
  const broken = await app.one.call('POST', '/templates/create', {
    form: { template_name: 'F', template_json: unknownPart },
  });
  t.equal(broken.status, 409);
  t.match(broken.body.errors, /mj-nothing/);
  t.match((await app.one.call('POST', '/templates/create', { form: {} })).body.errors, {
    template_name: [/required/],
  });
});

t.test('a mail made of an own template keeps its content when the template is changed or deleted', async (t) => {
  const app = await startApp(t);
  const world = await buildWorld(app.one);
  const id = await create(app.one, { template_name: 'June', template_json: MJML('June') });
  const drafted = await draft(app.one, { template_id: id, template_json: '', template_html: '' });
  const form = {
    template_id: id,
    sender_id: world.senders[0],
    unsubscribe_group_id: world.groups[0],
    single_send_name: 'Mine',
    subject: 'Mine',
    preheader: 'Mine',
    recipient_id: [`contacts_${world.contactTypes[0]}`],
    schedule_type: '1',
    schedule_date: '2030-01-31',
    schedule_time: '09:30',
  };
  const preview = await app.one.call('POST', '/single/send/preview', { form });
  t.match(preview.body.message.preview.mail.html, /June/);
  const created = (await app.one.call('POST', '/single/send/create', { form })).body.message.utr;
  const updated = await draft(app.one, { template_html: '<p>Old</p>' });
  await app.one.call('POST', '/single/send/update', { form: { ...form, utr: updated } });
  const schedule = await app.one.call('POST', '/automations/schedule/create', {
    form: {
      utr: world.automations[0],
      sender_id: world.senders[0],
      subject: 'Welcome',
      waiting_period: 1,
      waiting_type: 'instantly',
      template_id: id,
      preview_img: 'own.png',
    },
  });
  t.equal(schedule.status, 200, schedule.text);
  await app.one.call('POST', '/templates/update', { form: { id, template_html: '<p>July</p>' } });
  t.equal((await app.one.call('POST', '/templates/delete', { form: { id } })).status, 200);
  const copy = { template_id: 1, template_json: MJML('June'), template_html: null };
  for (const utr of [drafted, created, updated]) t.strictSame(await contentOf(app.one, utr), copy);
  const { automation_schedules } = (
    await app.one.call('GET', '/automations/schedule', { query: { utr: world.automations[0] } })
  ).body.message;
  t.match(automation_schedules.at(-1), { template_id: 1, template_json: MJML('June'), template_html: '' });
  t.equal((await app.one.call('POST', '/single/send/create', { form })).status, 422, 'the id means nothing any more');
});

t.test("another account's template is one that does not exist", async (t) => {
  const app = await startApp(t);
  const id = await create(app.one, { template_name: 'June' });
  t.equal((await app.two.call('GET', '/templates/details', { query: { id } })).status, 404);
  for (const path of ['update', 'delete'])
    t.equal((await app.two.call('POST', `/templates/${path}`, { form: { id, template_name: 'x' } })).status, 404);
  t.equal(
    (await app.two.call('POST', '/templates/create', { form: { template_name: 'x', template_id: id } })).status,
    404,
  );
  const { body } = await app.two.call('POST', '/single/send/draft', { form: { single_send_name: 'June' } });
  const save = { utr: body.message.utr, template_id: id };
  t.equal((await app.two.call('POST', '/single/send/save', { form: save })).status, 422);
  t.match(await details(app.one, id), { template_name: 'June' });
});

t.test(
  'a template is renamed and deleted by editors, found by name, and each change is in the audit log',
  async (t) => {
    const app = await startApp(t);
    const editor = callerOf(app, addPerson(app, 'editor'));
    const viewer = callerOf(app, addPerson(app, 'viewer'));
    const id = await create(editor, { template_name: 'Größe' });
    await editor.call('POST', '/templates/update', { form: { id, template_name: 'Sommer' } });
    const names = async (query: Record<string, unknown>) =>
      (await viewer.call('GET', '/templates/list', { query })).body.message.templates.map(
        (template: { template_name: string }) => template.template_name,
      );
    t.strictSame(await names({ search: 'sOMM' }), ['Sommer']);
    t.strictSame(await names({ search: 'größe' }), []);
    t.equal((await details(viewer, id)).design_url, '', 'viewers get no link that changes something');
    t.equal((await viewer.call('POST', '/templates/delete', { form: { id } })).status, 403);
    await editor.call('POST', '/templates/delete', { form: { id } });
    t.strictSame(await names({}), []);
    t.strictSame(
      app.db.prepare("SELECT action, subject FROM audit_log WHERE action LIKE 'template%' ORDER BY id").all(),
      [
        { action: 'template_added', subject: 'Größe' },
        { action: 'template_changed', subject: 'Größe' },
        { action: 'template_removed', subject: 'Sommer' },
      ],
    );
  },
);

t.test('an account has 200 templates of 50 MiB at most, which its other templates do not count against', async (t) => {
  const app = await startApp(t);
  const id = await create(app.one, { template_name: 'June', template_html: 'x' });
  app.db.prepare('UPDATE own_templates SET size = ? WHERE id = ?').run(MAX_TEMPLATE_BYTES - 1, id);
  await create(app.one, { template_name: 'Fits', template_html: 'x' });
  const more = await app.one.call('POST', '/templates/create', { form: { template_name: 'x', template_html: 'xy' } });
  t.equal(more.status, 409);
  t.match(more.body.errors, /50 MB/);
  const insert =
    app.db.prepare(`INSERT INTO own_templates (user_id, utr, template_name, html_code, size, created_at, updated_at)
    SELECT user_id, ?, template_name, html_code, 1, created_at, updated_at FROM own_templates WHERE id = ?`);
  app.db.prepare('UPDATE own_templates SET size = 1').run();
  for (let count = 2; count < MAX_TEMPLATES; count++) insert.run(String(count), id);
  const many = await app.one.call('POST', '/templates/create', { form: { template_name: 'x' } });
  t.match([many.status, many.body.errors], [409, /200 templates/]);
  t.equal((await app.one.call('POST', '/templates/update', { form: { id, template_html: 'xyz' } })).status, 200);
});

t.test('a picture in a template counts as used until the template is changed or deleted', async (t) => {
  const app = await startApp(t);
  const picture = await uploadPicture(app.one, png());
  const html = `<img src="${picture.url}">`;
  const id = await create(app.one, { template_name: 'June', template_html: html });
  const uses = async () =>
    (await app.one.call('GET', '/pictures/details', { query: { id: picture.id } })).body.message.picture.templates;
  t.equal(await uses(), 1);
  t.match((await app.one.call('GET', '/pictures/uses', { query: { id: picture.id } })).body.message.uses, [
    { kind: 'template', campaign: null, utr: null, name: 'June', subject: '', sent_at: null },
  ]);
  const kept = await app.one.call('POST', '/pictures/delete', { form: { id: picture.id } });
  t.match([kept.status, kept.body.errors], [409, /template/]);
  await app.one.call('POST', '/templates/update', { form: { id, template_html: '<p>None</p>' } });
  t.equal(await uses(), 0);
  await app.one.call('POST', '/templates/update', { form: { id, template_html: html } });
  await app.one.call('POST', '/templates/delete', { form: { id } });
  t.equal((await app.one.call('POST', '/pictures/delete', { form: { id: picture.id } })).status, 200);
});

t.test('the template that an account deleted last is restored by this account, if it has room for it', async (t) => {
  const app = await startApp(t);
  const picture = await uploadPicture(app.one, png());
  const june = await create(app.one, { template_name: 'June', template_html: `<img src="${picture.url}">` });
  const july = await create(app.one, { template_name: 'July', template_html: '<p>July</p>' });
  const before = await details(app.one, june);
  const call = (path: string, id: number, caller = app.one) =>
    caller.call('POST', `/templates/${path}`, { form: { id } });
  t.equal((await call('undelete', june)).status, 404, 'it is not deleted');
  await call('delete', july);
  await call('delete', june);
  t.equal((await call('undelete', july)).status, 404, 'another one was deleted since');
  t.equal((await call('undelete', june, app.two)).status, 404, 'it is of another account');
  t.equal((await call('undelete', june)).status, 200);
  t.match(await details(app.one, june), { ...before, design_url: /./ });
  t.equal((await call('undelete', june)).status, 404, 'it is restored once');
  const kept = await app.one.call('POST', '/pictures/delete', { form: { id: picture.id } });
  t.equal(kept.status, 409, 'its picture is in use again');
  await call('delete', june);
  app.db.prepare('UPDATE own_templates SET size = ?').run(MAX_TEMPLATE_BYTES);
  const full = await create(app.one, { template_name: 'Full', template_html: 'x' });
  app.db.prepare('UPDATE own_templates SET size = ? WHERE id = ?').run(MAX_TEMPLATE_BYTES, full);
  t.equal((await call('undelete', june)).status, 409);
  t.equal((await call('delete', full)).status, 200);
});

t.test('a template is designed by its link, which is for it alone and can be revoked', async (t) => {
  const app = await startApp(t);
  await buildWorld(app.one);
  const id = await create(app.one, { template_name: 'June', template_json: MJML('June') });
  const { design_url } = await details(app.one, id);
  const path = new URL(design_url).pathname;
  t.match((await app.page('GET', path)).text, /<h1>June<\/h1>/);
  const { mjml } = (await app.page('GET', `${path}/content`)).body;
  const saved = await app.page('POST', path, { json: { mjml: mjml.replace('June', 'July') } });
  t.strictSame([saved.status, saved.body.message], [200, 'Saved']);
  const after = await details(app.one, id);
  t.match(after.json_code, /July/);
  t.match(after.html_code, /July/);
  const shown = await app.page('POST', `${path}/preview`, { json: { mjml } });
  t.equal(shown.status, 200, shown.text);
  const utr = app.db.prepare('SELECT utr FROM own_templates').pluck().get();
  await app.one.call('POST', '/design-links/revoke', { form: { utr } });
  t.equal((await app.page('GET', path)).status, 410);
});
