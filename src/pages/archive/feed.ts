/** The newest mails of an archive as an Atom feed (RFC 4287). */
import { createHash } from 'node:crypto';
import type { PublishedMail } from '../../archive/published.ts';
import { html } from '../../http/pages/html.ts';

/** The feed of the archive at `address`; there is at least one mail. */
export function atomFeed(address: string, title: string, mails: readonly PublishedMail[]): string {
  const entries = mails.map(
    (mail) => html`<entry>
<id>${idOf(mail.token)}</id>
<title>${xmlText(mail.title)}</title>
<link rel="alternate" type="text/html" href="${address}/${mail.token}"/>
<published>${mail.published_at}</published>
<updated>${mail.published_at}</updated>
</entry>
`,
  );
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${address}</id>
<title>${xmlText(title)}</title>
<author><name>${xmlText(title)}</name></author>
<link rel="self" type="application/atom+xml" href="${address}/feed.xml"/>
<link rel="alternate" type="text/html" href="${address}"/>
<updated>${mails[0]?.published_at ?? ''}</updated>
${entries}</feed>
`.text;
}

/** An id that stays when the address of the archive changes (RFC 4287, 4.2.6), as a UUID of the token's hash (RFC 9562, 5.8). */
function idOf(token: string): string {
  const hash = createHash('sha256').update(token).digest('hex');
  return `urn:uuid:${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/** The text without the characters that XML 1.0 does not have (2.2). */
function xmlText(text: string): string {
  return text.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
}
