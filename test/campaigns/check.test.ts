/** The check of a mail before it is sent: the mail itself, and what all of its recipients would get. */
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { measureMail } from '../../src/delivery/checks/measured-mail.ts';
import { checkRecipients } from '../../src/delivery/checks/recipients-check.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import { createSend, readyToSend } from '../support/single-sends.ts';

const HTML =
  '<p>Dear ((first_name)), from ((city)) ((if city = "Atlantis"))<b>you alone</b>((else))all((end))</p>' +
  '<p>((if first_name))named((else))nameless((end)) <a href="http://localhost/x">here</a> *|FNAME|*</p>';

t.test('a mail is checked for itself and for all its recipients, with codes, severities and an example', async (t) => {
  const { app, body } = await readyToSend(t);
  const check = async (form: Record<string, unknown>) =>
    (await app.one.call('POST', '/check', { form })).body.message?.check;
  const { recipient_id } = body;
  const long = 'A subject that is much too long for any inbox, ((first_name)), so that it ends in dots everywhere';
  const found = await check({ subject: long, template_html: HTML, recipient_id });
  t.equal(found.problem, null);
  const severities = Object.fromEntries(
    found.findings.map(({ code, severity }: { code: string; severity: string }) => [code, severity]),
  );
  t.match(severities, { urls: 'error', foreign: 'error' });
  t.match(found.recipients, { checked: 3, has_more: 0 });
  t.match(found.recipients.findings, [
    { code: 'value_empty', severity: 'warning', name: 'city', count: 3, contact_id: Number },
    { code: 'branch_unused', name: '((if city is "Atlantis"))' },
    { code: 'branch_unused', name: '((else)) of ((if first_name is not blank))' },
    { code: 'subject_longest', count: long.replace('((first_name))', 'Ann').length },
  ]);
  t.equal(found.recipients.findings.length, 4);
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'bob@example.org' } });
  t.match(
    (await check({ template_html: HTML, recipient_id })).recipients,
    { checked: 2 },
    'who gets no mail is not counted',
  );
  const excluded = { exclude_specific_recipient_id: recipient_id };
  t.match((await check({ template_html: HTML, recipient_id, ...excluded })).recipients, { checked: 0, findings: [] });
  t.equal((await check({ template_html: HTML })).recipients, null, 'without targets, the mail alone');
  t.match(await check({ template_html: '((if a))' }), { problem: /end/, findings: [], recipients: null });
  t.match(await check({}), { problem: String }, 'no content');
  t.equal((await app.one.call('POST', '/check', { form: { recipient_id: ['contacts_99'] } })).status, 422);
  t.equal((await app.one.call('POST', '/check', { form: { utr: 'x' } })).status, 404);
});

t.test(
  'a branch that holds only another condition is named if no contact sees it, and an empty one is not',
  async (t) => {
    const { app, body } = await readyToSend(t);
    const template_html =
      '<p>Hello((if city = "Atlantis"))((if first_name))you((end))((end))((if city = "Thule"))((end))</p>';
    const form = { template_html, recipient_id: body.recipient_id };
    const { recipients } = (await app.one.call('POST', '/check', { form })).body.message.check;
    t.match(recipients.findings, [{ code: 'branch_unused', name: '((if city is "Atlantis"))' }]);
    t.equal(recipients.findings.length, 1);
  },
);

t.test('a mail with hundreds of conditions gets 50 findings of a code, and the number of the others', async (t) => {
  const { app, body } = await readyToSend(t);
  const { recipient_id } = body;
  const template_html = Array.from({ length: 60 }, (_, at) => `((if first_name = "${at}"))x((end))`).join('');
  const { recipients } = (await app.one.call('POST', '/check', { form: { template_html, recipient_id } })).body.message
    .check;
  t.equal(recipients.findings.length, 50);
  t.match(recipients, { more_findings: 10, findings: [{ code: 'branch_unused', name: '((if first_name is "0"))' }] });
  const utr = await createSend(app, {
    ...body,
    ...{ template_html, schedule_type: 1, schedule_date: '2030-01-01', schedule_time: '10:00' },
  });
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  t.match((await app.page('GET', `/campaigns/${utr}/edit/check?all=1`, { headers })).text, '10 more findings');
});

