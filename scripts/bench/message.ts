/** What a personalised message costs: `render` and our quoted-printable beside nodemailer's for the same content, and DKIM signatures. */
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import { encode, wrap } from 'nodemailer/lib/qp/index.js';
import { CLICK_URL, mergeHtml, mergeLine, mergeText, OPEN_URL, PREFERENCES } from '../../src/delivery/content/merge.ts';
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
const preparedWith = (compiled: typeof content) =>
  prepare(compiled, {
    from,
    replyTo: 'reply@example.com',
    constants,
    bulk: { listId: 'news.example.com', feedbackId: '1:2:3:sendlark' },
  });
const prepared = preparedWith(content);
const conditional = preparedWith(
  await buildContent({ ...source, template_html: template.replace('</table>', `</table>${conditions.join('')}`) }),
);
// As long as what a recipient of the conditional mail gets.
const longer = preparedWith(
  await buildContent({
    ...source,
    template_html: template.replace('</table>', `</table>${conditions.map(() => `<p>${words}</p>`).join('')}`),
  }),
);
const recipients = Array.from({ length: 1000 }, (_, index) => recipientNumber(index));

function recipientNumber(index: number): Recipient {
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

async function composed(recipient: Recipient): Promise<Buffer> {
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

/** CPU microseconds per call of `work`, which is called `times` times after a fifth of that to warm up. */
async function measured(times: number, work: (recipient: Recipient) => unknown): Promise<number> {
  const run = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      const done = work(recipients[round % recipients.length] ?? recipientNumber(round));
      if (done instanceof Promise) await done;
    }
  };
  await run(Math.ceil(times / 5));
  const before = process.cpuUsage();
  await run(times);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

const sample = render(prepared, recipientNumber(0)).bytes;
const page = mergeHtml(content.html, {});
const memory = Buffer.alloc(200_000);
const table: Table = {
  'render into reused memory': line(await measured(count, (recipient) => render(prepared, recipient, memory))),
  'the same with ten paragraphs more': line(await measured(count, (recipient) => render(longer, recipient, memory))),
  'the same with ten conditions': line(await measured(count, (recipient) => render(conditional, recipient, memory))),
  'render into new memory': line(await measured(count, (recipient) => render(prepared, recipient))),
  'merge + nodemailer MailComposer': line(await measured(Math.ceil(count / 20), composed)),
  'quoted-printable of the HTML': line(await measured(count / 10, () => quotedPrintable(page))),
  'the same with nodemailer/lib/qp': line(await measured(count / 10, () => wrap(encode(page), 76))),
};
const types: KeyType[] = ['rsa', 'ed25519'];
for (const type of types) {
  const { sign, signInThreadPool } = createSigner('example.com', 'bench', createDkimKey(type));
  const date = new Date();
  const times = type === 'rsa' ? Math.ceil(count / 10) : count;
  table[`sign with ${type}, one thread`] = line(await measured(times, () => sign(sample, date)));
  const began = performance.now();
  let left = times;
  const lane = async () => {
    while (left-- > 0) await signInThreadPool(sample, date);
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  table[`sign with ${type}, thread pool`] = { 'a second': Math.round((times / (performance.now() - began)) * 1000) };
}
report(table, [
  `message of ${sample.length} bytes, HTML of ${page.length}, ${prepared.form.order.length} places for ${prepared.encoders.length} values`,
]);

function line(micros: number): Table[string] {
  return { 'CPU µs': Math.round(micros * 10) / 10, 'a second': Math.round(1e6 / micros) };
}
