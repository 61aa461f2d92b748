/** The operation that replays an automation, from the API: the thread, what it answers and to whom. */
import t from 'tap';
import { DAY, HOUR, withPaths } from '../../support/automations.ts';
import { addPerson, cookieOf } from '../../support/people.ts';

/** The welcome series, and a day in which ann and bo joined the list, while it is a draft. */
async function withHistory(t: Parameters<typeof withPaths>[0]) {
  const world = await withPaths(t);
  const { app, utr, join, pass } = world;
  app.clock.advance(60_000);
  for (const name of ['ann', 'bo', 'cy']) await join(name);
  await pass(HOUR);
  await world.post('/unsubscribes-groups/manually-add', { unsubscribe_groups_id: 1, email_address: 'bo@example.org' });
  await pass(3 * DAY);
  const ask = (query: Record<string, unknown> = {}) =>
    app.one.call('GET', '/automations/replay', { query: { utr, ...query } });
  const result = async (query: Record<string, unknown> = {}) => {
    const { status, body, text } = await ask(query);
    t.equal(status, 200, text);
    t.equal(body.message.replay.state, 'done');
    return body.message.replay.result;
  };
  return { ...world, ask, result };
}

t.test(
  'a draft is replayed over the days before: who enters, mails by day, exits with their reason, and paths',
  async (t) => {
    const { result, app } = await withHistory(t);
    const { entered, mails, days, by_mail, exits, paths, limits, next_after_id } = await result();
    t.strictSame([entered, mails], [3, 7]);
    t.strictSame(
      days,
      [
        { day: '2026-01-15', entered: 3, mails: 3 },
        { day: '2026-01-17', entered: 0, mails: 4 },
      ].map((day) => day),
    );
    t.strictSame(
      by_mail.map(({ subject, sent }: { subject: string; sent: number }) => `${subject} ${sent}`),
      ['one 3', 'two 2', 'three 2'],
    );
    t.match(exits, [{ reason_code: 'unsubscribed_group', count: 1 }]);
    t.strictSame(limits, ['fields', 'delivery', 'removed']);
    t.equal(next_after_id, null);
    t.strictSame(
      paths[1].lines.map(({ code, subject, reason_code }: Record<string, string | null>) => [
        code,
        subject,
        reason_code,
      ]),
      [
        ['entered', null, null],
        ['mail', 'one', null],
        ['left', null, 'unsubscribed_group'],
      ],
    );
    t.equal(app.db.prepare('SELECT count(*) FROM enrolments').pluck().get(), 0);
  },
);

t.test('one contact is found by the address, and pages of paths follow one another', async (t) => {
  const { result } = await withHistory(t);
  const { paths } = await result({ email: 'ANN@example.org' });
  t.strictSame(
    paths.map(({ email }: { email: string }) => email),
    ['ann@example.org'],
  );
  t.strictSame((await result({ email: 'nobody@example.org' })).paths, []);
  const first = await result({ limit: 2 });
  t.equal(first.paths.length, 2);
  const second = await result({ limit: 2, after_id: first.next_after_id });
  t.equal(second.paths.length, 1);
  t.equal(second.next_after_id, null);
});

t.test('who had met the goal before does not enter, and is counted with that reason', async (t) => {
  const { result, call, utr } = await withHistory(t);
  await call('/automations/update', { utr, goal_segment_id: 1 });
  const { entered, not_entered } = await result();
  t.equal(entered, 2);
  t.match(not_entered, [{ reason_code: 'goal_reached', count: 1 }]);
});

t.test('a changed automation is replayed anew', async (t) => {
  const { result, call, utr } = await withHistory(t);
  t.equal((await result()).mails, 7);
  await call('/automations/step/add', {
    kind: 'exit',
    waiting_type: 'instantly',
    waiting_period: 1,
    before: (await result()).by_mail[1].utr,
    utr,
  });
  t.equal((await result()).mails, 3);
});

