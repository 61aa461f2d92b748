/** The mail of a feed: its placeholders, and what a feed cannot put into it. */
import t from 'tap';
import { mergeHtml, mergeLine, mergeText } from '../../src/delivery/content/merge.ts';
import { buildContent } from '../../src/delivery/mime/build.ts';
import { nextDigest } from '../../src/feeds/digest-times.ts';
import { makeIssue } from '../../src/feeds/issue-content.ts';

const item = (title: string, more: object = {}) => ({
  ...{ title, link: 'https://blog.example/1', summary: `About ${title}`, author: '', date: '2026-01-15T23:30:00.000Z' },
  ...more,
});
const made = (html: string, items = [item('One'), item('Two')], subject = '((feed_title)): ((item_title|news))') =>
  makeIssue({ feed_title: 'Blog', language: '', subject, preheader: '', html, items, time_zone: 'Europe/Berlin' }) ?? {
    subject: '',
    html: '',
  };

t.test('the block is repeated for each item, and what is around it has the first', async (t) => {
  const { subject, html } = made(
    '<h1>((items_count)) ((item_title))</h1>((items))<a href="((item_link))">((item_title))</a> ((item_date)) ((item_author|us));((items_end))<p>((first_name|you))</p>',
  );
  t.equal(subject, 'Blog: One');
  t.equal(
    html,
    '<h1>2 One</h1><a href="https://blog.example/1">One</a> 2026-01-16 us;<a href="https://blog.example/1">Two</a> 2026-01-16 us;<p>((first_name|you))</p>',
  );
  t.equal(made('<p>((item_title))((items))').html, '<p>One((items))', 'a block that does not end is none');
});

t.test('what a feed says is text: no markup, and no placeholder, wherever it is read later', async (t) => {
  const evil = item('<img src=x onerror=alert(1)> ((email)) (((email))) (', {
    link: 'https://evil.example/?e=((email))&x="><script>',
    summary: '((email|x))',
    author: '(email))',
  });
  // These characters are no text, so they are left out of mails.
  const invisible = item('(\ufdd0(email)) (\x01(email)) (\ufeff(email)) ((email)\ufdef)', { summary: '(\ufdd0' });
  const { subject, html } = made(
    '((items))<a href="((item_link))" title="((item_title))">((item_title))</a> ((item_summary))(email)) (((item_author))((items_end)) <p>((email))</p>',
    [evil, invisible],
  );
  t.notMatch(html, /<img|<script/);
  const content = await buildContent({
    ...{ template_json: null, template_html: html, subject, preheader: '', tracking: true, footer: false },
  });
  const values = { email: 'anna@example.org' };
  t.equal(mergeHtml(content.html, values).split('anna@').length, 2, 'only where the owner wrote it');
  t.equal(mergeText(content.text, values).split('anna@').length, 2);
  t.notMatch(mergeLine(subject, values), 'anna@');
  for (const link of content.links) t.notMatch(mergeLine(link, values), 'anna@');
});

t.test('a mail that would be too large is none, and is not written first', async (t) => {
  const many = Array.from({ length: 100 }, () => item('x', { summary: '&'.repeat(500) }));
  const parts = ['((items))((items_end))', '((items))x((items_end))', '((items))((item_author))((items_end))'];
  const pieces = [...parts.map((part) => part.repeat(50_000)), '((item_author))'.repeat(100_000)];
  for (const html of ['((item_summary))'.repeat(100_000), `((items))${'x'.repeat(1_000_000)}((items_end))`, ...pieces])
    t.equal(made(html, many).html, '');
});

t.test('digests are made at their time in their zone, also when its clocks change', async (t) => {
  const daily = { rhythm: 'daily', weekday: 1, time_of_day: '08:00', time_zone: 'Europe/Berlin' } as const;
  const next = (rhythm: Parameters<typeof nextDigest>[0], now: string) =>
    new Date(nextDigest(rhythm, Date.parse(now)) ?? 0).toISOString();
  t.equal(next(daily, '2026-01-15T06:59:00Z'), '2026-01-15T07:00:00.000Z');
  t.equal(next(daily, '2026-01-15T07:00:00Z'), '2026-01-16T07:00:00.000Z');
  t.equal(next(daily, '2026-03-28T12:00:00Z'), '2026-03-29T06:00:00.000Z', 'summer time has begun');
  t.equal(next({ ...daily, rhythm: 'weekly', weekday: 7 }, '2026-01-18T07:00:00Z'), '2026-01-25T07:00:00.000Z');
  t.equal(
    next({ ...daily, time_zone: 'Pacific/Kiritimati', time_of_day: '00:30' }, '2026-01-15T10:00:00Z'),
    '2026-01-15T10:30:00.000Z',
  );
  t.equal(nextDigest({ ...daily, rhythm: 'item' }, 0), null);
});
