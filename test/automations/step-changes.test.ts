/** Changing the settings of a step in place, and which contacts on the way a change touches. */
import t, { type Test } from 'tap';
import { HOUR, mailsInBrief, withPaths } from '../support/automations.ts';
import { addPerson, callerOf, cookieOf, FROM_PAGE } from '../support/people.ts';

async function withSteps(t: Test) {
  const world = await withPaths(t);
  const { app, call, series } = world;
  const change = (utr: string, form: Record<string, unknown>) => call('/automations/step/update', { ...form, utr });
  const stepOf = async (utr: string) => (await series()).steps.find((one: { utr: string }) => one.utr === utr);
  const report = (name: string, who: string) =>
    app.one.call('POST', '/events', { json: { name, email: `${who}@example.org` } });
  return { ...world, change, stepOf, report };
}

t.test('parts of a step are changed in place, and its kind, place and other settings stay', async (t) => {
  const { app, change, step, stepOf, utrOf } = await withSteps(t);
  const before = await utrOf('two');
  const wait = await step({ kind: 'wait_until', until: 'event', event: 'cart', timeout_hours: 4, before });
  const { status, body } = await change(wait, { event_filter: 'value >= 10', timeout_hours: 8 });
  t.equal(status, 200);
  t.match(body.message, { updated_at: String, effects: { ahead: 0, behind: 0 } });
  t.match(await stepOf(wait), {
    ...{ kind: 'wait_until', until: 'event', event: 'cart', event_filter: 'value >= 10', timeout_hours: 8 },
    ...{ waiting_type: 'instantly', updated_at: body.message.updated_at },
  });
  await change(wait, { until: 'hour', hour: 9, waiting_type: 'days', waiting_period: 2 });
  t.match(await stepOf(wait), {
    ...{ until: 'hour', hour: 9, event: null, event_filter: null, timeout_hours: null },
    ...{ waiting_type: 'days', waiting_period: 2 },
  });
  const set = await step({ kind: 'set_field', field: 'city', value: 'Ulm' });
  await change(set, { value: '' });
  t.match(await stepOf(set), { field: 'city', value: '' });
  const errors = async (form: Record<string, unknown>) => (await change(set, form)).body.errors;
  t.match(await errors({ field: 'country', value: 'Nowhere' }), { value: [/invalid/] });
  t.match(await errors({ field: 'email' }), { field: [/invalid/] });
  t.match((await change(wait, { until: 'date' })).body.errors, { field: [/required/], timeout_hours: [/required/] });
  t.equal((await change(before, { waiting_period: 3 })).status, 404, 'a mail is no such step');
  const form = { utr: set, value: 'Bonn' };
  t.equal((await app.two.call('POST', '/automations/step/update', { form })).status, 404);
  const viewer = callerOf(app, addPerson(app, 'viewer', { accountId: 1 }));
  t.equal((await viewer.call('POST', '/automations/step/update', { form })).status, 403);
  t.equal((await change(set, { value: 'Bonn', unchanged_since: '2020-01-01T00:00:00.000Z' })).status, 409);
  t.equal((await stepOf(set)).value, '');
});

t.test('a wait with steps on its paths stays one with paths', async (t) => {
  const { change, step, stepOf } = await withSteps(t);
  const wait = await step({ kind: 'wait_until', until: 'event', event: 'cart', timeout_hours: 4 });
  const exit = await step({ kind: 'exit', parent: wait, branch: 'yes' });
  const refused = await change(wait, { until: 'hour', hour: 9 });
  t.match([refused.status, refused.text], [409, /on the paths of this step first/]);
  t.equal((await stepOf(wait)).until, 'event');
  t.equal((await stepOf(exit)).parent, wait);
});

t.test('who waits at a step goes on by its new settings, and who is past it does not come back', async (t) => {
  const { app, change, step, live, join, pass, report, utrOf, call } = await withSteps(t);
  const before = await utrOf('two');
  const wait = await step({ kind: 'wait_until', until: 'event', event: 'cart', timeout_hours: 48, before });
  await call('/automations/schedule/update', { utr: before, waiting_type: 'instantly', waiting_period: 1 });
  await live();
  for (const name of ['early', 'ann']) await join(name);
  await pass(2 * HOUR);
  await report('cart', 'early');
  await pass(HOUR);
  app.db.exec('DELETE FROM outbox');
  const tried = await change(wait, { event: 'purchase', dry_run: 1 });
  t.match(tried.body.message.effects, { ahead: 1, behind: 1 });
  t.equal((await change(wait, { event: 'purchase' })).status, 200);
  await report('cart', 'ann');
  await pass(HOUR);
  t.strictSame(mailsInBrief(app), [], 'the former event ends nothing');
  await report('purchase', 'ann');
  await report('purchase', 'early');
  await pass(HOUR);
  t.strictSame(mailsInBrief(app), ['01-15T14:00 ann two']);
});

