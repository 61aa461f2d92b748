/** Measures the CPU time of a personalised message: `render` and our quoted-printable, nodemailer's with the same content, and DKIM signatures. */
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import { encode, wrap } from 'nodemailer/lib/qp/index.js';
import { mergeHtml, mergeLine, mergeText } from '../../src/delivery/content/merge.ts';
import { CLICK_URL, OPEN_URL, PREFERENCES } from '../../src/delivery/content/placeholders.ts';
import { buildContent } from '../../src/delivery/mime/build.ts';
import { createDkimKey, createSigner, type KeyType } from '../../src/delivery/mime/dkim.ts';
import { prepare, type Recipient, render } from '../../src/delivery/mime/message.ts';
import { quotedPrintable } from '../../src/delivery/mime/quoted-printable.ts';
import { report, type Table } from './report.ts';

const count = Number(process.argv[2] ?? 20_000);

const names = [
  'first_name',
  'last_name',
  'company_name',
  'city',
  'country',
  'designation',
  'age',
  'birth_date',
  'postal_code',
];
const words = 'Ordinary prose of the kind that newsletters hold, long enough to be read and short enough to be liked. ';
const cell =
  'style="padding:12px 24px;font-family:Arial,Helvetica,sans-serif;font-size:14px;line-height:21px;color:#222222"';
const block = (index: number) => `
<tr><td align="left" ${cell}><h2 style="margin:0;font-size:18px">((${names[index % names.length]}|Dear reader))</h2></td></tr>
${Array.from({ length: 16 }, () => `<tr><td align="left" ${cell}>${words.slice(0, 50)}</td></tr>`).join('\n')}
<tr><td align="left" ${cell}>${words.repeat(2)} <a href="https://www.example.com/articles/${index}?utm_source=mail&amp;utm_campaign=spring">Read on</a></td></tr>`;
const template = `<!doctype html><html><head><title>News</title></head><body><table role="presentation" width="600">
${Array.from({ length: 10 }, (_, index) => block(index)).join('\n')}
</table><p>((sender_address)) <a href="((unsubscribe_preferences))">Preferences</a></p></body></html>`;

/** Ten conditions, each with a paragraph for either half of the recipients. */
const conditions = names
  .concat('first_name')
  .map((name) => `((if ${name} contains "1"))<p>${words}</p>((else))<p>Others: ${words}</p>((end))`);
const constants = { sender_name: 'Example', sender_address: 'Example Ltd, 1 High Street, London, United Kingdom' };
const from = { name: 'Example', address: 'news@example.com' };
const source = {
  template_json: null,
  subject: 'News for ((first_name|you)) in ((city))',
  preheader: 'What happened this spring',
  tracking: true,
  footer: true,
};
const content = await buildContent({ ...source, template_html: template });
const prepareContent = (compiled: typeof content) =>
  prepare(compiled, {
    from,
    replyTo: 'reply@example.com',
    constants,
    bulk: { listId: 'news.example.com', feedbackId: '1:2:3:sendlark' },
  });
const prepared = prepareContent(content);
const conditional = prepareContent(
  await buildContent({ ...source, template_html: template.replace('</table>', `</table>${conditions.join('')}`) }),
);
// This mail is as long as the conditional mail that a recipient gets, but has no conditions.
const longer = prepareContent(
  await buildContent({
    ...source,
    template_html: template.replace('</table>', `</table>${conditions.map(() => `<p>${words}</p>`).join('')}`),
  }),
);
const recipients = Array.from({ length: 1000 }, (_, index) => makeRecipient(index));

function makeRecipient(index: number): Recipient {
  const token = Buffer.from(`token of recipient ${index} at that place`).toString('base64url');
  const page = `https://mail.example.com/u/${token}`;
  return {
    address: `person${index}@example.net`,
    name: `Jane Doe ${index}`,
    values: Object.fromEntries(names.map((name) => [name, `${name} ${index}`])),
    messageId: `${index}.abcdef@mail.example.com`,
    date: new Date(1_772_000_000_000 + index),
    urls: {
      preferences: page,
      oneClick: `${page}/one`,
      webCopy: `${page}/w`,
      open: `https://mail.example.com/o/${token}`,
      click: `https://mail.example.com/c/${token}/`,
    },
  };
}

/** Builds the same message with nodemailer. */
async function composeWithNodemailer(recipient: Recipient): Promise<Buffer> {
  const urls = recipient.urls;
  const values = { ...constants, ...recipient.values };
  const all = {
    ...values,
    [PREFERENCES]: urls?.preferences ?? '',
    [OPEN_URL]: urls?.open ?? '',
    [CLICK_URL]: urls?.click ?? '',
  };
  const mail = new MailComposer({
    from,
    to: { name: recipient.name, address: recipient.address },
    replyTo: 'reply@example.com',
    subject: mergeLine(content.subject, values),
    date: recipient.date,
    messageId: `<${recipient.messageId}>`,
    text: mergeText(content.text, all),
    html: mergeHtml(content.html, all),
    headers: {
      'List-Unsubscribe': `<${urls?.oneClick}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'List-ID': '<news.example.com>',
      'Feedback-ID': '1:2:3:sendlark',
    },
  });
  return mail.compile().build();
}

/** Returns the CPU microseconds of one of `times` calls of `work`. A fifth as many calls before them warm up the code. */
async function measure(times: number, work: (recipient: Recipient) => unknown): Promise<number> {
  const run = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      const result = work(recipients[round % recipients.length] ?? makeRecipient(round));
      if (result instanceof Promise) await result;
    }
  };
  await run(Math.ceil(times / 5));
  const before = process.cpuUsage();
  await run(times);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

const sample = render(prepared, makeRecipient(0)).bytes;
const page = mergeHtml(content.html, {});
const memory = Buffer.alloc(200_000);
const table: Table = {
  'render into reused memory': rowOf(await measure(count, (recipient) => render(prepared, recipient, memory))),
  'the same with ten paragraphs more': rowOf(await measure(count, (recipient) => render(longer, recipient, memory))),
  'the same with ten conditions': rowOf(await measure(count, (recipient) => render(conditional, recipient, memory))),
  'render into new memory': rowOf(await measure(count, (recipient) => render(prepared, recipient))),
  'merge + nodemailer MailComposer': rowOf(await measure(Math.ceil(count / 20), composeWithNodemailer)),
  'quoted-printable of the HTML': rowOf(await measure(count / 10, () => quotedPrintable(page))),
  'the same with nodemailer/lib/qp': rowOf(await measure(count / 10, () => wrap(encode(page), 76))),
};
const types: KeyType[] = ['rsa', 'ed25519'];
for (const type of types) {
  const { sign, signInThreadPool } = createSigner('example.com', 'bench', createDkimKey(type));
  const date = new Date();
  const times = type === 'rsa' ? Math.ceil(count / 10) : count;
  table[`sign with ${type}, one thread`] = rowOf(await measure(times, () => sign(sample, date)));
  const started = performance.now();
  let remaining = times;
  const lane = async () => {
    while (remaining-- > 0) await signInThreadPool(sample, date);
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  table[`sign with ${type}, thread pool`] = { 'a second': Math.round((times / (performance.now() - started)) * 1000) };
}
report(table, [
  `message of ${sample.length} bytes, HTML of ${page.length}, ${prepared.form.order.length} places for ${prepared.encoders.length} values`,
]);

function rowOf(microseconds: number): Table[string] {
  return { 'CPU µs': Math.round(microseconds * 10) / 10, 'a second': Math.round(1e6 / microseconds) };
}
