/** Pages around a large mail: the thread that answers requests never reads the whole mail, and answers are bounded. */
import { on, once } from 'node:events';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import type { TestApp } from '../support/app.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import { createSend, outboxOf, readyToSend } from '../support/single-sends.ts';

const LARGE = 300_000;

/** Counts how often this thread searches a text of more than 300 000 characters by a pattern, or reads it as JSON. */
function countReading(t: Test): { count(): number } {
  let count = 0;
  const seen = (text: unknown) => {
    if (typeof text === 'string' && text.length > LARGE) count++;
  };
  const { exec } = RegExp.prototype;
  const { parse } = JSON;
  RegExp.prototype.exec = function (text) {
    seen(text);
    return exec.call(this, text);
  };
  JSON.parse = (text, reviver) => {
    seen(text);
    return parse(text, reviver);
  };
  t.teardown(() => {
    RegExp.prototype.exec = exec;
    JSON.parse = parse;
  });
  return { count: () => count };
}

const PART =
  '<p>Dear ((first_name|you)), "news" &amp; <a href="https://example.com/a">more</a> of it, with enough words</p>';

t.test(
  'no page reads a whole mail in the thread that answers requests, before it is sent and afterwards',
  async (t) => {
    const { app, body } = await readyToSend(t);
    const template_html = `<html><body>${PART.repeat(500)}${'<b>words</b> '.repeat(28_000)}</body></html>`;
    t.ok(template_html.length > 400_000);
    const utr = await createSend(app, {
      ...body,
      template_html,
      schedule_type: 1,
      schedule_date: '2030-01-01',
      schedule_time: '10:00',
    });
    const cookie = cookieOf(app, addPerson(app));
    const open = (path: string) => app.page('GET', path, { headers: { ...FROM_PAGE, cookie } });
    const reading = countReading(t);
    const pages: [path: string, most: number][] = [
      ['edit/content', 100_000],
      ['edit/check', 200_000],
      ['edit/mail', 500_000],
      ['edit/mail?colours=dark', 500_000],
      ['edit/html', 100_000],
      ['edit/html/code', 450_000],
      ['preview', 200_000],
      ['preview/mail', 500_000],
      ['links', 100_000],
      ['links/mail', 700_000],
    ];
    for (const [path, most] of pages) {
      const { status, text } = await open(`/campaigns/${utr}/${path}`);
      t.equal(status, 200, path);
      t.ok(text.length > 500 && text.length < most, `${path}: ${text.length}`);
      t.equal(reading.count(), 0, path);
    }
  },
);

t.test('previews of the API hold the beginning of a long text part and say how long it is', async (t) => {
  const { app, body } = await readyToSend(t);
  const template_html = '<'.repeat(400_000);
  const utr = await createSend(app, { ...body, template_html });
  const get = async (path: string, query: Record<string, string> = {}) =>
    app.one.call('GET', path, { query: { utr, ...query } });
  const { mail } = (await get('/single-send/mail')).body.message;
  const given = { ...body, template_html };
  const { preview } = (await app.one.call('POST', '/single/send/preview', { form: given })).body.message;
  for (const { text, text_length, html } of [mail, preview.mail]) {
    t.equal(text.length, 100_000);
    t.ok(text_length >= 400_000 && text_length < 401_000, `${text_length}`);
    t.ok(html.includes(template_html));
  }
  t.equal((await get('/single-send/mail/html')).text, mail.html);
  t.strictSame((await get('/single-send/mail', { html: '0' })).body.message.mail, { ...mail, html: '' });
  t.equal((await get('/single-send/html')).text, template_html);
});

t.test('a large test mail is made and written without its text in the thread that answers requests', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, { ...body, template_html: PART.repeat(4000) });
  const { emit } = Worker.prototype;
  let texts = 0;
  Worker.prototype.emit = function (name: string, ...given: unknown[]) {
    if (name === 'message') texts += longTexts(given);
    return emit.call(this, name, ...given);
  };
  t.teardown(() => {
    Worker.prototype.emit = emit;
  });
  const sent = await app.one.call('POST', '/single/send/test', { form: { utr, email_address: 'ann@example.org' } });
  t.equal(sent.status, 200);
  t.equal(texts, 0);
  await app.background();
  t.match(outboxOf(app).at(-1)?.raw, /words/);
  const frozen = app.db.prepare("SELECT content FROM mailings WHERE owner_kind = 'single_test'").pluck().get();
  t.match(JSON.parse(String(frozen)), { has_own_sender_name: false, content: { links: ['https://example.com/a'] } });
});

