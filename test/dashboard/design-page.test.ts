/** The design page: its links, its policy, and what saving a design changes. */
import t from 'tap';
import { startApp, type TestApp } from '../support/app.ts';
import { DAY } from '../support/automations.ts';
import { readOutbox, sendCampaign } from '../support/campaign.ts';
import { mail, withSchedule } from '../support/dashboard/designed-mails.ts';
import { addPerson, callerOf } from '../support/people.ts';

function revisions({ db }: TestApp) {
  return db.prepare("SELECT revision FROM mailings WHERE owner_kind = 'schedule' ORDER BY 1").pluck().all();
}

t.test('the page holds to its policy: only our scripts, nobody frames it', async (t) => {
  const { app, path } = await withSchedule(t);
  const { status, headers, text } = await app.page('GET', path);
  t.equal(status, 200);
  t.match(headers['content-security-policy'], /script-src 'self';.*frame-ancestors 'self'/);
  t.notMatch(headers['content-security-policy'], 'unsafe-eval');
  t.notMatch(text, /(?:src|href)="https?:/);
  for (const id of ['preview', 'test', 'save'])
    t.match(
      text,
      new RegExp(`<button id="${id}"[^>]* disabled`),
      'no button can be pressed before the script is there',
    );
  const assets = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)];
  t.equal(assets.length, 6);
  for (const [, asset = ''] of assets) t.equal((await app.page('GET', asset)).status, 200, asset);
  t.equal((await app.page('GET', '/assets/package.json')).status, 404);
  t.equal((await app.page('GET', '/assets/constructor')).status, 404);
});

t.test('a changed or foreign link opens, saves and sends nothing', async (t) => {
  const { app, path } = await withSchedule(t);
  const recipient = app.tokens.recipient({
    delivery: 1,
    mailing: 1,
    address: 1,
    group: 1,
    user: 1,
    email: 'a@b.example',
  });
  const other = app.tokens.sign('verify-sender', app.tokens.read('design', path.slice(8)) ?? '');
  const nothing = app.tokens.sign('design', `schedule:x:${Date.UTC(2100, 0)}`);
  for (const token of [`${path.slice(8)}x`, recipient.web, other, nothing]) {
    t.equal((await app.page('GET', `/design/${token}`)).status, 404);
    for (const action of ['', '/preview', '/test']) {
      const json = { mjml: mail('x'), email: 'a@example.org' };
      t.equal((await app.page('POST', `/design/${token}${action}`, { json })).status, 404);
    }
  }
});

t.test(
  'a link opens for a day, says so kindly afterwards, and what was opened in time can be saved for another',
  async (t) => {
    const { app, utr, path } = await withSchedule(t);
    const hour = 3_600_000;
    app.clock.advance(24 * hour);
    t.equal((await app.page('GET', path)).status, 200);
    app.clock.advance(1);
    const late = await app.page('GET', path);
    t.equal(late.status, 410);
    t.match(late.text, /expired.*to get a new link/s);
    t.equal((await app.page('POST', path, { json: { mjml: mail('Written overnight') } })).status, 200);
    app.clock.advance(24 * hour);
    for (const action of ['', '/preview', '/test']) {
      const json = { mjml: mail('x'), email: 'a@example.org' };
      const { status, body } = await app.page('POST', path + action, { json });
      t.equal(status, 410);
      t.match(body.problem, 'expired');
    }
    t.match(app.db.prepare('SELECT template_json FROM automation_schedules').pluck().get(), 'Written overnight');
    const { body } = await app.one.call('GET', '/automations/schedule', { query: { utr } });
    const fresh = new URL(body.message.automation_schedules[0].design_url).pathname;
    t.equal((await app.page('GET', fresh)).status, 200);
  },
);

