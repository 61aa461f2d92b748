/** Reading feeds: the formats, what identifies an item, and what hostile ones try. */
import t from 'tap';
import { readFeed } from '../../src/feeds/read-feed.ts';

const BASE = 'https://blog.example/feed.xml';
const rss = (items: string) =>
  `<?xml version="1.0"?><rss version="2.0" xmlns:content="x" xmlns:dc="y"><channel><title>Lark &amp; Books</title><link>https://blog.example/</link>${items}</channel></rss>`;

t.test('RSS 2.0: guid, link, title, text of HTML, author and date', async (t) => {
  const feed = await readFeed(
    rss(`<item><title><![CDATA[A &amp; <b>B</b>]]></title><link>/one</link><guid isPermaLink="false">g1</guid><dc:creator>Ann</dc:creator>
<description>&lt;p&gt;First&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;p&gt;second&lt;/p&gt;</description><pubDate>Thu, 15 Jan 2026 09:00:00 GMT</pubDate></item>
<item><guid>https://blog.example/two</guid><content:encoded><![CDATA[<img src=x onerror=alert(1)>Only content]]></content:encoded></item>
<item><title>Neither id nor link</title></item>`),
    BASE,
  );
  t.match(feed, {
    title: 'Lark & Books',
    items: [
      {
        title: 'A & B',
        link: 'https://blog.example/one',
        summary: 'First second',
        author: 'Ann',
        date: '2026-01-15T09:00:00.000Z',
      },
      { title: 'Only content', link: 'https://blog.example/two', summary: 'Only content', author: '', date: '' },
    ],
  });
  t.equal(feed?.items.length, 2, 'what could not be recognized again is left out');
});

t.test('Atom: texts of each type, the link of the entry itself, and the name of its author', async (t) => {
  const feed = await readFeed(
    `<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">News &lt;i&gt;now&lt;/i&gt;</title><entry>
<id>tag:1</id><title>1 &lt; 2</title><link rel="edit" href="/edit"/><link href="/entry"/><author><name>Zoë</name><email>z@example.org</email></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>One &lt;b&gt;</p><p>two</p></div></content><updated>2026-01-15T10:00:00+01:00</updated></entry></feed>`,
    BASE,
  );
  t.match(feed, {
    title: 'News now',
    items: [
      {
        title: '1 < 2',
        link: 'https://blog.example/entry',
        summary: 'One <b> two',
        author: 'Zoë',
        date: '2026-01-15T09:00:00.000Z',
      },
    ],
  });
});

t.test('RSS 1.0 and JSON Feed', async (t) => {
  const rdf = await readFeed(
    '<rdf:RDF><channel><title>Old</title></channel><item rdf:about="urn:1"><title>T</title><link>https://a.example/1</link></item></rdf:RDF>',
    BASE,
  );
  t.match(rdf, { title: 'Old', items: [{ title: 'T', link: 'https://a.example/1' }] });
  const json = await readFeed(
    JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      title: 'J',
      items: [{ id: 5, url: 'https://a.example/5', content_html: '<p>Hi</p>', authors: [{ name: 'Bo' }] }, null, 7],
    }),
    BASE,
  );
  t.match(json, { title: 'J', items: [{ title: 'Hi', summary: 'Hi', author: 'Bo', link: 'https://a.example/5' }] });
});

t.test('an item keeps its identity when it is edited, and has another one with another id', async (t) => {
  const key = async (item: string) => (await readFeed(rss(item), BASE))?.items[0]?.key;
  const first = await key('<item><guid>g</guid><title>One</title><link>/a</link></item>');
  t.equal(await key('<item><title>Edited</title><link>/b</link><guid> g </guid></item>'), first);
  t.not(await key('<item><guid>h</guid><title>One</title><link>/a</link></item>'), first);
  t.equal(
    await key('<item><link>/a</link></item>'),
    await key('<item><link>https://blog.example/a</link><title>x</title></item>'),
  );
  const twice = await readFeed(rss('<item><guid>g</guid></item><item><guid>g</guid></item>'), BASE);
  t.equal(twice?.items.length, 1);
});

t.test('what is no feed is refused', async (t) => {
  for (const text of ['', 'Hello', '<html><body><item/></body></html>', '{"items":[]}', '{', '[]'])
    t.equal(await readFeed(text, BASE), null, text);
});

t.test('entities are never expanded, and no file is read', async (t) => {
  const feed = await readFeed(
    `<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>
${rss('<item><guid>1</guid><title>&b; &x;</title></item>')}`,
    BASE,
  );
  t.equal(feed?.items[0]?.title, '&b; &x;');
});

t.test('a link that runs something is no link', async (t) => {
  const feed = await readFeed(rss('<item><guid>1</guid><link>javascript:alert(1)</link></item>'), BASE);
  t.equal(feed?.items[0]?.link, '');
});

t.test('nesting and numbers of items are bounded', async (t) => {
  t.equal(await readFeed(`<rss>${'<a>'.repeat(400_000)}`, BASE), null);
  const many = Array.from({ length: 3000 }, (_, at) => `<item><guid>${at}</guid></item>`).join('');
  t.equal((await readFeed(rss(many), BASE))?.items.length, 500);
  const attributes = Array.from({ length: 150_000 }, (_, at) => `a${at}=""`).join(' ');
  t.equal(await readFeed(`<rss ${attributes}></rss>`, BASE), null);
  const version = '"version":"https://jsonfeed.org/version/1"';
  t.equal(await readFeed(`{${version},"items":[${'{"a":[]},'.repeat(20_000)}{}]}`, BASE), null);
  const items = Array.from({ length: 600 }, (_, at) => ({
    id: at,
    url: `https://a.example/${at}`,
    content_html: '<p>: {[</p>',
  }));
  const json = await readFeed(`{${version},"items":${JSON.stringify(items, null, 2)}}`, BASE);
  t.equal(json?.items.length, 500);
  const long = await readFeed(rss(`<item><guid>1</guid><title>${'x'.repeat(500_000)}</title></item>`), BASE);
  t.equal([...(long?.items[0]?.title ?? '')].length, 200);
});
