/** Steps of automations that decide: who takes which path, and what a change does to those on the way. */
import t from 'tap';
import { DAY, HOUR, mailsOf, withPaths } from '../support/automations.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

type Given = Record<string, unknown>;

t.test('contacts take the path of their answer when they come to a condition, and both go on below it', async (t) => {
  const { app, step, mail, utrOf, of, outline, live, join, pass, post } = await withPaths(t);
  const condition = await step({ kind: 'if', segment_id: 1, before: await utrOf('two') });
  await mail('for anns', { parent: condition, branch: 'yes' });
  await mail('for others', { parent: condition, branch: 'no', waiting_type: 'days', waiting_period: 1 });
  await mail('more for anns', { parent: condition, branch: 'yes' });
  t.strictSame(await outline(), ['one', 'if', 'yes for anns', 'yes more for anns', 'no for others', 'two', 'three']);
  await live();
  await join('ann');
  await join('bo');
  await pass(HOUR);
  t.strictSame(of('ann'), ['one', 'for anns', 'more for anns']);
  t.strictSame(of('bo'), ['one']);
  await post('/contacts/update', {
    contact_id: 2,
    contact_type_id: 1,
    email: 'bo@example.org',
    first_name: 'ann',
    country: 1,
  });
  await pass(5 * DAY);
  t.strictSame(of('ann'), ['one', 'for anns', 'more for anns', 'two', 'three']);
  t.strictSame(of('bo'), ['one', 'for others', 'two', 'three'], 'the answer counts that was given at the step');
  t.strictSame(app.db.prepare('SELECT state, count(*) FROM enrolments GROUP BY 1').raw().all(), [['finished', 2]]);
});

t.test(
  'a condition within a path is asked of those on that path only, and exit ends the run with its reason',
  async (t) => {
    const { app, utr, get, step, mail, utrOf, of, live, join, pass } = await withPaths(t);
    const outer = await step({ kind: 'if', segment_id: 1, before: await utrOf('two') });
    const inner = await step({ kind: 'if', segment_id: 1, parent: outer, branch: 'yes' });
    await mail('twice yes', { parent: inner, branch: 'yes' });
    await mail('never', { parent: inner, branch: 'no' });
    await step({ kind: 'exit', parent: outer, branch: 'no' });
    await live();
    await join('ann');
    await join('bo');
    await pass(4 * DAY);
    t.strictSame(of('ann'), ['one', 'twice yes', 'two', 'three']);
    t.strictSame(of('bo'), ['one']);
    t.equal(app.db.prepare('SELECT count(*) FROM steps WHERE schedule_id = 5').pluck().get(), 1);
    const { log } = (await get('/automations/log', { utr, email: 'bo@example.org' })).body.message;
    t.match(
      log.map(({ code, kind }: Given) => [code, kind]),
      [
        ['left', null],
        ['exit', 'exit'],
        ['no', 'if'],
        ['mail', 'mail'],
        ['entered', null],
      ],
    );
    t.equal(log[0].reason_code, 'exit_step');
  },
);

t.test('a split sends its share at random, and the same contact the same way', async (t) => {
  const { app, step, mail, utrOf, live, pass } = await withPaths(t);
  const split = await step({ kind: 'split', share: 30, before: await utrOf('two') });
  await mail('yes', { parent: split, branch: 'yes' });
  await live();
  const content = `email,first_name\n${Array.from({ length: 400 }, (_, at) => `p${at}@example.org,p`).join('\n')}`;
  const file = { filename: 'people.csv', content };
  await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', file],
    ],
  });
  await pass(HOUR);
  const count = (outcome: string) =>
    Number(app.db.prepare('SELECT count(*) FROM steps WHERE outcome = ?').pluck().get(outcome));
  t.equal(count('yes') + count('no'), 400);
  t.ok(count('yes') > 85 && count('yes') < 155, `${count('yes')} of 400`);
  t.equal(mailsOf(app).filter(({ subject }) => subject === 'yes').length, count('yes'));
});

