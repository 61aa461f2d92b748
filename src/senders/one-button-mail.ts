/**
 * The service's own mails that ask the recipient to confirm something with one button, in light and dark mode, such as the
 * verification mail of a sender.
 */
import { randomBytes } from 'node:crypto';
import { escapeHtml } from '../delivery/content/merge.ts';
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';

interface OneButtonMail {
  language: string;
  title: string;
  heading: string;
  paragraphs: readonly string[];
  button: string;
  /** A note that says what the link does, and that nothing happens unless the recipient uses it. */
  note: string;
  /** Introduces the URL of the button, for mail programs that do not show the button. */
  fallback: string;
}

/** Returns a mail with one button as a mailing's content: without pixel, tracked links and placeholders, even if a text contains `((`. */
export function oneButtonMailContent(
  mail: { subject: string; html: string; text: string },
  from: { email: string; name: string },
): FrozenContent {
  return {
    content: { subject: mail.subject, html: [mail.html], text: [mail.text], links: [], placeholders: [] },
    from_email: from.email,
    reply_to: from.email,
    sender_name: from.name,
    sender_address: '',
    message_key: randomBytes(9).toString('hex'),
  };
}

/** Returns the HTML of the mail, whose button opens `url`. */
export function oneButtonHtml(mail: OneButtonMail, url: string): string {
  const { language, title, heading, paragraphs, button, note, fallback } = mail;
  const text = paragraphs
    .map((line) => `<p class="text" style="margin:0 0 16px;color:#18201e">${escapeHtml(line)}</p>`)
    .join('\n');
  return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(title)}</title>
<style>
:root{color-scheme:light dark}
@media (prefers-color-scheme:dark){
.ground{background:#131615!important}.card{background:#1a1e1d!important;border-color:#2a312f!important}
.text{color:#e8ecea!important}.quiet,.quiet a{color:#9eaaa5!important}.button{background:#62cfb4!important;color:#05231c!important}}
</style></head>
<body class="ground" style="margin:0;padding:0;background:#f3f4f2">
<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f3f4f2"><tr><td align="center" style="padding:32px 12px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" style="max-width:520px;background:#ffffff;border:1px solid #e4e7e3;border-radius:14px"><tr>
<td style="padding:32px;font-family:Arial,Helvetica,sans-serif;font-size:16px;line-height:24px">
<h1 class="text" style="margin:0 0 16px;font-size:22px;line-height:28px;color:#18201e">${escapeHtml(heading)}</h1>
${text}
<p style="margin:24px 0"><a class="button" href="${url}" style="display:inline-block;padding:14px 26px;border-radius:9px;background:#0b6b57;color:#ffffff;font-weight:bold;text-decoration:none">${button}</a></p>
<p class="quiet" style="margin:0 0 16px;font-size:14px;line-height:21px;color:#59645f">${note}</p>
<p class="quiet" style="margin:0;font-size:13px;line-height:20px;color:#59645f;word-break:break-all">${fallback} <a href="${url}" style="color:#59645f">${url}</a></p>
</td></tr></table>
</td></tr></table>
</body>
</html>
`;
}