const isLong = (value: unknown) => typeof value === 'string' && value.length > LARGE;

/** How many long texts a value has, whatever is around them. */
function longTexts(value: unknown): number {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return isLong(value) ? 1 : 0;
  return Object.values(value).reduce<number>((sum, part) => sum + longTexts(part), 0);
}

t.test(
  'a page about a large mail is refused before the mail is read, and a user has six pages at a time',
  async (t) => {
    const { app, body } = await readyToSend(t);
    const utr = await createSend(app, { ...body, template_html: PART.repeat(4000) });
    const [cookie, other] = [addPerson(app, 'viewer'), addPerson(app)].map((person) => cookieOf(app, person));
    const open = (path: string, cookie = '') => app.page('GET', path, { headers: { ...FROM_PAGE, cookie } });
    const counts = (answers: { status: number }[], status: number) =>
      answers.filter((answer) => answer.status === status).length;
    const path = `/campaigns/${utr}/edit/mail`;
    t.equal((await open(path, other)).status, 200);
    const reads = countReads(t, app);
    const asked = Array.from({ length: 130 }, () => open('/campaigns', cookie));
    t.equal((await open('/', other)).status, 200, 'others have their pages');
    const answers = await Promise.all(asked);
    t.strictSame([counts(answers, 200), counts(answers, 503)], [100, 30]);
    t.match(answers.at(-1)?.headers, { 'retry-after': '1' });
    t.equal(reads.count(), 0);
    const checks = await Promise.all(
      Array.from({ length: 30 }, () => app.one.call('GET', '/single-send/check', { query: { utr } })),
    );
    t.strictSame([counts(checks, 200), counts(checks, 429)], [3, 27]);
    t.ok(reads.count() <= 6, `${reads.count()} reads`);
  },
);

t.test('a page is not made that the browser gave up while it waited for its turn', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, { ...body, template_html: PART.repeat(4000) });
  const cookie = cookieOf(app, addPerson(app));
  const { server } = app.fastify;
  const origin = new URL(await app.fastify.listen({ host: '127.0.0.1', port: 0 }));
  const reads = countReads(t, app);
  t.equal((await app.page('GET', `/campaigns/${utr}/edit/mail`, { headers: { cookie } })).status, 200);
  const ofOne = reads.count();
  const requests = on(server, 'request');
  const sockets = Array.from({ length: 60 }, () => {
    const socket = connect(Number(origin.port), origin.hostname);
    socket.write(`GET /campaigns/${utr}/edit/mail HTTP/1.1\r\nHost: ${origin.host}\r\nCookie: ${cookie}\r\n\r\n`);
    return socket;
  });
  for (const _ of sockets) await requests.next();
  await Promise.all(sockets.map((socket) => once(socket.destroy(), 'close')));
  t.equal((await app.page('GET', '/campaigns', { headers: { cookie } })).status, 200);
  t.ok(reads.count() < 20 * ofOne, `${reads.count()} reads`);
});

/** Counts the rows with a long text or long bytes that are read. */
function countReads(t: Test, app: TestApp): { count(): number } {
  let count = 0;
  const statement = Object.getPrototypeOf(app.db.prepare('SELECT 1'));
  const { get } = statement;
  statement.get = function (...given: unknown[]) {
    const row: unknown = get.apply(this, given);
    if (Object.values(row ?? {}).some((value) => isLong(value) || (Buffer.isBuffer(value) && value.length > LARGE)))
      count++;
    return row;
  };
  t.teardown(() => {
    statement.get = get;
  });
  return { count: () => count };
}

t.test('a page that cannot be made at the moment says so, and the log says why', async (t) => {
  const log: string[] = [];
  const logTo = new Writable({ write: (line, _encoding, done) => done(void log.push(String(line))) });
  const { app, body } = await readyToSend(t, {}, undefined, logTo);
  const template_json = JSON.stringify({ tagName: 'mjml', children: [{ tagName: 'mj-body', children: [] }] });
  const mail = await createSend(app, { ...body, template_json, template_html: '' });
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function () {
    void this.terminate();
  };
  t.teardown(() => {
    Worker.prototype.postMessage = postMessage;
  });
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  const form = { template_name: 'Spring', mail };
  const { status, text } = await app.page('POST', '/templates/new', { form, headers });
  t.equal(status, 503);
  t.notMatch(text, 'ended without an answer');
  t.match(log.join(''), 'ended without an answer');
});
