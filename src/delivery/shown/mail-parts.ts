/** Reads the parts of a mail in the form in which it is sent. */
import type { MailParts } from '../checks/mail-checks.ts';

/** Parses a mail (RFC 5322, RFC 2045), with its headers unfolded and in order. */
export async function readParts(raw: string): Promise<MailParts> {
  // The parser is imported only here, because a service with an SMTP relay never needs it.
  const { default: PostalMime } = await import('postal-mime');
  const { html, text, headerLines } = await PostalMime.parse(raw);
  const headers = headerLines.map(({ line }) => {
    const at = line.indexOf(':');
    const value = line.slice(at + 1).replaceAll(/\r?\n[ \t]+/g, ' ');
    return { name: line.slice(0, at), value: value.trim() };
  });
  return { html: html ?? null, text: text ?? null, headers };
}
