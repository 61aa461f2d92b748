/** Who gets the mails of an automation, and when. */
import t from 'tap';
import { applyMembershipChanges } from '../../src/automations/membership-changes.ts';
import { DAY, HOUR, mailsInBrief, mailsOf, withWelcomeSeries } from '../support/automations.ts';

t.test('a person who joins while it is live gets each mail in time; one who was there before none', async (t) => {
  const { app, join, pass, live } = await withWelcomeSeries(t);
  await join('old');
  await live();
  await join('ann');
  await app.background();
  await pass(3 * DAY);
  t.strictSame(mailsInBrief(app), ['01-15T09:00 ann one', '01-17T09:00 ann two', '01-17T21:00 ann three']);
});

t.test('paused, people keep their place; live again, each mail waits from the one before it', async (t) => {
  const { app, utr, get, join, pass, live } = await withWelcomeSeries(t);
  await live();
  await join('ann');
  await pass(DAY);
  t.equal((await get('/automations/pause', { utr })).body.message, 'Automation Paused Successfully');
  t.match((await get('/automations/details', { utr })).body.message.automation, { status: 0, live_at: null });
  await join('late');
  await pass(5 * DAY);
  t.strictSame(mailsInBrief(app), ['01-15T10:00 ann one']);
  await live();
  await pass(2 * DAY);
  t.strictSame(
    mailsInBrief(app),
    ['01-15T10:00 ann one', '01-21T10:00 ann two', '01-21T22:00 ann three'],
    'and who joined meanwhile is not in it',
  );
});

t.test('unsubscribed people leave at the next mail', async (t) => {
  const { app, post, join, pass, live } = await withWelcomeSeries(t);
  await live();
  await join('ann');
  await join('bob');
  await pass(HOUR);
  await post('/unsubscribes-groups/manually-add', { unsubscribe_groups_id: 1, email_address: 'ANN@example.org' });
  await pass(3 * DAY);
  t.strictSame(
    mailsInBrief(app).filter((mail) => mail.includes('ann')),
    ['01-15T10:00 ann one'],
  );
  t.equal(mailsInBrief(app).filter((mail) => mail.includes('bob')).length, 3);
});

for (const exit of [0, 1]) {
  t.test(
    `exit_criteria ${exit}: leaving the target ${exit === 1 ? 'ends it' : 'ends nothing but for deleted contacts'}`,
    async (t) => {
      const { app, post, join, pass, live } = await withWelcomeSeries(t, { exit });
      await live();
      await join('ann');
      await pass(HOUR);
      await post('/contacts-type/add', { name: 'Others' });
      await post('/contacts/update', { contact_id: 1, contact_type_id: 2, email: 'ann@example.org', country: 1 });
      await pass(3 * DAY);
      t.equal(mailsOf(app).length, exit === 1 ? 1 : 3);
    },
  );
}

t.test(
  'exit_criteria 1: an action on many contacts that moves people out ends it, even when it is undone',
  async (t) => {
    const { app, post, join, pass, live } = await withWelcomeSeries(t, { exit: 1 });
    await live();
    await join('ann');
    await pass(HOUR);
    await post('/contacts-type/add', { name: 'Others' });
    const { job } = await post('/contacts/jobs/start', { action: 'move', strIds: [1], to_contact_type_id: 2 });
    await app.background();
    await post('/contacts/jobs/undo', { id: job.id });
    await pass(3 * DAY);
    t.strictSame(mailsInBrief(app), ['01-15T10:00 ann one']);
  },
);

t.test('nobody enters twice, not even by leaving and coming back', async (t) => {
  const { app, join, post, pass, live } = await withWelcomeSeries(t);
  await live();
  await join('ann');
  await pass(3 * DAY);
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 1 } });
  await join('ann');
  await pass(3 * DAY);
  t.equal(mailsOf(app).length, 3);
  await post('/contacts-type/add', { name: 'Others' });
});

t.test('a mail added while live reaches those who have not finished; one deleted is skipped', async (t) => {
  const { app, utr, get, join, pass, live, addMail } = await withWelcomeSeries(t);
  await live();
  await join('ann');
  await pass(DAY);
  await addMail('four', 'hours', 1);
  const { automation_schedules } = (await get('/automations/schedule', { utr })).body.message;
  await app.one.call('DELETE', '/automations/schedule/delete', { query: { utr: automation_schedules[1].utr } });
  await pass(3 * DAY);
  t.strictSame(
    mailsInBrief(app).map((mail) => mail.split(' ').at(-1)),
    ['one', 'three', 'four'],
  );
});

t.test('an import enrols everybody it adds', async (t) => {
  const { app, pass, live } = await withWelcomeSeries(t);
  await live();
  // More than are enrolled at once.
  const rows = Array.from({ length: 300 }, (_, at) => `r${at}@example.org,R${at}`).join('\n');
  await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', { filename: 'a.csv', content: `email,first_name\n${rows}` }],
    ],
  });
  await app.background();
  await pass(3 * DAY);
  const sent = app.db.prepare('SELECT sum(delivered) AS delivered FROM mailings WHERE automation_id IS NOT NULL').get();
  t.match(sent, { delivered: 900 });
});

t.test('setting the clock back by an hour sends nothing twice', async (t) => {
  const { app, join, pass, live } = await withWelcomeSeries(t);
  await live();
  await join('ann');
  await pass(2 * DAY + HOUR);
  app.clock.jump(-HOUR);
  await pass(2 * DAY);
  t.equal(mailsOf(app).length, 3);
});

t.test('joins and leaves while it is live are applied in the order in which they happened', async (t) => {
  const { app, utr, get, join, pass, live } = await withWelcomeSeries(t, { exit: 1 });
  await live();
  await join('ann');
  await get('/automations/pause', { utr });
  await live();
  await pass(HOUR);
  t.equal(mailsOf(app).length, 1, 'joined while live, paused before anyone looked: in it all the same');
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 1 } });
  await join('ann');
  await pass(3 * DAY);
  t.equal(mailsOf(app).length, 1, 'left and back at once has left');
});

t.test('the entries of one account do not wait for the many of another', async (t) => {
  const { app } = await withWelcomeSeries(t);
  const add = app.db.prepare(`
    INSERT INTO membership_changes (user_id, automation_id, address_id, change, happened_at) VALUES (?, 0, 1, 'left', 0)`);
  const waiting = app.db.prepare('SELECT user_id, count(*) FROM membership_changes GROUP BY 1').raw();
  for (let changes = 0; changes < 600; changes++) add.run(1);
  add.run(2);
  applyMembershipChanges(app.db);
  applyMembershipChanges(app.db);
  t.strictSame(waiting.all(), [[1, 600 - 250 - 249]]);
});
