/** The size of a mail with its values is known before anything is merged, wherever mails are rendered. */
import t from 'tap';
import { type Content, ContentError } from '../../../src/delivery/content/compiled-content.ts';
import { scan } from '../../../src/delivery/content/placeholders.ts';
import { MAX_MERGED, MergedSize, MergedTooLarge } from '../../../src/delivery/mime/merged-size.ts';
import { prepare } from '../../../src/delivery/mime/message.ts';
import { sentence } from '../../../src/errors/sentences.ts';
import { startApp } from '../../support/app.ts';
import { mustSucceed, sendCampaign } from '../../support/campaign.ts';
import { content, facts, recipient, render } from '../../support/mails/sample-message.ts';

const TOO_LARGE = 'With the values of this contact the e-mail is larger than 2 MB';
const QUOTES = '"'.repeat(255);
const REPEATED = `<p>${'((first_name))'.repeat(3000)}</p>`;

const sized = (parts: Partial<Content>) => new MergedSize({ subject: '', html: [], text: [], ...parts });
const isTooLarge = (size: MergedSize, bio: string) => {
  try {
    size.requireFits((name) => (name === 'bio' ? bio : undefined));
    return false;
  } catch (error) {
    if (error instanceof MergedTooLarge) return true;
    throw error;
  }
};

t.test('the size counts subject, HTML and text with values as they are sent, to the character', async (t) => {
  // A quotation mark is six characters in HTML. Each line of 73 characters takes three more for its break.
  const quotes = (count: number) => 6 * count + 3 * Math.ceil((6 * count) / 73);
  const most = 27_000;
  const times = Math.floor(MAX_MERGED / quotes(most));
  const html = scan('((bio))'.repeat(times));
  t.notOk(isTooLarge(sized({ html }), '"'.repeat(most)));
  const rest = MAX_MERGED - times * quotes(most);
  t.notOk(isTooLarge(sized({ html: [...html, 'x'.repeat(rest)] }), '"'.repeat(most)));
  t.ok(isTooLarge(sized({ html: [...html, 'x'.repeat(rest + 1)] }), '"'.repeat(most)), 'the template');
  t.ok(isTooLarge(sized({ html, text: scan('((bio))'.repeat(10)) }), '"'.repeat(most)), 'the text part');
  t.ok(isTooLarge(sized({ subject: '((bio))'.repeat(30) }), 'ö'.repeat(65_000)), 'the subject');
  t.ok(isTooLarge(sized({ text: scan('((bio))'.repeat(10)) }), '€'.repeat(65_000)), 'encoded as quoted-printable');
  t.notOk(isTooLarge(sized({ text: scan('((bio))'.repeat(10)) }), 'e'.repeat(65_000)));
  t.ok(isTooLarge(sized({ text: scan('http://a.example/((bio))'.repeat(10), 'url') }), '€'.repeat(65_000)), 'in a URL');
  t.ok(isTooLarge(sized({ html: scan(`((none|${'"'.repeat(1000)}))`.repeat(400)) }), ''), 'defaults');
});

t.test('values that are the same for everybody count, and a large template may have some', async (t) => {
  const address = { sender_address: 'x'.repeat(500) };
  const html = scan('((sender_address))'.repeat(5000));
  t.throws(() => new MergedSize({ subject: '', html, text: [] }, address).requireFits(() => undefined), MergedTooLarge);
  const large = sized({ html: ['x'.repeat(2 * MAX_MERGED), ...scan('((bio))')] });
  t.notOk(isTooLarge(large, 'x'.repeat(65_000)));
  t.ok(isTooLarge(large, '"'.repeat(65_000)));
});

t.test('nothing is merged of a mail that gets too large', async (t) => {
  const prepared = prepare(await content({ html: '<p>((bio))</p>'.repeat(500) }), facts);
  const started = process.memoryUsage.rss();
  t.throws(() => render(prepared, recipient({ bio: '"'.repeat(65_000) })), MergedTooLarge);
  t.ok(process.memoryUsage.rss() - started < 100 * 1024 * 1024);
  t.ok(render(prepared, recipient({ bio: 'short' })).length > 0);
});

t.test('a template of a few kilobytes that is compiled to more than 8 million characters is refused', async (t) => {
  const { buildContent } = await import('../../../src/delivery/mime/build.ts');
  const wide = {
    tagName: 'mj-attributes',
    children: [{ tagName: 'mj-text', attributes: { color: 'x'.repeat(20_000) } }],
  };
  const texts = Array.from({ length: 600 }, () => ({ tagName: 'mj-text', content: 'x' }));
  const column = { tagName: 'mj-section', children: [{ tagName: 'mj-column', children: texts }] };
  const template_json = JSON.stringify({
    tagName: 'mjml',
    children: [
      { tagName: 'mj-head', children: [wide] },
      { tagName: 'mj-body', children: [column] },
    ],
  });
  const source = { template_json, template_html: null, subject: '', preheader: '', tracking: false, footer: false };
  await t.rejects(buildContent(source), new ContentError(sentence('content_long')));
});

