/** The check of all mails of an automation for all contacts whom they would reach now, and what is recorded when it is set live. */
import t from 'tap';
import { inCheckingTurn } from '../../src/http/account-share.ts';
import { withPaths, withWelcomeSeries } from '../support/automations.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

type World = Awaited<ReturnType<typeof withWelcomeSeries>>;

/** Changes a mail of the series. */
async function change({ app, get, utr }: World, subject: string, form: Record<string, unknown>): Promise<string> {
  const { mails } = (await get('/automations/series', { utr })).body.message.series;
  const mail: string = mails.find((one: { subject: string }) => one.subject === subject).utr;
  const answer = await app.one.call('POST', '/automations/schedule/update', { form: { utr: mail, ...form } });
  t.equal(answer.status, 200);
  return mail;
}

/** The recipients' findings of a mail, in brief. */
const inBrief = ({
  check,
}: {
  check: { recipients: { checked: number; findings: { code: string; name: string }[] } };
}) => [check.recipients.checked, ...check.recipients.findings.map(({ code, name }) => `${code} ${name}`)];

t.test('each mail is checked for the contacts of the target who may get it, as a campaign is', async (t) => {
  const world = await withWelcomeSeries(t);
  const { app, utr, get, post, join } = world;
  for (const name of ['ann', 'bob', 'cy']) await join(name);
  await post('/global-unsubscribes/save', { email_address: 'bob@example.org' });
  const one = await change(world, 'one', { template_html: '<p>From ((city)) *|FNAME|*</p>' });
  const { mails } = (await get('/automations/check', { utr })).body.message;
  t.strictSame(mails.map(inBrief), [[2, 'value_empty city'], [2], [2]]);
  t.strictSame(
    mails[0].check.findings.filter(({ severity }: { severity: string }) => severity === 'error'),
    [
      {
        ...{ code: 'foreign', severity: 'error', count: 1, limit: 0, names: ['*|FNAME|*'], version: '' },
        path: `/automations/${utr}/mails/${one}/content`,
      },
    ],
  );
  t.match(mails[0].check.recipients.findings, [{ count: 2, path: /^\/contacts\/\d+$/ }]);
  const form = { template_html: '<p>From ((city)) *|FNAME|*</p>', recipient_id: ['contacts_1'], subject: 'one' };
  const campaign = (await app.one.call('POST', '/check', { form: { ...form, unsubscribe_group_id: 1 } })).body.message;
  const codesOf = ({ findings }: { findings: { code: string }[] }) => findings.map(({ code }) => code);
  t.strictSame(codesOf(mails[0].check), codesOf(campaign.check), 'a campaign with this mail has the same findings');
  t.strictSame(inBrief(mails[0]), inBrief(campaign));
  const only = (await get('/automations/check', { utr, mail: one })).body.message;
  t.match(only, { mails: [{ utr: one, subject: 'one' }] });
  t.equal(only.mails.length, 1);
  t.equal((await get('/automations/check', { utr, mail: 'x' })).status, 404);
  const { utr: other } = await post('/automations/create', {
    type: 'custom',
    automation_name: 'B',
    unsubscribe_group_id: 0,
  });
  t.equal((await get('/automations/check', { utr: other, mail: one })).status, 404, 'a mail of another automation');
  t.strictSame((await get('/automations/check', { utr: other })).body.message.mails, []);
  t.equal((await app.two.call('GET', '/automations/check', { query: { utr } })).status, 404);
});

t.test(
  'a mail on a path is checked for the contacts of its segments, and none for whom the automation has ended',
  async (t) => {
    const { app, utr, post, get, join, step, mail } = await withPaths(t);
    for (const name of ['ann', 'bob', 'cy']) await join(name);
    await post('/segment/store', {
      ...{ segment_name: 'Cys', contact_type_id: 1 },
      ...{ select_field: ['first_name'], select_operator: ['is'], value: ['cy'] },
    });
    await app.background();
    const decides = await step({ kind: 'if', segment_id: 1 });
    await mail('of Anns', { parent: decides, branch: 'yes' });
    await mail('of others', { parent: decides, branch: 'no' });
    const counts = async () =>
      Object.fromEntries(
        (await get('/automations/check', { utr })).body.message.mails.map(
          ({ subject, check }: { subject: string; check: { recipients: { checked: number } } }) => [
            subject,
            check.recipients.checked,
          ],
        ),
      );
    t.strictSame(await counts(), { one: 3, two: 3, three: 3, 'of Anns': 1, 'of others': 2 });
    await post('/automations/update', { utr, goal_segment_id: 2 });
    t.strictSame(await counts(), { one: 2, two: 2, three: 2, 'of Anns': 1, 'of others': 1 });
  },
);

