/** Making and editing automations in the dashboard, by sending their forms. */
import t from 'tap';
import { holdForSettings } from '../../src/delivery/queue/holds.ts';
import { sentence } from '../../src/errors/sentences.ts';
import { DAY, HOUR, mailsInBrief, withWelcomeSeries } from '../support/automations.ts';
import { visitor } from '../support/visitor.ts';

const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');
/** The fields of a form that carry a value along. */
const hiddenIn = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );

/** The series of withWelcomeSeries, its pages as an editor sees them, and what the API says about it. */
async function withPages(t: Parameters<typeof withWelcomeSeries>[0]) {
  const world = await withWelcomeSeries(t);
  const seriesOf = async (utr = world.utr) => (await world.get('/automations/series', { utr })).body.message.series;
  const mails = async (): Promise<{ utr: string; subject: string; updated_at: string }[]> => (await seriesOf()).mails;
  const pageOf = async (subject: string, step = 'content') => {
    const mail = (await mails()).find((one) => one.subject === subject);
    return `/automations/${world.utr}/mails/${mail?.utr}/${step}`;
  };
  return { ...world, ...visitor(world.app, 'editor'), seriesOf, mails, pageOf };
}

t.test('an automation made with forms is the same as one made through the API', async (t) => {
  const { app, utr, open, send, get, seriesOf } = await withPages(t);
  t.match((await open('/automations')).text, 'href="/automations/new"');
  const wrong = await send('/automations/new', { automation_name: '', automation_for: 'contacts_1' });
  t.match([wrong.status, wrong.text.includes('id="automation_name-problem"')], [422, true]);
  t.match(wrong.text, 'value="contacts_1" selected');
  const { text: twice } = await send('/automations/new', { automation_name: '', unsubscribe_group_id: '99' });
  t.ok((twice.match(/class="problem"/g)?.length ?? 0) > 1);
  t.equal(twice.match(/ autofocus/g)?.length, 1, 'the first wrong field alone has the focus');
  const made = await send('/automations/new', {
    automation_name: 'Welcome',
    automation_for: 'contacts_1',
    unsubscribe_group_id: '1',
  });
  const address = String(made.headers.location).replace('/edit', '');
  for (const [subject, waiting_type, waiting_period] of [
    ['one', 'instantly', '1'],
    ['two', 'days', '2'],
    ['three', 'hours', '12'],
  ] as const) {
    const fields = { subject, waiting_type, waiting_period, sender_id: '1', template_id: '1' };
    t.equal((await send(`${address}/mails/new`, { ...fields, subject: '' })).status, 422);
    const added = await send(`${address}/mails/new`, fields);
    t.equal(added.status, 303, added.text);
    const page = String(added.headers.location);
    const { text } = await open(page.replace('content', 'html'));
    const html = { ...hiddenIn(text), template_html: '<p>Hello ((first_name))</p>' };
    t.equal((await send(page.replace('content', 'html'), html)).status, 303);
  }
  const clicked = address.split('/').at(-1) ?? '';
  t.not(clicked, utr);
  const plain = ({ mails, steps, ...rest }: Record<string, unknown> & { mails: object[]; steps: object[] }) => ({
    ...rest,
    steps: steps.map((step) => ({ ...step, utr: '' })),
    utr: '',
    updated_at: '',
    changed_by: '',
    automation_type: '',
    mails: mails.map((mail) => ({
      ...mail,
      utr: '',
      created_at: '',
      updated_at: '',
      changed_by: '',
      design_url: '',
      preview_img: '',
    })),
  });
  t.strictSame(plain(await seriesOf(clicked)), plain(await seriesOf()));
  const codes = async (of: string) =>
    (await get('/automations/schedule', { utr: of })).body.message.automation_schedules.map(
      (mail: { template_html: string }) => mail.template_html,
    );
  t.strictSame(await codes(clicked), await codes(utr));
  const page = textOf((await open(address)).text);
  t.match(page, 'A contact joins the list “Readers”.');
  t.match(page, '0 contacts are there already and do not enter.');
  t.equal((await send(`${address}/start`)).status, 303);
  t.equal((await seriesOf(clicked)).is_live, 1);
  t.match(textOf((await open(address)).text), 'Nothing is sent until you resume.');
  await send(`${address}/pause`);
  t.equal((await seriesOf(clicked)).is_live, 0);
  const copy = String((await send(`${address}/duplicate`)).headers.location);
  t.match((await open(copy)).text, 'Copy of Welcome');
  t.equal((await send(`${address}/delete`)).headers.location, '/automations');
  t.equal((await open(address)).status, 404);
  t.equal(mailsInBrief(app).length, 0);
});