t.test('mails that are assumed to be opened decide on the path at a condition, by the share given', async (t) => {
  const { app, post, step, utrOf, mail, ask, join, pass } = await withHistory(t);
  app.db.exec("UPDATE accounts SET tracking = 'person'");
  await post('/segment/store', {
    segment_name: 'Openers',
    contact_type_id: 1,
    select_field: ['activity.last'],
    select_operator: ['is not blank'],
    value: [],
  });
  const isOpener = await step({
    kind: 'if',
    segment_id: 2,
    before: await utrOf('two'),
    waiting_type: 'days',
    waiting_period: 1,
  });
  await mail('thanks', { parent: isOpener, branch: 'yes' });
  for (let person = 0; person < 40; person++) await join(`p${person}`);
  await pass(2 * DAY);
  const thanks = async (opens: number) => {
    const { body } = await ask({ opens, clicks: 0 });
    t.equal(body.message.replay.needs_opens, 1);
    const { by_mail, limits, new_segments: names } = body.message.replay.result;
    t.ok(limits.includes('opens') && limits.includes('segments'));
    t.match(names, [{ segment_name: 'Openers', created_at: /^2026-01-/ }]);
    return by_mail.find(({ subject }: { subject: string }) => subject === 'thanks').sent;
  };
  t.equal(await thanks(0), 0);
  t.equal(await thanks(100), 42, 'all but who unsubscribed');
  const half = await thanks(50);
  t.ok(half > 10 && half < 32, `${half}`);
});

t.test(
  'an automation of another account, one without a target, and values outside their bounds are refused',
  async (t) => {
    const { app, utr, ask } = await withHistory(t);
    t.equal((await app.two.call('GET', '/automations/replay', { query: { utr } })).status, 404);
    t.equal((await app.anonymous.call('GET', '/automations/replay', { query: { utr } })).status, 401);
    for (const wrong of [{ days: 0 }, { days: 91 }, { opens: 101 }, { clicks: -1 }, { limit: 51 }, { wait: 21 }])
      t.equal((await ask(wrong)).status, 422, JSON.stringify(wrong));
    app.db.exec('UPDATE automations SET automation_for = 0');
    t.equal((await ask()).status, 409);
  },
);

t.test('an automation without steps lets contacts enter and complete it', async (t) => {
  const { app, result } = await withHistory(t);
  app.db.exec('DELETE FROM automation_schedules');
  const { entered, finished, mails } = await result();
  t.strictSame([entered, finished, mails], [3, 3, 0]);
});

t.test(
  'a viewer sees the replay on its page, with what is not known, the share to assume, and the path of a contact',
  async (t) => {
    const { app, utr } = await withHistory(t);
    const headers = { cookie: cookieOf(app, addPerson(app, 'viewer', { accountId: 1, name: 'Vera' })) };
    const open = async (query: Record<string, string> = {}) => {
      const { status, text } = await app.page('GET', `/automations/${utr}/replay`, { query, headers });
      t.equal(status, 200);
      return text;
    };
    app.db.exec("UPDATE automation_schedules SET subject = '((first_name|Friend)), one' WHERE subject = 'one'");
    const before = await open();
    t.match(before, /name="opens"[^>]*value="30"|value="30"[^>]*name="opens"/);
    t.notMatch(before, /What would have happened/, 'nothing runs before it is asked for');
    let page = await open({ run: '1', opens: '40', clicks: '2', email: 'bo@example.org' });
    // The page comes again by itself while the replay runs.
    for (let more = 0; more < 20 && page.includes('The trial run ends if you leave'); more++)
      page = await open({ run: '1', opens: '40', clicks: '2', email: 'bo@example.org' });
    for (const text of [
      'What would have happened',
      'What is not known',
      'E-mails sent',
      'bo@example.org',
      'E-mail: Friend, one',
      'unsubscribed',
    ])
      t.ok(page.includes(text), text);
    t.notOk(page.includes('cy@example.org'));
    t.notMatch(page, 'first_name|', 'subjects are shown without the codes of merge tags');
    t.match(await open({ run: '1', opens: '101' }), /opens-problem/);
  },
);
