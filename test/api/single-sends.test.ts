/** Single sends as records: templates, schedules, lists, copies and previews. */
import t from 'tap';
import { createSend, readyToSend } from '../support/single-sends.ts';

t.test('a list of sends with large templates is whole, though its pages are small', async (t) => {
  const { app, body } = await readyToSend(t);
  for (let at = 0; at < 6; at++) {
    await createSend(app, { ...body, single_send_name: `Send ${at}`, template_html: `<p>${'x'.repeat(400_000)}</p>` });
  }
  const names = async (query: string) => {
    const { body: list } = await app.one.call('GET', `/single-send/list${query}`);
    return list.message.singleSends.map((send: { single_send_name: string }) => send.single_send_name);
  };
  t.strictSame(await names(''), ['Send 0', 'Send 1', 'Send 2', 'Send 3', 'Send 4', 'Send 5']);
  t.strictSame(await names('?limit=4&after_id=1'), ['Send 1', 'Send 2', 'Send 3', 'Send 4']);
});

t.test('schedules that are no time, or past, are field errors', async (t) => {
  const { app, body } = await readyToSend(t);
  const cases = [
    [{ schedule_type: 1 }, ['schedule_date', 'schedule_time']],
    [{ schedule_type: 1, schedule_date: '2026-02-30', schedule_time: '10:00' }, ['schedule_date']],
    [{ schedule_type: 1, schedule_date: '2026-03-01', schedule_time: '25:00' }, ['schedule_time']],
    [{ schedule_type: 1, schedule_date: '2026-01-15', schedule_time: '08:59' }, ['schedule_date']],
    [{ schedule_type: 2 }, ['schedule_type']],
  ] as const;
  for (const [given, fields] of cases) {
    const { status, body: answer } = await app.one.call('POST', '/single/send/create', { form: { ...body, ...given } });
    t.equal(status, 422);
    t.strictSame(Object.keys(answer.errors), [...fields]);
  }
});

t.test('template code: MJML JSON or HTML, not both, nothing else', async (t) => {
  const { app, body } = await readyToSend(t);
  const mjml = JSON.stringify({
    tagName: 'mjml',
    attributes: {},
    children: [{ tagName: 'mj-body', attributes: {}, children: [] }],
  });
  const { template_html: _none, ...bare } = body;
  const cases = [
    [{ ...body, template_json: mjml }, 422],
    [{ ...bare, template_json: '{"tagName":"html"}' }, 422],
    [{ ...bare, template_json: 'no json' }, 422],
    [{ ...bare, template_json: mjml }, 200],
  ] as const;
  for (const [given, status] of cases)
    t.equal((await app.one.call('POST', '/single/send/create', { form: given })).status, status);
});

t.test('a duplicate is a draft that is not sent', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, body);
  for (const method of ['GET', 'POST']) {
    t.equal(
      (await app.one.call(method, '/single/send/duplicate', { query: { utr } })).body.message,
      'Duplicated Successfully',
    );
  }
  const { body: list } = await app.one.call('GET', '/single-send/list');
  t.match(list.message.singleSends.slice(1), [
    { single_send_name: 'Copy of Autumn', status: 0, triggered: 0 },
    { single_send_name: 'Copy of Autumn', status: 0 },
  ]);
});

t.test('a preview counts exactly who gets it, who does not and why, and shows one mail', async (t) => {
  const { app, body } = await readyToSend(t);
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'ann@example.org' } });
  const { status, body: answer } = await app.one.call('POST', '/single/send/preview', {
    form: { ...body, template_html: '<p>((first_name)) ((city)) <a href="https://example.com/a">x</a></p>' },
  });
  t.equal(status, 200);
  const { audience, mail, placeholders_without_value } = answer.message.preview;
  t.strictSame(audience, { recipients: 2, left_out: [{ reason: 'unsubscribed from all mail', count: 1 }] });
  t.match(mail, { contact_id: 2, subject: 'For Bob', html: /<p>Bob {2}<a href="https:\/\/example\.com\/a"/ });
  t.strictSame(placeholders_without_value, ['city']);
  t.equal((await app.one.call('GET', '/single-send/list')).body.message.singleSends.length, 0, 'nothing is stored');
});