t.test('the flow says how many entered, are at each step and went on, with links to those who wait', async (t) => {
  const { utr, open, join, live, pass, pageOf, get } = await withPages(t);
  await live();
  for (const name of ['ann', 'bob', 'cleo']) await join(name);
  await pass(DAY);
  await join('dora');
  await pass(DAY + HOUR);
  const { report } = (await get('/automations/report', { utr })).body.message;
  t.equal(report.entered, 4);
  t.strictSame(
    report.mails.map(({ waiting, passed, left }: Record<string, number>) => [waiting, passed, left]),
    [
      [0, 4, 0],
      [1, 3, 0],
      [3, 0, 0],
    ],
  );
  const page = (await open(`/automations/${utr}`)).text;
  t.match(
    textOf(page),
    /Trigger.*joins the list “Readers”.*4 contacts entered.*one.*4 went on \(100%\).*2 days later.*1 active.*two.*3 went on \(75%\).*12 hours later.*3 active.*three.*0 went on.*0 contacts completed the automation/s,
  );
  t.match(page, `<a href="${await pageOf('two', 'waiting')}">1 active</a>`);
});

t.test('an automation is made from a recipe by a form, with its mails in the language of the page', async (t) => {
  const { app, open, send, seriesOf } = await withPages(t);
  t.match(
    textOf((await open('/automations/new')).text),
    /Start with a recipe.*Welcome new contacts.*Abandoned cart.*Birthday.*Win-back/s,
  );
  app.db.exec("UPDATE users SET language = 'de'");
  const { text } = await open('/automations/new?recipe=birthday');
  t.match(textOf(text), /Geburtstag.*im Feld „birthday“.*Unsere besten Wünsche für Ihren Tag/s);
  const fields = { ...hiddenIn(text), automation_name: 'Geburtstag', automation_for: '', sender_id: '1' };
  const refused = await send('/automations/new', { ...fields, unsubscribe_group_id: '1' });
  t.match([refused.status, refused.text.includes('name="recipe" value="birthday"')], [422, true]);
  t.match(refused.text, 'id="automation_for-problem">Wählen Sie eine Liste oder ein Segment.<');
  const made = await send('/automations/new', { ...fields, automation_for: 'contacts_1', unsubscribe_group_id: '1' });
  const utr = String(made.headers.location).split('/')[2];
  t.match(await seriesOf(utr), {
    trigger_kind: 'date',
    trigger_field: 'birthday',
    trigger_yearly: 1,
    is_live: 0,
    mails: [{ subject: /Geburtstag/ }],
  });
  t.equal((await open('/automations/new?recipe=unknown')).status, 200);
});

