/** The design page's own interface: what it loads, saves, previews and refuses. */
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { fromMarkup, toMarkup } from '../../src/delivery/content/mjml-markup.ts';
import { mustSucceed, readOutbox, sendCampaign } from '../campaign.ts';
import { startApp, type TestApp } from '../helper.ts';

const mail = (text: string) =>
  `<mjml><mj-body><mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section></mj-body></mjml>`;

/** An automation with one mail, and the path of that mail's design page. */
async function withSchedule(t: Test) {
  const app = await startApp(t);
  await sendCampaign(t, app);
  const must = mustSucceed(t, app.one);
  const { utr } = (await must('/automations/create', {
    type: 'welcome',
    automation_for: 'contacts_1',
    automation_name: 'Welcome',
    unsubscribe_group_id: 1,
  })) as { utr: string };
  await must('/automations/schedule/create', {
    utr,
    sender_id: 1,
    subject: 'Hello ((first_name))',
    waiting_period: 1,
    waiting_type: 'instantly',
    template_id: 1,
    preview_img: 'blank.png',
    template_html: '<p>First design</p>',
  });
  const { body } = await app.one.call('GET', '/automations/schedule', { query: { utr } });
  const path = new URL(body.message.automation_schedules[0].design_url).pathname;
  return { app, must, utr, path };
}

function revisions({ db }: TestApp) {
  return db.prepare("SELECT revision FROM mailings WHERE owner_kind = 'schedule' ORDER BY 1").pluck().all();
}

