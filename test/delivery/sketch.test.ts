/** Small pictures of mails. */
import t from 'tap';
import { sketchMail } from '../../src/delivery/shown/mail-sketch.ts';

const mjml = (...children: object[]) =>
  JSON.stringify({ tagName: 'mjml', attributes: {}, children: [{ tagName: 'mj-body', attributes: {}, children }] });
const section = (attributes: object, ...columns: object[][]) => ({
  tagName: 'mj-section',
  attributes,
  children: columns.map((children) => ({ tagName: 'mj-column', attributes: {}, children })),
});
const part = (tagName: string, attributes: object = {}, content = '') => ({ tagName, attributes, content });

t.test('a mail of blocks has its grounds, its buttons in their colours, and columns side by side', async (t) => {
  const text = part('mj-text', { 'font-size': '16px' }, '<p>Some words to read</p>');
  const json = mjml(
    section({ 'background-color': '#123456' }, [part('mj-image', { width: '600px' })]),
    section({}, [text], [text]),
    section({}, [part('mj-button', { 'background-color': '#abcdef' }, 'Buy')]),
  );
  const svg = sketchMail({ json, html: '' });
  t.match(svg, /fill="#ffffff".*fill="#123456".*fill="#abcdef"/s);
  const lefts = [...svg.matchAll(/M([\d.]+) [\d.]+h[\d.]+v2\.5/g)].map((one) => Number(one[1]));
  t.equal(new Set(lefts).size, 2);
});

t.test('a mail of HTML has its images, headings, texts and buttons', async (t) => {
  const html = `<html><head><title>Not seen</title><style>p { color: red }</style></head><body bgcolor="#fafafa"><h1>News</h1>
    <img src="x" width="600" height="300"><p>Text</p><a style="background:#0055aa" href="#">Buy</a><p>More</p><img width="1" height="1"></body></html>`;
  const svg = sketchMail({ json: '', html });
  t.match(svg, /fill="#fafafa".*fill="#0055aa"/s);
  t.equal(svg.match(/v2\.5h/g)?.length, 2, 'two lines of text, and none of the head or the button');
});

t.test('what a mail says is in no picture of it, and any code gives one in little time', async (t) => {
  for (const [json, html] of [
    [mjml(section({ 'background-color': '"/><script>alert(1)</script>' }, [part('mj-text', {}, 'secret')])), ''],
    ['', '<body style="background:#fff"><p style="background:url(javascript:1)">secret</p>'],
    ['not json', ''],
    ['{"tagName":"mjml"}', ''],
    ['', '<'.repeat(2_000_000)],
    ['', '<a style="background:#111">'.repeat(40_000)],
    [mjml(section({}, [part('mj-text', {}, '<'.repeat(400_000))])), ''],
    ['', ''],
  ] as const) {
    const svg = sketchMail({ json, html });
    t.match(svg, /^<svg [^<>]+>(<path fill="#[0-9a-f]{3,6}" d="[\w .-]+"\/>)+<\/svg>$/i);
    t.ok(svg.length < 5000, `${svg.length} characters`);
  }
});