t.test('the win-back recipe offers only segments, and opens a new one with rules for inactive contacts', async (t) => {
  const { app, open, send } = await withPages(t);
  const rules = { select_field: ['email'], select_operator: ['is not'], value: ['x'] };
  const loyal = await app.one.call('POST', '/segment/store', {
    form: { segment_name: 'Loyal', contact_type_id: 1, ...rules },
  });
  t.equal(loyal.status, 200);
  const { text } = await open('/automations/new?recipe=win_back');
  t.match(text, />Loyal \(segment/);
  t.notMatch(text, />Readers \(list/);
  const [, form = ''] = /<form method="post" action="\/contacts\/segments\/new">(.*?)<\/form>/s.exec(text) ?? [];
  t.match((await send('/contacts/segments/new', hiddenIn(form))).text, 'value="Inactive for 90 days"');
  const saved = await send('/contacts/segments/new', { ...hiddenIn(form), do: 'save' });
  t.match(saved.headers.location, /^\/contacts\/segments\/\d+$/);
  const refused = await send('/automations/new', {
    ...{ recipe: 'win_back', automation_name: 'Back', automation_for: '', sender_id: '1', unsubscribe_group_id: '1' },
  });
  t.match(refused.text, 'id="automation_for-problem">Choose a segment.<');
});

t.test(
  'an automation that is started while all sending is held is said to be held, once and not to be live',
  async (t) => {
    const { app, utr, open, send } = await withPages(t);
    const address = `/automations/${utr}`;
    await send(`${address}/pause`);
    holdForSettings(app.db, sentence('settings_no_address'), 0);
    const { headers } = await send(`${address}/start`);
    const flash = String(headers['set-cookie']).split(';')[0] ?? '';
    t.match(Buffer.from(flash.split('=')[1] ?? '', 'base64url').toString(), 'automations.startedHeld');
    const { text } = await open(address);
    t.equal(text.split('There is no tracking domain').length, 2, 'why is said once');
  },
);

t.test('the form of a mail asks when it is sent, and for no number where it is at once', async (t) => {
  const { pageOf, open, mails } = await withPages(t);
  const [first] = await mails();
  const { text } = await open(await pageOf(first?.subject ?? ''));
  t.match(text, /When<.*At once.*How many hours or days/s);
  t.notMatch(text, /Not at all|>Unit</);
});

t.test('before a live mail changes, the page says what happens to whom, and then exactly that happens', async (t) => {
  const { app, utr, open, send, join, live, pass, pageOf, seriesOf } = await withPages(t);
  await live();
  await join('ann');
  await join('bob');
  await pass(DAY);
  const two = await pageOf('two');
  const form = { ...hiddenIn((await open(two)).text), subject: 'two', preheader: '', sender_id: '1' };
  const asked = await send(two, { ...form, waiting_type: 'days', waiting_period: '4' });
  t.equal(asked.status, 200);
  t.match(
    textOf(asked.text),
    '2 contacts wait for “two”. They get the e-mail 4 days later, counted from the previous e-mail.',
  );
  t.equal((await seriesOf()).mails[1].waiting_period, 2, 'nothing has changed yet');
  t.equal((await send(two, hiddenIn(asked.text))).status, 303);
  t.equal((await seriesOf()).mails[1].waiting_period, 4);
  const edit = `/automations/${utr}/edit`;
  const { utr: third } = (await seriesOf()).mails[2];
  const since = (await seriesOf()).updated_at;
  const move = { mail: third, where: 'up', unchanged_since: since };
  const moving = await send(`/automations/${utr}/order`, move);
  t.match(
    textOf(moving.text),
    '2 contacts who waited for “two” then wait for “three”. They get the e-mail 12 hours later',
  );
  t.match(textOf(moving.text), '2 of them continue at once.');
  t.equal((await send(`/automations/${utr}/order`, hiddenIn(moving.text))).headers.location, `${edit}#mails`);
  await pass(HOUR);
  t.match(mailsInBrief(app).slice(2), [/ann three/, /bob three/]);
  const removing = await open(await pageOf('two', 'remove'));
  t.match(
    textOf(removing.text),
    '2 contacts who waited for “two” have completed the automation and get no further e-mails.',
  );
  t.equal((await send(await pageOf('two', 'remove'), hiddenIn(removing.text))).status, 303);
  await pass(10 * DAY);
  t.equal(mailsInBrief(app).length, 4);
  const counts = app.db.prepare('SELECT state, count(*) AS people FROM enrolments GROUP BY state').all();
  t.strictSame(counts, [{ state: 'finished', people: 2 }]);
});

t.test('a mail put before another says who gets it; the people of each mail are shown with links', async (t) => {
  const { utr, open, send, join, live, pass, pageOf, mails, seriesOf } = await withPages(t);
  await live();
  await join('ann');
  await pass(DAY);
  const two = (await mails())[1]?.utr ?? '';
  const path = `/automations/${utr}/mails/new`;
  const { text } = await open(`${path}?before=${two}`);
  t.match(textOf(text), 'The e-mail comes before “two”.');
  t.notMatch(text, 'An empty e-mail', 'a live one could not send it');
  const fields = {
    ...hiddenIn(text),
    subject: 'extra',
    waiting_type: 'hours',
    waiting_period: '30',
    sender_id: '1',
    template_id: '2',
  };
  const asked = await send(path, fields);
  t.match(
    textOf(asked.text),
    '1 contact who waited for “two” then waits for “extra”. They get the e-mail 30 hours later',
  );
  t.equal((await send(path, hiddenIn(asked.text))).status, 303);
  t.strictSame(
    (await mails()).map(({ subject }) => subject),
    ['one', 'extra', 'two', 'three'],
  );
  t.match((await open(`/automations/${utr}`)).text, await pageOf('extra', 'waiting'));
  t.match((await open(await pageOf('extra', 'waiting'))).text, /<a href="\/contacts\/1"><bdi>ann@example.org/);
  t.equal((await seriesOf()).people.waiting, 1);
});

t.test(
  'a form that is older than what is stored is refused, says who changed what, and keeps what was typed',
  async (t) => {
    const { app, utr, open, send, pageOf, seriesOf } = await withPages(t);
    const other = visitor(app, 'owner');
    const one = await pageOf('one');
    const fields = { waiting_type: 'instantly', waiting_period: '1', sender_id: '1', preheader: '' };
    const stale = hiddenIn((await open(one)).text);
    app.clock.advance(1000);
    await other.send(one, { ...hiddenIn((await other.open(one)).text), ...fields, subject: 'theirs' });
    const refused = await send(one, { ...stale, ...fields, subject: 'mine' });
    t.equal(refused.status, 409);
    t.match(
      textOf(refused.text),
      /owner1 changed this automation in the meantime \(.*\)\. .* Subject is now: theirs\./,
    );
    t.match(refused.text, 'value="mine"');
    t.equal((await send(one, { ...hiddenIn(refused.text), ...fields, subject: 'mine' })).status, 303);
    t.equal((await seriesOf()).mails[0].subject, 'mine');
    const edit = `/automations/${utr}/edit`;
    const old = hiddenIn((await open(edit)).text.split('<h2>Name and trigger')[1] ?? '');
    const name = { automation_for: 'contacts_1', unsubscribe_group_id: '1' };
    app.clock.advance(1000);
    t.equal((await other.send(edit, { ...old, ...name, automation_name: 'Hers' })).status, 303);
    const second = await send(edit, { ...old, ...name, automation_name: 'Mine' });
    t.match([second.status, textOf(second.text).includes('Internal name is now: Hers.')], [409, true]);
  },
);

t.test(
  'each mail has a preview, checks and a test mail, and the editor tries it on the clock before it is live',
  async (t) => {
    const { app, utr, open, send, pageOf } = await withPages(t);
    const check = await open(await pageOf('two', 'check'));
    t.match(textOf(check.text), 'Every merge tag is known.');
    t.match((await open(await pageOf('two', 'mail'))).text, 'Hello');
    const content = (await open(await pageOf('two'))).text;
    t.match(content, /data-island="placeholders">.*first_name/s, 'placeholders are put into the fields by a click');
    t.equal((await send(await pageOf('two', 'test'), { email_address: 'me@example.net' })).status, 303);
    await app.background();
    t.match(mailsInBrief(app), [/me two$/]);
    const tried = textOf((await open(`/automations/${utr}/edit`)).text);
    t.match(tried, 'This automation is not live. This is what would happen if you started it now.');
    t.equal(tried.split('Due ').length - 1, 3, 'three mails with their time');
    for (const step of ['templates', 'design', 'html'])
      t.equal((await open(await pageOf('two', step))).status, 200, step);
  },
);

t.test('a subject written from right to left turns no sentence around it', async (t) => {
  const { app, open, pageOf } = await withPages(t);
  app.db.prepare("UPDATE automation_schedules SET subject = ? WHERE subject = 'two'").run('\u202eowt');
  t.match((await open(await pageOf('\u202eowt', 'remove'))).text, '“\u2068\u202eowt\u2069” is removed.');
});

t.test('why an automation cannot be started is said in the reader’s language', async (t) => {
  const { app, utr, send } = await withPages(t);
  app.db.exec("UPDATE users SET language = 'de'; UPDATE automations SET unsubscribe_group_id = '0'");
  const { headers } = await send(`/automations/${utr}/start`);
  const flash = /sendlark_flash=([\w-]+)/.exec(String(headers['set-cookie']))?.[1] ?? '';
  t.match(JSON.parse(Buffer.from(flash, 'base64url').toString()), {
    tone: 'bad',
    values: { reason: 'Wählen Sie zuerst ein Thema.' },
  });
});

t.test('why an automation with a hundred mails takes no more is said above the form', async (t) => {
  const { app, utr, open, send } = await withPages(t);
  const mail = { utr, sender_id: 1, subject: 'more', preview_img: 'blank.png', template_id: 1 };
  for (let mails = 3; mails < 100; mails++) {
    const form = { ...mail, waiting_period: 1, waiting_type: 'days' };
    t.equal((await app.one.call('POST', '/automations/schedule/create', { form })).status, 200);
  }
  const path = `/automations/${utr}/mails/new`;
  const fields = { ...hiddenIn((await open(path)).text), subject: 'one more', sender_id: '1', template_id: '1' };
  const refused = await send(path, { ...fields, waiting_type: 'days', waiting_period: '1' });
  t.equal(refused.status, 422);
  t.match(refused.text, 'An automation has at most 100 e-mails.');
});

t.test('of an address that is given twice, the forecast takes the first', async (t) => {
  const { utr, open } = await withPages(t);
  for (const page of ['', '/edit'])
    t.match(await open(`/automations/${utr}${page}?email=ann@example.org&email=bob@example.org`), {
      status: 200,
      text: 'value="ann@example.org"',
    });
});

t.test('the check of a mail says when this mail was tested last, and not a campaign with the same id', async (t) => {
  const { app, open, send, pageOf } = await withPages(t);
  const campaign = await app.one.call('POST', '/single/send/draft', { form: { single_send_name: 'Spring' } });
  const test = { email_address: 'me@example.net, you@example.net' };
  t.equal((await send(await pageOf('one', 'test'), test)).status, 303);
  t.match((await open(await pageOf('one', 'check'))).text, /Last test: [^<]*, to me@example\.net, you@example\.net\./);
  t.notMatch((await open(await pageOf('two', 'check'))).text, 'Last test');
  t.notMatch((await open(`/campaigns/${campaign.body.message.utr}/edit/check`)).text, 'Last test');
});

t.test('viewers and other accounts change nothing', async (t) => {
  const { app, utr, open, pageOf, seriesOf } = await withPages(t);
  const before = await seriesOf();
  const viewer = visitor(app, 'viewer');
  const stranger = visitor(app, 'owner', { accountId: 2 });
  const page = await pageOf('one');
  t.equal((await viewer.open(`/automations/${utr}`)).status, 200);
  t.notMatch((await viewer.open(`/automations/${utr}`)).text, `/automations/${utr}/edit`);
  for (const path of ['/automations/new', `/automations/${utr}/edit`, page, `/automations/${utr}/mails/new`])
    t.equal((await viewer.open(path)).status, 403, path);
  for (const path of [`/automations/${utr}/edit`, `/automations/${utr}/start`, `/automations/${utr}/delete`, page]) {
    t.equal((await viewer.send(path)).status, 403, path);
    t.equal((await stranger.send(path)).status, 404, path);
  }
  t.equal((await stranger.open(page)).status, 404);
  t.equal((await open(`/automations/${utr}/mails/${utr}/content`)).status, 404);
  t.strictSame(await seriesOf(), before);
});

t.test('a step is added before another one with forms, and a new segment for it is a click away', async (t) => {
  const { app, utr, open, send, mails, seriesOf } = await withPages(t);
  const [, two] = await mails();
  const place = `steps/new?before=${two?.utr}`;
  t.match((await open(`/automations/${utr}/edit`)).text, `href="/automations/${utr}/${place}"`);
  t.match((await open(`/automations/${utr}/${place}`)).text, `before=${two?.utr}`);
  const { text } = await open(`/automations/${utr}/${place}&kind=if`);
  t.match(text, /href="\/contacts\/segments\/new" target="_blank"/, 'in a tab of its own, so that the form stays');
  app.db.exec("UPDATE automation_schedules SET subject = '((first_name|Friend)), two' WHERE subject = 'two'");
  const wait = { waiting_type: 'instantly', waiting_period: '1' };
  t.equal((await send(`/automations/${utr}/steps/new`, { ...hiddenIn(text), ...wait, kind: 'exit' })).status, 303);
  const kinds = (await seriesOf()).steps.map(({ kind }: { kind: string }) => kind);
  t.strictSame(kinds, ['mail', 'exit', 'mail', 'mail']);
  const removal = textOf((await open(`/automations/${utr}/mails/${two?.utr}/remove`)).text);
  t.match(removal, /Friend, two/);
  t.notMatch(removal, /first_name/);
});

t.test('before a paused automation goes on, its page asks whether to resume it', async (t) => {
  const { app, utr, open, get, live, join } = await withPages(t);
  const page = async () => (await open(`/automations/${utr}`)).text.replaceAll(/[\u2066-\u2069]/g, '');
  t.match(await page(), 'Start “Welcome”?');
  await live();
  await join('ann');
  await app.background();
  await get('/automations/pause', { utr });
  t.match(await page(), 'Resume “Welcome”?');
});