t.test(
  'a shorter time runs out for who waits, and a longer wait before a step holds who has not come to it',
  async (t) => {
    const { app, change, step, live, join, pass, utrOf, call } = await withSteps(t);
    const before = await utrOf('two');
    const wait = await step({ kind: 'wait_until', until: 'event', event: 'cart', timeout_hours: 48, before });
    await call('/automations/schedule/update', { utr: before, waiting_type: 'instantly', waiting_period: 1 });
    await live();
    await join('ann');
    await pass(4 * HOUR);
    app.db.exec('DELETE FROM outbox');
    await change(wait, { timeout_hours: 3 });
    await app.background();
    t.strictSame(mailsInBrief(app), ['01-15T13:00 ann two']);
    await change(wait, { waiting_type: 'hours', waiting_period: 5, timeout_hours: 1 });
    await join('bob');
    await pass(7 * HOUR);
    t.strictSame(mailsInBrief(app).slice(1), ['01-15T14:00 bob one', '01-15T20:00 bob two']);
  },
);

t.test(
  'before a change it is said how many go on with it and how many it does not touch, by their paths',
  async (t) => {
    const { app, change, step, mail, live, join, pass, call, utrOf } = await withSteps(t);
    const three = await utrOf('three');
    const branch = await step({ kind: 'if', segment_id: 1, before: await utrOf('two') });
    const onYes = await mail('yes', { parent: branch, branch: 'yes', waiting_type: 'days', waiting_period: 1 });
    await mail('no', { parent: branch, branch: 'no', waiting_type: 'days', waiting_period: 1 });
    await live();
    // At the end only ann is on the path yes; bob and cleo are on the path no, and dan waits for what comes after the path no.
    await join('dan');
    await pass(25 * HOUR);
    for (const name of ['ann', 'bob', 'cleo']) await join(name);
    await pass(HOUR);
    const effects = async (path: string, form: Record<string, unknown>) => {
      const { ahead, behind } = (await call(path, { ...form, dry_run: 1 })).body.message.effects;
      return [ahead, behind];
    };
    t.strictSame(await effects('/automations/schedule/update', { utr: onYes, subject: 'Yes' }), [1, 3]);
    t.strictSame(await effects('/automations/schedule/remove', { utr: onYes }), [1, 3]);
    t.strictSame(await effects('/automations/step/update', { utr: branch, segment_id: 1 }), [0, 4]);
    t.strictSame(await effects('/automations/schedule/update', { utr: three, subject: 'Three' }), [4, 0]);
    const added = { kind: 'exit', waiting_type: 'instantly', waiting_period: 1 };
    t.strictSame(
      await effects('/automations/step/add', { ...added, parent: branch, branch: 'no' }),
      [3, 1],
      'dan took the path no, and still waits at its end',
    );
    t.strictSame(await effects('/automations/step/add', added), [4, 0]);
    t.strictSame(await effects('/automations/update', { trigger_kind: 'hand' }), [0, 4]);
    t.strictSame(await effects('/automations/update', { exit_criteria: 1 }), [4, 0]);
    t.equal((await change(branch, { segment_id: 1, only_draft: 1 })).status, 409, 'of a draft alone');
    t.match(
      (await call('/automations/update', { hold_out: 1, only_draft: 1 })).text,
      /The automation is live: pause it first\./,
    );
    await app.one.call('GET', '/automations/pause', {
      query: { utr: (await call('/automations/series', {})).body?.utr },
    });
  },
);