t.test('a draft is saved as MJML’s JSON; nonsense is refused with a text', async (t) => {
  const { app, path } = await withSchedule(t);
  t.match((await app.page('GET', `${path}/content`)).body, { html: '<p>First design</p>', fields: /./ });
  t.equal((await app.page('POST', path, { json: { mjml: mail('Hello &amp; <b>all</b>') } })).status, 200);
  const stored = app.db.prepare('SELECT template_json, template_html FROM automation_schedules').get();
  t.match(stored, { template_json: 'Hello &amp; <b>all</b>', template_html: '' });
  t.match((await app.page('GET', `${path}/content`)).body, { isDrawable: true, mjml: 'Hello &amp; <b>all</b>' });
  for (const json of [{}, { mjml: '' }, { mjml: '<p>' }, { mjml: 5 }, { mjml: '<mjml></mjml>' }, { html: ' ' }]) {
    const { status, body } = await app.page('POST', path, { json });
    t.equal(status, 422);
    t.type(body.problem, 'string');
  }
  const { status, body } = await app.page('POST', path, { json: { html: '((city))'.repeat(10_001) } });
  t.equal(status, 422);
  t.match(body.problem, 'The e-mail has 10,001 merge tags and links: at most 10,000 are possible.');
  t.strictSame(app.db.prepare('SELECT template_json, template_html FROM automation_schedules').get(), stored);
});

t.test('a page does not replace content that it has not seen, in each kind of design', async (t) => {
  const { app, path } = await withSchedule(t);
  const { singleSends } = (await app.one.call('GET', '/single-send/list')).body.message;
  app.db.exec('UPDATE single_sends SET status = 0');
  const report = await app.one.call('GET', '/single-send/report', { query: { utr: singleSends[0].utr } });
  const template = { template_name: 'Own', html_code: '<p>Own</p>' };
  const { id } = (await app.one.call('POST', '/templates/create', { form: template })).body.message;
  const details = await app.one.call('GET', '/templates/details', { query: { id } });
  const links = [report, details].map(({ text }) => /"design_url":"([^"]+)"/.exec(text)?.[1] ?? '');
  for (const link of [path, ...links.map((url) => new URL(url).pathname)]) {
    const open = async () => (await app.page('GET', `${link}/content`)).body;
    const save = (json: object) => app.page('POST', link, { json });
    const { version } = await open();
    const { body: first } = await save({ mjml: mail('First'), version });
    t.match(await save({ mjml: mail('Second'), version: first.version }), { status: 200 }, 'after a save of its own');
    t.match(await save({ html: '<p>Outdated</p>', version }), { status: 412, body: { problem: /changed elsewhere/ } });
    t.match((await open()).mjml, 'Second');
    t.equal((await save({ html: '<p>Chosen</p>' })).status, 200, 'unless it is to replace whatever is stored');
    t.match(await open(), { html: '<p>Chosen</p>' });
  }
});

t.test(
  'the web copy is offered as a merge field, shown in previews, and no custom field can take its name',
  async (t) => {
    const { app, must, path } = await withSchedule(t);
    const { fields } = (await app.page('GET', `${path}/content`)).body;
    t.ok(fields.includes('web_copy') && fields.includes('unsubscribe_preferences'));
    const link = '<a href="((web_copy))">View in browser</a>';
    const shown = await app.page('POST', `${path}/preview`, { json: { mjml: mail(link) } });
    t.match(shown.body.html, '<a href="http://mail.example.com/w/preview">View in browser</a>');
    const { preview } = (await must('/single/send/preview', {
      template_id: 1,
      template_html: link,
      sender_id: 1,
      unsubscribe_group_id: 1,
      single_send_name: 'News',
      subject: 'News',
      preheader: 'News',
      recipient_id: ['contacts_1'],
      schedule_type: 0,
    })) as { preview: { mail: { html: string }; placeholders_without_value: string[] } };
    t.match(preview.mail.html, '<a href="http://mail.example.com/w/preview">View in browser</a>');
    t.strictSame(preview.placeholders_without_value, []);
    const form = { field_name: 'Web_Copy', field_type: 'text' };
    const { status, body } = await app.one.call('POST', '/custom-fields/save', { form });
    t.match([status, body.errors], [422, { field_name: [/taken/] }]);
  },
);