t.test('other work has its turn between the recipients of a check that takes long', async (t) => {
  const { app } = await readyToSend(t);
  const mail = measureMail({ subject: 'x', html: ['x'] }, {});
  const audience = { targets: [{ table: 'contacts' as const, id: '1' }], excluded: [], groupId: 1 };
  let time = 0;
  let msPerLook = 0;
  t.intercept(performance, 'now', { value: () => (time += msPerLook) });
  const turns = async () => {
    let count = 0;
    let isDone = false;
    const counting = (async () => {
      for (; !isDone; await setImmediate()) count++;
    })();
    t.equal((await checkRecipients(app.db, mail, [], audience)).checked, 3);
    isDone = true;
    await counting;
    return count;
  };
  const ofQuickOnes = await turns();
  msPerLook = 10;
  t.equal(await turns(), ofQuickOnes + 3);
});

t.test('checks of an account wait for each other instead of being refused, 50 at most', async (t) => {
  const { app, body } = await readyToSend(t);
  const { recipient_id } = body;
  const check = async () =>
    (await app.one.call('POST', '/check', { form: { template_html: '<p>Hi</p>', recipient_id } })).status;
  const answers = await Promise.all(Array.from({ length: 52 }, check));
  t.equal(answers.filter((status) => status === 200).length, 50);
  t.equal(answers.filter((status) => status === 429).length, 2);
});

t.test('a mail that is larger than 102 kB with the values of a contact is clipped for that one', async (t) => {
  const { app, body } = await readyToSend(t);
  const first_name = 'Q'.repeat(250);
  await app.one.call('POST', '/contacts/add', {
    form: { contact_type_id: 1, first_name, email: 'quinn@example.org', country: 1 },
  });
  const template_html = `<p>${'x'.repeat(99_500)}${'((first_name))'.repeat(20)}</p>`;
  const answer = await app.one.call('POST', '/check', { form: { template_html, recipient_id: body.recipient_id } });
  const { checked, findings } = answer.body.message.check.recipients;
  t.equal(checked, 4);
  t.match(findings, [{ code: 'mail_clipped', count: 1, contact_id: 4 }]);
});

t.test('findings name links as they were written, without the link parameters', async (t) => {
  const { app } = await readyToSend(t);
  await app.one.call('POST', '/sending/mails/save', { form: { utm_source: 'news', utm_content: 1 } });
  const template_html = '<p><a href="http://localhost/x?a=1&amp;b=2#c">one</a> <a href="http://shop.de/y">two</a></p>';
  const { findings } = (await app.one.call('POST', '/check', { form: { template_html } })).body.message.check;
  const named = (code: string) => findings.find((found: { code: string }) => found.code === code)?.names;
  t.strictSame(named('urls'), ['http://localhost/x?a=1&b=2#c']);
  t.strictSame(named('http'), ['http://shop.de/y']);
});

t.test('a branch that stands in several versions is named once, and only if nobody sees it in any', async (t) => {
  const { app, body } = await readyToSend(t);
  await app.one.call('POST', '/contacts/upsert', {
    json: { contact_type_id: 1, contacts: [{ email: 'ann@example.org', language: 'de' }] },
  });
  const template_html =
    '<p>((if first_name = "Ann"))Ann((end)) ((if first_name = "Nobody"))a((end)) ((if first_name = "Nobody"))b((end))</p>';
  const later = { schedule_type: 1, schedule_date: '2030-01-01', schedule_time: '10:00' };
  const utr = await createSend(app, { ...body, template_html, ...later });
  await app.one.call('POST', '/single/send/languages', { form: { utr, language: 'de', subject: 'Hallo' } });
  const { recipients } = (await app.one.call('POST', '/check', { form: { utr } })).body.message.check;
  const unused = recipients.findings.filter(({ code }: { code: string }) => code === 'branch_unused');
  t.strictSame(
    unused.map(({ name }: { name: string }) => name),
    ['((if first_name is "Nobody"))'],
  );
});

t.test('the page of the check looks at the mails of all recipients when asked', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, {
    ...{ ...body, template_html: HTML },
    ...{ schedule_type: 1, schedule_date: '2030-01-01', schedule_time: '10:00' },
  });
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  const page = async (query: string) =>
    (await app.page('GET', `/campaigns/${utr}/edit/check${query}`, { headers })).text;
  t.match(await page(''), 'Check for all recipients');
  const all = await page('?all=1');
  t.match(all, 'The e-mails of 3 contacts were checked.');
  t.match(all, '3 contacts see nothing in place of the merge tag city.');
  t.match(all, /No contact sees what follows \(\(if city is/);
});
