/** Deleting an unsubscribe group: refused while something unfinished uses it, and never felt by who has a mail of it. */
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { verifySenders } from '../support/sender.ts';

async function started(t: Test) {
  const app = await startApp(t);
  const save = mustSucceed(t, app.one);
  await save('/unsubscribes-groups/save', { group_name: 'News', description: 'Weekly', is_display: 1 });
  await save('/unsubscribes-groups/save', { group_name: 'Offers', description: 'Now and then', is_display: 1 });
  await save('/contacts-type/add', { name: 'Readers' });
  await save('/contacts/add', { contact_type_id: 1, email: 'zoe@example.com', country: 1 });
  await save('/sender/save', {
    ...{ from_name: 'Lark', from_email: 'news@example.com', reply_to_email: 'reply@example.com' },
    ...{ country_id: 1, company_address: 'Main Street 1', nickname: 'News' },
  });
  verifySenders(app);
  const send = (more: Record<string, unknown>) =>
    save('/single/send/create', {
      ...{ single_send_name: 'Spring', subject: 'Books', preheader: 'Books', template_id: 1 },
      ...{ template_html: '<p>Hello <a href="((unsubscribe_preferences))">leave</a></p>' },
      ...{ sender_id: 1, unsubscribe_group_id: 1, recipient_id: ['contacts_1'], ...more },
    });
  const remove = (id: number, caller = app.one) =>
    caller.call('DELETE', '/unsubscribes-groups/delete', { query: { id } });
  const uses = async (id: number) =>
    (await app.one.call('GET', '/unsubscribes-groups/uses', { query: { id } })).body.message.uses;
  return { app, save, send, remove, uses };
}

t.test('a group is not deleted while a single send that is not finished or an automation uses it', async (t) => {
  const { app, save, send, remove, uses } = await started(t);
  await send({ schedule_type: '1', schedule_date: '2030-01-31', schedule_time: '09:30' });
  await save('/automations/create', { automation_name: 'Welcome', type: 'welcome', unsubscribe_group_id: 1 });
  t.strictSame(await uses(1), { single_sends: 1, automations: 1 });
  t.strictSame(await uses(2), { single_sends: 0, automations: 0 });
  t.match(await remove(1), { status: 409, body: { errors: /used by 1 single sends .* and 1 automations/ } });
  t.equal((await remove(2, app.two)).status, 404, 'another account has no such group');
  t.equal((await remove(2)).status, 200);
  t.equal((await remove(2)).status, 404);
  t.equal((await app.one.call('GET', '/unsubscribes-groups')).body.message.unsubscribesGroups.length, 1);
  for (const [path, form] of [
    ['/unsubscribes-groups/manually-add', { unsubscribe_groups_id: 2, email_address: 'a@example.com' }],
    ['/contacts/jobs/start', { action: 'unsubscribe', strIds: [1], unsubscribe_groups_id: 2 }],
    ['/automations/create', { automation_name: 'A', type: 'welcome', unsubscribe_group_id: 2 }],
  ] as const)
    t.equal((await app.one.call('POST', path, { form })).status, 422, `${path} takes it no more`);
});

t.test('links of mails that were sent go on working, and who left a deleted group stays recorded', async (t) => {
  const { app, send, remove } = await started(t);
  await send({ schedule_type: '0' });
  app.clock.advance(60_000);
  await app.background();
  const mail = String(app.db.prepare("SELECT raw FROM outbox WHERE subject = 'Books'").pluck().get());
  const link = /List-Unsubscribe: <([^>]+)>/.exec(mail.replaceAll(/\r\n\s+/g, ''))?.[1] ?? '';
  const page = new URL(link).pathname;
  t.equal((await remove(1)).status, 200);
  t.equal((await remove(2)).status, 200);
  const shown = (await app.page('GET', page)).text;
  t.match(shown, 'News', 'the group of the mail is still offered');
  t.notMatch(shown, 'Offers', 'another deleted one is not');
  const left = await app.page('POST', page, { form: { 'List-Unsubscribe': 'One-Click' } });
  t.equal(left.status, 200);
  t.match(app.db.prepare('SELECT unsubscribe_groups_id, action FROM consent_log').all(), [
    { unsubscribe_groups_id: 1, action: 'unsubscribed' },
  ]);
  t.equal(app.db.prepare('SELECT count(*) FROM unsubscribers WHERE unsubscribe_groups_id = 1').pluck().get(), 1);
});