t.test('a redesigned mail of a live automation opens a new revision, and the next person gets it', async (t) => {
  const { app, must, utr, path } = await withSchedule(t);
  t.equal((await app.one.call('GET', '/automations/set-live', { query: { utr } })).status, 200);
  t.strictSame(revisions(app), [1]);
  t.equal((await app.page('POST', path, { json: { mjml: mail('Second design') } })).status, 200);
  await app.page('POST', path, { json: { mjml: mail('Second design') } });
  t.strictSame(revisions(app), [1, 2], 'the same design again opens none');
  await must('/contacts/add', { contact_type_id: 1, country: 1, first_name: 'Bo', email: 'bo@example.org' });
  await app.background();
  const last = (await readOutbox(app)).at(-1);
  t.equal(last?.to, 'bo@example.org');
  t.match(last?.html, 'Second design');
  const { status, body } = await app.page('POST', path, {
    json: { mjml: mail('<mj-none></mj-none>').replace('mj-text', 'mj-odd').replace('/mj-text', '/mj-odd') },
  });
  t.equal(status, 409, 'what cannot be sent is not saved over what is live');
  t.match(body.problem, 'live');
  t.strictSame(revisions(app), [1, 2]);
});

t.test('a running or sent single send is refused, a held one is not queued by its design', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const report = await app.one.call('GET', '/single-send/report', { query: { utr } });
  const path = new URL(report.body.message.report.design_url).pathname;
  t.equal((await app.page('POST', path, { json: { html: '<p>New</p>' } })).status, 409);
  app.db.exec('UPDATE single_sends SET status = 0');
  t.equal((await app.page('POST', path, { json: { html: '<p>New</p>' } })).status, 200);
  t.match(app.db.prepare('SELECT status, template_html FROM single_sends').get(), {
    status: 0,
    template_html: '<p>New</p>',
  });
});

t.test('a revoked link opens, shows, saves and sends nothing; a new one does', async (t) => {
  const { app, utr, path } = await withSchedule(t);
  const schedule = app.db.prepare('SELECT utr FROM automation_schedules').pluck().get();
  const revoke = (form: Record<string, unknown>, by = app.one) => by.call('POST', '/design-links/revoke', { form });
  t.match(await revoke({ utr: schedule }, app.two), { status: 404, body: { errors: 'Record not found' } });
  t.match(await revoke({ utr }), { status: 404 }, 'an automation has no design of its own');
  t.match(await revoke({}), { status: 404 });
  t.equal((await app.page('GET', path)).status, 200);
  t.match(await revoke({ utr: schedule }), { status: 200, body: { message: 'Revoked Successfully' } });
  t.equal((await app.page('GET', path)).status, 410);
  t.equal((await app.page('GET', `${path}/content`)).status, 410);
  for (const action of ['', '/preview', '/test']) {
    const json = { mjml: mail('x'), email: 'anna@example.org' };
    t.equal((await app.page('POST', path + action, { json })).status, 410);
  }
  app.clock.advance(1);
  const { body } = await app.one.call('GET', '/automations/schedule', { query: { utr } });
  const fresh = new URL(body.message.automation_schedules[0].design_url).pathname;
  t.equal((await app.page('GET', fresh)).status, 200);
});

t.test(
  'links of a person to each kind of design end when they are removed or become a viewer; those of others do not',
  async (t) => {
    const { app, utr, path: ofKeys } = await withSchedule(t);
    const ofUtr = { query: { utr } };
    const { singleSends } = (await app.one.call('GET', '/single-send/list')).body.message;
    const template = { template_name: 'Own', html_code: '<p>Own</p>' };
    const { id } = (await app.one.call('POST', '/templates/create', { form: template })).body.message;
    const owner = callerOf(app, addPerson(app));
    const linksOf = async (name: string) => {
      const person = addPerson(app, 'editor', { name });
      const caller = callerOf(app, person);
      const asked = [
        await caller.call('GET', '/automations/schedule', ofUtr),
        await caller.call('GET', '/automations/series', ofUtr),
        await caller.call('GET', '/single-send/report', { query: { utr: singleSends[0].utr } }),
        await caller.call('GET', '/templates/details', { query: { id } }),
      ];
      const urls = asked.map(({ text }) => /"design_url":"([^"]+)"/.exec(text)?.[1] ?? '');
      return { id: person.id, paths: urls.map((url) => new URL(url).pathname) };
    };
    const [removed, demoted, still] = [await linksOf('Removed'), await linksOf('Demoted'), await linksOf('Still')];
    for (const path of [...removed.paths, ...demoted.paths, ...still.paths])
      t.equal((await app.page('GET', path)).status, 200);
    await owner.call('DELETE', '/users/delete', { query: { id: removed.id } });
    await owner.call('POST', '/users/update', { form: { id: demoted.id, role: 'viewer' } });
    for (const path of [...removed.paths, ...demoted.paths]) {
      t.equal((await app.page('GET', path)).status, 403);
      t.equal((await app.page('GET', `${path}/content`)).status, 403);
      for (const action of ['', '/preview', '/test', '/blocks', '/html']) {
        const { status, body } = await app.page('POST', path + action, {
          json: { mjml: mail('x'), email: 'anna@example.org' },
        });
        t.equal(status, 403);
        t.match(body.problem, 'may no longer change e-mails');
      }
    }
    for (const path of [ofKeys, ...still.paths]) t.equal((await app.page('GET', path)).status, 200);
  },
);

