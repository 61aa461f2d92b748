/** Transactional mail: what is taken, what leaves, what is shown of it. */
import { Worker } from 'node:worker_threads';
import PostalMime from 'postal-mime';
import t from 'tap';
import { outboxOf, readyToSend } from '../support/single-sends.ts';
import { piecesOf, post, RECEIPT, sent, stateOf } from '../support/transactional.ts';

t.test('a mail leaves with its values, without tracking and without links to unsubscribe', async (t) => {
  const { app } = await readyToSend(t);
  const answer = await post(app.one, RECEIPT);
  t.equal(answer.status, 200, answer.text);
  const { utr } = answer.body.message;
  t.equal(answer.headers.location, `/api/transactional/details?utr=${utr}`);
  t.match(await stateOf(app, utr), { state: 'queued', attempts: 0, reply: null });
  await app.background();
  const [mail] = outboxOf(app);
  t.equal(mail?.envelope_to, 'Ann@example.org');
  const parsed = await PostalMime.parse(mail?.raw ?? '');
  t.equal(parsed.subject, 'Order 12 & 13');
  t.strictSame(parsed.to, [{ name: 'Ann Lee', address: 'Ann@example.org' }]);
  t.match(parsed.html, '<p>Thank you, Ann Lee. <a href="https://example.com/o/12%20%26%2013">Your order</a>: none</p>');
  t.match(parsed.text, 'Thank you, Ann Lee.');
  const raw = String(mail?.raw);
  t.notMatch(raw, /List-Unsubscribe|List-ID|Feedback-ID|\/o\/\w+\.gif|\/c\//);
  t.match(raw, 'Auto-Submitted: auto-generated');
  const shown = await stateOf(app, utr);
  t.match(shown, { state: 'accepted', attempts: 1, subject: 'Order 12 & 13', email: 'Ann@Example.org' });
  t.equal(parsed.messageId, `<${shown.message_id}>`);
  t.equal(app.db.prepare('SELECT content FROM transactional_mails').pluck().get(), null, 'the bodies are removed');
});

t.test('a mail may be a plain text alone, or have an own template', async (t) => {
  const { app } = await readyToSend(t);
  const { template_html: _, ...text } = { ...RECEIPT, text: 'Code ((order))\n.dots <b>', subject: 'Code' };
  await sent(app, text);
  const made = await app.one.call('POST', '/templates/create', {
    form: { template_name: 'Receipt', template_html: '<h1>Receipt ((order))</h1>' },
  });
  const { template_html: __, ...own } = { ...RECEIPT, template_id: made.body.message.id };
  await sent(app, own);
  await app.background();
  const [plain, templated] = await Promise.all(outboxOf(app).map(({ raw }) => PostalMime.parse(raw)));
  t.equal(plain?.text?.trim(), 'Code 12 & 13\n.dots <b>');
  t.equal(plain?.html, undefined);
  t.match(templated?.html, '<h1>Receipt 12 &amp; 13</h1>');
});

t.test('long texts beside attachments are whole', async (t) => {
  const { app } = await readyToSend(t);
  const long = 'word '.repeat(10_000);
  await sent(app, {
    ...RECEIPT,
    template_html: `<p>((content))</p><p>${long}</p>`,
    data: { order: '1', content: long },
  });
  await app.background();
  const { text = '' } = await PostalMime.parse(outboxOf(app)[0]?.raw ?? '');
  t.equal(text.split('word').length, 20_001);
  const { status } = await post(app.one, { ...RECEIPT, text: 'x'.repeat(5 * 1024 * 1024) });
  t.equal(status, 413);
});

t.test('attachments arrive as they were, with harmless names and types, and are removed afterwards', async (t) => {
  const { app } = await readyToSend(t);
  const large = Buffer.from(Array.from({ length: 1_000_003 }, (_, at) => (at * 7919) % 251));
  const files = [
    { name: 'C:\\temp\\..\\Rechnung Übersicht".pdf', type: 'application/pdf', content: large.toString('base64') },
    {
      name: '../../etc/passwd\r\nX-Evil: 1',
      type: 'text/html\r\nX-Evil: 1',
      content: Buffer.from('hi').toString('base64'),
    },
    { name: '', type: 'message/rfc822', content: '' },
  ];
  const utr = await sent(app, { ...RECEIPT, attachments: files });
  t.equal(piecesOf(app), 4);
  await app.background();
  const [mail] = outboxOf(app);
  t.ok(
    String(mail?.raw)
      .split('\r\n')
      .every((line) => line.length <= 998),
  );
  t.notMatch(String(mail?.raw), /^X-Evil/m);
  const { attachments, html } = await PostalMime.parse(mail?.raw ?? '');
  t.match(html, 'Thank you');
  t.strictSame(
    attachments.map(({ filename, mimeType }) => [filename, mimeType]),
    [
      ['Rechnung Übersicht_.pdf', 'application/pdf'],
      ['passwdX-Evil_ 1', 'application/octet-stream'],
      ['attachment-3', 'application/octet-stream'],
    ],
  );
  t.ok(Buffer.from(attachments[0]?.content as ArrayBuffer).equals(large));
  t.equal(Buffer.from(attachments[1]?.content as ArrayBuffer).toString(), 'hi');
  t.equal(piecesOf(app), 0);
  t.match(await stateOf(app, utr), { attachments: [{ size: 1_000_003 }, { size: 2 }, { size: 0 }] });
});

t.test('what is wrong with a request is said, and nothing of it is kept', async (t) => {
  const { app } = await readyToSend(t);
  const wrong = async (more: Record<string, unknown>, key?: string) => {
    const { status, body } = await post(app.one, { ...RECEIPT, ...more }, key);
    return [status, typeof body.errors === 'string' ? body.errors : Object.keys(body.errors).join()];
  };
  const eleven = Buffer.alloc(11 * 1024 * 1024).toString('base64');
  t.strictSame(await wrong({ sender_id: 2 }), [422, 'sender_id']);
  t.strictSame(await wrong({ email: 'a@b.example, c@d.example' }), [422, 'email']);
  t.strictSame(await wrong({ subject: 'a\nBcc: x@example.org' }), [422, 'subject']);
  t.strictSame(await wrong({ data: {} }), [422, 'data']);
  t.strictSame(await wrong({ data: { order: '1', 'a-b': '2' } }), [422, 'data']);
  t.strictSame(await wrong({ data: { order: 'x'.repeat(65_000) }, template_html: '((order))'.repeat(40) }), [
    422,
    'data',
  ]);
  t.strictSame(await wrong({ template_html: '<a href="((unsubscribe_preferences))">Leave</a>' }), [
    422,
    'template_html',
  ]);
  t.strictSame((await post(app.one, { ...RECEIPT, template_html: '' })).body.errors, {
    content: ['The e-mail has no content: give text, template_html, template_json or template_id.'],
  });
  t.strictSame(await wrong({ template_id: 99_999 }), [422, 'template_id']);
  t.strictSame(await wrong({ text: 'Dear ((if order))a', template_html: '' }), [422, 'text']);
  t.strictSame(await wrong({ attachments: [{ name: 'a', content: 'no base64!' }] }), [422, 'attachments']);
  t.strictSame(await wrong({ attachments: [{ name: 'a', content: `${'A'.repeat(700_000)}*AAA` }] }), [
    422,
    'attachments',
  ]);
  t.strictSame(await wrong({ attachments: [{ name: 'a', content: eleven }] }), [422, 'attachments']);
  t.strictSame(await wrong({ attachments: 'a' }), [422, 'attachments']);
  // Making the first one harmless would take minutes, and the second one is cut out of the body.
  for (const name of [`x${'. '.repeat(200_000)}x`, 'x'.repeat(40_000), 'x'.repeat(256)])
    t.strictSame(await wrong({ attachments: [{ name, content: '' }] }), [422, 'attachments']);
  t.strictSame(await wrong({}, 'ü'), [422, 'idempotency_key']);
  t.strictSame(await wrong({}, 'x'.repeat(256)), [422, 'idempotency_key']);
  t.equal(piecesOf(app), 0);
  t.equal(app.db.prepare('SELECT count(*) FROM transactional_mails').pluck().get(), 0);
});

t.test('the same request with the same key sends one mail; another request with it is refused', async (t) => {
  const { app } = await readyToSend(t);
  const json = { ...RECEIPT, attachments: [{ name: 'a.txt', content: Buffer.from('one').toString('base64') }] };
  const utr = await sent(app, json, 'order-12');
  t.equal(await sent(app, json, 'order-12'), utr);
  await app.background();
  t.equal(await sent(app, { ...json, data: { order: '12 & 13' } }, 'order-12'), utr, 'also when it has left');
  for (const other of [
    { ...json, subject: 'Other' },
    { ...json, email: 'bob@example.org' },
    { ...json, attachments: [{ name: 'a.txt', content: Buffer.from('two').toString('base64') }] },
  ]) {
    const { status, body } = await post(app.one, other, 'order-12');
    t.strictSame([status, body.errors], [409, 'This Idempotency-Key was used for another request']);
  }
  t.not(await sent(app, json, 'order-13'), utr);
  const both = await Promise.all([1, 2, 3].map(() => sent(app, json, 'order-14')));
  t.equal(new Set(both).size, 1, 'requests at the same moment');
  await app.background();
  t.equal(outboxOf(app).length, 3);
  app.clock.advance(25 * 60 * 60 * 1000);
  await app.background();
  t.not(await sent(app, json, 'order-12'), utr, 'a key is forgotten after a day');
});

t.test('a key belongs to one account, and so do mails and senders', async (t) => {
  const { app } = await readyToSend(t);
  const utr = await sent(app, RECEIPT, 'order-12');
  t.match((await post(app.two, RECEIPT, 'order-12')).body.errors, { sender_id: [String] });
  const details = await app.two.call('GET', '/transactional/details', { query: { utr } });
  t.strictSame([details.status, details.body.errors], [404, 'Record not found']);
  const mine = await app.two.call('GET', '/transactional/list', { query: { email: 'ann@example.org' } });
  t.strictSame(mine.body.message, { mails: [], next_before_id: null });
  t.equal((await post(app.anonymous, RECEIPT)).status, 401);
});

t.test('the list has the newest first, page by page, by state and by address', async (t) => {
  const { app } = await readyToSend(t);
  const utrs = [];
  for (const email of ['a@example.org', 'b@example.org', 'a@example.org'])
    utrs.push(await sent(app, { ...RECEIPT, email }));
  await app.background();
  await sent(app);
  const list = async (query: Record<string, unknown>) =>
    (await app.one.call('GET', '/transactional/list', { query })).body.message;
  const first = await list({ limit: 3 });
  t.strictSame(
    first.mails.map(({ email }: { email: string }) => email),
    ['Ann@Example.org', 'a@example.org', 'b@example.org'],
  );
  const next = await list({ limit: 3, before_id: first.next_before_id });
  t.strictSame([next.mails.length, next.mails[0].utr, next.next_before_id], [1, utrs[0], null]);
  t.equal((await list({ email: 'A@example.org' })).mails.length, 2);
  t.equal((await list({ email: 'nobody' })).mails.length, 0);
  t.equal((await list({ state: 'queued' })).mails.length, 1);
});

t.test('the outbox keeps the newest 128 MiB, however large its mails are', async (t) => {
  const { app } = await readyToSend(t);
  app.db.exec(`
    DELETE FROM outbox;
    WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 13)
    INSERT INTO outbox (id, user_id, mailing_id, envelope_from, envelope_to, "from", "to", subject, raw, created_at)
      SELECT at, 1, 0, '', '', '', '', '', zeroblob(10 << 20), '' FROM n`);
  await sent(app, {
    ...RECEIPT,
    attachments: [{ name: 'a', content: Buffer.alloc(9_000_000).toString('base64') }],
  });
  await app.background();
  const ids = app.db.prepare<[], number>('SELECT id FROM outbox ORDER BY id').pluck().all();
  t.strictSame(ids, [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
});

t.test('erasing a person removes their transactional mails', async (t) => {
  const { app } = await readyToSend(t);
  await sent(app, { ...RECEIPT, attachments: [{ name: 'a', content: 'aGk=' }] });
  const { contacts } = (await app.one.call('GET', '/contacts/list')).body.message;
  const ann = contacts.find(({ email }: { email: string }) => email === 'Ann@example.org');
  const answer = await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: ann.id } });
  t.equal(answer.status, 200, answer.text);
  t.equal(piecesOf(app), 0);
  t.equal(app.db.prepare('SELECT count(*) FROM transactional_mails').pluck().get(), 0);
});

t.test('a mail that was taken is answered so, also where nothing can be said about a long text', async (t) => {
  const { app } = await readyToSend(t);
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (message) {
    if (message.name === 'warnings') void this.terminate();
    return postMessage.call(this, message);
  };
  t.teardown(() => {
    Worker.prototype.postMessage = postMessage;
  });
  const utr = await sent(app, { ...RECEIPT, template_html: `<p>((order))</p>${'<p>news</p>'.repeat(10_000)}` });
  t.match(await stateOf(app, utr), { state: 'queued' });
});

t.test('a mail that could not be compiled because the thread ended is answered with 503', async (t) => {
  const { app } = await readyToSend(t);
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function () {
    Worker.prototype.postMessage = postMessage;
    void this.terminate();
  };
  t.teardown(() => {
    Worker.prototype.postMessage = postMessage;
  });
  t.match(await post(app.one, RECEIPT), { status: 503, headers: { 'retry-after': '1' } });
  await sent(app, RECEIPT);
});