t.test('a recipient whose values make the mail too large fails with a reason, the others get it', async (t) => {
  const app = await startApp(t);
  const people = [
    { email: 'anna@example.org', first_name: 'Anna' },
    { email: 'quotes@example.org', first_name: QUOTES },
  ];
  const { utr, mails } = await sendCampaign(t, app, {
    people,
    html: `${REPEATED}<a href="https://shop.example/${'((first_name))'.repeat(1000)}">news</a> <a href="((web_copy))">copy</a>`,
  });
  t.strictSame(
    mails.map(({ to }) => to),
    ['anna@example.org'],
  );
  const { report } = (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message;
  t.strictSame(report.reasons, [{ state: 'failed', reason: TOO_LARGE, count: 1 }]);
  const query = { utr, email: 'quotes@example.org' };
  const { recipients } = (await app.one.call('GET', '/single-send/recipients', { query })).body.message;
  t.match(recipients, [{ state: 'failed', reply: TOO_LARGE }]);

  const anna = { contact_id: 1, contact_type_id: 1, email: 'anna@example.org', country: 1 };
  const rename = (first_name: string) => mustSucceed(t, app.one)('/contacts/update', { ...anna, first_name });

  t.test('the preview of their mail says so', async (t) => {
    const shown = await app.one.call('GET', '/single-send/mail', { query });
    t.match(shown.body.message.mail, { html: '', problem: TOO_LARGE });
  });

  t.test('a copy and a link say so where the values have become too large since', async (t) => {
    const { w = '', c = '' } = mails[0]?.paths ?? {};
    t.equal((await app.page('GET', w)).status, 200);
    await rename(QUOTES);
    const copy = await app.page('GET', w);
    t.equal(copy.status, 422);
    t.match(copy.text, '<title>This e-mail is too large</title>');
    t.ok(copy.text.length < 10_000);
    await rename('€'.repeat(255));
    t.equal((await app.page('GET', c)).status, 422);
  });

  t.test('a test mail fails with the same reason', async (t) => {
    const email_address = 'quotes@example.org';
    await mustSucceed(t, app.one)('/single/send/test', { utr, email_address });
    await app.background();
    const read = app.db.prepare<[], string>('SELECT english(reply) FROM deliveries ORDER BY id DESC LIMIT 1').pluck();
    t.equal(read.get(), TOO_LARGE);
  });

  t.test('a page of the archive says so', async (t) => {
    await mustSucceed(t, app.one)('/single/send/archive', { utr, is_archived: 1 });
    const { archived } = (await app.one.call('GET', '/single-send/archive', { query: { utr } })).body.message;
    const { pathname } = new URL(archived.url);
    t.equal((await app.page('GET', pathname)).status, 200);
    app.db
      .prepare(`UPDATE mailings SET content = json_set(content, '$.sender_address', ?, '$.content.html', json(?))`)
      .run('x'.repeat(500), JSON.stringify(scan('((sender_address))'.repeat(5000))));
    // A copy in another language is not in memory.
    const copy = await app.page('GET', pathname, { headers: { 'accept-language': 'de' } });
    t.equal(copy.status, 422);
    t.match(copy.text, 'zu groß');
  });

  t.test('a link of more than 8000 characters leads to a page that says so, and counts no click', async (t) => {
    const { c = '' } = mails[0]?.paths ?? {};
    const clicks = app.db.prepare('SELECT count(*) FROM events').pluck();
    const before = clicks.get();
    // The link has the value a thousand times.
    for (const [value, status] of [
      ['x'.repeat(7), 302],
      ['x'.repeat(8), 422],
      ['x'.repeat(255), 422],
    ] as const) {
      await rename(value);
      const { status: got, headers, text } = await app.page('HEAD', c);
      t.equal(got, status);
      if (status === 302) continue;
      t.equal(headers.location, undefined);
      t.match((await app.page('GET', c)).text, '<title>This link is too long</title>');
      t.ok(text.length < 10_000);
    }
    await app.background();
    t.equal(clicks.get(), before);
  });

  t.test('a transactional mail is refused', async (t) => {
    const form = { sender_id: 1, email: 'a@example.org', subject: 'Hi', template_html: REPEATED };
    const answer = await app.one.call('POST', '/transactional/send', {
      json: { ...form, data: { first_name: QUOTES } },
    });
    t.equal(answer.status, 422);
    t.match(answer.body.errors.data, [/too large/]);
    const small = await app.one.call('POST', '/transactional/send', {
      json: { ...form, data: { first_name: 'Anna' } },
    });
    t.equal(small.status, 200, small.text);
  });
});

t.test('a recipient whose values make the subject longer than 998 characters fails with a reason', async (t) => {
  const TOO_LONG = 'With the values of this contact the subject is longer than 998 characters';
  const require = (subject: string, bio: string, constants = {}) =>
    new MergedSize({ subject, html: [], text: [] }, constants).requireFits((name) =>
      name === 'bio' ? bio : undefined,
    );
  require('((bio))', 'x'.repeat(998));
  require('((bio))', `${'x'.repeat(900)}${'\n'.repeat(10_000)}`);
  t.throws(() => require('((bio))', 'x'.repeat(999)), new MergedTooLarge('subject'));
  t.throws(() => require('x((bio))', 'x'.repeat(998)), new MergedTooLarge('subject'));
  t.throws(() => require('((none|y))((shop))', '', { shop: 'x'.repeat(998) }), new MergedTooLarge('subject'));

  const app = await startApp(t);
  const { utr, mails } = await sendCampaign(t, app, {
    people: [
      { email: 'anna@example.org', first_name: 'Anna' },
      { email: 'long@example.org', first_name: 'x'.repeat(255) },
    ],
    subject: '((first_name))'.repeat(4),
  });
  t.strictSame(
    mails.map(({ to }) => to),
    ['anna@example.org'],
  );
  const query = { utr, email: 'long@example.org' };
  const { recipients } = (await app.one.call('GET', '/single-send/recipients', { query })).body.message;
  t.match(recipients, [{ state: 'failed', reply: TOO_LONG }]);
  const shown = await app.one.call('GET', '/single-send/mail', { query });
  t.match(shown.body.message.mail, { html: '', problem: TOO_LONG });
  await mustSucceed(t, app.one)('/single/send/test', { utr, email_address: 'long@example.org' });
  await app.background();
  t.equal(app.db.prepare('SELECT english(reply) FROM deliveries ORDER BY id DESC LIMIT 1').pluck().get(), TOO_LONG);
});
