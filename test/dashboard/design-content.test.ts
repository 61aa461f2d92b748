/** Previews, tests and limits of a design. */
import fc from 'fast-check';
import t from 'tap';
import { fromMarkup, toMarkup } from '../../src/delivery/content/mjml-editor.ts';
import { startApp } from '../support/app.ts';
import { mustSucceed, sendCampaign } from '../support/campaign.ts';
import { mail, withSchedule } from '../support/dashboard/designed-mails.ts';

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
  const sent = () => app.db.prepare("SELECT count(*) FROM mailings WHERE owner_kind = 'schedule_test'").pluck().get();
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
  t.match(late.body.problem, 'To send more, open the designer again');
  t.equal((await test('stranger@elsewhere.example')).status, 429, 'and tells no more who is a contact');
  app.clock.advance(1);
  const { body } = await app.one.call('GET', '/automations/schedule', { query: { utr } });
  const fresh = new URL(body.message.automation_schedules[0].design_url).pathname;
  t.equal((await test(sender, fresh)).status, 200);
  t.equal(sent(), 10);
});

t.test('a design that is too deep or has too much in it is refused, while others are served', async (t) => {
  const { app, path } = await withSchedule(t);
  const within = (content: string) => `<mjml><mj-body>${content}</mj-body></mjml>`;
  const hostile: [string, RegExp][] = [
    [within('<mj-section>'.repeat(35_000)), /more than 50 levels/],
    [within(`<mj-text>${'<a>'.repeat(150_000)}`), /more than 500 elements inside each other/],
    [within('<mj-text></mj-text>'.repeat(20_000)), /more than 5,000 elements/],
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
    body: { problem: /larger than 2 MB/ },
  });
  t.match(await preview(`<p>${'((city))'.repeat(20_000)}</p>`), {
    status: 422,
    body: { problem: /20,000 merge tags and links: at most 10,000/ },
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