t.test('the page of a step shows its settings, saves them, and asks first when contacts are on the way', async (t) => {
  const { app, utr, step, live, join, utrOf, stepOf } = await withSteps(t);
  const two = await utrOf('two');
  const wait = await step({ kind: 'wait_until', until: 'event', event: 'cart', timeout_hours: 4, before: two });
  const as = (role: 'editor' | 'viewer') => cookieOf(app, addPerson(app, role, { accountId: 1, name: role }));
  const [editor, viewer] = [as('editor'), as('viewer')];
  const address = `/automations/${utr}/steps/${wait}`;
  const open = (path: string, cookie = editor) => app.page('GET', path, { headers: { ...FROM_PAGE, cookie } });
  const send = async (fields: Record<string, string>, cookie = editor) => {
    const { statusCode, body } = await app.fastify.inject({
      method: 'POST',
      url: address,
      headers: { ...FROM_PAGE, cookie, 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({
        ...{ until: 'event', event: 'cart', event_filter: '', timeout_hours: '4', hour: '0', weekday: '1' },
        ...{ waiting_type: 'instantly', waiting_period: '1', ...fields },
      }).toString(),
    });
    return { status: statusCode, text: body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ') };
  };
  t.match((await open(`/automations/${utr}/edit`)).text, `href="${address}"`);
  t.match((await open(`/automations/${utr}`)).text, `href="${address}"`);
  t.notMatch((await open(`/automations/${utr}`, viewer)).text, `href="${address}"`);
  t.match((await open(address)).text, /name="event"[^>]*value="cart"|value="cart"[^>]*name="event"/);
  t.equal((await open(address, viewer)).status, 403);
  t.equal((await open(`/automations/${utr}/steps/${two}`)).status, 404, 'a mail has pages of its own');
  t.equal((await send({ event: 'purchase' })).status, 303);
  t.equal((await stepOf(wait)).event, 'purchase');
  const refused = await send({ event: '' });
  t.equal(refused.status, 422);
  t.equal((await stepOf(wait)).event, 'purchase');
  t.equal((await send({ event: 'other' }, viewer)).status, 403);
  await live();
  await join('ann');
  await app.background();
  const asked = await send({ event: 'order' });
  t.match(
    asked.text,
    /1 contact is active in the automation\. 1 of them has not reached this point yet\. The change applies to this contact\./,
  );
  t.equal((await stepOf(wait)).event, 'purchase', 'asking changes nothing');
  t.equal((await send({ event: 'order', sure: '1' })).status, 303);
  t.equal((await stepOf(wait)).event, 'order');
});

t.test('a step whose field, segment or list was deleted keeps it when something else is changed', async (t) => {
  const { app, utr, post, change, step, stepOf } = await withSteps(t);
  await post('/custom-fields/save', { field_name: 'renewal', field_type: 'datetime-local' });
  await post('/contacts-type/add', { name: 'Others' });
  const steps = {
    date: await step({ kind: 'wait_until', until: 'date', field: 'renewal', timeout_hours: 4 }),
    field: await step({ kind: 'set_field', field: 'renewal', value: '2026-01-01' }),
    branch: await step({ kind: 'if', segment_id: 1 }),
    list: await step({ kind: 'move', contact_type_id: 2 }),
  };
  const stored = () =>
    app.db.prepare('SELECT segment_id, contact_type_id, field_id, value, until FROM automation_schedules').all();
  const before = stored();
  app.db.exec('DELETE FROM custom_fields');
  app.db.exec(
    "UPDATE segments SET deleted_at = '2026-01-01'; UPDATE contact_types SET deleted_at = '2026-01-01' WHERE id = 2",
  );
  const later = { waiting_type: 'days', waiting_period: 3 };
  for (const one of Object.values(steps)) {
    const { status, text } = await change(one, later);
    t.equal(status, 200, text);
    t.match(await stepOf(one), later);
  }
  t.equal((await change(steps.date, { timeout_hours: 8 })).status, 200);
  t.strictSame(stored(), before);
  t.match((await change(steps.field, { value: '2027-01-01' })).body.errors, { field: [/required/] });
  t.match((await change(steps.date, { field: 'renewal' })).body.errors, { field: [/invalid/] });
  t.match((await change(steps.branch, { segment_id: 99 })).body.errors, { segment_id: [/invalid/] });
  t.match((await change(steps.list, { contact_type_id: 99 })).body.errors, { contact_type_id: [/invalid/] });
  const cookie = cookieOf(app, addPerson(app, 'editor', { accountId: 1 }));
  const page = await app.page('GET', `/automations/${utr}/steps/${steps.branch}`, {
    headers: { ...FROM_PAGE, cookie },
  });
  t.match(page.text, /<option value="1" selected[^>]*>Deleted</, 'the form keeps it, too');
});

t.test('before the time of a wait is changed it is said who goes on at once and who later', async (t) => {
  const { app, utr, change, step, live, join, pass, report, utrOf, get } = await withSteps(t);
  const before = await utrOf('two');
  const wait = await step({ kind: 'wait_until', until: 'event', event: 'cart', timeout_hours: 48, before });
  await live();
  await join('early');
  await pass(4 * HOUR);
  for (const name of ['late', 'came']) await join(name);
  await pass(HOUR);
  const effect = async (form: Record<string, unknown>) => {
    const { people } = (await change(wait, { ...form, dry_run: 1 })).body.message.effects;
    return people.find(({ to }: { to: string }) => to === wait);
  };
  // It is 14:00. early came to the step at 10:00, the others just now.
  t.match(await effect({ timeout_hours: 48 }), { people: 3, moved: 0, due_now: 0 });
  t.match(await effect({ timeout_hours: 4 }), {
    ...{ people: 3, moved: 3, due_now: 1 },
    ...{ first_due_at: /^2026-01-15T14:00/, last_due_at: /^2026-01-15T18:00/ },
  });
  t.match(await effect({ timeout_hours: 72 }), { moved: 3, due_now: 0, first_due_at: /^2026-01-18T10:00/ });
  t.match(await effect({ until: 'hour', hour: 18 }), { moved: 3, due_now: 3 }, 'in Kabul it is 18:30');
  t.match(await effect({ until: 'hour', hour: 9 }), { moved: 3, due_now: 0, last_due_at: /^2026-01-16T04:30/ });
  await get('/automations/pause', { utr });
  app.clock.advance(1000);
  await report('cart', 'came');
  await app.background();
  t.match(await effect({ timeout_hours: 24 }), { people: 3, moved: 2, due_now: 1 }, 'who the event came for goes on');
  const cookie = cookieOf(app, addPerson(app, 'editor', { accountId: 1 }));
  const { body } = await app.fastify.inject({
    method: 'POST',
    url: `/automations/${utr}/steps/${wait}`,
    headers: { ...FROM_PAGE, cookie, 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({
      ...{ until: 'event', event: 'cart', event_filter: '', timeout_hours: '4', hour: '', weekday: '' },
      ...{ waiting_type: 'instantly', waiting_period: '1' },
    }).toString(),
  });
  const text = (/<ul class="stack">.*?<\/ul>/s.exec(body)?.[0] ?? body.slice(-3000)).replaceAll(
    /<[^>]+>|[\u2066-\u2069]/g,
    '',
  );
  t.match(
    text,
    /3 contacts are at or before the step “Wait for the event “cart”, 48 hours at most”\. 2 of them continue at once\. 1 of them continues later, on /,
  );
  t.notMatch(text, 'They get the e-mail');
});

t.test('the page of a wait for an hour refuses none, and keeps what was given', async (t) => {
  const { app, utr, step, stepOf } = await withSteps(t);
  const wait = await step({ kind: 'wait_until', until: 'hour', hour: 9 });
  const cookie = cookieOf(app, addPerson(app, 'editor', { accountId: 1 }));
  const send = (hour: string) =>
    app.fastify.inject({
      method: 'POST',
      url: `/automations/${utr}/steps/${wait}`,
      headers: { ...FROM_PAGE, cookie, 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({
        ...{ until: 'hour', hour, weekday: '1', event: '', event_filter: '', timeout_hours: '72' },
        ...{ waiting_type: 'hours', waiting_period: '3' },
      }).toString(),
    });
  const refused = await send('');
  t.equal(refused.statusCode, 422);
  t.match(refused.body, /name="hour"[^>]*aria-invalid="true"|aria-invalid="true"[^>]*name="hour"/);
  t.match(refused.body, /name="waiting_period"[^>]*value="3"|value="3"[^>]*name="waiting_period"/);
  t.match(await stepOf(wait), { hour: 9, waiting_type: 'instantly' });
  t.equal((await send('0')).statusCode, 303);
  t.match(await stepOf(wait), { hour: 0, waiting_type: 'hours' });
});

t.test('a step with others on its paths is not removed, and its page says what to remove first', async (t) => {
  const { app, utr, step, outline } = await withSteps(t);
  const branch = await step({ kind: 'if', segment_id: 1 });
  await step({ kind: 'exit', parent: branch, branch: 'yes' });
  const cookie = cookieOf(app, addPerson(app, 'editor', { accountId: 1 }));
  const before = await outline();
  for (const method of ['GET', 'POST'] as const) {
    const url = `/automations/${utr}/steps/${branch}/remove`;
    const { statusCode, body } = await app.fastify.inject({ method, url, headers: { ...FROM_PAGE, cookie } });
    t.equal(statusCode, 409);
    t.match(body, 'Remove the e-mails and steps on the paths of this step first.');
    t.match(body, `href="/automations/${utr}/edit"`);
  }
  t.strictSame(await outline(), before);
});
