/** What the timeline of a person tells of segments, contact types and mailings. */
import t from 'tap';
import { purge } from '../../src/database/purge.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { withWelcomeSeries } from '../support/automations.ts';
import { sendCampaign } from '../support/campaign.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

type Moments = { kind: string; name: string | null }[];

const momentsOf = async (app: TestApp, contact_id: number) =>
  (await app.one.call('GET', '/contacts/timeline', { query: { contact_id, limit: 200 } })).body.message;

t.test('joining and leaving a segment by its rules, again and again, is in the timeline', async (t) => {
  const app = await startApp(t);
  const post = (path: string, form: Record<string, unknown>) => app.one.call('POST', path, { form });
  await post('/contacts-type/add', { name: 'Customers' });
  const rule = { contact_type_id: 1, select_field: ['city'], select_operator: ['is'], value: ['Wien'] };
  await post('/segment/store', { segment_name: 'Viennese', ...rule });
  const contact = { contact_type_id: 1, email: 'zoe@example.com', country: 1 };
  const moveTo = async (city: string) => {
    app.clock.advance(60_000);
    await post('/contacts/update', { ...contact, contact_id: 1, city });
  };
  await post('/contacts/add', contact);
  for (const city of ['Wien', 'Graz', 'Wien']) await moveTo(city);
  const ofSegment = async () => {
    const { moments } = await momentsOf(app, 1);
    return (moments as Moments).filter(({ name }) => name === 'Viennese').map(({ kind }) => kind);
  };
  t.strictSame(await ofSegment(), ['segment_joined', 'segment_left', 'segment_joined']);
  app.clock.advance(60_000);
  await post('/segment/update', { segment_id: 1, segment_name: 'Viennese', ...rule, value: ['Linz'] });
  await app.background();
  t.strictSame(
    await ofSegment(),
    ['segment_left', 'segment_joined', 'segment_left', 'segment_joined'],
    'a change of the rules makes people leave, too',
  );
  await post('/contacts/person/erase', { contact_id: 1 });
  t.equal(app.db.prepare('SELECT count(*) FROM segment_leaves').pluck().get(), 0, 'an erasure removes it');
});

t.test('moves to another contact type and a deletion are in the timeline', async (t) => {
  const app = await startApp(t);
  const post = (path: string, form: Record<string, unknown>) => app.one.call('POST', path, { form });
  for (const name of ['Leads', 'Customers', 'Friends']) await post('/contacts-type/add', { name });
  const contact = { email: 'zoe@example.com', country: 1 };
  await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', { filename: 'leads.csv', content: 'email\nzoe@example.com\n' }],
    ],
  });
  app.clock.advance(60_000);
  await post('/contacts/update', { ...contact, contact_id: 1, contact_type_id: 2 });
  app.clock.advance(60_000);
  await post('/contacts/jobs/start', { action: 'move', to_contact_type_id: 3, strIds: [1] });
  await app.background();
  const told = async (id: number) => {
    const { moments } = await momentsOf(app, id);
    return moments.map(({ kind, name, from_name }: Record<string, string | null>) => [kind, name, from_name]);
  };
  const before = [
    ['contact_moved', 'Friends', 'Customers'],
    ['contact_moved', 'Customers', 'Leads'],
    ['imported', 'leads.csv', null],
    ['contact_created', 'Leads', null],
  ];
  t.strictSame(await told(1), before);
  app.clock.advance(60_000);
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 1 } });
  app.clock.advance(60_000);
  await post('/contacts/add', { ...contact, contact_type_id: 3 });
  const after = [['contact_created', 'Friends', null], ['contact_deleted', 'Friends', null], ...before];
  t.strictSame(await told(2), after);
  const { body } = await app.one.call('GET', '/contacts/person/export', { query: { contact_id: 2 } });
  t.equal(body.message.moments.length, after.length, 'and in the export');
  t.equal(body.message.is_complete, 1);
  await purge(app.db, () => undefined);
  t.strictSame(await told(2), [['contact_created', 'Friends', null]], 'a purge removes what was deleted');
  t.equal(app.db.prepare('SELECT count(*) FROM contact_moves').pluck().get(), 0);
  await post('/contacts/update', { ...contact, contact_id: 2, contact_type_id: 2 });
  await post('/contacts/person/erase', { contact_id: 2 });
  t.equal(app.db.prepare('SELECT count(*) FROM contact_moves').pluck().get(), 0, 'an erasure too');
});

t.test('a mail in the timeline names its single send, until that is deleted', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app);
  const contact = 1;
  const mailUtr = async () => {
    const { moments } = await momentsOf(app, contact);
    return moments.find(({ kind }: { kind: string }) => kind === 'mail').utr;
  };
  const utr = await mailUtr();
  t.equal(utr, app.db.prepare('SELECT utr FROM single_sends').pluck().get());
  const cookie = cookieOf(app, addPerson(app));
  const page = await app.page('GET', `/contacts/${contact}`, { headers: { ...FROM_PAGE, cookie } });
  t.match(page.text, `<a href="/campaigns/${utr}">`);
  const file = await app.page('GET', `/contacts/${contact}/export`, { headers: { ...FROM_PAGE, cookie } });
  t.match(file.headers['content-disposition'], 'filename="person.json"');
  const { body } = await app.one.call('GET', '/contacts/person/export', { query: { contact_id: contact } });
  t.strictSame(file.body, body.message, 'the file has what the API answers, without its envelope');
  await app.one.call('DELETE', '/single/send/delete', { query: { utr } });
  t.equal(await mailUtr(), null);
});

t.test('a test of a mail of an automation names the automation, not a campaign with the same id', async (t) => {
  const { app, utr, join } = await withWelcomeSeries(t);
  for (const [caller, name] of [
    [app.one, 'Ours'],
    [app.two, 'Theirs'],
  ] as const)
    await caller.call('POST', '/single/send/draft', { form: { single_send_name: name } });
  await join('ann');
  const mails = app.db.prepare<[], string>('SELECT utr FROM automation_schedules ORDER BY id').pluck().all();
  for (const mail of mails.slice(0, 2))
    await app.one.call('POST', '/automations/schedule/test', { form: { utr: mail, email_address: 'ann@example.org' } });
  const mailNames = async () => {
    const { moments } = await momentsOf(app, 1);
    const ofMails = moments.filter(({ kind }: { kind: string }) => kind === 'mail');
    return ofMails.map(({ name, automation_utr, subject }: Record<string, unknown>) => ({
      name,
      automation_utr,
      subject,
    }));
  };
  t.strictSame(await mailNames(), [
    { name: 'Welcome', automation_utr: utr, subject: 'two' },
    { name: 'Welcome', automation_utr: utr, subject: 'one' },
  ]);
  app.db.exec("UPDATE mailings SET owner_kind = 'test' WHERE owner_kind = 'schedule_test' AND owner_id = 2");
  t.equal(
    (await mailNames())[0].name,
    null,
    'a test of an earlier release does not name a campaign of another account',
  );
});