t.test('versions are checked by language, and who has none is counted', async (t) => {
  const world = await withWelcomeSeries(t);
  const { utr, get, post } = world;
  const add = (name: string, language: string) =>
    post('/contacts/add', { contact_type_id: 1, email: `${name}@example.org`, first_name: name, country: 1, language });
  await add('ann', 'de');
  await add('bob', 'fr');
  const one = await change(world, 'one', { template_html: '<p>Hello ((first_name))</p>' });
  const { id: template_id } = await post('/templates/create', {
    ...{ template_name: 'German', template_html: '<p>Hallo aus ((city)) *|FNAME|*</p>' },
  });
  await post('/automations/schedule/languages', { utr: one, language: 'de', subject: 'eins', template_id });
  const { check } = (await get('/automations/check', { utr, mail: one })).body.message.mails[0];
  t.match(
    check.findings.find(({ code }: { code: string }) => code === 'foreign'),
    { version: 'de', path: `/automations/${utr}/mails/${one}/languages` },
  );
  t.match(check.recipients, {
    findings: [
      { code: 'value_empty', name: 'city', count: 1 },
      { code: 'language_missing', name: 'fr', count: 1 },
    ],
  });
  await world.live();
  const { mails } = (await get('/automations/report', { utr })).body.message.report;
  t.match(
    mails[0].findings.filter(({ code }: { code: string }) => code === 'foreign' || code === 'language_missing'),
    [
      { code: 'foreign', version: 'de' },
      { code: 'language_missing', names: ['fr'], count: 1, version: '' },
    ],
  );
});

t.test('what is found when it is set live, or in a change after that, is recorded and on its page', async (t) => {
  const world = await withWelcomeSeries(t);
  const { app, utr, get, join } = world;
  const found = async () => {
    const { mails } = (await get('/automations/report', { utr })).body.message.report;
    return mails.map(({ findings }: { findings: { code: string; severity: string }[] | null }) =>
      findings?.filter(({ severity }) => severity === 'error').map(({ code }) => code),
    );
  };
  await join('ann');
  await change(world, 'one', { template_html: '<p>Hello *|FNAME|*</p>' });
  t.strictSame(await found(), [undefined, undefined, undefined], 'a draft was not checked');
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  const page = async (path: string) => (await app.page('GET', `/automations/${utr}${path}`, { headers })).text;
  t.notMatch(await page(''), 'Results of the check at the start');
  await world.live();
  t.strictSame(await found(), [['foreign'], [], []]);
  t.match(await page(''), /Results of the check at the start[\s\S]*belongs to another service/);
  await change(world, 'one', { template_html: '<p>Hello ((first_name))</p>' });
  await change(world, 'two', { template_html: '<p>Hello *|FNAME|*</p>' });
  t.strictSame(await found(), [[], ['foreign'], []]);
  await get('/automations/pause', { utr });
  await world.live();
  t.strictSame(await found(), [[], ['foreign'], []], 'set live again with the same mails');
  t.match(await page('/check'), 'Check all e-mails');
  const all = await page('/check?all=1');
  t.match(all, /one[\s\S]*The e-mail of 1 contact was checked[\s\S]*two[\s\S]*belongs to another service/);
  const { series } = (await get('/automations/series', { utr })).body.message;
  t.match(await page(`/mails/${series.mails[0].utr}/check?all=1`), 'The e-mail of 1 contact was checked.');
});

t.test(
  'a mail that is removed while its automation is checked is named as the reason, and nothing is lost',
  async (t) => {
    const { app, utr, get, post } = await withWelcomeSeries(t);
    const { mails } = (await get('/automations/series', { utr })).body.message.series;
    const release = Promise.withResolvers<void>();
    const turn = inCheckingTurn(1, () => release.promise);
    const asked = get('/automations/check', { utr });
    // Both requests begin in their order; the check then waits for its turn.
    await get('/automations/series', { utr });
    await post('/automations/schedule/remove', { utr: mails[2].utr });
    release.resolve();
    await turn;
    const answer = await asked;
    t.match([answer.status, answer.text], [409, /An e-mail was removed while the automation was checked/]);
    t.equal((await get('/automations/check', { utr })).status, 200);
    t.equal(app.db.prepare('SELECT count(*) FROM automation_schedules').pluck().get(), 2);
  },
);
