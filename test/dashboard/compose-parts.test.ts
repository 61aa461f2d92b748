/** What composing says of a subject and of a mail, without a service. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { missingParts, seenValue } from '../../src/campaigns/screens/compose/step.tsx';
import { subjectHints, subjectLength } from '../../src/campaigns/screens/compose/subject-hints.ts';
import { type CheckContext, checkContent } from '../../src/delivery/checks/content-checks.ts';
import { inDark } from '../../src/delivery/shown/mail-frame.ts';
import { wallClock } from '../../src/time/zones.ts';

const hintsOf = (subject: string, preheader = 'News') => subjectHints(subject, preheader).map(({ hint }) => hint);

t.test('a plain subject gets no hint, and what filters count gets one', async (t) => {
  t.strictSame(hintsOf('Your spring letter, ((first_name|friend))'), []);
  t.strictSame(hintsOf('Fünf Bücher für den BBC-Abend'), [], 'short names in capitals are names');
  t.strictSame(subjectHints('GREAT NEWS, GREAT day', 'x'), [{ hint: 'capitals', words: 'GREAT, NEWS' }]);
  t.strictSame(subjectHints('A free book', 'Kostenlos!'), [{ hint: 'words', words: 'free, kostenlos' }]);
  t.strictSame(hintsOf('Freedom and freestyle'), [], 'only whole words');
  t.strictSame(hintsOf('Now! Here!'), ['marks']);
  t.strictSame(hintsOf('x'.repeat(61)), ['long']);
  t.strictSame(hintsOf('Hello', ''), ['preheader']);
  t.strictSame(hintsOf('((FIRST_NAME))'), [], 'a placeholder is no word');
  t.equal(subjectLength('Hi ((first_name|you))'), 6);
  t.equal(subjectLength('🐦🐦'), 2);
});

const MAIL = {
  html: '<html lang="en"><p>Hello</p><a href="http://mail.example.com/u/preview">Leave</a></html>',
  text: 'Hello\n\n1  Harbour\nSt, Hamburg',
  subject: 'News',
};
const NONE = { count: 0, names: [] };
const CONTEXT: CheckContext = {
  withoutValue: [],
  known: ['first_name'],
  unknown: NONE,
  foreign: NONE,
  address: '1 Harbour St',
  lacking: [],
  template: '',
  attached: [],
  linkRules: null,
  from: 'lark@shop.example',
};
const wrongOf = (mail: Partial<typeof MAIL>, context: Partial<CheckContext> = {}) =>
  checkContent({ ...MAIL, ...mail }, { ...MAIL, ...mail }, { ...CONTEXT, ...context }).own.flatMap(
    ({ check, isGood, values }) => (isGood ? [] : [[check, values.names.join(', ')]]),
  );

t.test('the checks name links that lead nowhere, unknown placeholders and what is missing', async (t) => {
  t.strictSame(wrongOf({}), []);
  t.strictSame(wrongOf({ html: '<p>Hello</p>' }), [['leave', '']]);
  t.strictSame(wrongOf({ text: 'Hello' }), [['address', '']]);
  t.strictSame(wrongOf({}, { address: '' }), [['address', '']]);
  t.strictSame(wrongOf({}, { lacking: ['city_id', 'country_id'] }), [['addressLacks', 'city_id, country_id']]);
  const warned = { unknown: { count: 1, names: ['frist_name'] }, foreign: { count: 1, names: ['*|FNAME|*'] } };
  t.strictSame(wrongOf({}, { withoutValue: ['first_name', 'frist_name'], ...warned }), [
    ['unknown', 'frist_name'],
    ['foreign', '*|FNAME|*'],
    ['values', 'first_name'],
  ]);
  const links = (urls: string[]) => MAIL.html + urls.map((url) => `<a href="${url}">x</a>`).join('');
  const good = [
    'https://example.org/a?b=1',
    'http://shop.example.co.uk',
    'mailto:a@example.com',
    'tel:+49 40 123',
    'https://bücher.example',
  ];
  t.strictSame(wrongOf({ html: links(good) }), []);
  const bad = ['example.com', '#', 'http://localhost/a', 'https://', 'javascript:alert(1)'];
  t.strictSame(wrongOf({ html: links(bad) }), [['urls', bad.join(', ')]]);
  t.equal(wrongOf({ html: links(Array.from({ length: 50 }, () => 'y'.repeat(500))) })[0]?.[1]?.length, 5 * 82 - 2);
});

const templateHtml = (name: string) =>
  readFileSync(new URL(`../../data/templates/${name}.html`, import.meta.url), 'utf8');
const samplesIn = (html: string) => wrongOf({ html }).filter(([check]) => check === 'sample')[0]?.[1] ?? '';

t.test('text of a built-in template that was left in a mail is named, with its links', async (t) => {
  const left = samplesIn(templateHtml('promotion'));
  for (const text of ['One week only', 'until Sunday at midnight', 'SPRING20', 'https://example.com/sale'])
    t.match(left, text);
  t.notMatch(left, /mailing list|Hello|Start shopping/, 'what is meant to stay is none');
  for (const name of ['newsletter', 'letter', 'welcome', 'announcement', 'event', 'product', 'notice'])
    t.not(samplesIn(templateHtml(name)), '', name);
  t.equal(samplesIn(templateHtml('blank')), '');
});

t.test('what somebody wrote is no sample text, even where a template has a few of its words', async (t) => {
  t.equal(samplesIn('<p>One week only</p><p>Our lamps are half price until Sunday.</p>'), '');
  t.equal(samplesIn('<p>Behind the scenes</p><p>Our oven is two years old today.</p>'), '');
  t.equal(samplesIn('<p>20% off</p><a href="https://shop.example/sale">Start shopping</a>'), '');
  t.equal(
    samplesIn('<p>Everything in the shop, until Sunday at midnight.</p>'),
    '',
    'a text that was changed is not ours',
  );
  t.equal(
    samplesIn('<p>One week <b>only</b></p><p>Your code: <b>SUMMER</b></p><td>SPRING20</td>'),
    'One week only, SPRING20',
  );
});

t.test('in dark colours the rules of the mail for them hold, and no others', async (t) => {
  const html =
    '<head><style>@media (prefers-color-scheme: dark) {a{}} @media (PREFERS-color-scheme:light){b{}}</style></head>';
  t.match(
    inDark(html),
    '<head><style>:root { color-scheme: dark; }</style><style>@media (min-width: 0) {a{}} @media (max-width: 0){b{}}',
  );
  t.match(inDark('<p>Hi</p>'), /^<style>.*<\/style><p>Hi<\/p>$/);
});

t.test('what is missing is in the order of the steps', async (t) => {
  const draft = { sender_id: 0, unsubscribe_group_id: 1, subject: '', preheader: 'x', content: 'none' } as const;
  t.strictSame(missingParts(draft, { recipients: 0, left_out: [], with_zone: 0 }), [
    'people',
    'sender',
    'subject',
    'content',
  ]);
});

t.test('the same targets in another order are the same form', async (t) => {
  t.equal(seenValue({ to: ['a', 'b'], name: 'x' }), seenValue({ to: ['b', 'a'], name: 'x' }));
  t.not(seenValue({ to: ['a', 'b'] }), seenValue({ to: ['a'] }));
});

t.test('the wall clock of a zone is the contract’s date and time', async (t) => {
  t.strictSame(wallClock(new Date('2026-03-29T00:59:59Z'), 'Europe/Berlin'), { date: '2026-03-29', time: '01:59:59' });
  t.strictSame(wallClock(new Date('2026-03-29T01:00:00Z'), 'Europe/Berlin'), { date: '2026-03-29', time: '03:00:00' });
  t.strictSame(wallClock(new Date('2026-01-01T00:00:00Z'), 'America/New_York'), {
    date: '2025-12-31',
    time: '19:00:00',
  });
});

t.test('a picture of a design without a text in its place is named, unless it is decoration', async (t) => {
  const picture = (attributes: object) => ({
    tagName: 'mj-image',
    attributes: { src: 'https://x.example/a.png', ...attributes },
  });
  const found = (...pictures: object[]) => {
    const column = { tagName: 'mj-column', attributes: {}, children: pictures };
    const section = { tagName: 'mj-section', attributes: {}, children: [column] };
    const body = { tagName: 'mj-body', attributes: {}, children: [section] };
    const template = JSON.stringify({ tagName: 'mjml', attributes: {}, children: [body] });
    return checkContent(MAIL, MAIL, { ...CONTEXT, template }).shared.find(({ check }) => check === 'images');
  };
  t.match(found(picture({ alt: 'A boat' }), picture({ 'data-decoration': 'yes' })), { isGood: true });
  t.match(found(picture({}), picture({}), picture({ alt: 'A boat' })), { isGood: false, values: { count: 2 } });
});
