/** A mail of the outbox as the API gives it, taken apart. */
import type { MailParts } from '../../../delivery/checks/mail-checks.ts';

/** A mail in the list. */
export interface OutboxEntry {
  id: number;
  from: string;
  to: string;
  subject: string;
  created_at: string;
}

/** A whole mail: `raw` is what would have left. */
export interface OutboxMail extends OutboxEntry {
  envelope_from: string;
  envelope_to: string;
  web_copy: string | null;
  raw: string;
}

/** Takes a mail apart (RFC 5322, RFC 2045), its headers unfolded and in their order. */
export async function takeApart(raw: string): Promise<MailParts> {
  // Imported only here, since a service with a relay never needs it.
  const { default: PostalMime } = await import('postal-mime');
  const { html, text, headerLines } = await PostalMime.parse(raw);
  const headers = headerLines.map(({ line }) => {
    const at = line.indexOf(':');
    return {
      name: line.slice(0, at),
      value: line
        .slice(at + 1)
        .replaceAll(/\r?\n[ \t]+/g, ' ')
        .trim(),
    };
  });
  return { html: html ?? null, text: text ?? null, headers };
}