t.test('the page holds to its policy: only our scripts, nobody frames it', async (t) => {
  const { app, path } = await withSchedule(t);
  const { status, headers, text } = await app.page('GET', path);
  t.equal(status, 200);
  t.match(headers['content-security-policy'], /script-src 'self';.*frame-ancestors 'none'/);
  t.notMatch(headers['content-security-policy'], 'unsafe-eval');
  t.notMatch(text, /(?:src|href)="https?:/);
  for (const [, asset] of text.matchAll(/(?:src|href)="\.\.(\/assets\/[^"]+)"/g)) {
    t.equal((await app.page('GET', asset ?? '')).status, 200);
  }
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
  t.strictSame(app.db.prepare('SELECT template_json, template_html FROM automation_schedules').get(), stored);
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
  t.equal(status, 409, 'what can not be sent is not saved over what is live');
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

t.test('the preview is merged for a contact the mail is for, and for nobody else', async (t) => {
  const { app, path } = await withSchedule(t);
  const preview = (email?: string) =>
    app.page('POST', `${path}/preview`, { json: { mjml: mail('Dear ((first_name))'), email } });
  t.match((await preview()).body, { html: 'Dear Anna', subject: 'Hello Anna', email: 'anna@example.org' });
  t.match((await preview(' ANNA@example.org')).body, { html: 'Dear Anna' });
  t.equal((await preview('nobody@example.org')).status, 404);
  t.equal((await preview('not an address')).status, 404);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Others' });
  await must('/contacts/add', { contact_type_id: 2, country: 1, first_name: 'Olaf', email: 'olaf@example.org' });
  t.equal((await preview('olaf@example.org')).status, 404, 'a contact of the account, but of another type');
  t.match((await preview()).body, { email: 'anna@example.org' });
  await mustSucceed(t, app.two)('/contacts-type/add', { name: 'Theirs' });
  await mustSucceed(t, app.two)('/contacts/add', {
    contact_type_id: 3,
    country: 1,
    first_name: 'Eve',
    email: 'eve@example.org',
  });
  t.equal((await preview('eve@example.org')).status, 404);
});

t.test('the preview of a single send knows its segments, and nobody who is excluded', async (t) => {
  const app = await startApp(t);
  const people = ['anna', 'bo', 'cy'].map((name) => ({ first_name: name, email: `${name}@example.org` }));
  const { utr } = await sendCampaign(t, app, { people });
  const report = await app.one.call('GET', '/single-send/report', { query: { utr } });
  const path = new URL(report.body.message.report.design_url).pathname;
  const segment = (id: number, ...contacts: number[]) => {
    app.db
      .prepare(
        `INSERT INTO segments (id, user_id, contact_type_id, segment_name, select_field, select_operator, value, created_at, updated_at)
         VALUES (?, 1, 1, 's', '[]', '[]', '[]', '', '')`,
      )
      .run(id);
    for (const contact of contacts)
      app.db
        .prepare(
          `INSERT INTO segment_recipients (user_id, segment_id, address_id, contact_id, email, created_at, updated_at)
           SELECT 1, ?, address_id, id, email, '', '' FROM contacts WHERE id = ?`,
        )
        .run(id, contact);
  };
  segment(1, 1, 2);
  segment(2, 1);
  const targets = app.db.prepare('UPDATE single_sends SET recipient_id = ?, exclude_specific_recipient_id = ?');
  targets.run('[{"id":"1","table":"segments"}]', '[{"id":"2","table":"segments"}]');
  const preview = (email?: string) =>
    app.page('POST', `${path}/preview`, { json: { html: '<p>Dear ((first_name))</p>', email } });
  t.match((await preview()).body, { html: 'Dear bo', email: 'bo@example.org' });
  t.equal((await preview('bo@example.org')).status, 200);
  t.equal((await preview('anna@example.org')).status, 404, 'excluded');
  t.equal((await preview('cy@example.org')).status, 404, 'not in the segment');
  targets.run('[{"id":"2","table":"segments"}]', '[{"id":"2","table":"segments"}]');
  t.match((await preview()).body, { html: 'Dear ', email: '' }, 'without an audience it is merged for nobody');
});

t.test('tests go to senders and contacts of the account only, ten from a link', async (t) => {
  const { app, utr, path } = await withSchedule(t);
  const test = (email: string, at = path) => app.page('POST', `${at}/test`, { json: { email } });
  const sent = () => app.db.prepare("SELECT count(*) FROM mailings WHERE owner_kind = 'test'").pluck().get();
  const stranger = await test('stranger@elsewhere.example');
  t.equal(stranger.status, 409);
  t.match(stranger.body.problem, 'senders and contacts only');
  t.equal((await test('not an address')).status, 409);
  t.equal(sent(), 0);
  t.equal((await test('ANNA@example.org')).status, 200, 'a contact');
  const sender = String(app.db.prepare('SELECT from_email FROM senders').pluck().get());
  for (let count = 0; count < 8; count++) t.equal((await test(sender)).status, 200, 'a sender');
  t.equal(sent(), 9);
  const late = await test(sender);
  t.equal(late.status, 429, 'what was refused counts too');
  t.match(late.body.problem, 'A new link sends more');
  t.equal((await test('stranger@elsewhere.example')).status, 429, 'and tells no more who is a contact');
  app.clock.advance(1);
  const { body } = await app.one.call('GET', '/automations/schedule', { query: { utr } });
  const fresh = new URL(body.message.automation_schedules[0].design_url).pathname;
  t.equal((await test(sender, fresh)).status, 200);
  t.equal(sent(), 10);
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

t.test('a design that is too deep or has too much in it is refused, while others are served', async (t) => {
  const { app, path } = await withSchedule(t);
  const within = (content: string) => `<mjml><mj-body>${content}</mj-body></mjml>`;
  const hostile: [string, RegExp][] = [
    [within('<mj-section>'.repeat(35_000)), /more than 50 levels/],
    [within(`<mj-text>${'<a>'.repeat(150_000)}`), /more than 500 levels/],
    [within('<mj-text></mj-text>'.repeat(20_000)), /more than 5000 elements/],
  ];
  for (const [mjml, problem] of hostile) {
    const order: string[] = [];
    const asking = app.page('POST', `${path}/preview`, { json: { mjml } }).then((answer) => {
      order.push('refused');
      return answer;
    });
    t.equal((await app.page('GET', '/healthz')).status, 200);
    order.push('served');
    const { status, body } = await asking;
    t.equal(status, 422);
    t.match(body.problem, problem);
    t.strictSame(order, ['served', 'refused'], 'the design is read in another thread');
    t.equal((await app.page('POST', path, { json: { mjml } })).status, 422);
  }
  const stored = app.db.prepare('UPDATE automation_schedules SET template_html = ?, template_json = ?');
  stored.run('', JSON.stringify(fromMarkup(mail('x'))).replace('"x"', `"${'<b>'.repeat(1000)}"`));
  t.equal((await app.page('GET', `${path}/content`)).status, 200, 'what is stored is shown');
  const many = `{${Array.from({ length: 100_000 }, (_, at) => `"k${at}":1`).join()}}`;
  t.equal((await app.page('POST', path, { json: JSON.parse(many) })).status, 400, 'only what the page sends is parsed');
});

t.test('a mail that its values make too large is not shown', async (t) => {
  const { app, path } = await withSchedule(t);
  app.db.prepare('UPDATE contacts SET city = ?').run('x'.repeat(60_000));
  const preview = (html: string) => app.page('POST', `${path}/preview`, { json: { html } });
  t.match(await preview(`<p>${'((city))'.repeat(1000)}</p>`), {
    status: 422,
    body: { problem: /too large to be shown/ },
  });
  t.match(await preview(`<p>${'((city))'.repeat(20_000)}</p>`), {
    status: 422,
    body: { problem: /10000 placeholders/ },
  });
});

t.test('markup and JSON tell the same', async (t) => {
  const name = fc.stringMatching(/^[a-z][a-z-]{0,8}$/);
  const attributes = fc.dictionary(name, fc.string({ unit: 'grapheme' }), { noNullPrototype: true, maxKeys: 3 });
  const text = fc.record({
    tagName: fc.constant('mj-text'),
    attributes,
    content: fc.constantFrom(
      'Hello &amp; all',
      '<p>One<br>two<p>three',
      '<a href="https://x.example/?a=1&amp;b=2">x</a>',
      '((name|you))',
    ),
    children: fc.constant([]),
  });
  const column = fc.record({
    tagName: fc.constant('mj-column'),
    attributes,
    children: fc.array(text, { maxLength: 3 }),
  });
  const body = fc.record({ tagName: fc.constant('mj-body'), attributes, children: fc.array(column, { maxLength: 3 }) });
  fc.assert(
    fc.property(attributes, body, (own, child) => {
      const root = { tagName: 'mjml', attributes: own, children: [child] };
      t.strictSame(JSON.parse(JSON.stringify(fromMarkup(toMarkup(root)))), JSON.parse(JSON.stringify(root)));
    }),
    { numRuns: 100 },
  );
});

t.test('a body of other types than the page sends is a mistake, never a failure of ours', async (t) => {
  const { app, path: link } = await withSchedule(t);
  const values: unknown[] = [null, 1, true, [], {}, { toString: 1 }, [[{}]], '\u0000'];
  for (const path of ['', '/preview', '/test']) {
    for (const value of values) {
      for (const json of [value, { email: value, mjml: value, html: value }]) {
        const { status } = await app.page('POST', `${link}${path}`, { json });
        t.ok(status < 500, `${path} ${JSON.stringify(json)}: ${status}`);
      }
    }
  }
});