t.test('killed at any step, each contact takes each step once and gets each mail of its path once', async (t) => {
  for (const steps of [0, 1, 2, 3, 4, 5]) {
    const { app, step, mail, utrOf, of, live, join, pass } = await withPaths(t);
    const condition = await step({ kind: 'if', segment_id: 1, before: await utrOf('two') });
    await mail('for anns', { parent: condition, branch: 'yes' });
    await step({ kind: 'exit', parent: condition, branch: 'no' });
    await live();
    await join('ann');
    await join('bo');
    for (let at = 0; at < steps; at++) await app.step();
    app.restartBackground();
    await pass(4 * DAY);
    t.strictSame([...new Set(of('ann'))], ['one', 'for anns', 'two', 'three'], `killed after ${steps} steps`);
    t.strictSame([...new Set(of('bo'))], ['one']);
    const lines = app.db.prepare('SELECT count(*) FROM enrolment_log WHERE step_id IS NOT NULL').pluck().get();
    t.equal(lines, 8);
    t.equal(app.db.prepare('SELECT count(*) FROM steps').pluck().get(), 8);
  }
});

t.test('who is on the way stays on the path they took when steps are added, moved and removed', async (t) => {
  const { app, step, mail, call, utrOf, of, series, live, join, pass } = await withPaths(t);
  const condition = await step({ kind: 'if', segment_id: 1, before: await utrOf('two') });
  await mail('anns first', { parent: condition, branch: 'yes', waiting_type: 'days', waiting_period: 1 });
  await mail('others first', { parent: condition, branch: 'no', waiting_type: 'days', waiting_period: 1 });
  await live();
  await join('ann');
  await join('bo');
  await pass(HOUR);
  const tried = await call('/automations/schedule/add', {
    sender_id: 1,
    template_id: 1,
    subject: 'others second',
    template_html: '<p>Hello</p>',
    waiting_type: 'instantly',
    waiting_period: 1,
    before: await utrOf('others first'),
    dry_run: 1,
  });
  const moved = tried.body.message.effects.people;
  t.strictSame(
    moved.map((one: Given) => [one.people, one.moved]),
    [
      [1, 0],
      [1, 1],
    ],
  );
  await mail('others second', { before: await utrOf('others first') });
  t.equal((await call('/automations/step/remove', { utr: condition })).status, 409);
  const order = (await series()).steps.map((one: { utr: string }) => one.utr);
  const wrong = [order[1], order[0], ...order.slice(2)];
  t.equal((await call('/automations/schedule/reorder', { mails: [...wrong].reverse() })).status, 422);
  t.equal((await call('/automations/schedule/reorder', { mails: wrong.toSpliced(1, 1).concat(order[0]) })).status, 200);
  await pass(5 * DAY);
  t.strictSame(of('ann'), ['one', 'anns first', 'two', 'three']);
  t.strictSame(of('bo'), ['one', 'others second', 'others first', 'two', 'three']);
  t.equal(app.db.prepare("SELECT count(*) FROM enrolments WHERE state = 'finished'").pluck().get(), 2);
});

t.test('a step that was moved behind another one is not taken again by those who took it before', async (t) => {
  const { app, step, call, utrOf, of, series, live, join, pass } = await withPaths(t);
  const changed = await step({ kind: 'set_field', field: 'city', value: 'Ulm', before: await utrOf('two') });
  await live();
  await join('ann');
  await pass(HOUR);
  const split = await step({ kind: 'split', share: 50, before: await utrOf('two') });
  const order: string[] = (await series()).steps.map(({ utr }: { utr: string }) => utr);
  const moved = order.filter((utr) => utr !== changed).toSpliced(2, 0, changed);
  t.strictSame(moved.slice(1, 3), [split, changed]);
  t.equal((await call('/automations/schedule/reorder', { mails: moved })).status, 200);
  await join('bo');
  await pass(4 * DAY);
  const taken = (name: string) =>
    app.db
      .prepare(`SELECT s.kind FROM steps JOIN automation_schedules s ON s.id = schedule_id JOIN enrolments e ON e.id = enrolment_id
        JOIN contacts c ON c.id = e.contact_id WHERE c.first_name = ? ORDER BY steps.rowid`)
      .pluck()
      .all(name);
  t.strictSame(taken('ann'), ['mail', 'set_field', 'split', 'mail', 'mail']);
  t.strictSame(taken('bo'), ['mail', 'split', 'set_field', 'mail', 'mail']);
  for (const name of ['ann', 'bo']) t.strictSame(of(name), ['one', 'two', 'three']);
});