t.test('subject and preview text are saved with the design, each one line, and a mail keeps a subject', async (t) => {
  const { app, path } = await withSchedule(t);
  const save = (texts: Record<string, unknown>, link = path) =>
    app.page('POST', link, { json: { mjml: mail('x'), ...texts } });
  const stored = () => app.db.prepare('SELECT subject, preheader FROM automation_schedules').raw().get();
  t.equal((await save({ subject: ' Spring ((first_name)) ', preheader: 'Soon' })).status, 200);
  t.strictSame(stored(), ['Spring ((first_name))', 'Soon']);
  t.equal((await save({})).status, 200);
  t.strictSame(stored(), ['Spring ((first_name))', 'Soon'], 'what is not given stays');
  for (const texts of [{ subject: 'a\r\nBcc: x@example.org' }, { preheader: 'x'.repeat(256) }])
    t.match(await save(texts), { status: 422, body: { problem: /one line each/ } });
  t.equal((await save({ subject: 7, preheader: ['x'] })).status, 200);
  t.strictSame(stored(), ['Spring ((first_name))', 'Soon']);
  const preview = await app.page('POST', `${path}/preview`, { json: { mjml: mail('x'), subject: 'New' } });
  t.equal(preview.body.subject, 'New');
  app.db.exec('UPDATE automations SET status = 1');
  t.match(await save({ subject: '' }), { status: 422, body: { problem: 'The e-mail needs a subject.' } });
  const german = await app.page('POST', path, {
    json: { mjml: mail('x'), subject: '' },
    headers: { 'accept-language': 'de' },
  });
  t.equal(german.body.problem, 'Die Mail braucht einen Betreff.', 'in the language of the page');
});

t.test('what the page refuses, and why a link has ended, is said in the language of the page', async (t) => {
  const { app, path } = await withSchedule(t);
  const headers = { 'accept-language': 'de' };
  const post = (action: string, json: object) => app.page('POST', path + action, { json, headers });
  const refusals: [string, object, number, RegExp][] = [
    ['/preview', { mjml: mail('x'), email: '2026-01-01' }, 404, /hat die Adresse 2026-01-01\./],
    ['/test', { mjml: mail('x'), email: 'nobody' }, 409, /keine E-Mail-Adresse/],
    ['/test', { mjml: mail('x'), email: 'nobody@example.org' }, 409, /nobody@example\.org gehört nicht dazu/],
    ['/blocks', { mjml: '<mj-text>x</mj-text>', name: '' }, 422, /einzeiligen Namen/],
    ['/blocks/77', { name: 'x' }, 404, /nicht, oder es wurde gelöscht/],
    ['/versions/77', {}, 404, /nicht, oder es wurde gelöscht/],
    ['', { mjml: 'x'.repeat(9_000_000) }, 413, /zu groß/],
    [
      '',
      { html: '((city))'.repeat(10_001) },
      422,
      /hat 10\.001 Platzhalter und Links; möglich sind höchstens 10\.000\./,
    ],
    ['', { mjml: '<p>' }, 422, /^Die Gestaltung ist kein MJML-Dokument\.$/],
    ['/preview', { mjml: mail('<mj-include path="x" />') }, 422, /verwendet mj-include/],
  ];
  for (const [action, json, status, problem] of refusals)
    t.match(await post(action, json), { status, body: { problem } }, `${action} ${status}`);
  app.clock.advance(2 * DAY);
  t.match(await app.page('GET', `${path}?lang=de`), { status: 410, text: /<h1>Dieser Link ist abgelaufen<\/h1>/ });
});
