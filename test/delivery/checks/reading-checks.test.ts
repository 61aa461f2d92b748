/** What is checked of a mail beyond its parts: what Gmail cuts off, images, headings, links, spam words, and its header. */
import t from 'tap';
import { checkBuilt } from '../../../src/delivery/checks/built-mail.ts';
import { checkHeaders, checkSender } from '../../../src/delivery/checks/header-checks.ts';
import { readHtml } from '../../../src/delivery/checks/mail-checks.ts';
import { checkReading } from '../../../src/delivery/checks/reading-checks.ts';
import { FINDINGS } from '../../../src/delivery/checks/severity.ts';
import { checkFile } from '../../../src/delivery/shown/file-check.ts';

const foundIn = (html: string, subject = '') =>
  checkReading(readHtml(html), { subject, size: Buffer.byteLength(html) })
    .filter(({ isGood }) => !isGood)
    .map(({ check, values }) => [check, values.count, ...values.names]);

const LONG = `<p>${'Long enough to be read without any image. '.repeat(6)}</p>`;

t.test('of a clipped mail, the unsubscribe link and the pixel have to be in the part that Gmail shows', async (t) => {
  const leave = '<a href="https://mail.shop.de/u/x">Leave</a>';
  const pixel = '<img src="https://mail.shop.de/o/x.gif" width="1" height="1" alt="">';
  const filler = `<p>${'ü'.repeat(53_000)}</p>`;
  t.strictSame(foundIn(`${filler}${leave}${pixel}`), [
    ['clippedUnsubscribe', 1],
    ['clippedPixel', 1],
  ]);
  t.strictSame(foundIn(`${leave}${pixel}${filler}`), []);
  t.strictSame(foundIn(`<p>short</p>${leave}${pixel}`), [], 'a mail that is not clipped has neither');
});

t.test('a mail that says hardly anything without its images is found; the pixel is none', async (t) => {
  t.strictSame(foundIn('<img src="a" alt=""><p>Buy</p>'), [['imagesOnly', 1]]);
  t.strictSame(foundIn(`<img src="a" alt="">${LONG}`), []);
  t.strictSame(foundIn('<img src="a" width="1" height="1" alt=""><p>Short</p>'), []);
});

t.test('the title is no visible text, with or without a head around it', async (t) => {
  for (const html of ['<head><title>News</title></head><p>Hello</p>', '<title>News</title><p>Hello</p>'])
    t.strictSame(readHtml(html).blocks, ['Hello'], html);
});

t.test('headings that are empty or skip a level are counted', async (t) => {
  t.strictSame(foundIn('<h1>A</h1><h3>B</h3><h2> </h2>'), [['headings', 2]]);
  t.strictSame(foundIn('<h2>A</h2><h3>B</h3><h1>C</h1><h2><img alt="D" width="1" height="1"></h2>'), []);
});

t.test('links to example addresses and unencrypted ones are named, each once', async (t) => {
  const links = [
    'https://example.com/a',
    'https://www.EXAMPLE.org',
    'https://shop.example',
    'https://yourdomain.com/x',
    'http://shop.de/a',
    'http://shop.de/a',
    'https://notexample.com',
    'http://127.0.0.1:8080/u/preview',
    'mailto:a@example.com',
  ].map((url) => `<a href="${url}">x</a>`);
  t.strictSame(foundIn(links.join('')), [
    [
      'examples',
      4,
      'https://example.com/a',
      'https://www.EXAMPLE.org',
      'https://shop.example',
      'https://yourdomain.com/x',
    ],
    ['http', 1, 'http://shop.de/a'],
  ]);
});

t.test(
  'words of lists of spam words are named with their weight, as whole words of the subject and the text',
  async (t) => {
    t.strictSame(foundIn('<p>Act now, freedom!</p>', 'You are a winner'), [
      ['spamWords', 2, 'act now (3)', 'winner (3)'],
    ]);
  },
);

t.test('addresses that mailbox providers give away fail DMARC as senders', async (t) => {
  for (const address of ['a@gmail.com', 'A <a@Yahoo.co.uk>', 'a@gmx.de'])
    t.equal(checkSender(address).isGood, false, address);
  for (const address of ['a@shop.de', 'a@notgmail.com', 'a@live.example.com', 'a@outlook.firma.de', ''])
    t.equal(checkSender(address).isGood, true, address);
});

const HEADERS = {
  From: 'Lark <lark@news.shop.de>',
  To: 'a@b.de',
  Date: 'Sat, 01 Jan 2028 00:00:00 +0000',
  'Message-ID': '<a@shop.de>',
  Subject: 'News',
  'List-Unsubscribe': '<mailto:x@shop.de>, <https://mail.shop.de/u/x>',
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  'DKIM-Signature': 'v=1; a=rsa-sha256; d=shop.de; s=s1; b=x',
};

t.test('the header has what Gmail, Yahoo and Microsoft ask for', async (t) => {
  const wrong = (change: Record<string, string | undefined>, more: { name: string; value: string }[] = []) => {
    const fields = Object.entries({ ...HEADERS, ...change });
    const headers = fields.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
    return checkHeaders({ headers: [...headers, ...more] }).flatMap(({ check, isGood, values }) =>
      isGood ? [] : [[check, ...values.names]],
    );
  };
  t.strictSame(wrong({}), []);
  t.strictSame(wrong({ 'List-Unsubscribe': '<http://shop.de/u>' }), [['oneClick', 'List-Unsubscribe']]);
  t.strictSame(wrong({ 'List-Unsubscribe-Post': undefined }), [['oneClick', 'List-Unsubscribe-Post']]);
  t.strictSame(wrong({ 'DKIM-Signature': 'v=1; d=other.de' }), [['signature', 'news.shop.de']]);
  t.strictSame(wrong({ From: 'a@gmail.com', 'DKIM-Signature': 'd=gmail.com' }), [['freemail', 'gmail.com']]);
  t.strictSame(wrong({ 'Message-ID': undefined }, [{ name: 'subject', value: 'again' }]), [
    ['headers', 'Message-ID', 'Subject'],
  ]);
});

t.test('each finding of a mail has a severity and a place where it is mended', async (t) => {
  const { findings } = checkBuilt({ html: '<p>x</p>', text: 'x', headers: [] });
  for (const { check } of findings) t.ok(FINDINGS[check], check);
});

t.test('a file is a mail, MJML or HTML by what it begins with, and each is checked', async (t) => {
  const codes = async (text: string) => {
    const { kind, findings } = await checkFile(text);
    return [kind, ...findings.map(({ code }) => code)];
  };
  t.strictSame(await codes('<p>Hello ((name)) <a href="((shop_url))">shop</a> *|FNAME|*</p>'), [
    'html',
    'language',
    'foreign',
  ]);
  const mjml = (text: string) =>
    `<mjml><mj-body><mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section></mj-body></mjml>`;
  t.match(await codes(mjml('<a href="https://[link]">x</a>')), ['mjml']);
  t.ok((await codes(mjml('<a href="#">x</a>'))).includes('urls'));
  const json = '{"tagName":"mjml","attributes":{},"children":[{"tagName":"mj-body","attributes":{},"children":[]}]}';
  t.equal((await codes(json))[0], 'mjml');
  const header = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
  const mail = `${header.join('')}Content-Type: text/html\r\n\r\n<html lang="en"><p>Hi</p></html>`;
  t.strictSame(await codes(mail), ['mail', 'plainText']);
  t.strictSame(await codes(mail.replace('List-Unsubscribe-Post', 'X-Other')), ['mail', 'plainText', 'oneClick']);
  await t.rejects(checkFile('<p>((if a))</p>'), /end/);
});
