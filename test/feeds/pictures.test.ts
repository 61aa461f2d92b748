/** The pictures and the language of a feed, in its mails. */
import t from 'tap';
import { makeIssue } from '../../src/feeds/issue-content.ts';
import { readFeed } from '../../src/feeds/read-feed.ts';

const BASE = 'https://blog.example/feed.xml';
const imagesOf = async (text: string) => (await readFeed(text, BASE))?.items.map(({ image }) => image);

t.test('the picture of an item is its enclosure or Media RSS, or else the first in its text, over https', async (t) => {
  const item = (content: string) => `<item><guid>${content.length}${content.slice(-9)}</guid>${content}</item>`;
  const rss = [
    '<enclosure type="image/png" url="https://i.example/1.png"/><description>&lt;img src="https://i.example/no.png"&gt;</description>',
    '<enclosure type="audio/mpeg" url="https://i.example/a.mp3"/><media:content medium="image" url="/2.png"/>',
    '<media:group><media:thumbnail url="https://i.example/3.png"/></media:group>',
    '<description>x</description><content:encoded><![CDATA[<p>a</p><img alt="" src="https://i.example/4.png?a=1&amp;b=2">]]></content:encoded>',
    '<enclosure type="image/png" url="http://i.example/5.png"/>',
    '<description>none</description>',
  ].map(item);
  t.strictSame(await imagesOf(`<rss><channel>${rss.join('')}</channel></rss>`), [
    'https://i.example/1.png',
    'https://blog.example/2.png',
    'https://i.example/3.png',
    'https://i.example/4.png?a=1&b=2',
    '',
    '',
  ]);
  const atom =
    '<feed><entry><id>1</id><link rel="enclosure" type="image/jpeg" href="https://i.example/6.jpg"/></entry></feed>';
  t.strictSame(await imagesOf(atom), ['https://i.example/6.jpg']);
  const json = { version: 'https://jsonfeed.org/version/1.1', items: [{ id: '1', image: 'https://i.example/7.png' }] };
  t.strictSame(await imagesOf(JSON.stringify(json)), ['https://i.example/7.png']);
});

t.test('a feed says its language in each format; anything else is none', async (t) => {
  const languageOf = async (text: string) => (await readFeed(text, BASE))?.language;
  t.equal(await languageOf('<rss><channel><language>de-AT</language></channel></rss>'), 'de-AT');
  t.equal(await languageOf('<feed xml:lang="fr"><title>x</title></feed>'), 'fr');
  t.equal(await languageOf('{"version":"https://jsonfeed.org/version/1.1","language":"pl","items":[]}'), 'pl');
  t.equal(await languageOf('<rss><channel><language>"&gt;&lt;script&gt;</language></channel></rss>'), '');
  t.equal(await languageOf('<rss><channel><title>x</title></channel></rss>'), '');
});

const item = { title: 'One', link: 'https://blog.example/1', summary: '', author: '', date: '' };
const made = (html: string, image: string | undefined, language = 'de') =>
  makeIssue({
    ...{ feed_title: 'Blog', language, subject: 'x', preheader: '', html, time_zone: 'UTC' },
    items: [{ ...item, ...(image !== undefined && { image }) }],
  })?.html;

t.test('a picture is where the template has it, and its element is left out without one', async (t) => {
  const html = '((items))<img alt="" src="((item_image))"><b>((item_title))</b>((items_end))';
  const image = 'https://i.example/a.png?((email))"onerror=x';
  t.equal(
    made(html, image),
    '<img alt="" src="https://i.example/a.png?%28%28email%29%29&quot;onerror=x"><b>One</b>',
    'escaped, and without merge tags',
  );
  for (const none of ['', undefined]) t.equal(made(html, none), '<b>One</b>');
  const attribute = (name: string) => `${name}="${'x'.repeat(5_000)}"`;
  const long = `<img ${attribute('alt')} src="(( item_image ))" ${attribute('title')}><img src="own.png">`;
  t.equal(made(long, ''), '<img src="own.png">', 'however long its tag is');
});

t.test('a mail that declares no language has that of the feed', async (t) => {
  t.equal(made('<html><p>x</p></html>', ''), '<html lang="de"><p>x</p></html>');
  t.equal(made('<html dir="ltr" lang="en"><p>x</p></html>', ''), '<html dir="ltr" lang="en"><p>x</p></html>');
  t.equal(made('<html><p>x</p></html>', '', ''), '<html><p>x</p></html>');
});
