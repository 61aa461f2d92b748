/** Mails shown to somebody who may not act for their recipients. */

/** A signed token in an address of ours; a dot at the start of a line is encoded in quoted-printable. */
const TOKEN = /(\/(?:u|o|c|w|verify|design)\/)[\w-]+(?:\.|=2E)[\w-]{22}(?:~[\w-]+)?/g;
/** What stands in the place of what is left out. */
export const HIDDEN = 'hidden';

/**
 * A mail of ours without the tokens in its links, with which anybody could unsubscribe its recipient, open and click in their name, or
 * verify a sender. Lines of the body are joined where they were broken only for transport, because that may be within a token.
 */
export function withoutTokens(raw: string): string {
  const end = raw.indexOf('\r\n\r\n');
  const body = raw.slice(end).replaceAll('=\r\n', '');
  return (raw.slice(0, end) + body).replaceAll(TOKEN, `$1${HIDDEN}`);
}
