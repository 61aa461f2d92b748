/** What every page keeps to: language, title, one style sheet of its own, no cookie, nobody else asked. */
import PostalMime from 'postal-mime';
import t from 'tap';
import { builtUrls } from '../../src/http/static-files.ts';
import { type Answer, startApp } from '../support/app.ts';
import { sendCampaign } from '../support/campaign.ts';

t.test('every page has a language and a title, sets no cookie and asks nobody else', async (t) => {
  const app = await startApp(t);
  const { utr, mails } = await sendCampaign(t, app, {
    html: '<p>Hello</p><a href="https://shop.example/">news</a> <a href="((web_copy))">View in browser</a>',
  });
  const { u = '', w = '', o = '', c = '' } = mails[0]?.paths ?? {};
  const report = await app.one.call('GET', '/single-send/report', { query: { utr } });
  const design = new URL(report.body.message.report.design_url).pathname;
  const raw = app.db.prepare<[], Buffer>('SELECT raw FROM outbox ORDER BY id LIMIT 1').pluck().get();
  const { html = '', text: plain = '' } = await PostalMime.parse(raw ?? '');
  t.match(html, '<html lang="en">', 'the mail that asks a sender to confirm');
  t.notMatch(html, /<img|<script|<link|<iframe|@import|url\(/, 'and it fetches nothing');
  const verify = /\/verify\/\S+/.exec(plain)?.[0] ?? '';
  const form = (fields: Record<string, string>) => app.page('POST', u, { form: fields });

  const own: [string, Answer, number][] = [
    ['preferences', await app.page('GET', u), 200],
    ['one click', await app.page('POST', u), 200],
    ['unsubscribing from a copy', await app.page('GET', '/u/shared'), 200],
    ['choices', await form({ form: 'groups', shown: '1', on: '1' }), 200],
    ['no mail at all', await form({ form: 'none' }), 200],
    ['the way back', await form({ form: 'back' }), 200],
    ['too much', await form({ form: 'x'.repeat(5 * 1024 * 1024) }), 413],
    ['an unknown link', await app.page('GET', `${u}x`), 404],
    ['an unknown click', await app.page('GET', `${c}9`), 404],
    ['no page', await app.page('GET', '/nowhere'), 404],
    ['confirm', await app.page('GET', verify), 200],
    ['confirmed', await app.page('POST', verify), 200],
    ['an unknown confirmation', await app.page('GET', `${verify}x`), 404],
  ];
  const designPage = await app.page('GET', design);
  app.clock.advance(48 * 3_600_000);
  own.push(['an expired design', await app.page('GET', design), 410]);
  for (const [name, { status, headers, text }, expected] of own) {
    t.equal(status, expected, name);
    t.match(headers['content-security-policy'], /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:;/, name);
    t.notMatch(text, /<script|<iframe|\son\w+=|style="/, `${name}: no script, no loose style`);
    t.match(text, ':focus-visible{outline:3px', `${name}: focus shows`);
  }
  const others: [string, Answer, number][] = [
    ['a design', designPage, 200],
    ['a web copy', await app.page('GET', w), 200],
    ['a pixel', await app.page('GET', o), 200],
    ['a click', await app.page('GET', c), 302],
    ['the API reference', await app.page('GET', '/docs'), 200],
    ['a script', await app.page('GET', builtUrls('design').url), 200],
    ['a picture', await app.page('GET', '/images/templates/blank.png'), 200],
    ['alive', await app.page('GET', '/healthz'), 200],
  ];
  for (const [name, { status }, expected] of others) t.equal(status, expected, name);
  for (const [name, { headers, text }] of [...own, ...others]) {
    t.notOk(headers['set-cookie'], name);
    t.equal(headers['referrer-policy'], 'no-referrer', name);
    t.equal(headers['x-content-type-options'], 'nosniff', name);
    t.ok(headers['content-security-policy'], name);
    if (name === 'a web copy' || !String(headers['content-type']).startsWith('text/html')) continue;
    t.match(text, '<html lang="en">', name);
    t.match(text, /<title>[^<]+<\/title>/, name);
    t.match(text, '<meta name="viewport" content="width=device-width, initial-scale=1"/>', name);
    t.equal(text.match(/<h1[ >]/g)?.length, 1, `${name}: one heading`);
    t.notMatch(text, /(?:src|srcset|action|data|poster)="(?:https?:)?\/\//, name);
    t.notMatch(text, /<link[^>]+href="(?:https?:)?\/\//, name);
    t.notMatch(text, /@import|url\(/, name);
  }
});

t.test('the sender in links and web copies is read from the content of a mailing once', async (t) => {
  const app = await startApp(t);
  const { mails } = await sendCampaign(t, app, {
    html: '<a href="https://shop.example/((first_name))">news</a> <a href="((web_copy))">View in browser</a>',
  });
  const { w = '', c = '' } = mails[0]?.paths ?? {};
  const statement = Object.getPrototypeOf(app.db.prepare('SELECT 1'));
  const { get } = statement;
  let reads = 0;
  statement.get = function (...given: unknown[]) {
    if (/content ->>/.test(this.source)) reads++;
    return get.apply(this, given);
  };
  t.teardown(() => {
    statement.get = get;
  });
  for (let times = 0; times < 3; times++) {
    t.equal((await app.page('GET', w)).status, 200);
    t.equal((await app.page('GET', c)).status, 302);
  }
  t.equal(reads, 1);
});
