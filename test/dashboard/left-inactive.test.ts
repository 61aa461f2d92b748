/** The rule about inactive people in the dashboard: shown before it is switched on, and what it did. */
import t from 'tap';
import { startApp, type TestApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { visitor } from '../support/visitor.ts';

const RULE = { months: '6', least_mails: '1', target: 'stop' };
/** The rule as the page sends it after it showed whom it finds. */
const SHOWN = { ...RULE, shown_rule: JSON.stringify({ months: '6', least_mails: '1', action: 'stop' }) };

/** Three contacts who got a mail; only the first ever opened one. */
async function fill(t: Parameters<typeof startApp>[0]): Promise<TestApp> {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Readers <b>' });
  for (const name of ['ann', 'ben', 'cat'])
    await must('/contacts/add', { contact_type_id: 1, email: `${name}@example.org`, first_name: name, country: 1 });
  const now = app.clock.now();
  app.db.exec(`
    UPDATE contacts SET created_at = '2020-01-01T00:00:00.000000Z';
    INSERT INTO mailings (user_id, owner_kind, owner_id, content, state, people_opens, finished_at, created_at)
      VALUES (1, 'single', 1, '{}', 'done', 1, '${now.toISOString()}', '${now.toISOString()}');
    INSERT INTO deliveries (mailing_id, address_id, contact_id, state, updated_at, by_person)
      SELECT 1, address_id, id, 2, ${now.getTime()}, id = 1 FROM contacts;
    INSERT INTO activity (address_id, last_at) SELECT address_id, ${now.getTime()} FROM contacts WHERE id = 1`);
  return app;
}

t.test('the rule is shown with whom it finds before it can be switched on, and then what it did', async (t) => {
  const app = await fill(t);
  const { open, send } = visitor(app);
  t.match((await open('/unsubscribes/inactive')).text, /The rule is off.*No inactive contacts/s);
  const first = (await open('/unsubscribes/inactive/rule')).text;
  t.notMatch(first, 'Turn on');
  t.match(first, 'Move to the list Readers &lt;b>');
  const shown = (await send('/unsubscribes/inactive/rule', { ...RULE, do: 'show' })).text;
  t.match(shown, /The rule finds 2 contacts now.*ben.*cat.*Turn on/s);
  t.notMatch(shown, 'ann@example.org');
  t.equal(app.db.prepare('SELECT count(*) FROM sunsets').pluck().get(), 0);
  const changed = await send('/unsubscribes/inactive/rule', { ...SHOWN, months: '1', do: 'on' });
  t.match(changed.text, /The rule was changed after this preview/);
  t.equal(app.db.prepare('SELECT count(*) FROM sunsets').pluck().get(), 0, 'nobody is stopped whom nobody saw');
  const { status, headers } = await send('/unsubscribes/inactive/rule', { ...SHOWN, do: 'on' });
  t.strictSame([status, headers.location], [303, '/unsubscribes/inactive']);
  await app.background();
  const list = (await open('/unsubscribes/inactive')).text;
  t.match(list, /The rule is on.*6 months.*2 contacts get no campaigns.*cat@example\.org.*ben@example\.org/s);
  t.notMatch(list, '<bdi>ann');
  t.match((await open('/unsubscribes/inactive/rule')).text, /Reactivate 2 contacts/);
  t.match((await open('/contacts/2')).text, /Inactive.*gets no more campaigns/s);
});

t.test('one of them is let go after a page says what follows, and all of them after a question', async (t) => {
  const app = await fill(t);
  const { open, send } = visitor(app);
  await send('/unsubscribes/inactive/rule', { ...SHOWN, do: 'on' });
  await app.background();
  const path = '/unsubscribes/lift?list=inactive&email=ben@example.org';
  t.match((await open(path)).text, /gets campaigns again.*so the months without activity start over/s);
  t.equal((await send(path)).headers.location, '/unsubscribes/inactive');
  t.equal((await open(path)).status, 404);
  t.match((await open('/unsubscribes/inactive')).text, '1 contact gets no campaigns');
  t.equal((await send('/unsubscribes/inactive/rule/lift-all')).headers.location, '/unsubscribes/inactive');
  await app.background();
  t.match((await open('/unsubscribes/inactive')).text, '0 contacts get no campaigns');
});

t.test('what is wrong stands at its field, and only owners change the rule', async (t) => {
  const app = await fill(t);
  const { send } = visitor(app);
  const many = await send('/unsubscribes/inactive/rule', { ...RULE, months: '99', do: 'show' });
  t.match([many.status, many.text], [422, /id="months-problem"/]);
  const gone = await send('/unsubscribes/inactive/rule', { ...RULE, target: 'segment_7', do: 'show' });
  t.match([gone.status, gone.text], [422, /id="target-problem"/]);
  const empty = await send('/unsubscribes/inactive/rule', { do: 'show' });
  t.equal(empty.status, 422);
  const edit = visitor(app, 'editor');
  const page = (await edit.send('/unsubscribes/inactive/rule', { ...RULE, do: 'show' })).text;
  t.match(page, /The rule finds 2 contacts now.*Only owners can change the rule/s);
  t.notMatch(page, 'Turn on');
  for (const [path, form] of [
    ['/unsubscribes/inactive/rule', { ...SHOWN, do: 'on' }],
    ['/unsubscribes/inactive/rule/lift-all', {}],
  ] as const)
    t.equal((await edit.send(path, form)).status, 403, path);
});
