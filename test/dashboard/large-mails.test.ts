/** Pages around a large mail: the thread that answers requests never reads the whole mail, and answers are bounded. */
import t, { type Test } from 'tap';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import { createSend, readyToSend } from '../support/single-sends.ts';

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
      const { status, text } = await open(`/mailings/${utr}/${path}`);
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