t.test('the contract’s endpoints know only the mails, in reading order, and a copy has the same paths', async (t) => {
  const { app, utr, get, step, mail, utrOf, outline, addMail, live } = await withPaths(t);
  const condition = await step({ kind: 'if', segment_id: 1, before: await utrOf('two') });
  await mail('for anns', { parent: condition, branch: 'yes' });
  await addMail('four', 'days', 1);
  const subjects = async (of: string) =>
    (await get('/automations/schedule', { utr: of })).body.message.automation_schedules.map(
      ({ subject }: { subject: string }) => subject,
    );
  t.strictSame((await subjects(utr)).toSorted(), ['for anns', 'four', 'one', 'three', 'two']);
  t.strictSame(await outline(), ['one', 'if', 'yes for anns', 'two', 'three', 'four']);
  t.equal((await app.one.call('DELETE', '/automations/schedule/delete', { query: { utr: condition } })).status, 404);
  t.equal((await app.two.call('POST', '/automations/step/remove', { form: { utr: condition } })).status, 404);
  await live();
  const copy = (await get('/automations/duplicate', { utr })).body.message.utr;
  const copied = (await get('/automations/series', { utr: copy })).body.message.series.steps;
  t.strictSame(
    copied.map(({ kind }: Given) => kind),
    ['mail', 'if', 'mail', 'mail', 'mail', 'mail'],
  );
  t.equal(copied[2].parent, copied[1].utr);
  t.not(copied[1].utr, condition);
});

t.test('a step without what it needs, of another account or at a place that is none is refused', async (t) => {
  const { app, utr, call, step, utrOf } = await withPaths(t);
  const wait = { waiting_type: 'instantly', waiting_period: 1 };
  const condition = await step({ kind: 'if', segment_id: 1 });
  for (const wrong of [
    { kind: 'if' },
    { kind: 'if', segment_id: 99 },
    { kind: 'split' },
    { kind: 'split', share: 100 },
    { kind: 'mail' },
    { kind: 'exit', parent: condition },
    { kind: 'exit', parent: condition, branch: 'maybe' },
    { kind: 'exit', parent: await utrOf('one'), branch: 'yes' },
    { kind: 'exit', before: 'unknown' },
  ])
    t.equal((await call('/automations/step/add', { ...wait, ...wrong })).status, 422, JSON.stringify(wrong));
  const form = { utr, kind: 'exit', ...wait };
  t.equal((await app.two.call('POST', '/automations/step/add', { form })).status, 404);
});

t.test('steps are added, seen on their paths, moved and removed on the pages, in both languages', async (t) => {
  const { app, utr, step, mail, utrOf, outline, series } = await withPaths(t);
  const owner = addPerson(app, 'owner', { accountId: 1, name: 'owner' });
  const headers = (language: string) => ({ ...FROM_PAGE, cookie: cookieOf(app, owner), 'accept-language': language });
  const page = async (path: string, language = 'en') =>
    (await app.page('GET', path, { headers: headers(language) })).text.replaceAll(/[\u2066-\u2069]/g, '');
  const send = (path: string, form: Record<string, string>) =>
    app.fastify.inject({
      method: 'POST',
      url: path,
      headers: { ...headers('en'), 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(form).toString(),
    });
  const two = await utrOf('two');
  t.match(await page(`/automations/${utr}/steps/new?kind=if&before=${two}`), 'Anns');
  const wait = { waiting_type: 'instantly', waiting_period: '1' };
  const none = { parent: '', branch: '', share: '50' };
  t.equal(
    (await send(`/automations/${utr}/steps/new`, { ...wait, ...none, kind: 'if', segment_id: '', before: two }))
      .statusCode,
    422,
  );
  t.equal(
    (await send(`/automations/${utr}/steps/new`, { ...wait, ...none, kind: 'if', segment_id: '1', before: two }))
      .statusCode,
    303,
  );
  const condition = (await series()).steps[1].utr;
  await mail('for anns', { parent: condition, branch: 'yes' });
  const split = await step({ kind: 'split', share: 40, parent: condition, branch: 'no' });
  for (const path of [`/automations/${utr}`, `/automations/${utr}/edit`]) {
    t.match(await page(path), 'In the segment “Anns”?');
    t.match(await page(path, 'de'), 'Im Segment „Anns“?');
  }
  t.match(await page(`/automations/${utr}/edit`), `mails/new?parent=${condition}&amp;branch=yes`);
  await send(`/automations/${utr}/order`, { mail: condition, where: 'up' });
  t.strictSame(await outline(), ['if', 'yes for anns', 'no split', 'one', 'two', 'three']);
  const question = await page(`/automations/${utr}/steps/${split}/remove`);
  t.match(question, 'Split at random: 40 of 100 contacts take the first path');
  t.equal((await send(`/automations/${utr}/steps/${split}/remove`, { sure: '1' })).statusCode, 303);
  t.strictSame(await outline(), ['if', 'yes for anns', 'one', 'two', 'three']);
});
