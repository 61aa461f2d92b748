/** Single sends as records: templates, schedules, lists, copies and previews. */
import { mock } from 'node:test';
import t from 'tap';
import { showThread } from '../../src/delivery/compiling/compile.ts';
import { createSend, readyToSend } from '../support/single-sends.ts';

t.test('a list of sends with large templates is whole, though its pages are small', async (t) => {
  const { app, body } = await readyToSend(t);
  for (let at = 0; at < 6; at++) {
    await createSend(app, { ...body, single_send_name: `Send ${at}`, template_html: `<p>${'x'.repeat(400_000)}</p>` });
  }
  const names = async (query: string) => {
    const { body: list } = await app.one.call('GET', `/single-send/list${query}`);
    return list.message.singleSends.map((send: { single_send_name: string }) => send.single_send_name);
  };
  t.strictSame(await names(''), ['Send 0', 'Send 1', 'Send 2', 'Send 3', 'Send 4', 'Send 5']);
  t.strictSame(await names('?limit=4&after_id=1'), ['Send 1', 'Send 2', 'Send 3', 'Send 4']);
});

t.test('schedules that are no time, or past, are field errors', async (t) => {
  const { app, body } = await readyToSend(t);
  const cases = [
    [{ schedule_type: 1 }, ['schedule_date', 'schedule_time']],
    [{ schedule_type: 1, schedule_date: '2026-02-30', schedule_time: '10:00' }, ['schedule_date']],
    [{ schedule_type: 1, schedule_date: '2026-03-01', schedule_time: '25:00' }, ['schedule_time']],
    [{ schedule_type: 1, schedule_date: '2026-01-15', schedule_time: '08:59' }, ['schedule_date']],
    [{ schedule_type: 2 }, ['schedule_type']],
  ] as const;
  for (const [given, fields] of cases) {
    const { status, body: answer } = await app.one.call('POST', '/single/send/create', { form: { ...body, ...given } });
    t.equal(status, 422);
    t.strictSame(Object.keys(answer.errors), [...fields]);
  }
});

t.test('template code: MJML JSON or HTML, not both, nothing else', async (t) => {
  const { app, body } = await readyToSend(t);
  const mjml = JSON.stringify({
    tagName: 'mjml',
    attributes: {},
    children: [{ tagName: 'mj-body', attributes: {}, children: [] }],
  });
  const { template_html: _none, ...bare } = body;
  const cases = [
    [{ ...body, template_json: mjml }, 422],
    [{ ...bare, template_json: '{"tagName":"html"}' }, 422],
    [{ ...bare, template_json: 'no json' }, 422],
    [{ ...bare, template_json: mjml }, 200],
  ] as const;
  for (const [given, status] of cases)
    t.equal((await app.one.call('POST', '/single/send/create', { form: given })).status, status);
});

t.test('a duplicate is a draft that is not sent', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, body);
  for (const method of ['GET', 'POST']) {
    t.equal(
      (await app.one.call(method, '/single/send/duplicate', { query: { utr } })).body.message,
      'Duplicated Successfully',
    );
  }
  const { body: list } = await app.one.call('GET', '/single-send/list');
  t.match(list.message.singleSends.slice(1), [
    { single_send_name: 'Copy of Autumn', status: 0, triggered: 0 },
    { single_send_name: 'Copy of Autumn', status: 0 },
  ]);
});

t.test('a preview counts exactly who gets it, who does not and why, and shows one mail', async (t) => {
  const { app, body } = await readyToSend(t);
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'ann@example.org' } });
  const { status, body: answer } = await app.one.call('POST', '/single/send/preview', {
    form: { ...body, template_html: '<p>((first_name)) ((city)) <a href="https://example.com/a">x</a></p>' },
  });
  t.equal(status, 200);
  const { audience, mail, placeholders_without_value } = answer.message.preview;
  t.strictSame(audience, { recipients: 2, left_out: [{ reason: 'unsubscribed from all mail', count: 1 }] });
  t.match(mail, { contact_id: 2, subject: 'For Bob', html: /<p>Bob {2}<a href="https:\/\/example\.com\/a"/ });
  t.strictSame(placeholders_without_value, ['city']);
  t.equal((await app.one.call('GET', '/single-send/list')).body.message.singleSends.length, 0, 'nothing is stored');
});

