/** The preference page. */
import t from 'tap';
import { countersOf, GROUPS, groupsLeft, sentCampaign, stateOf } from '../support/recipient-links.ts';

/** The form of the page as a browser sends it. */
const choices = (...on: string[]): [string, string][] => [
  ['form', 'groups'],
  ['shown', '1'],
  ['shown', '2'],
  ...on.map((id): [string, string] => ['on', id]),
];

t.test('the preference page shows displayed groups and the mail’s own, escaped, under a strict policy', async (t) => {
  const { app, u } = await sentCampaign(
    t,
    {},
    {
      groups: [...GROUPS, { name: '<b>"Loud" & clear</b>', isDisplay: 1, description: '<script>alert(1)</script>' }],
    },
  );
  const { text, headers, status } = await app.page('GET', u);
  t.equal(status, 200);
  for (const part of ['News', 'Offers', 'anna@example.org', 'Lark Books', '<html lang="en">']) t.match(text, part);
  t.notMatch(text, 'Internal');
  t.notMatch(text, /<script|<b>"Loud/);
  t.match(text, '&lt;b>&quot;Loud&quot;');
  t.notMatch(text, / (?:src|href)="(?!data:)/, 'nothing is fetched from anywhere');
  t.match(headers, {
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  const policy = String(headers['content-security-policy']);
  t.match(policy, "default-src 'none'");
  t.notMatch(policy, /unsafe|\*|http/);
  t.notOk(headers['set-cookie']);
});

t.test('choices are saved, logged and taken back; what was not on the page stays', async (t) => {
  const { app, u } = await sentCampaign(t);
  const save = (form: Record<string, unknown> | [string, string][]) => app.page('POST', u, { form });
  t.match((await save(choices('2'))).text, 'saved');
  t.strictSame(groupsLeft(app), [1]);
  await app.one.call('POST', '/unsubscribes-groups/save', {
    form: { group_name: 'New', description: 'New', is_display: 1 },
  });
  t.match((await save(choices('1', '2'))).text, /New<\/span>/, 'a description that repeats the name is left out');
  t.strictSame(groupsLeft(app), [], 'a group added meanwhile is nobody’s choice');
  await save(choices());
  t.strictSame(groupsLeft(app), [1, 2]);
  await save({ form: 'groups', shown: '3' });
  t.strictSame(groupsLeft(app), [1, 2], 'a group that is not theirs to see cannot be left');
  t.match((await save({ form: 'none' })).text, 'Get mail again');
  t.strictSame(groupsLeft(app), [null, 1, 2]);
  t.match((await save({ form: 'back' })).text, 'Save my choices');
  t.strictSame(groupsLeft(app), [1, 2]);
  const log = app.db
    .prepare('SELECT unsubscribe_groups_id AS list, action, source, mailing_id FROM consent_log ORDER BY id')
    .all() as { list: number | null; action: string; source: string; mailing_id: number | null }[];
  t.strictSame(
    log.map(({ list, action }) => `${list} ${action}`),
    ['1 unsubscribed', '1 resubscribed', '1 unsubscribed', '2 unsubscribed', 'null unsubscribed', 'null resubscribed'],
  );
  t.ok(log.every(({ source }) => source === 'page'));
  t.ok(log.filter(({ action }) => action === 'unsubscribed').every(({ mailing_id }) => mailing_id !== null));
  t.equal(countersOf(app).unsubscribes, 1);
});

t.test('whoever subscribes again and again can then only unsubscribe for an hour', async (t) => {
  const { app, u } = await sentCampaign(t);
  const save = (form: Record<string, unknown> | [string, string][]) => app.page('POST', u, { form });
  const changes = () => app.db.prepare('SELECT count(*) FROM consent_log').pluck().get();
  for (let times = 0; times < 15; times++) {
    t.match(await save(choices()), { status: 200 });
    t.match(await save(choices('1', '2')), { status: 200 });
  }
  t.equal(changes(), 60);
  const refused = await save(choices('1'));
  t.match(refused, { status: 429, text: 'choices very often', headers: { 'retry-after': '3600' } });
  t.strictSame(groupsLeft(app), [2], 'what was unchecked is left');
  t.match(await save(choices('1', '2')), { status: 429, text: 'choices very often' });
  t.strictSame(groupsLeft(app), [2]);
  t.match(await save({}), { status: 200, text: 'You are unsubscribed' });
  t.match(await save({ form: 'none' }), { status: 200, text: 'You will get no more mail' });
  t.match(await save({ form: 'back' }), { status: 429 });
  t.strictSame(groupsLeft(app), [null, 1, 2]);
  t.equal(changes(), 63);
  t.match(await save({ form: 'untrack' }), { status: 200, text: 'no longer recorded' });
  t.match(await save({ form: 'track' }), { status: 429 });
  t.equal(changes(), 64);
  app.clock.advance(3_600_000);
  t.match(await save({ form: 'back' }), { status: 200, text: 'Welcome back' });
  t.strictSame(groupsLeft(app), [1, 2]);
});

t.test('a form of the page in whatever shape is a choice or a mistake, never a failure of ours', async (t) => {
  const { app, u } = await sentCampaign(t);
  const save = async (form: [string, string][]) => (await app.page('POST', u, { form })).status;
  const shown: [string, string][] = [
    ['form', 'groups'],
    ['shown[0]', '1'],
    ['shown[1]', '2'],
  ];
  t.equal(await save([...shown, ['on[0]', '1']]), 200);
  t.strictSame(groupsLeft(app), [2], 'indices are a list');
  t.equal(await save([...shown, ['on[]', '1'], ['on[]', '2']]), 200);
  t.strictSame(groupsLeft(app), []);
  const before = stateOf(app);
  const keys = ['on[x]', 'on[1]', 'on[0][0]', 'on[__proto__]', 'on[constructor]', 'form[x]', 'form[0]', '__proto__[x]'];
  for (const key of keys) t.equal(await save([...shown.slice(0, 1), [key, '1']]), 422, key);
  for (const form of ['', 'all', 'Groups', '[object Object]']) t.equal(await save([['form', form]]), 422, form);
  t.equal(
    await save([
      ['form', 'none'],
      ['form', 'none'],
    ]),
    422,
    'a form sent twice',
  );
  t.equal(stateOf(app), before, 'a mistake changes nothing');
  const numbers = ['', 'x', '-1', '1e999', '9'.repeat(400), 'NaN'];
  for (const id of numbers)
    t.equal(
      await save([
        ['form', 'groups'],
        ['shown', id],
        ['on', id],
      ]),
      200,
      id,
    );
  t.equal(stateOf(app), before);
});

t.test('a body of megabytes or nonsense is refused in HTML', async (t) => {
  const { app, u } = await sentCampaign(t);
  const { status, headers } = await app.page('POST', u, { form: { form: 'x'.repeat(5 * 1024 * 1024) } });
  t.equal(status, 413);
  t.match(headers['content-type'], 'text/html');
  t.equal((await app.page('GET', '/nowhere')).status, 404);
  t.match((await app.page('GET', '/nowhere')).headers['content-type'], 'text/html');
});
