/**
 * The mail that asks whether an address may be subscribed. Nothing in it comes from whoever filled in the form, since that may be a
 * stranger who wants to write to somebody through us; and it has no pixel and no counted links.
 */
import { randomBytes } from 'node:crypto';
import { escapeHtml } from '../delivery/content/merge.ts';
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';
import type { Form } from './forms.ts';
import type { FormLanguage } from './texts.ts';

const WORDS: Readonly<
  Record<FormLanguage, { confirm: string; open: string; works(days: number): string; button: string }>
> = {
  en: {
    confirm: 'Confirm the subscription',
    open: 'Open this page and press the button to confirm:',
    works: (days) => `The link works for ${days} days. If this was not you, do nothing: you are not subscribed.`,
    button: 'Does the button not work? Open',
  },
  de: {
    confirm: 'Anmeldung bestätigen',
    open: 'Öffnen Sie diese Seite und drücken Sie den Knopf, um zu bestätigen:',
    works: (days) => `Der Link gilt ${days} Tage. Waren Sie es nicht, tun Sie nichts: Sie sind nicht angemeldet.`,
    button: 'Der Knopf geht nicht? Öffnen Sie',
  },
};

/** The content of the mail of a form, whose button opens `url`. The text says that the link works for `days` days. */
export function confirmationContent(form: Form, fromEmail: string, url: string, days: number): FrozenContent {
  const paragraphs = form.mail_text.split('\n').filter((line) => line.trim() !== '');
  return {
    content: {
      subject: form.mail_subject,
      // One piece without placeholders, even if the owner's text contains `((`.
      html: [htmlPart(form, paragraphs, url, days)],
      text: [textPart(form, paragraphs, url, days)],
      links: [],
      placeholders: [],
    },
    from_email: fromEmail,
    reply_to: fromEmail,
    sender_name: '',
    sender_address: '',
    message_key: randomBytes(9).toString('hex'),
  };
}

function textPart({ language, title }: Form, paragraphs: readonly string[], url: string, days: number): string {
  const words = WORDS[language];
  return `${title}

${paragraphs.join('\n\n')}

${words.open}

${url}

${words.works(days)}
`;
}

function htmlPart({ language, title }: Form, paragraphs: readonly string[], url: string, days: number): string {
  const words = WORDS[language];
  const text = paragraphs
    .map((line) => `<p class="text" style="margin:0 0 16px;color:#1b2129">${escapeHtml(line)}</p>`)
    .join('\n');
  return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(title)}</title>
<style>
:root{color-scheme:light dark}
@media (prefers-color-scheme:dark){
.ground{background:#12161b!important}.card{background:#1c2229!important;border-color:#333c46!important}
.text{color:#e9edf1!important}.quiet,.quiet a{color:#a9b4bf!important}.button{background:#8cc2ff!important;color:#08203a!important}}
</style></head>
<body class="ground" style="margin:0;padding:0;background:#eef1f4">
<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#eef1f4"><tr><td align="center" style="padding:32px 12px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" style="max-width:520px;background:#ffffff;border:1px solid #d5dbe1;border-radius:14px"><tr>
<td style="padding:32px;font-family:Arial,Helvetica,sans-serif;font-size:16px;line-height:24px">
<h1 class="text" style="margin:0 0 16px;font-size:22px;line-height:28px;color:#1b2129">${escapeHtml(title)}</h1>
${text}
<p style="margin:24px 0"><a class="button" href="${url}" style="display:inline-block;padding:14px 26px;border-radius:9px;background:#0b5cad;color:#ffffff;font-weight:bold;text-decoration:none">${words.confirm}</a></p>
<p class="quiet" style="margin:0 0 16px;font-size:14px;line-height:21px;color:#55606c">${words.works(days)}</p>
<p class="quiet" style="margin:0;font-size:13px;line-height:20px;color:#55606c;word-break:break-all">${words.button} <a href="${url}" style="color:#55606c">${url}</a></p>
</td></tr></table>
</td></tr></table>
</body>
</html>
`;
}