t.test(
  'more placeholders and links than a mail may have are refused when they are saved, with their count',
  async (t) => {
    const { app, body } = await readyToSend(t);
    const post = (path: string, form: Record<string, unknown>) => app.one.call('POST', path, { form });
    const { body: made } = await post('/automations/create', {
      ...{ type: 'custom', automation_name: 'A', automation_for: 'contacts_1', unsubscribe_group_id: 1 },
    });
    const schedule = {
      ...{ utr: made.message.utr, sender_id: 1, subject: 'x', waiting_period: 1, waiting_type: 'instantly' },
      ...{ template_id: 1, preview_img: 'x.png' },
    };
    const saves: [string, Record<string, unknown>][] = [
      ['/single/send/create', body],
      ['/automations/schedule/create', schedule],
      ['/templates/create', { template_name: 'T' }],
      ['/transactional/send', { sender_id: 1, email: 'a@example.org', subject: 'x' }],
    ];
    const problem = 'The mail has 27000 placeholders and links: at most 10000 are possible.';
    const template_html = `${'<p>((first_name))</p>'.repeat(26_990)}${'<a href="https://e.com">x</a>'.repeat(10)}`;
    const content = `${'((first_name|you))'.repeat(26_999)}<a href="https://e.com">x</a>`;
    const text = { tagName: 'mj-text', content };
    const children = [{ tagName: 'mj-section', children: [{ tagName: 'mj-column', children: [text] }] }];
    const template_json = JSON.stringify({ tagName: 'mjml', children: [{ tagName: 'mj-body', children }] });
    for (const [path, form] of saves) {
      const html = await post(path, { ...form, template_html });
      t.equal(html.status, 422, path);
      t.strictSame(html.body.errors, { template_html: [`The template html is invalid: ${problem}`] }, path);
      const json = await post(path, { ...form, template_html: '', template_json });
      t.strictSame(json.body.errors, { template_json: [`The template json is invalid: ${problem}`] }, path);
    }
    const update = await post('/single/send/update', { ...body, utr: await createSend(app, body), template_html });
    t.equal(update.status, 422);
    const most = `${'<p>((first_name))</p>'.repeat(9_990)}${'<a href="https://e.com">x</a>'.repeat(10)}`;
    const utr = await createSend(app, { ...body, template_html: most });
    const { report } = (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message;
    t.equal(report.held_reason, null);
    app.clock.advance(11_000);
    await app.background();
    const { singleSend } = (await app.one.call('GET', '/single-send/details', { query: { utr } })).body.message;
    t.equal(singleSend[0].status, 3, 'what is accepted is not held later');
  },
);

t.test('a send does not wait for long for the warnings about its texts', async (t) => {
  const { app, body } = await readyToSend(t);
  const asked = Promise.withResolvers<void>();
  t.intercept(showThread, 'ask', {
    value() {
      asked.resolve();
      return new Promise(() => undefined);
    },
  });
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const template_html = `<p>((frist_name)) ${'x'.repeat(100_000)}</p>`;
  const created = app.one.call('POST', '/single/send/create', { form: { ...body, template_html } });
  await asked.promise;
  mock.timers.tick(2000);
  const { status, headers } = await created;
  t.equal(status, 200);
  t.equal(headers['sendlark-warnings'], undefined);
});

t.test(
  'misspelt placeholders and tags of other services are named in a header, which changes nothing else',
  async (t) => {
    const { app, body } = await readyToSend(t);
    const post = async (path: string, form: Record<string, unknown>) => {
      const answer = await app.one.call('POST', path, { form });
      const header = answer.headers['sendlark-warnings'];
      return { ...answer, warnings: typeof header === 'string' ? JSON.parse(header) : null, header };
    };
    const template_html =
      '<p>((frist_name|you)) *|FNAME|* {{ vornäme }} %recipient.name%</p><a href="https://e.com/%20adobe%20?q=100%25">x</a><p style="width:100%">((first_name)) ((web_copy))</p>';
    const expected = [
      { code: 'unknown_placeholders', count: 1, names: ['frist_name'] },
      { code: 'foreign_tags', count: 3, names: ['*|FNAME|*', '{{ vornäme }}', '%recipient.name%'] },
    ];
    const created = await post('/single/send/create', { ...body, template_html });
    t.strictSame(Object.keys(created.body.message), ['utr']);
    const condition = '<p>((if city = &quot;Ulm&quot; and frist_name &gt; 1))a((else))b((end))</p>';
    const conditional = await post('/single/send/create', { ...body, template_html: condition });
    t.strictSame(conditional.warnings, expected.slice(0, 1), 'the marks of a condition are no merge tags');
    t.strictSame(created.warnings, expected);
    t.match(created.header, /^[ -~]+$/);
    const { utr } = created.body.message;
    t.strictSame((await post('/single/send/save', { utr, template_html })).warnings, expected);
    t.strictSame((await post('/templates/create', { template_name: 'T', template_html })).warnings, expected);
    const { message } = (await app.one.call('GET', '/single-send/draft', { query: { utr } })).body;
    t.strictSame(message.draft.warnings, expected);
    const { report } = (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message;
    t.strictSame(report.warnings, expected);
    const preview = await post('/single/send/preview', { ...body, template_html });
    t.strictSame(preview.body.message.preview.warnings, expected);
    const mail = { sender_id: 1, email: 'a@example.org', subject: 'x {{ a }}', template_html: '<p>((code|x))</p>' };
    t.strictSame((await post('/transactional/send', mail)).warnings, [
      { code: 'foreign_tags', count: 1, names: ['{{ a }}'] },
    ]);
    t.equal((await post('/single/send/create', body)).header, undefined);
    await app.one.call('POST', '/custom-fields/save', { form: { field_name: 'frist_name', field_type: 'text' } });
    t.strictSame((await post('/single/send/save', { utr, template_html: '((frist_name))' })).warnings, null);
    const many = Array.from(
      { length: 300 },
      (_, at) => `((x${at}${'y'.repeat(200)})) {{ ${'é'.repeat(50)}${at} }}`,
    ).join('');
    const bounded = await post('/single/send/save', { utr, template_html: many });
    t.match(bounded.warnings, [{ count: 300 }, { count: 300 }]);
    t.ok(String(bounded.header).length < 6000);
    t.equal(
      (await post('/single/send/create', { ...body, subject: '', template_html })).header,
      undefined,
      'a failure',
    );
  },
);
