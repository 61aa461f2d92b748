/** The mail that asks the owner of an address to confirm it as a sender, as text and as HTML for light and dark mode. */
import { randomBytes } from 'node:crypto';
import { escapeHtml } from '../delivery/content/merge.ts';
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';

/** The content of the mail to `email`, whose button opens `url`. The text says that the link works for `days` days. */
export function verificationContent(email: string, url: string, days: number): FrozenContent {
  return {
    content: {
      subject: `Confirm ${email}`,
      // One piece without placeholders, even if the address contains `((`.
      html: [htmlPart(escapeHtml(email), url, days)],
      text: [textPart(email, url, days)],
      links: [],
      placeholders: [],
    },
    from_email: email,
    reply_to: email,
    sender_name: 'Sendlark',
    sender_address: '',
    message_key: randomBytes(9).toString('hex'),
  };
}

function textPart(email: string, url: string, days: number): string {
  return `Is ${email} yours?

Somebody, most likely you, wants to send mail from this address with Sendlark.
Open this page and press the button to confirm:

${url}

The link works for ${days} days. If this was not you, do nothing: without a
confirmation no mail is sent from your address.
`;
}

function htmlPart(email: string, url: string, days: number): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>Confirm your address</title>
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
<h1 class="text" style="margin:0 0 16px;font-size:22px;line-height:28px;color:#1b2129">Is this address yours?</h1>
<p class="text" style="margin:0 0 16px;color:#1b2129">Somebody, most likely you, wants to send mail from <strong>${email}</strong> with Sendlark.</p>
<p style="margin:24px 0"><a class="button" href="${url}" style="display:inline-block;padding:14px 26px;border-radius:9px;background:#0b5cad;color:#ffffff;font-weight:bold;text-decoration:none">Confirm this address</a></p>
<p class="quiet" style="margin:0 0 16px;font-size:14px;line-height:21px;color:#55606c">The link works for ${days} days. If this was not you, do nothing: without a confirmation no mail is sent from your address.</p>
<p class="quiet" style="margin:0;font-size:13px;line-height:20px;color:#55606c;word-break:break-all">Does the button not work? Open <a href="${url}" style="color:#55606c">${url}</a></p>
</td></tr></table>
</td></tr></table>
</body>
</html>
`;
}
