/** The A/B test on the page of a mailing. */
import t from 'tap';
import { prepareAbTest } from '../support/ab-tests.ts';
import { startApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

t.test('the page of a mailing has its variants side by side, and somebody chooses one there', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app, { people: [{ email: 'anna@example.org', first_name: 'Anna' }] });
  const variant = (subject: string) => ({ subject, preheader: 'p', sender_name: '', template_id: 0 });
  const variants = [variant('One'), variant('<b>Two</b>')];
  app.db
    .prepare('UPDATE single_sends SET ab_test = ? WHERE utr = ?')
    .run(JSON.stringify({ variants: variants.slice(1), share: 20, winner_by: 'hand', hours: 24 }), utr);
  app.db
    .prepare(`INSERT INTO ab_tests (mailing_id, share, winner_by, hours, variants, rest)
      SELECT id, 20, 'hand', 24, ?, 8 FROM mailings WHERE owner_kind = 'single'`)
    .run(JSON.stringify(variants));
  app.db.exec('UPDATE deliveries SET variant = 1 WHERE mailing_id = (SELECT mailing_id FROM ab_tests)');
  const as = (role: 'owner' | 'viewer') => ({
    ...FROM_PAGE,
    cookie: cookieOf(app, addPerson(app, role, { name: role })),
  });
  const [owner, viewer] = [as('owner'), as('viewer')];
  const open = (headers: Record<string, string>) => app.page('GET', `/campaigns/${utr}`, { headers });
  const choose = (headers: Record<string, string>) =>
    app.page('POST', `/campaigns/${utr}/variant`, { headers, form: { variant: '1' } });

  const { text } = await open(owner);
  t.match(text, /id="mailing-results".*8 contacts wait/s, 'where the page is updated while it is open');
  t.match(text, /8 contacts wait until you choose a variant.*A\/B test.*A <bdi>One<\/bdi>.*B <bdi>&lt;b>Two&lt;\/b>/s);
  t.match(
    text,
    /Delivered<\/th>.*In test outbox<\/th>.*Two.*?<td[^>]*>0<\/td><td[^>]*>1<\/td>/s,
    'what the outbox took was delivered to nobody',
  );
  const { ab_test } = (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message.report;
  t.match(ab_test.variants, [
    { delivered: 0, kept: 0 },
    { delivered: 1, kept: 1 },
  ]);
  const { moments } = (await app.one.call('GET', '/contacts/timeline', { query: { contact_id: 1 } })).body.message;
  t.match(
    moments.find(({ kind }: { kind: string }) => kind === 'mail'),
    { subject: '<b>Two</b>' },
    'the timeline of a contact has the subject of their variant',
  );
  t.match(text, /Choose B/);
  t.equal(text.match(/By clicks, it is too early to choose/g)?.length, 3, 'on the page and beside each choice');
  t.match((await open(viewer)).text, /By clicks, it is too early to choose/);
  t.notMatch((await open(viewer)).text, /Choose B/);
  await choose(viewer);
  t.equal(app.db.prepare('SELECT winner FROM ab_tests').pluck().get(), null, 'a viewer chooses nothing');
  t.equal((await choose(owner)).status, 303);
  const after = (await open(owner)).text;
  t.match(after, /You chose B. 8 more contacts get this variant/);
  t.notMatch(after, /Choose B/);

  for (const [set, says] of [
    [
      `verdict = 'no_difference', winner = 0, counted = '${JSON.stringify([112, 60].map((successes) => ({ people: 1000, successes })))}'`,
      /No clear winner, but B did clearly worse. 8 more contacts get A.*<bdi>&lt;b>Two&lt;\/b><\/bdi> <span class="badge plain">Clearly worse/s,
    ],
    ["verdict = 'no_difference', winner = 0, counted = NULL", /No clear winner(?!.*class="badge good">Winner)/s],
    [
      "verdict = 'winner', winner = 1, better_than = '[0]'",
      /B is better than A, and not by chance.*<bdi>&lt;b>Two&lt;\/b><\/bdi> <span class="badge good">Winner/s,
    ],
    ["verdict = NULL, winner = NULL, winner_by = 'clicks'", /The winner is decided 24 h after that/],
    ['tried_at = 1768500000000', /The winner is decided on .+ UTC/],
  ] as const) {
    app.db.exec(`UPDATE ab_tests SET ${set}`);
    t.match((await open(owner)).text, says);
  }
});

t.test('Home says that a test waits for a choice, with the way to its mailing, until somebody chooses', async (t) => {
  const shop = await prepareAbTest(t, { winner_by: 'hand' });
  const cookie = cookieOf(shop.app, addPerson(shop.app, 'owner', { accountId: 1, name: 'Olga' }));
  const says = async () => {
    const { text } = await shop.app.page('GET', '/', { headers: { ...FROM_PAGE, cookie } });
    const { overview } = await shop.get('/overview');
    return [
      text.includes(`<a href="/campaigns/${shop.utr}">Waiting for your choice in the A/B test</a>`),
      overview.campaigns.map(({ waits_for_choice }: { waits_for_choice: number }) => waits_for_choice),
    ];
  };
  t.strictSame(await says(), [false, [0]], 'before the launch');
  await shop.start();
  t.strictSame(await says(), [true, [1]]);
  await shop.act('/single/send/pause', { utr: shop.utr });
  t.strictSame(await says(), [true, [1]], 'it can be chosen while the mailing is paused');
  await shop.post('/single/send/variants/decide', { utr: shop.utr, variant: 1 });
  t.strictSame(await says(), [false, [0]]);

  const timed = await prepareAbTest(t, { winner_by: 'clicks' });
  await timed.start();
  t.match((await timed.get('/overview')).overview.campaigns, [{ waits_for_choice: 0 }], 'what is decided by time');
});
